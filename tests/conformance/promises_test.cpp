// The promises of every resource (docs/resources.md), one by one, over every resource.
#include <acre/core/alignment.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "conformance/suite.hpp"
#include "sizes.hpp"

namespace acre_test {
namespace {

class conformance_of_errors : public conformance {};
class conformance_of_growing : public conformance {};
class conformance_of_releasing : public conformance {};
class conformance_of_resetting : public conformance {};
class conformance_of_owning : public conformance {};
class conformance_of_size : public conformance {};

const auto own_errors = [](subject& each) { return acre::exceptions_enabled && !each.traits().std_pmr; };
const auto grows = [](subject& each) { return each.upstream() != nullptr && !each.traits().std_pmr; };
const auto releases = [](subject& each) { return grows(each) && each.release(); };
const auto resets = [](subject& each) { return grows(each) && each.reset(); };
const auto knows_its_own = [](subject& each) { return each.owns(nullptr).has_value(); };
const auto knows_its_size = [](subject& each) { return each.used() && each.capacity(); };

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(conformance_of_errors);
INSTANTIATE_TEST_SUITE_P(every, conformance, testing::ValuesIn(all_subjects()), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_errors, testing::ValuesIn(subjects_where(own_errors)), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_growing, testing::ValuesIn(subjects_where(grows)), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_releasing, testing::ValuesIn(subjects_where(releases)), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_resetting, testing::ValuesIn(subjects_where(resets)), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_owning, testing::ValuesIn(subjects_where(knows_its_own)), name_of);
INSTANTIATE_TEST_SUITE_P(every, conformance_of_size, testing::ValuesIn(subjects_where(knows_its_size)), name_of);

// Promise 1; hazards A1, B3, C3, M5, N1, P1, X1.
TEST_P(conformance, every_alignment_is_honoured) {
    live_model model;
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        for (const std::size_t bytes : {1u, 3u, 8u, 24u, 64u, 100u, 1000u}) {
            for (int again = 0; again < 3; ++again) {
                const bool served = take(model, bytes, alignment);
                EXPECT_TRUE(served || tested().traits().bounded) << bytes << " aligned to " << alignment;
            }
        }
    }
    model.verify_all();
    give_all_back(model);
}

// Promise 1.
TEST_P(conformance, extreme_alignment_is_honoured_or_refused) {
    if (refusal_ends_the_program()) GTEST_SKIP() << "a refusal ends the program in this build";
    for (int shift = 13; shift < std::numeric_limits<std::size_t>::digits; ++shift) {
        const std::size_t alignment = std::size_t{1} << shift;
        // AddressSanitizer would reserve this much and mark every byte; Windows would set it aside.
        if (acre::poisoning && shift > 28 && shift < 40) continue;
        if (commits_untouched_memory && shift > 20) break;
        void* p = tested().try_allocate(16, alignment);
        EXPECT_TRUE(acre::is_aligned(p, alignment)) << "2^" << shift;
        tested().deallocate(p, 16, alignment);
    }
    expect_still_works();
}

// Promise 1.
TEST_P(conformance, other_than_a_power_of_two_is_bad_alignment) {
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{5}, std::size_t{6}, std::size_t{12},
                                        std::size_t{48}, std::size_t{4095}, std::size_t{SIZE_MAX},
                                        acre::max_request + 1}) {  // the last is a power of two, and too large
        EXPECT_EQ(tested().try_allocate(16, alignment), nullptr) << alignment;
        EXPECT_EQ(outcome_of([&] { return tested().allocate(16, alignment); }), refused_as(outcome::bad_alignment))
            << alignment;
    }
    expect_still_works();
}

// Promise 2; hazards A9, B5.
TEST_P(conformance, zero_bytes_are_distinct) {
    live_model model;
    for (int i = 0; i < 40; ++i) {
        for (const std::size_t alignment : {1u, 16u, 256u, 4096u}) {
            const bool served = take(model, 0, alignment);
            EXPECT_TRUE(served || tested().traits().bounded);
            take(model, 8, 8);
        }
    }
    give_all_back(model);
}

// Promise 2; hazards B6, M1, M4, X4.
TEST_P(conformance, sizes_near_the_end_of_the_address_space_fail) {
    if (refusal_ends_the_program()) GTEST_SKIP() << "a refusal ends the program in this build";
    std::vector<std::size_t> sizes{SIZE_MAX / 2, half_of_all};
    // A heap of 32 bits may have as much.
    if (sizes_have_64_bits) sizes.insert(sizes.end(), {quarter_of_all, SIZE_MAX / 2 - 4096});
    for (std::size_t less = 0; less <= 128; less += less < 24 ? 1 : 13) sizes.push_back(SIZE_MAX - less);
    for (const std::size_t less : {255u, 256u, 4095u, 4096u, 8192u, 65536u}) sizes.push_back(SIZE_MAX - less);
    for (const std::size_t bytes : sizes) {
        for (const std::size_t alignment :
             {std::size_t{1}, std::size_t{16}, std::size_t{64}, std::size_t{4096}, quarter_of_all, half_of_all}) {
            EXPECT_EQ(tested().try_allocate(bytes, alignment), nullptr) << bytes << " aligned to " << alignment;
            const outcome result = outcome_of([&] { return tested().allocate(bytes, alignment); });
            EXPECT_TRUE(result != outcome::served && result != outcome::other_exception)
                << bytes << " aligned to " << alignment;
            EXPECT_TRUE(result != outcome::other_bad_alloc || tested().traits().std_pmr);
        }
    }
    expect_still_works();
}

// Promise 2; hazard M1.
TEST_P(conformance, four_gibibytes_do_not_wrap_to_few_bytes) {
    if (refusal_ends_the_program()) GTEST_SKIP() << "a refusal ends the program in this build";
    if (sanitized) GTEST_SKIP() << "the sanitizer's shadow of it would be half as large again";
    if (commits_untouched_memory) GTEST_SKIP() << "this system would set all of it aside";
    // Hazard M1. If the request is served, all of its bytes must be usable.
    const std::size_t bytes = beyond_32_bits;
    if (auto* p = static_cast<volatile char*>(tested().try_allocate(bytes, 16))) {
        p[0] = 1;
        p[bytes - 1] = 2;
        EXPECT_EQ(p[0] + p[bytes - 1], 3);
        tested().deallocate(const_cast<char*>(p), bytes, 16);
    }
    expect_still_works();
}

// Promise 3.
TEST_P(conformance_of_errors, the_error_says_what_was_asked) {
    std::string sentence;
    const std::size_t bytes = (sizes_have_64_bits ? SIZE_MAX / 2 : SIZE_MAX) - 12345;
    EXPECT_NE(outcome_of([&] { return tested().allocate(bytes, 16); }, &sentence), outcome::served);
    EXPECT_NE(sentence.find(std::to_string(bytes)), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("::"), std::string::npos) << sentence;
    outcome_of([&] { return tested().allocate(16, 48); }, &sentence);
    EXPECT_NE(sentence.find("48"), std::string::npos) << sentence;
}

// Promise 4.
TEST_P(conformance_of_growing, construction_takes_no_memory) {
    EXPECT_EQ(tested().upstream()->requests(), 0u);
    EXPECT_EQ(tested().used().value_or(0), 0u);
}

// Promise 4; hazard P11.
TEST_P(conformance_of_growing, destruction_returns_what_was_not_freed) {
    // The checking upstream and the sanitizers report leaks.
    std::mt19937 random{4};
    for (int i = 0; i < 300; ++i) (void)tested().try_allocate(usual_size(random), usual_alignment(random));
    EXPECT_GT(tested().upstream()->live_blocks(), 0u);
    if (tested().traits().direct && tested().release()) {
        EXPECT_EQ(tested().upstream()->live_blocks(), 0u);
        (void)tested().try_allocate(100, 8);
    }
}

// After release() a resource makes the same upstream calls as at first.
// Promise 4; hazards X5, X8.
TEST_P(conformance_of_releasing, release_resets_growth) {
    const auto sizes_of_a_round = [&] {
        const std::size_t before = tested().upstream()->sizes().size();
        std::mt19937 random{5};
        live_model model;
        for (int i = 0; i < 500; ++i) take(model, usual_size(random) % 4000, std::size_t{1} << random() % 5);
        model.verify_all();
        const auto& all = tested().upstream()->sizes();
        const std::vector<std::size_t> result(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
        tested().release();
        return result;
    };
    const auto first = sizes_of_a_round();
    EXPECT_FALSE(first.empty());
    if (tested().traits().direct) {
        EXPECT_EQ(tested().upstream()->live_blocks(), 0u);
        EXPECT_EQ(sizes_of_a_round(), first);
        EXPECT_EQ(sizes_of_a_round(), first);
    } else {
        for (int round = 0; round < 5; ++round) sizes_of_a_round();
        EXPECT_LE(sizes_of_a_round().size(), first.size());
    }
}

// Promise 9; hazards P4, Y15.
TEST_P(conformance, null_is_taken_back) {
    // P4: the next request must not return the null.
    tested().give_null_back();
    expect_still_works();
    // Nor is it counted as a free.
    live_model model;
    take(model, 40, 8);
    const std::optional<std::size_t> used = tested().used();
    const std::string before = tested().description();
    tested().give_null_back();
    EXPECT_EQ(tested().used(), used);
    EXPECT_EQ(tested().description(), before);
    model.verify_all();
    give_all_back(model);
}

// The bytes that allocate_at_least gives are the caller's, and a request for all of them gets no more.
TEST_P(conformance, at_least_gives_what_it_says) {
    live_model model;
    for (const std::size_t alignment : {1u, 8u, 32u, 256u}) {
        for (const std::size_t bytes : {0u, 1u, 24u, 49u, 100u, 1000u, 5000u}) {
            const std::size_t given = tested().bytes_given(bytes, alignment);
            EXPECT_GE(given, bytes);
            EXPECT_EQ(tested().bytes_given(given, alignment), given) << bytes << " aligned to " << alignment;
            take(model, given, alignment);
        }
    }
    model.verify_all();
    give_all_back(model);
}

// Promise 10.
TEST_P(conformance_of_owning, it_knows_what_it_owns) {
    int elsewhere = 0;
    EXPECT_FALSE(*tested().owns(nullptr));
    EXPECT_FALSE(*tested().owns(&elsewhere));
    std::mt19937 random{6};
    live_model model;
    for (int i = 0; i < 300; ++i) take(model, usual_size(random), usual_alignment(random));
    for (const auto& [p, block] : model.blocks()) {
        EXPECT_TRUE(*tested().owns(p));
        EXPECT_TRUE(*tested().owns(p + std::max<std::size_t>(block.bytes, 1) - 1));
    }
    EXPECT_FALSE(*tested().owns(&elsewhere));
    EXPECT_FALSE(*tested().owns(&model));
    give_all_back(model);
}

TEST_P(conformance, it_describes_itself) {
    live_model model;
    for (int i = 0; i < 20; ++i) take(model, 24, 8);
    const std::string line = tested().description();
    EXPECT_FALSE(line.empty());
    EXPECT_EQ(line.find('%'), std::string::npos) << line;
    if (tested().used() && tested().capacity()) {
        const auto numbers = std::to_string(*tested().used()) + " of " + std::to_string(*tested().capacity());
        EXPECT_NE(line.find(numbers + " bytes used"), std::string::npos) << line;
    }
    give_all_back(model);
}

// Promise 10.
TEST_P(conformance_of_size, it_knows_its_size) {
    const std::size_t at_first = *tested().capacity();
    std::mt19937 random{7};
    live_model model;
    for (int i = 0; i < 500; ++i) {
        if (random() % 3 == 0 && !model.empty()) {
            give_back(model, model.any(random()));
        } else {
            take(model, usual_size(random), usual_alignment(random));
        }
        if (i % 16 != 0) continue;
        EXPECT_GE(*tested().used(), model.live_bytes());
        EXPECT_GE(*tested().capacity(), *tested().used());
        if (tested().traits().direct) {
            EXPECT_EQ(*tested().capacity() - at_first, tested().upstream()->live_bytes());
        }
    }
    give_all_back(model);
    if (tested().reset()) {
        EXPECT_EQ(*tested().used(), 0u);
    }
    if (tested().release()) {
        EXPECT_EQ(*tested().used(), 0u);
        // A fixed arena gives back what it took at first, too.
        EXPECT_LE(*tested().capacity(), at_first);
    }
}

// If each round does the same work, no round after the first calls upstream.
TEST_P(conformance_of_resetting, rounds_after_the_first_need_no_upstream) {
    std::size_t after_warm_up = 0;
    for (int round = 0; round < 20; ++round) {
        std::mt19937 random{8};
        live_model model;
        for (int i = 0; i < 200; ++i) take(model, random() % 300, std::size_t{1} << random() % 4);
        // Each request larger than a slot is an upstream call.
        if (round == 2) after_warm_up = tested().upstream()->requests();
        model.verify_all();
        model.forget_all();
        tested().reset();
    }
    if (std::string_view{GetParam().name}.find("multi_pool") == 0 || tested().resizes()) {
        EXPECT_EQ(tested().upstream()->requests(), after_warm_up);
    }
}

}  // namespace
}  // namespace acre_test
