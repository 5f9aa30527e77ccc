#include "report/run_picture.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "advise/candidates.hpp"
#include "info/trace_summary.hpp"
#include "report/page.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

class picture : public testing::Test {
protected:
    /// The picture of the trace as made so far.
    const run_picture& drawn(const made_trace& made, const picture_limits& limits = {}) {
        reader_.emplace(made.write(directory_ / "a.acre"));
        paths_.emplace(reader_->tables());
        summary_ = summarise(*reader_, *paths_);
        const history run{*reader_, *paths_};
        const advice_list list = run.object_count() == 0 ? advice_list{} : find_candidates(run, *paths_);
        picture_ = draw_run(*reader_, *paths_, summary_.peak_bytes, run, list.advices, limits);
        return picture_;
    }

    const trace_summary& summary() const { return summary_; }
    nlohmann::json json() const { return report_json(picture_, *paths_, reader_->header(), {}); }

private:
    temporary_directory directory_;
    std::optional<trace_reader> reader_;
    std::optional<call_paths> paths_;
    trace_summary summary_;
    run_picture picture_;
};

std::uint64_t objects_in(const tally_histogram& histogram) {
    std::uint64_t count = 0;
    for (const tally& each : histogram.classes()) count += each.count;
    return count;
}

TEST_F(picture, agrees_with_the_summary_of_the_same_trace) {
    const run_picture& all = drawn(random_trace(1, 20'000));
    EXPECT_EQ(objects_in(all.sizes), summary().allocated.count);
    EXPECT_EQ(objects_in(all.life_times), summary().frees);
    EXPECT_EQ(objects_in(all.life_allocations), summary().frees);
    EXPECT_EQ(objects_in(all.life_bytes), summary().frees);
    EXPECT_EQ(all.never_freed.count, summary().never_freed.count);
    std::uint64_t allocations = 0;
    std::uint64_t peak = 0;
    for (const time_bucket& each : all.buckets) {
        allocations += each.allocated.count;
        peak = std::max(peak, each.max_bytes);
    }
    EXPECT_EQ(allocations, summary().allocated.count);
    EXPECT_EQ(peak, summary().peak_bytes);
    EXPECT_EQ(all.threads.size(), summary().threads);
    std::uint64_t elsewhere = 0;
    for (const thread_figures& each : all.threads) elsewhere += each.frees_of_others;
    EXPECT_EQ(elsewhere, summary().freed_by_other_thread);
}

TEST_F(picture, knows_what_was_live_at_the_peak) {
    made_trace made;
    const auto early = made.stack({"main", "early"});
    const auto late = made.stack({"main", "late"});
    const auto a = made.allocate(early, 1000);
    const auto b = made.allocate(late, 500);
    made.release(a, early);
    made.allocate(late, 700);
    made.release(b, late);
    const run_picture& all = drawn(made);
    const auto peak = static_cast<std::size_t>(flame_weight::peak_bytes);
    EXPECT_EQ(all.flames[0].weights[peak], 1500);
    double largest = 0;
    for (std::size_t i = 2; i < all.flames.size(); ++i) largest = std::max(largest, all.flames[i].weights[peak]);
    EXPECT_EQ(largest, 1000);
}

TEST_F(picture, measures_lifetimes_by_three_clocks) {
    made_trace made;
    const auto site = made.stack({"main:1"});
    made.release(made.allocate(site, 10), site);  // 1 us later, nothing between
    const auto kept = made.allocate(site, 10);
    for (int i = 0; i < 4; ++i) made.allocate(site, 1000);
    made.release(kept, site);
    const run_picture& all = drawn(made);
    EXPECT_EQ(all.life_allocations.classes()[0].count, 1U);
    EXPECT_EQ(all.life_allocations.classes()[3].count, 1U);  // 4 to below 8
    EXPECT_EQ(all.life_bytes.classes()[0].count, 1U);
    EXPECT_EQ(all.life_bytes.classes()[12].count, 1U);  // 2048 to below 4096
    EXPECT_EQ(all.life_times.classes()[0].count, 1U);
    EXPECT_EQ(all.life_times.classes()[2].count, 1U);  // 5 us to below 10 us
}

TEST_F(picture, shows_the_generations_of_an_advised_scope) {
    made_trace made;
    const auto work = made.stack({"main", "request:5", "copy:7"});
    const auto end = made.stack({"main", "request:8"});
    for (std::uint32_t i = 0; i < 100; ++i) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t n = 0; n < 5; ++n) objects.push_back(made.allocate(work, 100 + i, i % 2));
        for (const std::uint64_t object : objects) made.release(object, end, i % 2);
    }
    const run_picture& all = drawn(made);
    ASSERT_EQ(all.generations.lanes.size(), 2U);
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
        const named_lane& lane = all.generations.lanes[thread];
        EXPECT_EQ(lane.name, "request");
        EXPECT_EQ(lane.thread, thread);
        EXPECT_EQ(lane.lane.count(), 50U);
        EXPECT_EQ(lane.lane.longest(), 9000U);
        EXPECT_EQ(lane.lane.bands().front().bytes, 5 * (100U + thread));
    }
}

TEST_F(picture, is_bounded_for_any_trace) {
    made_trace made;
    for (int i = 0; i < 5000; ++i) {
        made.allocate(made.stack({"main", "f" + std::to_string(i)}), 8, static_cast<std::uint32_t>(i));
        made.mark_here(mark_kind::scope_begin, "scope" + std::to_string(i));
    }
    const run_picture& all = drawn(made, {.min_flame_share = 0, .max_flames = 100, .max_lanes = 7, .max_threads = 11});
    EXPECT_EQ(all.flames.size(), 100U);
    EXPECT_EQ(all.scopes.lanes.size(), 7U);
    EXPECT_GE(all.scopes.omitted, 4000U);
    EXPECT_EQ(all.threads.size(), 11U);
    EXPECT_EQ(all.threads.back().allocated.count, 5000U - 10U);
}

TEST_F(picture, exists_for_one_event_and_for_none) {
    made_trace made;
    EXPECT_TRUE(drawn(made).buckets.empty());
    EXPECT_EQ(json()["timeline"]["peak_bytes"].size(), 0U);
    EXPECT_EQ(json()["sizes"].size(), 0U);
    made.allocate(made.stack({"main:1"}), 8);
    EXPECT_EQ(drawn(made).never_freed.count, 1U);
    EXPECT_EQ(json()["sizes"], nlohmann::json::parse("[[8, 16, 1, 8]]"));
}

TEST_F(picture, of_a_sample_is_scaled_to_the_whole_run) {
    made_trace made;
    made.header.sampling_period = 10;
    const auto site = made.stack({"main:1"});
    made.release(made.allocate(site, 8), site);
    made.allocate(site, 8);
    drawn(made);
    EXPECT_EQ(json()["sizes"], nlohmann::json::parse("[[8, 16, 20, 160]]"));
    EXPECT_EQ(json()["timeline"]["frees"].back(), 0);
    EXPECT_EQ(json()["timeline"]["allocations"].back(), 10);
    EXPECT_EQ(json()["flames"]["weights"]["allocations"][0], 20);
    EXPECT_EQ(json()["never_freed"]["bytes"], 80);
    EXPECT_EQ(json()["threads"][0]["frees"], 10);
}

TEST_F(picture, of_the_same_trace_is_the_same) {
    drawn(random_trace(3, 5000));
    const std::string first = json().dump();
    drawn(random_trace(3, 5000));
    EXPECT_EQ(json().dump(), first);
}

}  // namespace
