// A process for a test alone.
#pragma once

#include <gtest/gtest.h>
#include <cstdlib>

namespace acre_test {

/// Runs the test in a forked process. A heap's range lasts as long as its process, and where addresses are few a
/// process cannot have many of them.
template <class Test>
void in_a_process_of_its_own(Test test) {
    const auto run = [&] {
        test();
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace acre_test
