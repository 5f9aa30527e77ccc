// The version in the headers is that of the build.
#include <gtest/gtest.h>

#include <acre/version.hpp>
#include <string>

namespace {

TEST(version, is_that_of_the_build) {
    const std::string text = std::to_string(acre::version_number / 10'000) + "." +
                             std::to_string(acre::version_number / 100 % 100) + "." +
                             std::to_string(acre::version_number % 100);
    EXPECT_EQ(text, ACRE_VERSION);
    EXPECT_EQ(ACRE_VERSION_NUMBER, acre::version_number);
}

static_assert(acre::version_is_at_least(0));
static_assert(acre::version_is_at_least(acre::version_number / 10'000, acre::version_number / 100 % 100,
                                        acre::version_number % 100));
static_assert(!acre::version_is_at_least(acre::version_number / 10'000, acre::version_number / 100 % 100,
                                         acre::version_number % 100 + 1));
static_assert(!acre::version_is_at_least(acre::version_number / 10'000 + 1));

}  // namespace
