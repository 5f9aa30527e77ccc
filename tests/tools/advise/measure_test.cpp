// Measuring an advice replays its allocations and nothing else.
#include "advise/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "advise/advice_code.hpp"
#include "advise/advice_report.hpp"
#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/first_steps.hpp"
#include "advise/joined_advice.hpp"
#include "advise/short_answer.hpp"
#include "advise/wording.hpp"
#include "replay/contender_list.hpp"
#include "replay/resources.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

/// Requests in two threads, and a few other allocations.
made_trace two_threads_of_requests() {
    made_trace made;
    const auto text = made.stack({"thread", "request:5", "copy_text:7"});
    const auto end = made.stack({"thread", "request:8"});
    const auto other = made.stack({"thread", "request:6", "log:8"});
    for (int i = 0; i < 60; ++i) {
        std::array<std::vector<std::uint64_t>, 2> objects;
        for (std::uint64_t n = 0; n < 20; ++n) {
            for (std::uint32_t thread = 0; thread < 2; ++thread) {
                objects[thread].push_back(made.allocate(text, 16 + n, thread, operation::new_single));
            }
        }
        made.allocate(other, 100, 1);
        for (std::uint32_t thread = 0; thread < 2; ++thread) {
            for (const std::uint64_t object : objects[thread]) made.release(object, end, thread);
        }
    }
    return made;
}

class measure : public testing::Test {
protected:
    explicit measure(const made_trace& made = two_threads_of_requests())
        : reader_{made.write(directory_ / "a.acre")}, paths_{reader_.tables()}, run_{reader_, paths_} {}

    temporary_directory directory_;
    trace_reader reader_;
    call_paths paths_;
    history run_;
};

TEST_F(measure, an_arenas_sequence_resets_at_the_end_of_each_generation) {
    const advice_list list = find_candidates(run_, paths_);
    ASSERT_EQ(list.advices.at(0).candidate, verdict::arena);
    const sequence steps = advised_sequence(run_, list.advices[0]);
    std::size_t live = 0;
    std::size_t resets = 0;
    std::size_t allocations = 0;
    for (const step& each : steps.steps) {
        if (each.kind() == step_kind::allocate) ++live, ++allocations;
        if (each.kind() == step_kind::release) --live;
        if (each.kind() != step_kind::reset) continue;
        ++resets;
        EXPECT_EQ(live, 0U);
    }
    EXPECT_EQ(resets, 120U);
    EXPECT_EQ(allocations, 2400U);
    // The threads are replayed one after the other, so at most one request's objects are live.
    EXPECT_EQ(steps.slots, 20U);
}

class sample : public testing::Test {
protected:
    sequence of_run(const replay_window& window) {
        trace_reader reader{made.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        return steps_of(history{reader, paths}, window);
    }

    made_trace made;
    std::uint32_t makes = made.stack({"main:1", "malloc"});
    std::uint32_t drops = made.stack({"main:2"});

private:
    temporary_directory directory_;
};

TEST_F(sample, is_of_the_whole_run_and_has_the_frees_of_its_objects) {
    constexpr int objects = 100'000;
    for (int i = 0; i < objects; ++i) made.release(made.allocate(makes, i < objects / 2 ? 16 : 32), drops);
    const sequence steps = of_run({.events = 20'000});
    EXPECT_NEAR(static_cast<double>(steps.steps.size()), 20'000, 2'100);
    EXPECT_TRUE(steps.survivors.empty());
    ASSERT_EQ(steps.shapes.size(), 2U);
    EXPECT_NEAR(static_cast<double>(steps.uses[0]), static_cast<double>(steps.uses[1]), 2'100);
    EXPECT_EQ(of_run({}).steps.size(), 2U * objects);
}

TEST_F(sample, of_many_live_bytes_has_as_many_as_its_window) {
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 50'000; ++i) live.push_back(made.allocate(makes, 1000));
    for (const std::uint64_t each : live) made.release(each, drops);
    const sequence steps = of_run({.live_bytes = 10'000'000});
    EXPECT_GT(steps.peak_bytes, 7'000'000U);
    EXPECT_LT(steps.peak_bytes, 12'000'000U);
    EXPECT_TRUE(steps.survivors.empty());
}

TEST_F(sample, keeps_what_realloc_moves) {
    constexpr int objects = 10'000;
    for (int i = 0; i < objects; ++i) {
        const std::uint64_t first = made.allocate(makes, 16);
        for (int other = 0; other < 3; ++other) made.release(made.allocate(makes, 16), drops);
        made.release(first, makes, 0, operation::realloc);
        made.release(made.allocate(makes, 64, 0, operation::realloc), drops);
    }
    const sequence steps = of_run({.events = 20'000});
    const auto moves = std::ranges::count(steps.steps, step_kind::reallocate, &step::kind);
    // Two steps for each; about a fifth of the run is in the sample.
    EXPECT_GT(moves, 2 * objects / 10);
    std::uint64_t larger = 0;
    for (std::size_t i = 0; i < steps.shapes.size(); ++i) larger += steps.shapes[i].bytes == 64 ? steps.uses[i] : 0;
    EXPECT_EQ(larger, static_cast<std::uint64_t>(moves))
        << "each moved object is freed, and none begins as a moved one";
}

TEST_F(measure, operator_new_is_replayed_as_such) {
    const auto by_new = [](const shape& each) { return each.by_new; };
    const advice_list list = find_candidates(run_, paths_);
    EXPECT_TRUE(std::ranges::all_of(advised_sequence(run_, list.advices.at(0)).shapes, by_new));
    // `log` allocates with malloc.
    const sequence all = steps_of(run_);
    EXPECT_EQ(std::ranges::count_if(all.shapes, by_new), std::ssize(all.shapes) - 1);
}

TEST(measure_time, runs_that_take_long_to_read_are_measured_for_less_time) {
    EXPECT_EQ(patience(1'000'000, 100'000), 1);
    EXPECT_LT(patience(80'000'000, 100), 1);
    EXPECT_LT(patience(6'000'000, 5'000'000), 1);
}

// The code of a multi_arena stands behind a fallback, which costs more than the arenas alone: a stranger's program
// became slower where a replay of the arenas alone said that it saves a tenth.
TEST_F(measure, arenas_are_replayed_as_the_code_has_them) {
    advice each;
    each.candidate = verdict::multi_arena;
    EXPECT_EQ(resources()[contender_of(each).resource].name, "fallback");
}

TEST_F(measure, every_advice_is_measured_and_decided) {
    replay_host host;
    advice_list list = find_candidates(run_, paths_);
    list.cpu_nanoseconds = 200'000;
    double progress = 0;
    measure_advices(host, run_, paths_, list, [&](double done) { progress = done; });
    EXPECT_EQ(progress, 1.0);
    for (const advice& each : list.advices) {
        EXPECT_TRUE(each.saving.done);
        EXPECT_GT(each.saving.candidate_peak_bytes, 0U);
        // More than all of the CPU time says that the replay is not like the run.
        const bool is_worth_it = each.saving.share_of_cpu >= 0.02 && each.saving.share_of_cpu <= 1;
        EXPECT_EQ(each.decision == verdict::leave, each.saving.nanoseconds.low <= 0 || !is_worth_it);
        EXPECT_EQ(each.decision == verdict::leave, !each.reason.empty());
        const bool resettable = each.candidate == verdict::arena || each.candidate == verdict::monotonic_arena;
        EXPECT_EQ(each.saving.without_frees.has_value(), resettable);
        // After a decision to leave, nothing else is measured.
        const bool measured_further = each.decision != verdict::leave;
        EXPECT_EQ(each.saving.fragmented_without_frees.has_value(), resettable && measured_further);
        EXPECT_EQ(each.saving.fragmented_nanoseconds.has_value(), measured_further);
    }
}

TEST(measure_time, grows_with_the_events_and_has_limits) {
    EXPECT_EQ(seconds_to_measure(1'000, 100), seconds_to_measure(10'000, 100));
    EXPECT_NEAR(seconds_to_measure(10'000'000, 100), 2 * seconds_to_measure(5'000'000, 100), 1e-6);
    EXPECT_LE(seconds_to_measure(30'000'000, 100), 5);
}

TEST_F(measure, the_installed_mallocs_are_measured_too) {
    replay_host host;
    advice_list list = find_candidates(run_, paths_);
    measure_advices(host, run_, paths_, list, [](double) {});
    EXPECT_EQ(list.preloads.size(), installed_contenders("preloads").size());
    for (std::size_t i = 1; i < list.preloads.size(); ++i) {
        EXPECT_GE(list.preloads[i - 1].nanoseconds.median, list.preloads[i].nanoseconds.median);
    }
    const bool one_saves =
        !list.preloads.empty() && std::any_of(list.preloads.begin(), list.preloads.end(),
                                              [](const preload_saving& each) { return each.nanoseconds.low > 0; });
    for (const advice& each : list.advices) EXPECT_EQ(each.saving.preload.has_value(), one_saves);
    EXPECT_EQ(advice_json(list, paths_, reader_.header())["preloads"].size(), list.preloads.size());
    EXPECT_EQ(advice_json(list, paths_, reader_.header())["of_resource"], false);
}

TEST(expected_saving, ranges_from_a_share_of_the_clean_heap_to_the_largest_measured) {
    measured_saving saving;
    saving.nanoseconds = {10, 12, 14};
    EXPECT_EQ(saving.expected().low, 6);
    EXPECT_EQ(saving.expected().high, 2 * 14);
    saving.fragmented_nanoseconds = interval{11, 13, 15};
    EXPECT_EQ(saving.expected().high, 2 * 14);
    saving.without_frees = interval{15, 17, 40};
    EXPECT_EQ(saving.expected().high, 40);
    saving.fragmented_nanoseconds = interval{20, 60, 90};
    EXPECT_EQ(saving.expected().high, 90);
    EXPECT_EQ(saving.expected().median, 48);
    saving.fragmented_without_frees = interval{90, 95, 100};
    EXPECT_EQ(saving.expected().high, 100);
}

TEST(expected_saving, has_no_upper_end_where_only_the_cpu_time_bounds_it) {
    measured_saving saving;
    saving.nanoseconds = {10'000, 12'000, 14'000};
    saving.live_peak_bytes = measured_saving::large_peak + 1;
    EXPECT_FALSE(saving.is_open()) << "the CPU time is not known";
    saving.cpu_nanoseconds = 6 * 14'000 + 1;
    EXPECT_FALSE(saving.is_open());
    EXPECT_EQ(saved_text(saving.expected(), saving.is_open()), "6.0 us to 84.0 us");
    saving.cpu_nanoseconds = 50'000;
    EXPECT_TRUE(saving.is_open());
    EXPECT_EQ(saved_text(saving.expected(), saving.is_open()), "6.0 us or more");
}

TEST(expected_saving, has_the_shares_of_its_ends_in_its_text) {
    EXPECT_EQ(shares_text({40, 70, 150}, false, 1000), "4.0 to 15.0 %");
    EXPECT_EQ(shares_text({40, 70, 150}, true, 1000), "4.0 % or more");
    EXPECT_EQ(shares_text({40, 40, 40}, false, 1000), "4.0 %");
    EXPECT_EQ(shares_text({-3, 1, 20}, false, 1000), "-0.3 to 2.0 %");
    EXPECT_EQ(shares_text({40, 70, 150}, false, 0), "");
    advice each;
    each.saving.done = true;
    each.saving.nanoseconds = {100, 150, 200};
    each.saving.cpu_nanoseconds = 1000;
    each.saving.share_of_cpu = 0.15;
    EXPECT_EQ(saving_of(each).find("60.0 ns to 400 ns of CPU time (6.0 to 40.0 % of the program's)"), 0U)
        << saving_of(each);
    // Beside runs the interval of a replay only confuses.
    each.in_runs =
        run_saving{.nanoseconds = {300, 310, 320}, .policy = "pool", .is_what_is_advised = true, .rounds = 9};
    const std::string after_runs = saving_of(each);
    EXPECT_EQ(after_runs.find("60.0 ns to 400 ns"), std::string::npos) << after_runs;
    EXPECT_NE(after_runs.find("page faults: 150 ns on a clean heap; "), std::string::npos) << after_runs;
}

TEST(expected_saving, that_may_be_a_loss_says_so) {
    EXPECT_EQ(saved_text({-1500, 100, 2500}, false), "costs up to 1.5 us or saves up to 2.5 us");
    EXPECT_EQ(saved_text({-2500, -2000, -1500}, false), "costs 1.5 us to 2.5 us");
    EXPECT_EQ(saved_text({0, 100, 2500}, false), "0 ns to 2.5 us");
}

TEST(expected_saving, of_objects_that_fit_no_cache_may_be_much_more) {
    measured_saving saving;
    saving.nanoseconds = {10, 12, 14};
    saving.live_peak_bytes = measured_saving::large_peak;
    const interval usual = saving.expected();
    saving.live_peak_bytes += 1;
    EXPECT_EQ(saving.expected().low, usual.low);
    EXPECT_EQ(saving.expected().median, usual.median);
    EXPECT_EQ(saving.expected().high, 6 * 14);
    saving.nanoseconds = {-20, -12, -6};
    EXPECT_EQ(saving.expected().high, -6) << "a loss";
    saving.malloc_nanoseconds = 40;
    EXPECT_EQ(saving.expected().high, -6 + 1.5 * 40) << "a replay sees neither places nor pages";
    EXPECT_EQ(saving.expected().low, -20);
}

TEST(expected_saving, is_at_most_the_time_of_the_run) {
    measured_saving saving;
    saving.nanoseconds = {10, 12, 14};
    saving.cpu_nanoseconds = 20;
    EXPECT_EQ(saving.expected().high, 20);
    saving.cpu_nanoseconds = 5;
    EXPECT_EQ(saving.expected().low, 6);
    EXPECT_EQ(saving.expected().high, 6);
}

TEST(expected_saving, of_a_loss_is_the_measured_one) {
    measured_saving saving;
    saving.nanoseconds = {-10, -8, -6};
    EXPECT_EQ(saving.expected().low, -10);
    EXPECT_EQ(saving.expected().high, -6);
}

// Hazard Y13: of a program whose malloc took 61 ms, a pool for 42 % of the allocations was said to save 94 ms at least.
TEST(expected_saving, is_at_least_no_more_than_a_share_of_what_malloc_takes_in_the_run) {
    advice_list list;
    list.advices.resize(2);
    for (advice& each : list.advices) each.saving.done = true;
    list.advices[0].saving.nanoseconds = {80, 100, 120};
    list.advices[0].saving.malloc_nanoseconds = 150;
    list.advices[1].saving.nanoseconds = {5, 10, 20};
    list.advices[1].saving.malloc_nanoseconds = 50;
    list.malloc_nanoseconds = 200;
    bound_by_run(list);
    EXPECT_EQ(list.advices[0].saving.expected().low, 48) << "all of them take as long as the run's";
    list.malloc_nanoseconds = 40;
    bound_by_run(list);
    EXPECT_EQ(list.advices[0].saving.expected().low, 18) << "0.6 times 150 of 200";
    EXPECT_EQ(list.advices[0].saving.expected().high, 240);
    EXPECT_TRUE(list.advices[0].saving.exceeds_run());
    EXPECT_NE(saving_of(list.advices[0]).find("these take about 30.0 ns with malloc"), std::string::npos)
        << saving_of(list.advices[0]);
    EXPECT_EQ(list.advices[1].saving.expected().low, 3);
    EXPECT_FALSE(list.advices[1].saving.exceeds_run());
}

// Hazard Y13, of a program that takes 1000 ns.
TEST(figures_of_runs, go_before_those_of_a_replay) {
    advice each;
    each.candidate = verdict::object_pool;
    each.decision = verdict::leave;
    each.reason = "malloc is faster in a replay";
    each.saving.nanoseconds = {-10, -8, -6};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::leave) << "there were no runs";

    each.in_runs = run_saving{.nanoseconds = {30, 40, 50}, .policy = "pool", .is_what_is_advised = true};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::object_pool);
    EXPECT_EQ(each.reason, "");
    EXPECT_EQ(each.expected_nanoseconds().low, 30);
    EXPECT_EQ(each.median_nanoseconds(), 40);

    each.in_runs->nanoseconds = {10, 19, 30};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::object_pool) << "it may save 2 %: the replay decides";

    advice loses = each;
    loses.in_runs->nanoseconds = {-70, -27, 30};
    decide_by_runs(loses, 1000);
    EXPECT_EQ(loses.decision, verdict::leave);
    EXPECT_EQ(loses.reason, "it saves nothing in the median of the runs");

    each.in_runs->nanoseconds = {-5, 1, 19};
    each.in_runs->is_what_is_advised = false;
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::object_pool) << "the advised type may save more than the plan";
    each.in_runs->is_what_is_advised = true;
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::leave);
    EXPECT_EQ(each.reason, "it saves less than 2 % of the CPU time");
}

// Of one round, a fifth of the CPU time was there to be saved, and the advice became to leave it.
TEST(figures_of_runs, of_fewer_than_three_rounds_leave_the_decision_to_the_replay) {
    advice each;
    each.candidate = verdict::object_pool;
    each.decision = verdict::object_pool;
    each.saving.done = true;
    each.saving.nanoseconds = {40, 50, 60};
    each.saving.cpu_nanoseconds = 1000;
    each.in_runs =
        run_saving{.nanoseconds = {-40, -30, -20}, .policy = "pool", .is_what_is_advised = true, .rounds = 2};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::object_pool);
    EXPECT_FALSE(each.is_known_by_runs());
    EXPECT_NE(saving_of(each).find("too few to confirm or refute that: costs 20.0 ns to 40.0 ns"), std::string::npos)
        << saving_of(each);
    EXPECT_NE(saving_of(each).find(" in 2 runs of the program"), std::string::npos) << saving_of(each);

    each.decision = verdict::leave;
    each.reason = "by a replay it would save less than 2 % of the CPU time";
    each.saving.nanoseconds = {5, 10, 15};
    each.in_runs->nanoseconds = {30, 40, 50};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::leave);

    each.saving.nanoseconds = {-5, 30, 60};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::object_pool) << "the medians of both are worth it";
    each.in_runs->rounds = 3;
    each.in_runs->nanoseconds = {-40, -30, -20};
    decide_by_runs(each, 1000);
    EXPECT_EQ(each.decision, verdict::leave);
}

TEST(figures_of_runs, that_exclude_neither_a_loss_nor_a_saving_say_so) {
    advice each;
    each.candidate = verdict::object_pool;
    each.decision = verdict::leave;
    each.reason = "by a replay it would save less than 2 % of the CPU time";
    each.in_runs = run_saving{.nanoseconds = {-330, 10, 360}, .policy = "pool", .is_what_is_advised = true};
    decide_by_runs(each, 1000);
    EXPECT_EQ(
        each.reason,
        "by a replay it would save less than 2 % of the CPU time; whether the program gains anything could not be "
        "measured in these rounds");
}

TEST_F(measure, sites_that_save_too_little_each_may_be_worth_a_pool_together) {
    const std::vector<advice> apart = find_candidates(run_, paths_).advices;
    ASSERT_EQ(apart.size(), 2U);
    const advice joined = joined_advice({&apart[0], &apart[1]}, run_, paths_, run_.object_count());
    EXPECT_EQ(joined.place.kind, place_kind::several);
    EXPECT_EQ(joined.candidate, verdict::multi_pool);
    EXPECT_EQ(joined.figures.objects, run_.object_count());
    EXPECT_EQ(joined.sites.size(), 2U);
    EXPECT_EQ(joined.share, 1);
    EXPECT_TRUE(joined.classes.empty());
}

TEST_F(measure, what_is_joined_keeps_the_functions_of_the_c_library) {
    std::vector<advice> apart = find_candidates(run_, paths_).advices;
    ASSERT_EQ(apart.size(), 2U);
    apart[1].c_functions = {"strdup"};
    EXPECT_TRUE(joined_advice({&apart[0], &apart[1]}, run_, paths_, 1).c_functions.contains("strdup"));
}

TEST_F(measure, classes_that_save_too_little_each_get_a_pool_each) {
    std::vector<advice> apart = find_candidates(run_, paths_).advices;
    ASSERT_EQ(apart.size(), 2U);
    apart[0].place = {.kind = place_kind::type, .name = "game::orc"};
    apart[1].place = {.kind = place_kind::type, .name = "elf"};
    apart[0].candidate = verdict::object_pool;
    apart[1].candidate = verdict::multi_pool;
    EXPECT_TRUE(joined_advice({&apart[0], &apart[1]}, run_, paths_, 1).classes.empty()) << "one is of several sizes";
    apart[1].candidate = verdict::concurrent_object_pool;
    const advice joined = joined_advice({&apart[0], &apart[1]}, run_, paths_, 1);
    EXPECT_EQ(title_of(joined, paths_), "a pool for each of the classes game::orc, elf");
    const std::string code = code_of(joined, paths_);
    EXPECT_NE(code.find("\nACRE_POOLED(orc);"), std::string::npos) << code;
    EXPECT_NE(code.find("\nACRE_POOLED(elf);"), std::string::npos) << code;
}

TEST_F(measure, the_malloc_that_the_program_uses_is_the_baseline) {
    const auto installed = installed_contenders("preloads");
    if (installed.empty()) GTEST_SKIP() << "no other malloc is installed";
    replay_host host;
    advice_list list = find_candidates(run_, paths_);
    list.allocator = contender_text(installed.front()) + " (its.so)";
    measure_advices(host, run_, paths_, list, [](double) {});
    EXPECT_EQ(list.baseline, contender_text(installed.front()));
    EXPECT_EQ(list.preloads.size(), installed.size() - 1);
    for (const advice& each : list.advices) EXPECT_FALSE(each.saving.fragmented_nanoseconds);
    const std::string text = advice_text(list, paths_, reader_.header());
    EXPECT_NE(text.find(list.baseline + ", which the program uses"), std::string::npos) << text;
}

class first_answer : public measure {
protected:
    first_answer() {
        list_.cpu_nanoseconds = 1000;
        list_.malloc_nanoseconds = 500;
        advice& change = list_.advices.at(0);
        change.saving.done = true;
        change.saving.nanoseconds = {90, 100, 110};
    }

    first_steps steps_with(double saved_by_preload) {
        list_.preloads = {{"mimalloc", {saved_by_preload, saved_by_preload, saved_by_preload}}};
        return first_steps_of(list_, paths_);
    }

    advice_list list_ = find_candidates(run_, paths_);
};

TEST_F(first_answer, is_a_change_only_where_it_saves_more_than_a_preload) {
    ASSERT_EQ(steps_with(60).steps.size(), 2U);
    EXPECT_EQ(steps_with(60).steps[0].advice, 0U);
    EXPECT_EQ(steps_with(60).steps[1].what, "mimalloc");
    EXPECT_EQ(steps_with(90).steps[0].what, "mimalloc");
    EXPECT_NE(first_steps_text(steps_with(90)).find("Perhaps: preload mimalloc: saves 90.0 ns (9.0 % of the CPU time)"),
              std::string::npos)
        << "a replay is no measurement of the program\n"
        << first_steps_text(steps_with(90));
    list_.runs = program_runs{.rounds = 10, .seconds = 1, .are_precise = true};
    EXPECT_NE(first_steps_text(steps_with(90)).find("First: preload mimalloc: saves 90.0 ns (9.0 % of the CPU time)"),
              std::string::npos)
        << first_steps_text(steps_with(90));
}

// Each is about other objects.
TEST_F(first_answer, tells_what_all_changes_save_together) {
    list_.advices.resize(1);
    EXPECT_FALSE(steps_with(60).together.has_value());
    list_.advices.push_back(list_.advices.front());
    const first_steps steps = steps_with(60);
    ASSERT_TRUE(steps.together.has_value());
    EXPECT_EQ(steps.together->advices, (std::vector<std::size_t>{0, 1}));
    EXPECT_NE(
        first_steps_text(steps).find("Together: numbers 1 and 2 save 108 ns to 440 ns (10.8 to 44.0 % of the CPU "),
        std::string::npos)
        << first_steps_text(steps);
    list_.advices[1].saving.nanoseconds = {8, 9, 10};
    EXPECT_FALSE(steps_with(60).together.has_value()) << "hardly more than the first alone";
    list_.advices[1].saving.nanoseconds = list_.advices[0].saving.nanoseconds;
    list_.advices[1].decision = verdict::leave;
    EXPECT_FALSE(steps_with(60).together.has_value());
}

TEST_F(first_answer, is_no_change_that_saves_less_than_two_percent) {
    list_.cpu_nanoseconds = 1'000'000;
    EXPECT_TRUE(steps_with(0).steps.empty()) << first_steps_text(steps_with(0));
}

TEST_F(first_answer, says_what_to_write_before_the_command) {
    list_.preloads = {{"mimalloc", {300, 300, 300}, {}, "LD_PRELOAD=/its/library.so"}};
    const std::string text = first_steps_text(first_steps_of(list_, paths_));
    EXPECT_NE(text.find("'LD_PRELOAD=/its/library.so' before its command"), std::string::npos) << text;
}

TEST_F(first_answer, is_to_leave_the_program_where_nothing_is_worth_it) {
    EXPECT_EQ(steps_with(10).steps.size(), 1U);  // less than 2 %
    list_.advices.clear();
    EXPECT_TRUE(steps_with(10).steps.empty());
    EXPECT_FALSE(steps_with(10).leaves()) << "a replay does not exclude that a malloc saves much";
    list_.malloc_nanoseconds = 0;
    EXPECT_EQ(first_steps_text(steps_with(10)), "");
    list_.runs = program_runs{.rounds = 10, .seconds = 1, .are_precise = true};
    EXPECT_TRUE(steps_with(10).leaves());
    EXPECT_TRUE(first_steps_text(steps_with(10)).starts_with("Leave the program as it is"));
}

TEST_F(first_answer, expects_of_a_replayed_malloc_what_nine_in_ten_programs_obtained) {
    const preload_saving replayed{"mimalloc", {50, 60, 70}};
    EXPECT_EQ(list_.what_a_replay_judges(), 600) << "malloc's time and a tenth of the CPU time";
    list_.cpu_nanoseconds = 1'000'000'000;
    list_.objects = 3;
    list_.bytes = 4000;
    EXPECT_EQ(list_.what_a_replay_judges(), 500 + 2e6 + 3000 + 1000) << "what hardly allocates, no malloc makes faster";
    list_.cpu_nanoseconds = 1000;
    EXPECT_EQ(list_.expected_of(replayed).low, 50 - 0.7 * 600);
    EXPECT_EQ(list_.expected_of(replayed).median, 60);
    EXPECT_EQ(list_.expected_of(replayed).high, 70 + 1.5 * 600);
    EXPECT_EQ(list_.expected_of({"mimalloc", {50, 60, 170}}).high, 1000) << "never more than the CPU time";
    EXPECT_EQ(list_.expected_of({"acre", {50, 60, 70}}).low, 50 - 0.3 * 600) << "by acre's heap programs lose less";
    list_.preloads = {replayed};
    const nlohmann::json json = advice_json(list_, paths_, reader_.header());
    EXPECT_EQ(json["preloads"][0]["nanoseconds"]["low"], 50);
    EXPECT_EQ(json["preloads"][0]["expected_nanoseconds"]["low"], 50 - 0.7 * 600);
    EXPECT_NE(advice_text(list_, paths_, reader_.header()).find("within 420 ns less (180 ns by acre run)"),
              std::string::npos)
        << advice_text(list_, paths_, reader_.header());

    list_.runs = program_runs{.rounds = 10, .seconds = 1, .are_precise = true};
    EXPECT_EQ(list_.expected_of(replayed).low, 50) << "the program itself ran";
    list_.runs.reset();
    list_.cpu_nanoseconds = 0;
    EXPECT_EQ(list_.expected_of(replayed).low, 50) << "there is nothing to be relative to";
}

TEST_F(first_answer, is_not_known_where_malloc_takes_longer_in_a_replay_than_the_program_did) {
    list_.malloc_nanoseconds = 5000;  // of 1000
    list_.advices.at(0).decision = verdict::leave;
    list_.advices.at(0).saving.nanoseconds = {2900, 3000, 3100};
    const first_steps steps = first_steps_of(list_, paths_);
    EXPECT_TRUE(steps.steps.empty());
    EXPECT_FALSE(steps.leaves());
    EXPECT_TRUE(first_steps_text(steps).starts_with("What can be saved is not known from a replay"))
        << first_steps_text(steps);
    const std::string text = advice_text(list_, paths_, reader_.header());
    EXPECT_NE(text.find("more than that CPU time"), std::string::npos) << text;
    EXPECT_EQ(text.find("500 %"), std::string::npos) << text;
    list_.advices.clear();
    list_.runs = program_runs{.rounds = 10, .seconds = 1, .are_precise = true};
    EXPECT_TRUE(first_steps_of(list_, paths_).leaves()) << "the program itself was measured";
}

TEST_F(first_answer, is_not_to_leave_the_program_where_something_may_save_much) {
    list_.advices.clear();
    list_.preloads = {{"mimalloc", {-20, 60, 140}}};  // of 1000
    const first_steps steps = first_steps_of(list_, paths_);
    ASSERT_EQ(steps.steps.size(), 1U);
    EXPECT_FALSE(steps.steps[0].is_certain);
    EXPECT_TRUE(first_steps_text(steps).starts_with("Perhaps: preload mimalloc")) << first_steps_text(steps);
    list_.preloads = {{"mimalloc", {-20, 40, 140}}};
    EXPECT_TRUE(first_steps_of(list_, paths_).steps.empty());
}

// Of two threads that wait for each other in malloc: .65 to 1.5 of the median from round to round.
TEST_F(first_answer, is_not_to_leave_the_program_where_runs_differ_too_much_to_tell) {
    list_.advices.resize(1);
    list_.runs = program_runs{.rounds = 7};
    list_.preloads = {{"mimalloc", {-70, -20, 30}, {}}, {"tcmalloc", {-190, -60, 70}, {}}};  // of 1000
    advice& change = list_.advices.front();
    change.in_runs = run_saving{
        .nanoseconds = {-220, -10, 200}, .policy = "heap", .is_what_is_advised = true, .share_of_cpu = -0.01};
    change.decision = verdict::leave;
    const first_steps steps = first_steps_of(list_, paths_);
    EXPECT_FALSE(steps.leaves());
    const std::string text = first_steps_text(steps);
    EXPECT_NE(text.find("too much to exclude"), std::string::npos) << text;
    ASSERT_TRUE(steps.not_excluded.has_value());
    EXPECT_EQ(steps.not_excluded->advice, 0U) << text;
    change.in_runs->nanoseconds = {-60, -10, 40};
    ASSERT_TRUE(first_steps_of(list_, paths_).not_excluded.has_value());
    EXPECT_EQ(first_steps_of(list_, paths_).not_excluded->what, "tcmalloc") << "the others surely save less than 5 %";
    list_.preloads.pop_back();
    EXPECT_TRUE(first_steps_of(list_, paths_).leaves());
}

// Of one round: a scratch that a replay says to save 100 came first, where a run by acre's heap had saved 220.
TEST_F(first_answer, names_what_needs_no_code_though_its_rounds_are_few) {
    list_.runs = program_runs{.rounds = 1, .seconds = 1};
    list_.preloads = {{std::string{preload_saving::acre_heap}, {-50, 220, 500}}};
    EXPECT_TRUE(first_steps_text(first_steps_of(list_, paths_))
                    .starts_with("Perhaps: start it by acre run: saves 220 ns (22.0 % of the CPU time; -5.0 to 50.0 %) "
                                 "in runs of the program;\nno change to the code.\n"))
        << first_steps_text(first_steps_of(list_, paths_));
    ASSERT_EQ(first_steps_of(list_, paths_).steps.size(), 2U);
    EXPECT_EQ(first_steps_of(list_, paths_).steps[1].advice, 0U);
    list_.preloads = {{std::string{preload_saving::acre_heap}, {-50, 60, 500}}};
    EXPECT_EQ(first_steps_of(list_, paths_).steps.size(), 1U) << "the change saves 1.25 times as much";
}

TEST_F(first_answer, is_not_to_leave_the_program_where_a_replay_does_not_exclude_a_saving) {
    list_.advices.clear();
    list_.preloads = {{"mimalloc", {-20, 10, 30}}};  // of 1000
    list_.cpu_nanoseconds = 0;
    EXPECT_TRUE(first_steps_of(list_, paths_).leaves()) << "all events were replayed";
    list_.malloc_share = 0.1;
    EXPECT_FALSE(first_steps_of(list_, paths_).leaves());
    list_.malloc_share = 1;
    list_.cpu_nanoseconds = 1000;
    list_.malloc_nanoseconds = 20;
    const first_steps steps = first_steps_of(list_, paths_);
    EXPECT_TRUE(steps.steps.empty());
    EXPECT_FALSE(steps.leaves()) << "nine in ten programs obtain up to 1.5 times 120 more";
    const std::string text = first_steps_text(steps);
    EXPECT_TRUE(text.starts_with("Nothing below is sure to save 2 %")) << text;
    EXPECT_NE(text.find("LD_PRELOAD of mimalloc saves up to 210 ns (21.0 % of"), std::string::npos) << text;
}

// A replay said that tcmalloc costs 1.11 s of a program that takes .4 s.
TEST_F(first_answer, has_no_figure_that_a_replay_cannot_tell) {
    EXPECT_TRUE(list_.tells_nothing({-600, -501, -400}));
    EXPECT_FALSE(list_.tells_nothing({-600, -499, -400}));
    EXPECT_TRUE(list_.tells_nothing({900, 1001, 1100}));
    list_.advices.clear();
    list_.untold = {"tcmalloc", "mimalloc"};
    EXPECT_FALSE(first_steps_of(list_, paths_).leaves());
    EXPECT_NE(first_steps_sentences(first_steps_of(list_, paths_)).front().find(untold_text(list_.untold)),
              std::string::npos)
        << first_steps_text(first_steps_of(list_, paths_));
    EXPECT_EQ(untold_text(list_.untold),
              "What this program saves or loses by LD_PRELOAD of tcmalloc and LD_PRELOAD of mimalloc, a replay cannot "
              "tell");
    const std::string text = advice_text(list_, paths_, reader_.header());
    EXPECT_NE(text.find("acre try can."), std::string::npos) << text;
    list_.cpu_nanoseconds = 0;
    EXPECT_FALSE(list_.tells_nothing({-600, -501, -400})) << "there is nothing to be relative to";
}

std::size_t words_in(const std::string& text) {
    std::istringstream words{text};
    return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>{words}, {}));
}

TEST_F(first_answer, is_one_screen_for_any_number_of_recommendations) {
    list_.advices.resize(1);
    for (int i = 0; i < 40; ++i) list_.advices.push_back(list_.advices.front());
    list_.advices[7].saving.nanoseconds = {400, 450, 500};
    const std::string text = short_answer(list_, paths_, reader_.header(), "a.acre");
    EXPECT_TRUE(text.starts_with("Do first: an arena, reset in request (recommendation 8). It saves about ")) << text;
    EXPECT_NE(text.find("acre::arena"), std::string::npos) << text;
    EXPECT_NE(text.find("acre advise --explain 8 a.acre"), std::string::npos) << text;
    EXPECT_NE(text.find(" more\n"), std::string::npos) << text;
    EXPECT_LE(std::ranges::count(text, '\n'), 40) << text;
    EXPECT_LE(words_in(text), 250U) << text;
}

TEST_F(first_answer, tells_one_figure_and_how_sure_it_is) {
    EXPECT_EQ(saving_phrase({30, 60, 90}, 1000), "about 6 % of the CPU time, surely over 3 %");
    EXPECT_EQ(saving_phrase({-5, 60, 90}, 1000), "about 6 % of the CPU time, perhaps nothing");
    EXPECT_EQ(saving_phrase({3, 6, 90}, 1000), "about 0.6 % of the CPU time, surely over 0.3 %");
    EXPECT_EQ(saving_phrase({2e6, 4e6, 9e6}, 0), "about 4.0 ms of CPU time, surely over 2.0 ms");
    EXPECT_EQ(saving_phrase({-9, -5, -1}, 1000), "perhaps nothing");
}

TEST_F(first_answer, names_no_variable_of_the_code_twice) {
    list_.advices.resize(1, list_.advices.front());
    list_.advices.push_back(list_.advices.front());
    list_.advices.push_back(list_.advices.front());
    name_variables(list_, paths_);
    const std::string& name = list_.advices[0].variable;
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(list_.advices[1].variable, name + "_2");
    EXPECT_EQ(list_.advices[2].variable, name + "_3");
    EXPECT_NE(code_of(list_.advices[1], paths_).find(name + "_2_"), std::string::npos)
        << code_of(list_.advices[1], paths_);
}

TEST_F(first_answer, of_runs_that_do_not_exclude_a_loss_is_not_certain) {
    list_.advices.resize(1);
    list_.runs = program_runs{.rounds = 7};
    list_.preloads = {{"acre", {-10, 160, 400}, {}}};
    advice& change = list_.advices.front();
    change.in_runs =
        run_saving{.nanoseconds = {-200, 110, 420}, .policy = "pool", .is_what_is_advised = true, .share_of_cpu = 0.11};
    first_steps steps = first_steps_of(list_, paths_);
    ASSERT_EQ(steps.steps.size(), 1u);
    EXPECT_EQ(steps.steps[0].what, "acre") << "it saves more, and neither is certain";
    EXPECT_FALSE(steps.steps[0].is_certain);
    list_.preloads.clear();
    change.in_runs->nanoseconds = {-20, 30, 80};
    steps = first_steps_of(list_, paths_);
    EXPECT_FALSE(steps.leaves()) << "it is advised, as it saves 3 % in the median";
    ASSERT_EQ(steps.steps.size(), 1u);
    EXPECT_FALSE(steps.steps[0].is_certain);
}

TEST_F(first_answer, has_a_change_that_saved_much_beside_a_preload_though_a_loss_is_not_excluded) {
    list_.advices.resize(1);
    list_.runs = program_runs{.rounds = 7};
    list_.preloads = {{"tcmalloc", {150, 170, 190}}};
    list_.advices.front().in_runs =
        run_saving{.nanoseconds = {-25, 80, 170}, .policy = "pool", .is_what_is_advised = true, .share_of_cpu = 0.08};
    const first_steps steps = first_steps_of(list_, paths_);
    ASSERT_EQ(steps.steps.size(), 2u);
    EXPECT_EQ(steps.steps[0].what, "tcmalloc");
    EXPECT_EQ(steps.steps[1].advice, 0u);
    EXPECT_FALSE(steps.steps[1].is_certain);
}

// A plan can only count the objects of an arena's blocks: what that costs says nothing of an arena that is reset.
TEST_F(first_answer, of_an_arena_whose_plan_saves_less_is_that_of_a_replay) {
    list_.advices.resize(1);
    list_.runs = program_runs{.rounds = 7};
    advice& change = list_.advices.front();
    const double replayed = change.saving.nanoseconds.median;
    change.in_runs = run_saving{.nanoseconds = {-200, -110, -20}, .policy = "counted", .share_of_cpu = -0.11};
    EXPECT_FALSE(change.is_known_by_runs());
    const first_steps steps = first_steps_of(list_, paths_);
    ASSERT_EQ(steps.steps.size(), 1u);
    EXPECT_EQ(steps.steps[0].nanoseconds.median, change.saving.expected().median);
    EXPECT_NE(first_steps_sentences(steps).front().find(" in a replay; "), std::string::npos)
        << first_steps_text(steps);
    change.in_runs->nanoseconds = {replayed, replayed + 1, replayed + 2};
    EXPECT_TRUE(change.is_known_by_runs()) << "it saves at least that";
    change.in_runs = run_saving{.nanoseconds = {-200, -110, -20}, .policy = "pool", .is_what_is_advised = true};
    EXPECT_TRUE(change.is_known_by_runs()) << "the plan's pool is the advised one";
}

TEST_F(first_answer, of_two_rounds_is_not_certain) {
    list_.preloads = {{"mimalloc", {100, 110, 120}, {}}};
    for (const std::size_t rounds : {2U, 3U}) {
        list_.runs = program_runs{.rounds = rounds};
        const first_steps steps = first_steps_of(list_, paths_);
        ASSERT_FALSE(steps.steps.empty());
        for (const first_step& each : steps.steps) {
            if (each.advice) continue;
            EXPECT_EQ(each.is_certain, rounds == 3);
        }
    }
}

TEST_F(first_answer, is_not_to_leave_the_program_where_a_sample_of_an_advice_does_not_exclude_a_saving) {
    list_.advices.resize(1);
    list_.preloads.clear();
    advice& change = list_.advices.front();
    change.decision = verdict::leave;
    change.saving.nanoseconds = {-5, 5, 8};  // in the program up to twice as much
    EXPECT_TRUE(first_steps_of(list_, paths_).leaves());
    change.saving.replayed_share = 0.2;
    EXPECT_TRUE(first_steps_of(list_, paths_).leaves());
    change.saving.nanoseconds.high = 12;
    EXPECT_FALSE(first_steps_of(list_, paths_).leaves());
    EXPECT_NE(first_steps_text(first_steps_of(list_, paths_)).find("that number 1, "), std::string::npos);
}

TEST_F(measure, what_saves_too_little_is_left) {
    replay_host host;
    advice_list list = find_candidates(run_, paths_);
    list.cpu_nanoseconds = std::uint64_t{1} << 60;
    measure_advices(host, run_, paths_, list, [](double) {});
    for (const advice& each : list.advices) {
        EXPECT_EQ(each.decision, verdict::leave);
        EXPECT_NE(each.reason, "");
    }
    const nlohmann::json json = advice_json(list, paths_, reader_.header());
    EXPECT_EQ(json["advices"].size(), list.advices.size());
    EXPECT_EQ(json["advices"][0]["verdict"], "leave");
    EXPECT_EQ(json["advices"][0]["candidate"], "arena");
    EXPECT_EQ(json["advices"][0]["code"], "");
}

}  // namespace
