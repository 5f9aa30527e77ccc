// Which ways of a contest run, and how often.
#include "try/contest.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/error.hpp"
#include "try/recorded_program.hpp"

namespace {

using namespace acre::tool;

/// A way in which the program counts so far.
way counting_to(int number) {
    return {.name = std::to_string(number), .description = "", .variables = {{"LAST", std::to_string(number)}}};
}

contest_result contest_of_counting(std::vector<way> ways, bool drops_losers) {
    return run_contest({.program = "/bin/sh",
                        .arguments = {"sh", "-c", "i=0; while [ $i -lt ${LAST:-5000} ]; do i=$((i+1)); done"},
                        .ways = std::move(ways),
                        .input = {},
                        .check = {},
                        .drops_losers = drops_losers,
                        .budget_seconds = 60,
                        // Any interval is narrow enough: six rounds, however busy the machine is.
                        .precision = 100});
}

TEST(contest, ends_where_the_first_run_takes_too_long) {
    const contest_options endless{.program = "/bin/sleep",
                                  .arguments = {"sleep", "600"},
                                  .ways = {{.name = "as it is", .description = ""}},
                                  .input = {},
                                  .check = {},
                                  .longest_first_run = 0.1};
    EXPECT_THROW(run_contest(endless), tool_error);
    EXPECT_EQ(longest_run(0), 10) << "seconds";
    EXPECT_EQ(longest_run(5'000'000'000), 50);
}

// A way that takes three times as long is slower in each round on any machine.
TEST(contest, drops_what_costs_in_each_of_three_rounds) {
    const contest_result result =
        contest_of_counting({{.name = "as it is", .description = ""}, counting_to(15'000), counting_to(1'000)}, true);
    ASSERT_GE(result.rounds, min_interval_rounds);
    EXPECT_EQ(result.ways[0].runs.size(), result.rounds);
    EXPECT_EQ(result.ways[1].runs.size(), 3U);
    EXPECT_EQ(result.ways[2].runs.size(), result.rounds);
}

TEST(contest, leaves_out_what_there_is_no_time_for) {
    // As it is, three mallocs, the library of plans, two groups beside it.
    const std::vector<first_run> runs{{.cost = 1, .stays = true},
                                      {.cost = 0.9},
                                      {.cost = 0.7},
                                      {.cost = 0.8},
                                      {.cost = 1.1},
                                      {.cost = 0.6, .beside = 4},
                                      {.cost = 0.5, .beside = 4}};
    using numbers = std::vector<std::size_t>;
    EXPECT_EQ(ways_without_time(runs, 2), numbers{}) << "nothing could be compared";
    EXPECT_EQ(ways_without_time(runs, 3), (numbers{1, 4, 5, 6}));
    EXPECT_EQ(ways_without_time(runs, 4), (numbers{1, 3, 6})) << "a group needs what it is compared with";
    EXPECT_EQ(ways_without_time(runs, 5), (numbers{1, 6})) << "one run says little of a group";
    EXPECT_EQ(ways_without_time(runs, 6), numbers{1}) << "groups have time before the third malloc";
    EXPECT_EQ(ways_without_time(runs, 7), numbers{});
}

TEST(contest, keeps_what_others_are_compared_with) {
    std::vector<way> ways{{.name = "as it is", .description = ""}, counting_to(10'000), counting_to(8'000)};
    ways[2].beside = 1;
    const contest_result result = contest_of_counting(std::move(ways), true);
    for (const way_result& each : result.ways) EXPECT_EQ(each.runs.size(), result.rounds) << each.how.name;
}

TEST(contest, drops_nothing_unless_it_is_asked_to) {
    const contest_result result =
        contest_of_counting({{.name = "as it is", .description = ""}, counting_to(15'000)}, false);
    EXPECT_EQ(result.ways[1].runs.size(), result.rounds);
}

}  // namespace
