// What `acre try` concludes from the figures of a contest.
#include "try/try_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using namespace acre::tool;

/// A contest of the program as it is, which takes a second, and of another way with these times, in seconds.
contest_result contest_of(const std::vector<double>& times) {
    contest_result result{.ways = {{.how = {.name = "as it is", .description = ""}},
                                   {.how = {.name = "other", .description = "", .command = {"acre", "run"}}}},
                          .rounds = times.size(),
                          .is_precise = true};
    for (const double each : times) {
        result.ways[0].runs.push_back({.user = 1, .peak_bytes = 1'000'000});
        result.ways[1].runs.push_back({.user = each, .peak_bytes = 1'000'000});
    }
    return result;
}

bool says(const contest_result& result, const std::string& part) {
    return try_answer(result, {"app"}).find(part) != std::string::npos;
}

TEST(try_report, names_a_way_that_is_faster_with_certainty) {
    const contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    EXPECT_TRUE(
        says(result, "With other the program takes 20.0 % less CPU time (20.0 to 20.0), and its peak memory is"));
    EXPECT_TRUE(says(result, "acre run -- app"));
}

TEST(try_report, the_command_to_use_reads_the_same_input) {
    contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    result.input = "my words.txt";
    EXPECT_TRUE(says(result, "acre run -- app < 'my words.txt'"));
}

TEST(try_report, the_command_to_use_is_the_same_where_an_argument_cannot_be_printed) {
    const contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    EXPECT_NE(try_answer(result, {"app", "l1\nl2"}).find("    acre run -- app $'l1\\nl2'\n"), std::string::npos);
}

TEST(try_report, a_library_whose_path_LD_PRELOAD_cannot_hold_is_to_be_copied) {
    contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    way& how = result.ways[1].how;
    how.variables = {{"LD_PRELOAD", "/tmp/acre-links-7/my_lib.so.1"}};
    how.library = "/home/me/my lib.so";
    how.is_linked = true;
    EXPECT_TRUE(says(result, "acre run -- app")) << "a command that makes the link";
    how.command.clear();
    EXPECT_FALSE(says(result, "acre-links"));
    EXPECT_TRUE(says(result, "Preload a copy of this library, or a link to it"));
    EXPECT_TRUE(says(result, "    '/home/me/my lib.so'\n"));
    EXPECT_EQ(try_json(result, {"app"})["ways"][1]["library"], "/home/me/my lib.so");
    EXPECT_FALSE(try_json(result, {"app"})["ways"][0].contains("library"));
}

TEST(try_report, names_the_ways_that_are_not_told_from_the_best) {
    contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    EXPECT_FALSE(says(result, "do not tell"));
    result.ways.push_back(result.ways[1]);
    result.ways[2].how.name = "third";
    result.ways[2].runs[0].user = 0.9;
    EXPECT_TRUE(says(result, "These rounds do not tell whether third takes less than that."));
    for (measured_run& each : result.ways[2].runs) each.user = 0.9;
    EXPECT_FALSE(says(result, "do not tell"));
}

TEST(try_report, names_a_way_that_needs_less_memory_where_the_best_takes_much) {
    contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    EXPECT_FALSE(says(result, "memory to save the time"));
    for (measured_run& each : result.ways[1].runs) each.peak_bytes = 2'200'000;
    EXPECT_TRUE(says(result, "It takes that memory to save the time"));
    result.ways.push_back(result.ways[1]);
    result.ways[2].how.name = "third";
    for (measured_run& each : result.ways[2].runs) each = {.user = 0.9, .peak_bytes = 1'050'000};
    EXPECT_TRUE(says(result, "With third it takes 10.0 % less CPU time and 1.05 of the memory."));
    EXPECT_FALSE(says(result, "memory to save the time"));
    for (measured_run& each : result.ways[2].runs) each.user = 0.99;
    EXPECT_TRUE(says(result, "It takes that memory to save the time"));
}

TEST(try_report, a_median_whose_interval_reaches_above_1_may_be_chance) {
    const contest_result result = contest_of({0.7, 0.7, 0.8, 0.8, 0.8, 0.8, 1.1, 1.1});
    EXPECT_TRUE(says(result, "less CPU time in the median, which may be chance"));
    EXPECT_FALSE(says(result, "leave it"));
    EXPECT_FALSE(says(result, "acre run"));
}

TEST(try_report, no_way_that_is_2_percent_faster_is_worth_a_change) {
    EXPECT_TRUE(says(contest_of({0.99, 0.99, 0.99, 0.99, 0.99, 0.99, 0.99, 0.99}), "leave it"));
    EXPECT_TRUE(says(contest_of({1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2}), "leave it"));
}

TEST(try_report, says_how_the_program_failed_and_where_nothing_was_compared) {
    contest_result result = contest_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8});
    result.failure_as_it_is = "ended with status 3";
    result.ways[1].failure = "wrote another output than the program as it is";
    EXPECT_TRUE(says(result, "As it is the program ended with status 3."));
    EXPECT_TRUE(says(result, "Nothing could be compared with the program as it is."));
    EXPECT_TRUE(says(result, "other: it wrote another output"));
}

}  // namespace
