// What runs with a plan say of a change of the code.
#include "try/advised_runs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace acre::tool;

// A list of 300,000 nodes: 5.6 ms of CPU time as it is, 7.0 with a plan for no site, 4.7 with a pool for the nodes by a
// plan. With a pool in the code it takes 4.1: not a third less, as 4.7 is of 7.0.
TEST(advised_runs, a_group_that_is_not_passed_on_saves_less_in_the_code) {
    const double cpu = 5.6e6;
    const double by_plan = (1 - 4.7 / 7.0) * cpu;
    const interval saved = saved_by_code({by_plan, by_plan, by_plan}, 7.0 / 5.6 - 1, 1, cpu);
    EXPECT_LT(saved.low, 1.5e6);
    EXPECT_NEAR(saved.median, 1.5e6, 0.1e6);
    EXPECT_GT(saved.high, 1.5e6);
    EXPECT_LT(saved.high, by_plan);
}

TEST(advised_runs, where_passing_on_costs_nothing_the_code_saves_what_the_plan_does) {
    const interval saved = saved_by_code({1, 2, 3}, 0, 1, 10);
    EXPECT_EQ(saved.low, 1);
    EXPECT_EQ(saved.median, 2);
    EXPECT_EQ(saved.high, 3);
}

// Two threads of a pipeline that wait for each other in malloc: each run takes the one time or the other.
TEST(advised_runs, a_program_that_varies_by_itself_is_said_to) {
    EXPECT_EQ(variation_text(std::vector{0.92, 0.96, 1.02}), "");
    EXPECT_EQ(variation_text(std::vector{0.92}), "");
    EXPECT_TRUE(
        variation_text(std::vector{0.92, 1.71, 0.93}).starts_with("As it is, the program took 920.0 ms to 1.71 s"))
        << variation_text(std::vector{0.92, 1.71, 0.93});
}

// What others pay is on both sides, and grows the run that the ratio is of.
TEST(advised_runs, only_the_share_of_the_group_is_not_passed_on) {
    const interval saved = saved_by_code({1, 2, 3}, 0.5, 0, 10);
    EXPECT_EQ(saved.median, 3);
}

// As a program of many threads, which takes twice its time where all is passed on, and a third with a plan.
TEST(advised_runs, no_code_saves_all_of_the_time) {
    const double cpu = 300e6;
    const double by_plan = (1 - 100.0 / 600.0) * cpu;
    const interval saved = saved_by_code({by_plan, by_plan, by_plan}, 1, 1, cpu);
    EXPECT_LE(saved.high, 250e6);
    EXPECT_GE(saved.low, 200e6);
}

}  // namespace
