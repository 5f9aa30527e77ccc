// Bulk building in an arena: position and end of the current block in local variables, so that a loop that allocates
// keeps them in registers instead of storing and loading them each time.
//
// Use it in a loop that allocates many small things and writes through pointers that might, for all the compiler knows,
// point to the arena. Use the arena itself everywhere else. While a cursor lives its arena must not be used directly:
// what the arena does not know of yet would be handed out twice. Debug builds assert it.
//
// Cost: three instructions for a constant size, as little as an addition; a full block costs what it costs the arena.
// Keep it a local variable whose address nobody takes. Only types without a destructor. Not thread-safe.
//
//     acre::cursor building{level};
//     for (int i = 0; i < 1000; ++i) head = building.create<Node>(i, head);
//
// The idea is the practice, in LLVM and protobuf, of copying the bump pointer into locals around a hot loop.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

/// The front of an arena, borrowed; given back at its end.
class cursor {
public:
    static constexpr const char* name = "acre::cursor";

    /// Borrows the front of `owner`, which must live longer. Takes no memory.
    [[gnu::always_inline]] explicit cursor(arena& owner) noexcept
        : owner_(&owner), at_{owner.position_, owner.end_}, begin_(owner.position_) {}

    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;

    /// The arena goes on behind what was allocated here.
    [[gnu::always_inline]] ~cursor() { give_back(*owner_, at_.position, begin_); }

    /// Uninitialised storage of `bytes` bytes aligned to `alignment`. Throws as arena::allocate. Constant time but for a
    /// new block.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (arena::bump(at_.position, at_.end, bytes, alignment, p)) [[likely]]
            return p;
        return taken(grow(*owner_, at_.position, begin_, bytes, alignment));
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (arena::bump(at_.position, at_.end, bytes, alignment, p)) [[likely]]
            return p;
        return taken(try_grow(*owner_, at_.position, begin_, bytes, alignment));
    }

    /// A T, which needs no destructor, constructed from `arguments`. Throws as allocate, and what the constructor throws.
    template <class T, class... Arguments>
    [[gnu::always_inline]] T* create(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would destroy it: use arena::create");
        void* p = allocate(sizeof(T), alignof(T));
        if (!exceptions_enabled && p == nullptr) return nullptr;
        return ::new (p) T(std::forward<Arguments>(arguments)...);
    }

    /// Uninitialised storage for `count` objects of T, which need no destructor. Throws as allocate.
    template <class T>
    [[gnu::always_inline]] std::span<T> allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "nobody would destroy these: use arena::create_array");
        const auto bytes = array_bytes(count, sizeof(T));
        void* p = allocate(bytes ? *bytes : SIZE_MAX, alignof(T));
        return {static_cast<T*>(p), p == nullptr ? 0 : count};
    }

private:
    struct front {
        std::uintptr_t position;
        std::uintptr_t end;
    };
    // What a request out of the hot path gave. By value: a cursor whose address went anywhere would lie in memory.
    struct grown {
        void* p;
        front at;
    };

    [[gnu::always_inline]] static void give_back(arena& owner, std::uintptr_t position,
                                                 [[maybe_unused]] std::uintptr_t begin) noexcept {
        // The second holds when the last request failed.
        assert((owner.position_ == begin || owner.position_ == position) &&
               "the arena was used while a cursor of it lived");
        owner.position_ = position;
    }

    [[gnu::noinline]] static grown grow(arena& owner, std::uintptr_t position, std::uintptr_t begin, std::size_t bytes,
                                        std::size_t alignment) {
        give_back(owner, position, begin);
        void* p = owner.allocate(bytes, alignment);
        return {p, {owner.position_, owner.end_}};
    }
    [[gnu::noinline]] static grown try_grow(arena& owner, std::uintptr_t position, std::uintptr_t begin,
                                            std::size_t bytes, std::size_t alignment) noexcept {
        give_back(owner, position, begin);
        void* p = owner.try_allocate(bytes, alignment);
        return {p, {owner.position_, owner.end_}};
    }

    [[gnu::always_inline]] void* taken(const grown& by) noexcept {
        at_ = by.at;
        begin_ = by.at.position;
        return by.p;
    }

    arena* owner_;
    front at_;
    std::uintptr_t begin_;  // where the arena believes it is
};

}  // namespace acre
