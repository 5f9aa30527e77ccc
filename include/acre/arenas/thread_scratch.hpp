// Temporary storage for a function, without an arena handed down to it: a scratch of an arena of this thread, which is
// none of those that the function was given to put its results in.
//
// Use it in functions that need room while they work. Pass every arena that results go to: a scratch of the same arena
// would take the results with it at its end. Use acre::scratch where an arena is at hand that is nobody's result.
//
// Cost: a thread-local access and one comparison an arena passed in, then what acre::scratch costs. The arenas of a
// thread hold what they grew to until the thread ends; release_thread_scratch() gives it back earlier. Each thread has
// its own, so there is nothing to lock; do not pass the scratch to another thread.
//
//     std::span<Step> find_path(acre::arena& results, const Map& map) {
//         acre::scratch temp = acre::thread_scratch(results);
//         std::span<Node> open = temp.allocate<Node>(map.size());
//         ...
//     }
//
// The idea of two arenas a thread, of which one is not the caller's, is from Ryan Fleury's and Odin's practice; that
// results were put into the scratch by mistake is Odin's issue 5095.
#pragma once

#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <array>
#include <cstddef>

namespace acre {

namespace detail {
/// Arenas that each thread has.
inline constexpr std::size_t thread_arena_count = 4;

inline std::array<arena, thread_arena_count>& thread_arenas() noexcept {
    thread_local std::array<arena, thread_arena_count> arenas;
    return arenas;
}

inline const arena* arena_of(const arena& conflict) noexcept {
    return &conflict;
}
inline const arena* arena_of(const scratch& conflict) noexcept {
    return &conflict.parent();
}
}  // namespace detail

/// A scratch of an arena of this thread that is none of `conflicts`: arenas or scratches, at most three.
template <class... Conflicts>
[[nodiscard]] scratch thread_scratch(const Conflicts&... conflicts) noexcept {
    static_assert(sizeof...(Conflicts) < detail::thread_arena_count,
                  "a thread has four arenas: pass at most three that the scratch must not be of");
    const std::array<const arena*, sizeof...(Conflicts)> taken{detail::arena_of(conflicts)...};
    arena* chosen = nullptr;
    for (arena& each : detail::thread_arenas()) {
        bool conflicting = false;
        for (const arena* other : taken) conflicting |= other == &each;
        if (conflicting) continue;
        chosen = &each;
        break;
    }
    return scratch{*chosen};
}

/// Gives the memory of this thread's arenas back to the heap. Scratches of them that still live are ended.
inline void release_thread_scratch() noexcept {
    for (arena& each : detail::thread_arenas()) each.reset(release);
}

/// Bytes that this thread's arenas hold.
inline std::size_t thread_scratch_capacity() noexcept {
    std::size_t bytes = 0;
    for (const arena& each : detail::thread_arenas()) bytes += each.capacity();
    return bytes;
}

}  // namespace acre
