// The arenas of a realtime_heap that are found for a selection.
#include "fit/realtime_fit.hpp"

#include <gtest/gtest.h>

#include <acre/heaps/realtime_heap.hpp>
#include <algorithm>

#include "made_workload.hpp"
#include "tools/support/random_trace.hpp"

namespace {

using namespace acre::test;

TEST(realtime_fit, counts_each_class_at_its_peak) {
    made_trace made;
    const auto stack = made.stack({"main", "work"});
    std::vector<std::uint64_t> small;
    for (int i = 0; i < 200; ++i) small.push_back(made.allocate(stack, 60));
    for (const auto each : small) made.release(each, stack);
    for (int i = 0; i < 16; ++i) made.allocate(stack, 1024);
    const auto large = made.allocate(stack, 20'000);
    made.release(large, stack);
    const realtime_fit found = fit_realtime_heap(source_of(made));
    ASSERT_NE(found.arena_bytes, 0U);
    EXPECT_TRUE(found.impossible.empty());
    ASSERT_EQ(found.classes.size(), 3U);
    EXPECT_EQ(found.classes[0].bytes, 64U);
    EXPECT_EQ(found.classes[0].peak_objects, 200U);
    EXPECT_EQ(found.classes[1].bytes, 1024U);
    EXPECT_EQ(found.classes[1].peak_objects, 16U);
    EXPECT_EQ(found.classes[2].peak_objects, 1U);
    EXPECT_EQ(found.arenas,
              acre::required_arenas({{64, 200}, {1024, 16}, {20'000, 1}}, static_cast<std::size_t>(found.arena_bytes)));
}

// Whatever the size of arenas: what is found is what the library computes from the same peaks.
TEST(realtime_fit, agrees_with_the_library) {
    made_trace made;
    const auto stack = made.stack({"main", "work"});
    std::vector<acre::allocation_peak> peaks;
    for (std::size_t bytes = 1; bytes < 300'000; bytes += bytes / 3 + 5) {
        const std::size_t count = 1 + bytes % 7;
        peaks.push_back({bytes, count});
        for (std::size_t i = 0; i < count; ++i) made.allocate(stack, bytes);
    }
    const realtime_fit found = fit_realtime_heap(source_of(made));
    EXPECT_EQ(found.arenas, acre::required_arenas(peaks, static_cast<std::size_t>(found.arena_bytes)));
    for (std::size_t bytes = 1024; bytes <= 65536; bytes *= 2) {
        EXPECT_LE(found.total_bytes,
                  acre::realtime_heap::required_bytes({.arenas = acre::required_arenas(peaks, bytes), .bytes = bytes}));
    }
}

TEST(realtime_fit, says_what_no_heap_can_serve) {
    made_trace made;
    const auto stack = made.stack({"main", "page"});
    made.allocate(stack, 8192);
    made.events.back().alignment_log2 = 20;
    EXPECT_NE(fit_realtime_heap(source_of(made)).impossible.find("alignment"), std::string::npos);
    made.events.back().alignment_log2 = 0;
    made.allocate(stack, std::uint64_t{1} << 40);
    EXPECT_NE(fit_realtime_heap(source_of(made)).impossible.find("262,144 arenas"), std::string::npos);
}

}  // namespace
