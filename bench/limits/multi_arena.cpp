// The calls of acre::multi_arena, its inline form and the concurrent ones, path by path. Each path is prepared on fresh
// arenas; then the instructions of that one call are counted, with alignment and size known only at run time.
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "../contestants/contestants.hpp"
#include "counted_path.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace multi_arena_paths {

constexpr std::size_t arena_count = counted_arenas;
constexpr std::size_t arena_bytes = counted_arena_bytes;
constexpr std::size_t small = 16;
constexpr std::size_t half = arena_bytes / 2;
constexpr std::size_t most = arena_bytes - 24;
constexpr std::size_t strict = 256;

/// Leaves one active arena that is almost full, and another that is empty and in the free list.
template <class Arenas>
void leave_one_empty(Arenas& arenas, std::size_t used) {
    void* p = arenas.allocate(most);
    (void)arenas.allocate(used);
    arenas.deallocate(p, most);
}

template <class Arenas>
std::vector<path<Arenas>> allocations() {
    return {
        {"allocate: the arena in use has room",
         [](Arenas& arenas) {
             (void)arenas.allocate(small);
             return call{};
         },
         0},
        {"allocate: the arena in use was emptied",
         [](Arenas& arenas) {
             arenas.deallocate(arenas.allocate(small), small);
             return call{};
         },
         1},
        {"allocate: the very first", [](Arenas&) { return call{}; }, 1},
        {"allocate: the arena in use is full, first use of the next",
         [](Arenas& arenas) {
             (void)arenas.allocate(arena_bytes);
             return call{};
         },
         1},
        {"allocate: the arena in use is closed, the next comes from the list",
         [](Arenas& arenas) {
             leave_one_empty(arenas, most);
             return call{.bytes = half};
         },
         1},
        {"allocate: the next comes from the list and is closed, the arena in use stays",
         [](Arenas& arenas) {
             leave_one_empty(arenas, half);
             return call{.bytes = most};
         },
         1},
        {"allocate over-aligned: the arena in use has room",
         [](Arenas& arenas) {
             (void)arenas.allocate(small);
             return call{.alignment = strict};
         },
         0},
        {"allocate over-aligned: first use of the next",
         [](Arenas& arenas) {
             (void)arenas.allocate(arena_bytes);
             return call{.alignment = strict};
         },
         1},
        {"allocate over-aligned: the next comes from the list",
         [](Arenas& arenas) {
             leave_one_empty(arenas, most);
             return call{.alignment = strict};
         },
         1},
        {"allocate over-aligned: the next comes from the list and is closed",
         [](Arenas& arenas) {
             leave_one_empty(arenas, half);
             return call{.bytes = arena_bytes - strict, .alignment = strict};
         },
         1},
    };
}

template <class Arenas>
std::vector<path<Arenas>> deallocations() {
    return {
        {"deallocate: others live in its arena",
         [](Arenas& arenas) {
             void* p = arenas.allocate(small);
             (void)arenas.allocate(small);
             return call{.p = p};
         },
         0},
        {"deallocate: it was the last allocation of its arena",
         [](Arenas& arenas) {
             (void)arenas.allocate(small);
             return call{.p = arenas.allocate(small)};
         },
         0},
        {"deallocate: the arena in use is emptied", [](Arenas& arenas) { return call{.p = arenas.allocate(small)}; },
         -1},
        {"deallocate: others live in its arena, which is closed",
         [](Arenas& arenas) {
             void* p = arenas.allocate(small);
             (void)arenas.allocate(arena_bytes - 2 * small);
             (void)arenas.allocate(2 * small);
             return call{.p = p};
         },
         0},
        {"deallocate: a closed arena is emptied",
         [](Arenas& arenas) {
             void* p = arenas.allocate(most);
             (void)arenas.allocate(most);
             return call{.p = p, .bytes = most};
         },
         -1},
        {"deallocate: over-aligned, others live in its arena",
         [](Arenas& arenas) {
             (void)arenas.allocate(small);
             void* p = arenas.allocate(small, strict);
             (void)arenas.allocate(small);
             return call{.p = p, .alignment = strict};
         },
         0},
    };
}

template <class Arenas>
void add_paths(suite& entries, const std::string& type) {
    add_counted_paths(entries, type, allocations<Arenas>());
    add_counted_paths(entries, type, deallocations<Arenas>());
}

}  // namespace multi_arena_paths
using namespace multi_arena_paths;

void add_multi_arena_paths(suite& entries) {
    add_paths<acre::multi_arena>(entries, "multi_arena");
    add_paths<acre::inline_multi_arena<arena_count, arena_bytes>>(entries, "inline_multi_arena");
    add_paths<acre::concurrent_multi_arena>(entries, "concurrent_multi_arena");
    add_paths<acre::inline_concurrent_multi_arena<arena_count, arena_bytes>>(entries, "inline_concurrent_multi_arena");
}

}  // namespace bench
