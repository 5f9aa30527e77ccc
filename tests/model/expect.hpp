// explore() as GoogleTest expectations.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>

#include "model/explore.hpp"

namespace model {

/// Reports the search as properties of the test and in one line.
inline void report(const result& found, const options& limits = {}) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    std::printf("model: %s.%s: %zu executions, %zu redundant, %zu steps, %zu final states", test.test_suite_name(),
                test.name(), found.executions, found.redundant, found.steps, found.final_states.size());
    if (limits.preemptions != unlimited) std::printf(", at most %zu preemptions", limits.preemptions);
    if (limits.stale_stores != unlimited) std::printf(", loads at most %zu stores behind", limits.stale_stores);
    std::printf("\n");
    testing::Test::RecordProperty("executions", std::to_string(found.executions));
    testing::Test::RecordProperty("redundant", std::to_string(found.redundant));
    testing::Test::RecordProperty("steps", std::to_string(found.steps));
    testing::Test::RecordProperty("final_states", std::to_string(found.final_states.size()));
}

/// Expects that the scenario holds under all schedules.
inline result expect_holds(const std::function<void()>& scenario, const options& limits = {}) {
    result found = explore(scenario, limits);
    report(found, limits);
    EXPECT_TRUE(found.failure.empty()) << found.failure;
    return found;
}

/// Expects that some schedule fails with a text that begins with `text`, with and without the reduction.
inline result expect_fails(const std::function<void()>& scenario, const std::string& with, options limits = {}) {
    result found = explore(scenario, limits);
    report(found, limits);
    EXPECT_EQ(found.failure.substr(0, with.size()), with) << found.failure;
    limits.reduce = false;
    const result unreduced = explore(scenario, limits);
    EXPECT_EQ(unreduced.failure.substr(0, with.size()), with) << unreduced.failure;
    return found;
}

}  // namespace model
