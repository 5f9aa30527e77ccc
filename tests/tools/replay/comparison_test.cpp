// Rounds over real processes; what they measure is not looked at, that they measure is.
#include "replay/comparison.hpp"

#include <gtest/gtest.h>
#include <acre/core/sanitizer.hpp>

#include <nlohmann/json.hpp>

#include "replay/replay_report.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "tools/support/made_trace.hpp"

namespace {

using namespace acre::test;

sequence some_steps() {
    made_trace made;
    std::vector<std::uint64_t> live;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        live.push_back(made.allocate(0, 16 + i % 200));
        if (i % 3 != 0) continue;
        made.release(live.front(), 0);
        live.erase(live.begin());
    }
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

std::vector<contender> all_contenders() {
    std::vector<contender> all;
    for (std::uint32_t i = loop_number + 1; i < resources().size(); ++i) all.push_back({i, {}});
    return all;
}

TEST(comparison, gives_a_standing_to_everyone) {
    replay_host host;
    const sequence steps = some_steps();
    const std::vector<contender> contenders = all_contenders();
    double progress = 0;
    comparison_options options;
    options.rounds = 3;
    options.progress = [&](double done) {
        EXPECT_GE(done, progress);
        progress = done;
    };
    const comparison found = compare(host, steps.view(), contenders, options);
    EXPECT_EQ(found.rounds, 3U);
    EXPECT_EQ(progress, 1.0);
    EXPECT_EQ(found.system.ratio.median, 1.0);
    EXPECT_GT(found.loop_nanoseconds.median, 0);
    ASSERT_EQ(found.standings.size(), contenders.size());
    for (std::size_t i = 0; i < contenders.size(); ++i) {
        const standing& each = found.standings[i];
        EXPECT_FALSE(each.failed()) << resources()[contenders[i].resource].name;
        EXPECT_GT(each.ratio.median, 0);
        EXPECT_LE(each.ratio.low, each.ratio.median);
        EXPECT_GE(each.ratio.high, each.ratio.median);
        // AddressSanitizer's malloc does not say what it holds.
        const bool tells = !acre::poisoning || contenders[i].resource != resource_number("new_delete");
        EXPECT_GE(each.peak_bytes, tells ? steps.peak_bytes : 0);
        EXPECT_EQ(found.saved[i].size(), 3U);
    }
}

TEST(comparison, goes_on_when_one_runs_out_of_memory) {
    replay_host host;
    const sequence steps = some_steps();
    const contender arena{resource_number("arena"), {}};
    const contender system{resource_number("new_delete"), {}};
    comparison_options options;
    options.rounds = 2;
    options.memory_limit = 100'000;
    const comparison found = compare(host, steps.view(), {arena, system}, options);
    EXPECT_TRUE(found.standings[0].failed());
    EXPECT_LT(found.standings[0].failed_step, steps.steps.size());
    EXPECT_FALSE(found.standings[1].failed());

    const replay_outcome outcome{"a.acre", 5000, 1, steps.peak_bytes, false, {arena, system}, found};
    EXPECT_TRUE(outcome.any_failed());
    ASSERT_EQ(replay_failures(outcome).size(), 1U);
    EXPECT_EQ(replay_failures(outcome)[0],
              "arena ran out of memory at event " + std::to_string(found.standings[0].failed_step));
    EXPECT_TRUE(replay_json(outcome)["resources"][1]["failed"].get<bool>());
}

TEST(comparison, plays_over_a_littered_heap) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.rounds = 2;
    options.litter = 10'000;
    const comparison found = compare(host, steps.view(), {{resource_number("std_pool"), {}}}, options);
    EXPECT_FALSE(found.system.failed());
    EXPECT_FALSE(found.standings[0].failed());
}

TEST(comparison, several_sequences_after_each_other) {
    replay_host host;
    for (const int count : {10, 10'000, 10}) {
        made_trace made;
        for (int i = 0; i < count; ++i) made.allocate(0, 32);
        sequence_builder builder;
        for (const event& e : made.events) builder.add(e);
        const sequence steps = builder.finish();
        host.stage(steps.view());
        const std::uint32_t number = resource_number("std_monotonic");
        const trial_result result = host.measure({.resource = number, .memory_limit = std::uint64_t{1} << 30});
        EXPECT_EQ(result.failed_step, trial_result::no_step);
        EXPECT_GE(result.peak_bytes, static_cast<std::uint64_t>(count) * 32);
        EXPECT_LT(result.peak_bytes, static_cast<std::uint64_t>(count) * 32 * 8 + 4096);
    }
}

TEST(comparison, a_child_that_dies_is_an_answer) {
    replay_host host;
    // A release of a slot that nothing was allocated into, with a size that belongs to no pool: free(garbage) at best.
    sequence broken;
    broken.shapes.push_back({16, 16});
    broken.slots = 1;
    broken.steps.emplace_back(step_kind::reallocate, 0, 7'000'000);
    host.stage(broken.view());
    const trial_result result = host.measure({.resource = resource_number("std_pool"), .memory_limit = 1 << 20});
    EXPECT_NE(result.signal, 0);
    // And the host lives on.
    const sequence steps = some_steps();
    host.stage(steps.view());
    EXPECT_EQ(host.measure({.resource = system_number, .memory_limit = 1 << 20}).signal, 0);
}

}  // namespace
