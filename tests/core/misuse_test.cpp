// A misuse calls the handler: the default prints a sentence and aborts, and one of the program's may do otherwise.
#include <gtest/gtest.h>

#include <acre/core/misuse.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

TEST(misuse, ends_the_program_with_its_sentence) {
    EXPECT_DEATH(acre::abort_on_misuse("acre::pool", "double free", nullptr),
                 "^acre::pool: double free \\(pointer 0x0\\)\n");
}

TEST(misuse, details_follow_the_sentence) {
    std::string details(300, 'x');
    details += " is where\n";
    EXPECT_DEATH(acre::abort_on_misuse({"acre::checked", "double free", nullptr, details.c_str()}),
                 "double free .pointer 0x0.\nx+ is where\n");
}

void end_with_42(const acre::misuse& noticed) {
    std::fprintf(stderr, "%s noticed %s at %p", noticed.resource, noticed.what, noticed.pointer);
    std::_Exit(42);
}
void only_print(const acre::misuse&) {
    std::fputs("mine", stderr);
}

TEST(misuse, a_handler_may_end_the_program_in_its_way) {
    int somewhere = 0;
    EXPECT_EXIT(
        {
            acre::set_misuse_handler(end_with_42);
            acre::abort_on_misuse("acre::pool", "double free", &somewhere);
        },
        testing::ExitedWithCode(42), "^acre::pool noticed double free at ");
}

TEST(misuse, a_handler_that_returns_is_followed_by_an_abort) {
    EXPECT_DEATH(
        {
            acre::set_misuse_handler(only_print);
            acre::abort_on_misuse("acre::pool", "double free", nullptr);
        },
        "^mine");
}

TEST(misuse, the_handler_before_is_returned_and_null_restores_the_default) {
    EXPECT_EQ(acre::set_misuse_handler(only_print), nullptr);
    EXPECT_EQ(acre::set_misuse_handler(nullptr), only_print);
    EXPECT_DEATH(acre::abort_on_misuse("acre::pool", "double free", nullptr), "acre::pool: double free");
}

}  // namespace
