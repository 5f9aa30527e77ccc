// Temporary storage for a function that is passed no arena for it: a scratch of a thread-local arena that is not one of
// the arenas for the function's results.
//
// Use it in functions that need room while they work. Pass every arena that results go to: the end of a scratch of the
// same arena would take the results back. Use acre::scratch where an arena is at hand that holds no results.
//
// Cost: a thread-local access and one comparison per arena passed, then what acre::scratch costs. A thread's arenas
// keep their blocks until the thread ends or calls release_thread_scratch(). Destructors of thread_local objects may
// run after that: there each outermost scratch takes memory anew. Nothing is locked, as each thread has its own arenas;
// do not pass the scratch to another thread.
//
//     std::span<Step> find_path(acre::arena& results, const Map& map) {
//         acre::scratch temp = acre::thread_scratch(results);
//         std::span<Node> open = temp.allocate<Node>(map.size());  // given back at the end of the function
//         return results.allocate<Step>(open.size());
//     }
//
// The idea of two arenas a thread, one of which is not the caller's, is from Ryan Fleury's and Odin's practice. Odin's
// issue 5095 describes results that were put into the scratch by mistake.
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::thread_scratch needs thread-local storage, which this target does not have: use acre::scratch");
#else

#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/core/detail/find_anew.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/resource.hpp>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

namespace acre {

namespace detail {
/// Arenas of each thread.
inline constexpr std::size_t thread_arena_count = 4;

struct thread_arena_set {
    std::array<arena, thread_arena_count> arenas;
    bool scratches_release = true;  // nothing gives the memory back when the thread ends, so each scratch does
};

/// The arenas, and what gives their memory back when the thread ends. Never destroyed: destructors of other
/// thread_local objects may begin a scratch after that.
struct thread_scratch_storage {
    alignas(thread_arena_set) std::byte arenas[sizeof(thread_arena_set)];
    thread_exit_node at_exit;
    bool has_arenas;
    bool is_registered;

    thread_arena_set& set() noexcept { return *std::launder(reinterpret_cast<thread_arena_set*>(arenas)); }
};
[[gnu::used]] inline thread_local constinit thread_scratch_storage this_thread_scratch{};

ACRE_FINDER inline thread_scratch_storage& find_thread_scratch() noexcept {
    thread_scratch_storage* found;
    ACRE_FIND(found, this_thread_scratch, "_ZN4acre6detail19this_thread_scratchE", 0);
    return *found;
}

inline void end_thread_scratch(thread_exit_node*) noexcept {
    thread_arena_set& ended = this_thread_scratch.set();
    for (arena& each : ended.arenas) each.reset(release);
    ended.scratches_release = true;
}

/// Out of line: the first use in a thread, or one for which the heap had no memory to register the thread's end.
[[gnu::noinline]] inline void prepare_thread_scratch() noexcept {
    thread_scratch_storage& own = this_thread_scratch;
    if (!own.has_arenas) ::new (own.arenas) thread_arena_set;
    own.has_arenas = true;
    own.at_exit.run = &end_thread_scratch;
    own.is_registered = run_at_thread_exit(own.at_exit);
    own.set().scratches_release = !own.is_registered;
}

inline thread_arena_set& thread_arenas() noexcept {
    thread_scratch_storage& own = find_thread_scratch();
    if (!own.is_registered) [[unlikely]]
        prepare_thread_scratch();
    return own.set();
}

/// Begins a scratch of a thread-local arena.
struct thread_scratch_access {
    static scratch begin(arena& of, bool releases) noexcept { return scratch{of, releases}; }
};

inline const arena* arena_of(const arena& conflict) noexcept {
    return &conflict;
}
inline const arena* arena_of(const scratch& conflict) noexcept {
    return &conflict.parent();
}
/// A pointer to an arena or a scratch, null for none, or a handle.
template <class From>
    requires(leads_to<const From&, const arena> || leads_to<const From&, const scratch>)
const arena* arena_of(const From& conflict) noexcept {
    if constexpr (requires { static_cast<bool>(conflict); }) {
        if (!static_cast<bool>(conflict)) return nullptr;
    }
    return detail::arena_of(*conflict);
}
// Refused by a sentence: where a resource_ref leads to is not known.
template <resource Other>
    requires(!std::is_convertible_v<Other*, const arena*> && !std::is_same_v<Other, scratch>)
const arena* arena_of(const Other&) noexcept {
    static_assert(std::is_void_v<Other>,
                  "acre::thread_scratch takes the arenas and scratches that results go to: leave another resource out, "
                  "and pass the arena that a resource_ref leads to");
    return nullptr;
}
}  // namespace detail

/// A scratch of a thread-local arena that is not among `conflicts`: arenas or scratches, at most three.
template <class... Conflicts>
[[nodiscard("this scratch ends in the same statement: give it a name")]] scratch thread_scratch(
    const Conflicts&... conflicts) noexcept {
    static_assert(sizeof...(Conflicts) < detail::thread_arena_count,
                  "acre: a thread has four arenas: pass at most three that the scratch must not be of");
    const std::array<const arena*, sizeof...(Conflicts)> taken{detail::arena_of(conflicts)...};
    const auto is_taken = [&taken](const arena& each) {
        bool found = false;
        for (const arena* other : taken) found |= other == &each;
        return found;
    };
    detail::thread_arena_set& own = detail::thread_arenas();
    arena* chosen = &own.arenas[0];
    if (chosen == nullptr) __builtin_unreachable();  // compilers do not know it, and would look again
    while (is_taken(*chosen)) ++chosen;              // one is free: there are more than can be taken
    return detail::thread_scratch_access::begin(*chosen, own.scratches_release);
}

/// Gives the memory of this thread's arenas back to the heap. Ends their live scratches.
inline void release_thread_scratch() noexcept {
    for (arena& each : detail::thread_arenas().arenas) each.reset(release);
}

/// Bytes that this thread's arenas hold.
inline std::size_t thread_scratch_capacity() noexcept {
    std::size_t bytes = 0;
    for (const arena& each : detail::thread_arenas().arenas) bytes += each.capacity();
    return bytes;
}

}  // namespace acre

#endif  // ACRE_HAS_THREADS
