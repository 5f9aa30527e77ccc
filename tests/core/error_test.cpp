// Errors derive from std::bad_alloc, hold their message and their numbers, and allocate nothing.
#include <gtest/gtest.h>

#include <acre/core/error.hpp>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>

namespace {

static_assert(std::is_base_of_v<std::bad_alloc, acre::allocation_error>);
static_assert(std::is_nothrow_copy_constructible_v<acre::out_of_memory>);

TEST(error, sentences_say_what_was_asked_and_what_there_was) {
    const acre::request_too_large large{"acre::arena", 5000, 100};
    EXPECT_STREQ(large.what(), "acre::arena: request too large: 5000 bytes were asked for, at most 100 can be served");
    EXPECT_STREQ(large.resource(), "acre::arena");
    EXPECT_EQ(large.bytes_needed(), 5000u);
    EXPECT_EQ(large.bytes_available(), 100u);

    const acre::request_too_large aligned{"acre::multi_arena", 16, 4096, 4048, 64};
    EXPECT_STREQ(
        aligned.what(),
        "acre::multi_arena: request too large: 16 bytes aligned to 4096 were asked for, which may take 4048, at "
        "most 64 can be served");
    EXPECT_EQ(aligned.bytes_needed(), 4048u);
    const acre::request_too_large as_large{"acre::multi_arena", 65, 16, 65, 64};
    EXPECT_STREQ(as_large.what(),
                 "acre::multi_arena: request too large: 65 bytes were asked for, at most 64 can be served");
    const acre::request_too_large uncounted{"acre::arena", SIZE_MAX, 100};
    EXPECT_STREQ(
        uncounted.what(),
        "acre::arena: request too large: more bytes than a number can count were asked for, at most 100 can be "
        "served");

    const acre::limit_exceeded limit{"acre::pool", 4096, 900, 1000};
    EXPECT_EQ(limit.bytes_needed(), 4096u);
    EXPECT_EQ(limit.bytes_available(), 100u);
    EXPECT_EQ((acre::limit_exceeded{"acre::pool", 1, 2000, 1000}.bytes_available()), 0u);

    const acre::out_of_memory memory{"acre::heap", 64, 16};
    EXPECT_EQ(memory.bytes_needed(), 64u);
    const acre::bad_alignment alignment{"acre::heap", 48};
    EXPECT_EQ(alignment.alignment(), 48u);
    const acre::bad_option option{"acre::arena", "max_block_bytes", 7, "first_block_bytes or more"};
    EXPECT_STREQ(option.what(), "acre::arena: bad option: .max_block_bytes = 7; allowed: first_block_bytes or more");
    EXPECT_STREQ(option.option(), "max_block_bytes");
}

TEST(error, a_long_name_cuts_the_sentence_only) {
    const std::string name(1000, 'x');
    const acre::out_of_memory error{name.c_str(), SIZE_MAX, SIZE_MAX};
    EXPECT_LT(std::string{error.what()}.size(), 200u);
    EXPECT_EQ(std::string{error.what()}.substr(0, 5), "xxxxx");
}

TEST(error, an_option_in_range_passes) {
    acre::require_option(true, "acre::arena", "bytes", 1, "anything");
}

#if defined(__cpp_exceptions)
TEST(error, an_option_out_of_range_throws_in_every_build) {
    EXPECT_THROW(acre::require_option(false, "acre::arena", "bytes", 1, "more"), acre::bad_option);
}
#else
TEST(error, an_option_out_of_range_ends_the_program_with_its_sentence) {
    EXPECT_DEATH(acre::require_option(false, "acre::arena", "bytes", 1, "more"), "bad option: .bytes = 1");
}
#endif

}  // namespace
