// Bulk building in an arena: holds the bump pointer and the block's end in local variables, so that an allocating loop
// keeps them in registers.
//
// Use it in a loop that allocates many small objects and writes through pointers which, for all the compiler knows, may
// point to the arena. Use the arena itself everywhere else. Do not use the arena while a cursor lives: the arena
// sees its block as full. If it was used, the cursor's destructor aborts with a sentence, in every build.
//
// Cost: the arena's number of instructions, without the wait for a stored bump pointer; a full block costs the same.
// Keep the cursor a local variable and never take its address. Only trivially destructible types. Not thread-safe.
//
//     acre::cursor building{level};
//     Node* head = nullptr;
//     for (int i = 0; i < 1000; ++i) head = building.create<Node>(i, head);
//
// The idea is the practice, in LLVM and protobuf, of copying the bump pointer into locals around a hot loop.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace acre {

/// Borrows the bump pointer of an arena; the destructor gives it back.
class cursor {
public:
    static constexpr const char* name = "acre::cursor";

    /// Borrows the bump pointer of `owner`, which must live longer. Takes no memory.
    [[gnu::always_inline]] explicit cursor(arena& owner) noexcept : owner_(&owner), at_(borrow(owner)) {}

    /// Of a pointer to the arena, or of a handle. Throws bad_option for null.
    template <detail::stands_for<arena> From>
    explicit cursor(From&& from) : cursor(detail::referred<arena>(name, std::forward<From>(from))) {}

    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;

    /// The arena continues behind what was allocated here.
    [[gnu::always_inline]] ~cursor() { give_back(*owner_, at_); }

    /// Uninitialised storage of `bytes` bytes aligned to `alignment`. Throws as arena::allocate. Constant time but for
    /// a new block.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (arena::bump(at_.position, at_.end, bytes, alignment, p)) [[likely]]
            return p;
        return taken(grow(*owner_, at_, bytes, alignment));
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (arena::bump(at_.position, at_.end, bytes, alignment, p)) [[likely]]
            return p;
        return taken(try_grow(*owner_, at_, bytes, alignment));
    }

    /// A trivially destructible T constructed from `arguments`. Throws as allocate, and what the constructor throws.
    template <class T, class... Arguments>
    [[gnu::always_inline]] T* create(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy it: use arena::create");
        void* p = allocate(sizeof(T), alignof(T));
        return detail::construct_at_or<T>(
            p,
            [this, p]() noexcept {
                // If it did not fit the block, it lies elsewhere and stays with the arena.
                const auto start = reinterpret_cast<std::uintptr_t>(p);
                if (start + arena::rounded(sizeof(T)) == at_.position) at_.position = start;
            },
            std::forward<Arguments>(arguments)...);
    }

    /// Uninitialised storage for `count` objects of a trivially destructible T. Throws as allocate.
    template <class T>
    [[gnu::always_inline]] std::span<T> allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>, "acre: nobody would destroy these: use arena::create_array");
        const auto bytes = array_bytes(count, sizeof(T));
        void* p = allocate(bytes ? *bytes : SIZE_MAX, alignof(T));
        return {static_cast<T*>(p), p == nullptr ? 0 : count};
    }

private:
    struct front {
        std::uintptr_t position;
        std::uintptr_t end;
    };
    // The result of the slow path. Returned by value: passing the cursor's address would force it into memory.
    struct grown {
        void* p;
        front at;
    };

    // Meanwhile the arena sees a full block.
    [[gnu::always_inline]] static front borrow(arena& owner) noexcept {
        return {std::exchange(owner.position_, owner.end_), owner.end_};
    }
    [[gnu::always_inline]] static void give_back(arena& owner, const front& at) noexcept {
        if (owner.end_ != at.end || owner.position_ != at.end) [[unlikely]]
            abort_on_misuse(name, "the arena was used while a cursor of it lived", &owner);
        owner.position_ = at.position;
    }

    [[gnu::noinline]] static grown grow(arena& owner, front at, std::size_t bytes, std::size_t alignment) {
        const grown served = try_grow(owner, at, bytes, alignment);
        if (served.p == nullptr) owner.fail(bytes, alignment);
        return served;
    }
    [[gnu::noinline]] static grown try_grow(arena& owner, front at, std::size_t bytes, std::size_t alignment) noexcept {
        give_back(owner, at);
        void* p = owner.try_allocate(bytes, alignment);
        return {p, borrow(owner)};
    }

    [[gnu::always_inline]] void* taken(const grown& by) noexcept {
        at_ = by.at;
        return by.p;
    }

    arena* owner_;
    front at_;
};

}  // namespace acre
