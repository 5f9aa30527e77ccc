// acre::check_invariants (acre/observe/describe.hpp): it notices what a program's stray write does to a resource's own
// data, in each kind of resource. tests/conformance calls it between random operations of every resource.
#include <gtest/gtest.h>

#include <acre/adapt/pmr.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/observe/describe.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace {

using acre::check_invariants;

template <class R>
std::string said_of(const R& r) {
    const char* const what = acre::broken_invariant(r);
    EXPECT_EQ(check_invariants(r), what == nullptr);
    return what == nullptr ? "" : what;
}

/// What is said of `r` while `place` has another value.
template <class R, class T, class Value>
std::string said_with(const R& r, T& place, Value value) {
    EXPECT_EQ(said_of(r), "");
    const T before = std::exchange(place, static_cast<T>(value));
    std::string said = said_of(r);
    place = before;
    EXPECT_EQ(said_of(r), "");
    return said;
}

/// The header of the block that begins with the allocation at `p`.
acre::detail::arena_block& block_of(void* p) {
    return *reinterpret_cast<acre::detail::arena_block*>(static_cast<std::byte*>(p) -
                                                         acre::detail::arena_block::header_bytes);
}

TEST(check_invariants, of_an_arena) {
    acre::arena level;
    EXPECT_EQ(said_of(level), "");
    acre::detail::arena_block& first = block_of(level.allocate(100, 8));
    while (level.capacity() == first.bytes) (void)level.allocate(100);
    EXPECT_EQ(said_with(level, first.bytes, first.bytes + 64), "blocks hold other bytes than counted");
    EXPECT_EQ(said_with(level, first.bytes, 0), "blocks hold other bytes than counted");
    EXPECT_EQ(said_with(level, first.filled, first.end() + 8), "a full block is not filled up to a place in it");
    level.reset();
    EXPECT_EQ(said_with(level, first.bytes, first.bytes - 8), "the position is not in the current block");
}

TEST(check_invariants, of_an_arena_with_scratches_and_objects) {
    acre::arena level{{.fixed_bytes = 4096}};
    level.create<std::string>("a text");
    acre::scratch outer{level};
    acre::scratch inner{level};
    (void)inner.allocate(16);
    EXPECT_EQ(said_of(level), "");
    EXPECT_EQ(said_of(inner), "");
    inner.end();
    EXPECT_EQ(said_of(inner), "");
}

template <class Pool>
acre::detail::bitmap_slabs::slab& slab_of(const Pool&, void* p) {
    return *acre::detail::bitmap_slabs::place_of(Pool::geometry, p).home;
}

TEST(check_invariants, of_a_pool) {
    acre::pool<64> slots;
    EXPECT_EQ(said_of(slots), "");
    void* const p = slots.allocate();
    auto& slab = slab_of(slots, p);
    std::uint8_t& state = slab.states[acre::detail::bitmap_slabs::place_of(slots.geometry, p).slot];
    EXPECT_EQ(said_with(slots, state, 0xff), "the map of a slab was overwritten");
    // The header may lie behind the first slot: where depends on the slab's address.
    std::uint8_t* next = &state + 1;
    while (*next != acre::detail::bitmap_slabs::slot_state::free) ++next;
    EXPECT_EQ(said_with(slots, *next, 0), "a slot to be handed out next is not free");
    EXPECT_EQ(said_with(slots, slab.groups, 0), "the header of a slab was overwritten");
    EXPECT_EQ(said_with(slots, slab.region_bytes, 0), "slabs hold other bytes than counted");
    slab.names.lister = nullptr;
    EXPECT_EQ(said_of(slots), "a slab with free slots is not listed");
    slab.names.lister = reinterpret_cast<acre::detail::bitmap_slabs*>(&slab);
    EXPECT_EQ(said_of(slots), "the list of slabs with free slots was overwritten");
    slab.names.lister = slab.names.owner;
    EXPECT_EQ(said_of(slots), "");
}

TEST(check_invariants, of_large_blocks) {
    acre::multi_pool nodes;
    (void)nodes.allocate(8);
    auto* const large = static_cast<std::byte*>(nodes.allocate(100'000)) - acre::redzone_bytes;
    auto& bytes = *reinterpret_cast<std::size_t*>(large - 2 * sizeof(std::size_t));
    EXPECT_EQ(said_with(nodes, bytes, 50'000), "large blocks hold other bytes than counted");
    auto& owner = *reinterpret_cast<std::uintptr_t*>(large - 5 * sizeof(std::size_t));
    EXPECT_EQ(said_with(nodes, owner, 0), "the record in front of a large block was overwritten");
}

TEST(check_invariants, of_a_multi_arena) {
    alignas(64) std::byte storage[16384] = {};
    acre::buffer memory{storage};
    acre::multi_arena frames{{.arenas = 4, .bytes = 1024}, memory};
    for (int i = 0; i < 3; ++i) (void)frames.allocate(100);
    using record = acre::detail::arena_record;
    record* first = nullptr;
    for (std::size_t at = 0; at + sizeof(record) <= sizeof storage; at += alignof(record)) {
        auto* const each = reinterpret_cast<record*>(storage + at);
        if (acre::is_poisoned(&each->live) || acre::is_poisoned(&each->link)) continue;
        if (each->live != 3 || each->link != record::taken) continue;
        first = each;
        break;
    }
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(said_with(frames, first->position, first->end + 16), "the position is not in its arena");
    EXPECT_EQ(said_with(frames, first->link, 0), "arenas are counted wrongly");
}

TEST(check_invariants, of_a_realtime_heap) {
    constexpr acre::realtime_heap_options options{.arenas = 8, .bytes = 4096};
    constexpr std::size_t bytes = acre::realtime_heap::required_bytes(options);
    const auto storage = std::make_unique<std::byte[]>(bytes + options.bytes);
    acre::buffer memory{std::span{storage.get(), bytes + options.bytes}};
    acre::realtime_heap control{options, memory};
    void* const slot = control.allocate(64);
    (void)control.allocate(10'000);
    auto* const arenas = reinterpret_cast<acre::detail::heap_arena*>(
        static_cast<std::byte*>(slot) + acre::detail::realtime_layout::arena_stride(options.bytes) * options.arenas);
    EXPECT_EQ(said_with(control, arenas->words[0], 3), "the map of an arena was overwritten");
    EXPECT_EQ(said_with(control, arenas->full, 1), "the map of an arena was overwritten");
    EXPECT_EQ(said_with(control, arenas->use, acre::detail::arena_use::taken_run),
              "the list of arenas with a free slot was overwritten");
    EXPECT_EQ(said_with(control, arenas->count, 0), "the map of an arena was overwritten");
    EXPECT_EQ(said_with(control, arenas->link, &arenas->next), "the list of arenas with a free slot was overwritten");
}

#if ACRE_HAS_GENERAL_HEAP
TEST(check_invariants, of_the_general_heap) {
    acre::general_heap heap;
    void* const slot = heap.allocate(100);
    void* const large = heap.allocate(100'000);
    EXPECT_EQ(said_of(heap), "");
    heap.deallocate(slot);
    heap.deallocate(large);
    EXPECT_EQ(said_of(heap), "");
}

TEST(check_invariants, of_the_heaps_runs_and_slabs) {
    static constinit acre::detail::locked_range in;
    static constinit acre::detail::heap_depot depot;
    acre::detail::heap_range& range = in.range;
    ASSERT_TRUE(range.reserve());
    bool is_zero = false;
    const acre::detail::unit_number first = range.take(10, 1, is_zero);
    (void)range.take(10, 1, is_zero);
    EXPECT_EQ(range.broken_invariant(), nullptr);
    range.record(first).length = 9;
    EXPECT_STREQ(range.broken_invariant(), "the ends of a run differ");
    range.record(first).length = 0;
    EXPECT_STREQ(range.broken_invariant(), "the record of a run was overwritten");
    range.record(first).length = 10;
    range.give(first, 10);
    EXPECT_EQ(range.broken_invariant(), nullptr);
    range.record(first).in_list.next = first;
    EXPECT_STREQ(range.broken_invariant(), "the list of free runs was overwritten");
    range.record(first).in_list.next = 0;

    void* slot = nullptr;
    ASSERT_EQ(depot.take(in, {1, 1}, &slot, 1), 1U);
    EXPECT_EQ(depot.broken_invariant(range), nullptr);
    EXPECT_EQ(range.broken_invariant(), nullptr);
    acre::detail::heap_slab& slab = *range.record(range.unit_of(slot)).slab;
    slab.free_bits[0] |= 1;
    EXPECT_STREQ(depot.broken_invariant(range), "the record of a slab was overwritten");
}
#endif

TEST(check_invariants, looks_through_wrappers) {
    acre::synchronized<acre::statistics<acre::pool<64>>> counted;
    void* const p = counted.allocate();
    auto& of_counted = *acre::detail::bitmap_slabs::place_of(acre::pool<64>::geometry, p).home;
    EXPECT_EQ(said_with(counted, of_counted.groups, 0), "the header of a slab was overwritten");

    acre::unique_resource<acre::object_pool<int>> objects;
    auto& of_objects = slab_of(*objects, objects->create(1));
    EXPECT_EQ(said_with(objects, of_objects.groups, 0), "the header of a slab was overwritten");

    acre::pmr<acre::arena> face;
    auto& block = block_of(face->allocate(100, 8));
    EXPECT_NE(said_with(face, block.bytes, 0), "");

    acre::fallback<acre::arena, acre::pool<64>> both;
    EXPECT_EQ(said_of(both), "");

#if ACRE_HAS_THREADS
    acre::concurrent_pool<64> shared;
    auto& of_shared = slab_of(shared, shared.allocate());
    EXPECT_EQ(said_with(shared, of_shared.groups, 0), "the header of a slab was overwritten");
#endif
}

}  // namespace
