#include "report/bands.hpp"

#include <gtest/gtest.h>

namespace {

using namespace acre::tool;

mark at(std::uint64_t time, mark_kind kind, std::uint32_t name = 0, std::uint32_t thread = 0) {
    return {.time = time, .event = 0, .thread = thread, .name = name, .kind = kind};
}

TEST(bands, are_kept_while_they_are_few) {
    band_lane lane;
    lane.add(0, 100, 5);
    lane.add(200, 400, 7);
    ASSERT_EQ(lane.bands().size(), 2U);
    EXPECT_EQ(lane.bands()[1].begin, 200U);
    EXPECT_EQ(lane.bands()[1].end, 400U);
    EXPECT_EQ(lane.bands()[1].bytes, 7U);
    EXPECT_EQ(lane.total_time(), 300U);
    EXPECT_EQ(lane.longest(), 200U);
}

TEST(bands, of_many_intervals_are_merged_without_loss) {
    band_lane lane;
    constexpr std::uint64_t intervals = 100'000;
    for (std::uint64_t i = 0; i < intervals; ++i) lane.add(i * 1000, i * 1000 + 900, i);
    EXPECT_LE(lane.bands().size(), band_lane::max_bands);
    EXPECT_GE(lane.bands().size(), band_lane::max_bands / 3);
    EXPECT_EQ(lane.count(), intervals);
    EXPECT_EQ(lane.total_time(), intervals * 900);
    EXPECT_EQ(lane.longest(), 900U);
    std::uint64_t count = 0;
    std::uint64_t before = 0;
    for (const band& each : lane.bands()) {
        EXPECT_GE(each.begin, before);
        EXPECT_GT(each.end, each.begin);
        before = each.end;
        count += each.count;
    }
    EXPECT_EQ(count, intervals);
    EXPECT_EQ(lane.bands().back().bytes, intervals - 1);
}

TEST(bands, do_not_overlap_when_a_clock_goes_back) {
    band_lane lane;
    lane.add(100, 300, 1);
    lane.add(200, 250, 1);
    EXPECT_GE(lane.bands()[1].begin, lane.bands()[0].end);
    EXPECT_GE(lane.bands()[1].end, lane.bands()[1].begin);
}

TEST(bands, with_the_most_time_are_kept_in_their_order) {
    lane_list list;
    for (const std::uint64_t length : {5U, 100U, 1U, 50U}) {
        band_lane lane;
        lane.add(0, length, 0);
        list.lanes.push_back({std::to_string(length), 0, 0, lane});
    }
    list.keep_longest(2);
    ASSERT_EQ(list.lanes.size(), 2U);
    EXPECT_EQ(list.lanes[0].name, "100");
    EXPECT_EQ(list.lanes[1].name, "50");
    EXPECT_EQ(list.omitted, 2U);
}

TEST(bands, of_scopes_are_separate_for_each_thread) {
    trace_tables tables;
    tables.scope_names = {"request", "parse"};
    scope_bands scopes;
    scopes.add(at(100, mark_kind::scope_begin, 0, 0));
    scopes.add(at(150, mark_kind::scope_begin, 0, 1));
    scopes.add(at(200, mark_kind::scope_begin, 1, 0));
    scopes.add(at(300, mark_kind::scope_end, 1, 0));
    scopes.add(at(350, mark_kind::scope_end, 0, 1));
    scopes.add(at(400, mark_kind::scope_end, 0, 0));
    const lane_list list = scopes.finish(1000, tables);
    ASSERT_EQ(list.lanes.size(), 3U);
    EXPECT_EQ(list.lanes[0].name, "request");
    EXPECT_EQ(list.lanes[0].lane.total_time(), 300U);
    EXPECT_EQ(list.lanes[1].thread, 1U);
    EXPECT_EQ(list.lanes[1].lane.total_time(), 200U);
    EXPECT_EQ(list.lanes[2].name, "parse");
    EXPECT_EQ(list.lanes[2].lane.total_time(), 100U);
}

TEST(bands, of_a_scope_within_itself_are_one_and_open_ones_end_with_the_trace) {
    trace_tables tables;
    tables.scope_names = {"walk"};
    scope_bands scopes;
    scopes.add(at(0, mark_kind::scope_begin));
    scopes.add(at(10, mark_kind::scope_begin));
    scopes.add(at(20, mark_kind::scope_end));
    scopes.add(at(50, mark_kind::scope_end));
    scopes.add(at(60, mark_kind::scope_begin));
    const lane_list list = scopes.finish(100, tables);
    ASSERT_EQ(list.lanes.size(), 1U);
    EXPECT_EQ(list.lanes[0].lane.count(), 2U);
    EXPECT_EQ(list.lanes[0].lane.total_time(), 90U);
}

TEST(bands, of_pauses_need_no_resumption) {
    scope_bands scopes;
    scopes.add(at(10, mark_kind::recording_paused));
    scopes.add(at(20, mark_kind::recording_paused));
    scopes.add(at(30, mark_kind::recording_resumed));
    scopes.add(at(40, mark_kind::recording_resumed));
    scopes.add(at(50, mark_kind::recording_paused));
    scopes.finish(80, {});
    ASSERT_EQ(scopes.pauses().bands().size(), 2U);
    EXPECT_EQ(scopes.pauses().total_time(), 50U);
}

}  // namespace
