// The arena that this thread uses at present, as a resource without state: for templates that default-construct their
// allocator, and whose objects die together.
//
// Use it where acre::ambient would hold an arena, and speed matters: blocks have no header, and freeing does nothing.
// Use acre::ambient for other resources, and pass the arena where it can be passed. A scope sets the arena,
// acre::use_arena; scopes nest.
//
// A block stays until its arena is reset, whatever scope or thread frees it. Allocating outside of a scope is refused
// with a sentence: there would be nothing to free the block. As with every arena, its blocks are not used after a
// reset, and that includes destroying what holds them.
//
// Cost: allocate is a thread-local access and arena's allocate; deallocate is nothing. Thread rules: each thread has
// its own scopes; an arena is in the scope of one thread at a time.
//
//     acre::arena request;
//     acre::use_arena use{request};
//     std::map<int, int, std::less<>, acre::arena_allocator<std::pair<const int, int>>> m;  // in `request`
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/find_anew.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <utility>

namespace acre {

namespace detail {

#if ACRE_HAS_THREADS
[[gnu::used]] inline thread_local constinit arena* current_arena = nullptr;

ACRE_FINDER inline arena*& find_current_arena() noexcept {
    arena** found;
    ACRE_FIND(found, current_arena, "_ZN4acre6detail13current_arenaE", 0);
    return *found;
}
inline arena* read_current_arena() noexcept {
#if ACRE_BY_SEGMENT
    arena* current;
    ACRE_READ(current, "_ZN4acre6detail13current_arenaE", 0, 0);
    return current;
#else
    return find_current_arena();
#endif
}
#else
inline constinit arena* current_arena = nullptr;

inline arena*& find_current_arena() noexcept {
    return current_arena;
}
inline arena* read_current_arena() noexcept {
    return current_arena;
}
#endif

}  // namespace detail

/// This thread's arena: an empty type, all of whose objects are equal.
class ambient_arena {
public:
    static constexpr const char* name = "acre::ambient_arena";

    /// Storage of `bytes` bytes aligned to `alignment` from this thread's arena. Throws what the arena throws. Aborts
    /// with a sentence outside of scopes.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return current().allocate(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return current().try_allocate(bytes, alignment);
    }

    /// The block stays until the arena is reset. AddressSanitizer reports who uses it afterwards.
    void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        if (poisoning && p != nullptr) poison(p, bytes);
    }

    friend bool operator==(const ambient_arena&, const ambient_arena&) noexcept = default;

private:
    static arena& current() noexcept {
        arena* used = detail::read_current_arena();
        if (used == nullptr) [[unlikely]]
            refuse();
        return *used;
    }
    [[noreturn, gnu::noinline, gnu::cold]] static void refuse() noexcept {
        abort_on_misuse(name, "allocated outside of a scope: declare an acre::use_arena before", nullptr);
    }
};

static_assert(stateless_resource<ambient_arena>);

/// A standard allocator that is default-constructed and allocates from this thread's arena.
template <class T>
using arena_allocator = allocator<T, ambient_arena>;

/// A scope in which this thread's arena is another one. It ends in the thread that it began in, inner scopes first.
class [[nodiscard("the arena is used in the scope of a variable: acre::use_arena use{request};")]] use_arena {
public:
    /// Until the end of this object, acre::ambient_arena is `used`, which must outlive what was allocated from it.
    [[nodiscard("the arena is used in the scope of a variable: acre::use_arena use{request};")]] explicit use_arena(
        arena& used) noexcept
        : used_(&used), before_(std::exchange(detail::find_current_arena(), &used)) {}
    /// Of a pointer to the arena, or of a handle. Throws bad_option for null.
    template <detail::stands_for<arena> From>
    [[nodiscard("the arena is used in the scope of a variable: acre::use_arena use{request};")]] explicit use_arena(
        From&& from)
        : use_arena(detail::referred<arena>("acre::use_arena", std::forward<From>(from))) {}
    use_arena(const use_arena&) = delete;
    use_arena& operator=(const use_arena&) = delete;
    /// The arena before is used again. Aborts with a sentence before an inner scope has ended, and in another thread.
    ~use_arena() {
        arena*& current = detail::find_current_arena();
        if (current != used_) [[unlikely]]
            refuse();
        current = before_;
    }

private:
    [[noreturn, gnu::noinline, gnu::cold]] void refuse() const noexcept {
        abort_on_misuse("acre::use_arena", detail::mistake::scope_order, this);
    }

    arena* used_;
    arena* before_;
};

}  // namespace acre
