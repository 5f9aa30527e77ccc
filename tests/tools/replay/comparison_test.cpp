// Comparisons over real processes. Tests that figures exist and are consistent, not their values.
#include "replay/comparison.hpp"

#include <gtest/gtest.h>
#include <acre/core/sanitizer.hpp>

#include <nlohmann/json.hpp>

#include "replay/contender_list.hpp"
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

contender named(std::string_view name) {
    return {.resource = resource_number(name)};
}

TEST(comparison, gives_a_standing_to_every_contender) {
    replay_host host;
    const sequence steps = some_steps();
    const std::vector<contender> contenders = installed_contenders("all");
    double progress = 0;
    comparison_options options;
    options.rounds = 3;
    options.check = true;
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
        EXPECT_GE(each.ratio.median, 0);
        EXPECT_GT(each.wall_nanoseconds.median, 0);
        EXPECT_LE(each.ratio.low, each.ratio.median);
        EXPECT_GE(each.ratio.high, each.ratio.median);
        // AddressSanitizer's malloc does not report what it holds.
        const resource_group group = resources()[contenders[i].resource].group;
        const bool tells = !acre::poisoning || group == resource_group::standard;
        EXPECT_GE(each.peak_bytes, tells ? steps.peak_bytes : 0) << resources()[contenders[i].resource].name;
        EXPECT_EQ(found.saved[i].size(), 3U);
    }
}

TEST(comparison, goes_on_when_one_runs_out_of_memory) {
    replay_host host;
    const sequence steps = some_steps();
    const contender arena = named("arena");
    const contender fallback = named("new_delete");
    comparison_options options;
    options.rounds = 2;
    options.memory_limit = 100'000;
    const comparison found = compare(host, steps.view(), {arena, fallback}, options);
    EXPECT_TRUE(found.standings[0].failed());
    EXPECT_LT(found.standings[0].last.failed_step, steps.steps.size());
    EXPECT_FALSE(found.standings[1].failed());

    replay_outcome outcome;
    outcome.events = outcome.recorded_events = 5000;
    outcome.contenders = {arena, fallback};
    outcome.heaps.push_back({0, found});
    EXPECT_TRUE(outcome.any_failed());
    std::vector<replay_failure> failures = replay_failures(outcome);
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failure_text(failures[0]), "arena ran out of memory");
    failures[0].event = "event 7";
    EXPECT_EQ(failure_text(failures[0]), "arena ran out of memory at event 7");
    EXPECT_TRUE(replay_json(outcome, failures)["resources"][1]["failed"].get<bool>());
    EXPECT_NE(replay_text(outcome).find("failed"), std::string::npos);
}

TEST(comparison, says_that_only_the_beginning_of_a_trace_was_replayed) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.rounds = 1;
    replay_outcome outcome;
    outcome.trace = "long.acre";
    outcome.events = outcome.recorded_events = 5000;
    outcome.heaps.push_back({0, compare(host, steps.view(), {}, options)});
    EXPECT_TRUE(replay_text(outcome).starts_with("5,000 events of long.acre"));
    EXPECT_TRUE(replay_json(outcome, {})["notes"].empty());
    outcome.recorded_events = 80'000;
    EXPECT_TRUE(replay_text(outcome).starts_with("the first 5,000 events of long.acre"));
    const nlohmann::json made = replay_json(outcome, {});
    EXPECT_EQ(made["events"], 5000);
    EXPECT_EQ(made["recorded_events"], 80'000);
    ASSERT_EQ(made["notes"].size(), 1U);
    EXPECT_TRUE(made["notes"][0].get<std::string>().starts_with("Only the first 5,000 of 80,000 events were replayed"));
    outcome.is_sample = true;
    EXPECT_TRUE(replay_json(outcome, {})["notes"][0].get<std::string>().starts_with(
        "A sample of 5,000 of 80,000 events was replayed"));
}

TEST(comparison, finds_parameters_that_were_not_given) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.rounds = 1;
    contender given = named("multi_arena");
    given.parameters = {.count = 3000, .bytes = 4096};
    contender too_few = given;
    too_few.parameters.count = 2;
    const comparison found = compare(host, steps.view(), {named("multi_arena"), given, too_few}, options);
    EXPECT_FALSE(found.standings[0].failed());
    EXPECT_GT(found.standings[0].parameters.count, 0U);
    EXPECT_GE(found.standings[0].parameters.count * found.standings[0].parameters.bytes, steps.peak_bytes);
    EXPECT_EQ(found.standings[1].parameters, given.parameters);
    EXPECT_FALSE(found.standings[1].failed());
    EXPECT_EQ(found.standings[2].last.failure, trial_failure::out_of_memory);
}

TEST(comparison, plays_threads_and_leaves_out_frees) {
    made_trace made;
    std::vector<std::uint64_t> live;
    for (std::uint32_t i = 0; i < 6000; ++i) {
        live.push_back(made.allocate(0, 16 + i % 100, i % 3));
        if (i % 2 == 0) made.release(live[i / 2], 0, (i + 1) % 3);
    }
    sequence_builder builder{lanes::as_recorded};
    for (const event& e : made.events) builder.add(e);
    const sequence steps = builder.finish();
    contender without = named("concurrent_arena");
    without.without_frees = true;
    replay_host host;
    comparison_options options;
    options.rounds = 2;
    const comparison found =
        compare(host, steps.view(), {named("concurrent_arena"), without, named("concurrent_multi_pool")}, options);
    for (const standing& each : found.standings) EXPECT_FALSE(each.failed());
    EXPECT_GE(found.standings[1].peak_bytes, steps.peak_bytes);
    EXPECT_GT(found.system.wall_nanoseconds.median, 0);
}

TEST(comparison, measures_no_memory_for_contenders_with_time_only) {
    replay_host host;
    const sequence steps = some_steps();
    contender arena = named("arena");
    arena.time_only = true;
    contender open = named("multi_arena");  // its number of arenas is found by trying
    open.time_only = true;
    comparison_options options;
    options.rounds = 1;
    const comparison found = compare(host, steps.view(), {arena, named("arena"), open}, options);
    for (const standing& each : found.standings) {
        EXPECT_FALSE(each.failed());
        EXPECT_GT(each.nanoseconds.median, 0);
    }
    EXPECT_EQ(found.standings[0].system_bytes, 0U);
    EXPECT_GE(found.standings[1].peak_bytes, steps.peak_bytes);
    EXPECT_GT(found.standings[2].parameters.count, 0U);
}

TEST(comparison, stops_early_when_nothing_is_saved) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.max_seconds = 60;
    options.min_saving = 1e15;
    EXPECT_EQ(compare(host, steps.view(), {named("arena")}, options).rounds, 3U);
    options.min_saving = 1e-3;
    const comparison found = compare(host, steps.view(), {named("arena")}, options);
    EXPECT_TRUE(found.rounds > 3 || found.saved_nanoseconds(0).high < 1e-3);
}

TEST(comparison, plays_fewer_rounds_when_time_runs_out) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.rounds = 4;
    options.min_rounds = 2;
    options.max_seconds = 0;
    EXPECT_EQ(compare(host, steps.view(), {}, options).rounds, 2U);
    options.max_seconds = 60;
    EXPECT_EQ(compare(host, steps.view(), {}, options).rounds, 4U);
}

TEST(comparison, plays_over_a_fragmented_heap) {
    replay_host host;
    const sequence steps = some_steps();
    comparison_options options;
    options.rounds = 2;
    options.fragmentation_blocks = 10'000;
    const comparison found = compare(host, steps.view(), {named("std_pool")}, options);
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
        EXPECT_FALSE(result.failed());
        EXPECT_GE(result.peak_bytes, static_cast<std::uint64_t>(count) * 32);
        EXPECT_LT(result.peak_bytes, static_cast<std::uint64_t>(count) * 32 * 8 + 4096);
    }
}

TEST(comparison, a_child_that_dies_is_a_result) {
    replay_host host;
    // Frees a slot that was never allocated, with a size that no pool has: at best free() of an invalid pointer.
    sequence broken;
    broken.shapes.push_back({16, 16});
    broken.slots = 1;
    broken.steps.emplace_back(step_kind::reallocate, 0U, 7'000'000U);
    host.stage(broken.view());
    const trial_result result = host.measure({.resource = resource_number("std_pool"), .memory_limit = 1 << 20});
    EXPECT_TRUE(result.failed());  // under sanitizers by a status, not by a signal
    // The host is still alive.
    const sequence steps = some_steps();
    host.stage(steps.view());
    EXPECT_EQ(host.measure({.resource = system_number, .memory_limit = 1 << 20}).signal, 0);
}

}  // namespace
