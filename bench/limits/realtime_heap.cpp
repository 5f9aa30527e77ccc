// The calls of acre::realtime_heap, path by path: each is prepared on a fresh heap, and then the instructions of that
// one call are counted, with alignment and size known only at run time.
#include <acre/heaps/realtime_heap.hpp>
#include <cstddef>
#include <vector>

#include "../contestants/contestants.hpp"
#include "counted_path.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace realtime_heap_paths {

using tested = acre::realtime_heap;

constexpr std::size_t arena = counted_arena_bytes;
constexpr std::size_t small = 16;
constexpr std::size_t half = arena / 2;
constexpr std::size_t run = 3 * arena;

/// Takes all arenas, one by one, and frees the second and the fifth, so that free ones are listed.
void leave_scattered(tested& heap) {
    void* all[counted_arenas];
    for (void*& each : all) each = heap.allocate(arena);
    heap.deallocate(all[1], arena);
    heap.deallocate(all[4], arena);
}
/// A run of two arenas and one of three are listed, and no other arena is free.
void leave_runs(tested& heap) {
    void* longer = heap.allocate(run);
    void* shorter = heap.allocate(2 * arena);
    // Without it the runs would go back to those never used.
    (void)heap.allocate(2 * arena);
    (void)heap.allocate(arena);
    heap.deallocate(shorter, 2 * arena);
    heap.deallocate(longer, run);
}
/// Fills an arena with slots of `bytes` bytes and returns one of them.
void* fill(tested& heap, std::size_t bytes) {
    void* first = heap.allocate(bytes);
    for (std::size_t i = 1; i < arena / bytes; ++i) (void)heap.allocate(bytes);
    return first;
}

const std::vector<path<tested>> allocations = {
    {"allocate: an arena of the class has room",
     [](tested& heap) {
         (void)heap.allocate(small);
         return call{};
     },
     0},
    {"allocate: the last slot of an arena",
     [](tested& heap) {
         void* p = fill(heap, half);
         heap.deallocate(p, half);
         return call{.bytes = half};
     },
     0},
    {"allocate: the last slot of a word, and of the arena",
     [](tested& heap) {
         void* p = fill(heap, small);
         heap.deallocate(p, small);
         return call{};
     },
     0},
    {"allocate: the last slot of an arena, and others of the class have room",
     [](tested& heap) {
         void* p = fill(heap, small);
         void* q = fill(heap, small);
         heap.deallocate(p, small);
         heap.deallocate(q, small);
         return call{};
     },
     0},
    {"allocate: the first of its class", [](tested&) { return call{}; }, 1},
    {"allocate: the first of its class, in a free arena from a list",
     [](tested& heap) {
         leave_scattered(heap);
         return call{};
     },
     1},
    {"allocate: the first of its class, in an arena from a free run",
     [](tested& heap) {
         leave_runs(heap);
         return call{};
     },
     1},
    {"allocate aligned to 64: an arena of the class has room",
     [](tested& heap) {
         (void)heap.allocate(64);
         return call{.bytes = 40, .alignment = 64};
     },
     0},
    {"allocate an arena: one that was never used", [](tested&) { return call{.bytes = arena}; }, 1},
    {"allocate an arena: from a list",
     [](tested& heap) {
         leave_scattered(heap);
         return call{.bytes = arena};
     },
     1},
    {"allocate three arenas: never used", [](tested&) { return call{.bytes = run}; }, 3},
    {"allocate three arenas: from a list",
     [](tested& heap) {
         leave_runs(heap);
         return call{.bytes = run};
     },
     3},
    {"allocate two arenas: of a longer run",
     [](tested& heap) {
         leave_runs(heap);
         (void)heap.allocate(2 * arena);
         return call{.bytes = 2 * arena};
     },
     2},
};

const std::vector<path<tested>> deallocations = {
    {"deallocate: others live in its arena",
     [](tested& heap) {
         void* p = heap.allocate(small);
         (void)heap.allocate(small);
         return call{.p = p};
     },
     0},
    {"deallocate: its arena was full", [](tested& heap) { return call{.p = fill(heap, small)}; }, 0},
    {"deallocate: its arena was full, and others of the class have room",
     [](tested& heap) {
         void* p = fill(heap, small);
         (void)heap.allocate(small);
         return call{.p = p};
     },
     0},
    {"deallocate: the last one of its arena, which goes to those never used",
     [](tested& heap) { return call{.p = heap.allocate(small)}; }, -1},
    {"deallocate: the last one of its arena, which goes to a list",
     [](tested& heap) {
         void* p = heap.allocate(small);
         (void)heap.allocate(half);
         return call{.p = p};
     },
     -1},
    {"deallocate: the last one of its arena, which goes to a list, amid others of the class",
     [](tested& heap) {
         void* p = heap.allocate(half);
         void* q = heap.allocate(half);
         void* r = heap.allocate(half);
         (void)heap.allocate(half);
         void* s = heap.allocate(half);
         (void)heap.allocate(half);
         void* scattered = heap.allocate(arena);
         (void)heap.allocate(arena);
         heap.deallocate(scattered, arena);
         // The list of the class: the arena of s, that of p and q, that of r.
         heap.deallocate(r, half);
         heap.deallocate(p, half);
         heap.deallocate(s, half);
         return call{.p = q, .bytes = half};
     },
     -1},
    {"deallocate an arena: to a list",
     [](tested& heap) {
         void* p = heap.allocate(arena);
         (void)heap.allocate(arena);
         return call{.p = p, .bytes = arena};
     },
     -1},
    {"deallocate three arenas: to those never used",
     [](tested& heap) { return call{.p = heap.allocate(run), .bytes = run}; }, -3},
    {"deallocate three arenas: to a list",
     [](tested& heap) {
         void* p = heap.allocate(run);
         (void)heap.allocate(run);
         return call{.p = p, .bytes = run};
     },
     -3},
};

}  // namespace realtime_heap_paths

void add_realtime_heap_paths(suite& entries) {
    add_counted_paths(entries, "realtime_heap", realtime_heap_paths::allocations);
    add_counted_paths(entries, "realtime_heap", realtime_heap_paths::deallocations);
}

}  // namespace bench
