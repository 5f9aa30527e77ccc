// Every resource plays every trace, and says so when it cannot.
#include "replay/resources.hpp"

#include <gtest/gtest.h>
#include <acre/core/sanitizer.hpp>

#include "replay/sequence_builder.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

constexpr std::uint64_t plenty = std::uint64_t{1} << 32;

/// A trace without sizes and alignments that no machine has.
made_trace modest_trace(unsigned seed) {
    made_trace made = random_trace(seed, 30'000);
    for (event& e : made.events) {
        e.size %= e.size % 50 == 0 ? 100'000 : 700;
        e.alignment_log2 %= 10;
    }
    return made;
}

sequence sequence_of(const made_trace& made) {
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

class every_resource : public testing::TestWithParam<std::string_view> {
protected:
    trial_result play(const sequence& steps, trial_request request) {
        request.resource = resource_number(GetParam());
        if (request.memory_limit == 0) request.memory_limit = plenty;
        return resources()[request.resource].play(steps.view(), request);
    }

    bool takes_from_upstream() const { return GetParam() != "system" && GetParam() != "new_delete"; }
};

TEST_P(every_resource, plays_a_random_trace) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const trial_result result = play(sequence_of(modest_trace(seed)), {.repeats = 2});
        EXPECT_EQ(result.failed_step, trial_result::no_step);
        EXPECT_GT(result.nanoseconds, 0U);
    }
}

TEST_P(every_resource, takes_at_least_what_lives_at_the_peak) {
    if (acre::poisoning && !takes_from_upstream())
        GTEST_SKIP() << "AddressSanitizer's malloc does not say what it holds";
    const sequence steps = sequence_of(modest_trace(4));
    const trial_result result = play(steps, {.footprint = true});
    EXPECT_EQ(result.failed_step, trial_result::no_step);
    EXPECT_GE(result.peak_bytes, steps.peak_bytes);
}

TEST_P(every_resource, X19_names_the_step_at_which_memory_ran_out) {
    if (!takes_from_upstream()) GTEST_SKIP() << "has no upstream to run out of";
    made_trace made;
    for (int i = 0; i < 1000; ++i) made.allocate(0, 4096);
    const sequence steps = sequence_of(made);
    const trial_result result = play(steps, {.memory_limit = 1 << 20});
    EXPECT_LE(result.failed_step, 256U);
    EXPECT_EQ(play(steps, {.memory_limit = plenty}).failed_step, trial_result::no_step);
}

TEST_P(every_resource, plays_resets) {
    made_trace made;
    sequence_builder builder;
    for (int round = 0; round < 100; ++round) {
        const auto a = made.allocate(0, 24);
        const auto b = made.allocate(0, 5000);
        made.release(a, 0);
        made.release(b, 0);
        for (std::size_t i = made.events.size() - 4; i < made.events.size(); ++i) builder.add(made.events[i]);
        builder.reset();
    }
    EXPECT_EQ(play(builder.finish(), {.repeats = 3}).failed_step, trial_result::no_step);
}

INSTANTIATE_TEST_SUITE_P(all, every_resource,
                         testing::Values("system", "new_delete", "arena", "pool", "multi_pool", "std_pool",
                                         "std_monotonic"),
                         [](const auto& parameter) { return std::string{parameter.param}; });

TEST(resources, these_tests_leave_none_out) {
    // Besides the empty loop.
    EXPECT_EQ(resources().size(), 7U + 1U);
}

TEST(resources, an_arena_with_resets_stays_small) {
    made_trace made;
    sequence_builder with;
    sequence_builder without;
    for (int round = 0; round < 200; ++round) {
        const auto a = made.allocate(0, 1000);
        const auto b = made.allocate(0, 1000);
        made.release(a, 0);
        made.release(b, 0);
        for (std::size_t i = made.events.size() - 4; i < made.events.size(); ++i) {
            with.add(made.events[i]);
            without.add(made.events[i]);
        }
        with.reset();
    }
    const auto peak = [](const sequence& steps) {
        const std::uint32_t number = resource_number("arena");
        return resources()[number].play(steps.view(), {.resource = number, .memory_limit = plenty}).peak_bytes;
    };
    EXPECT_LE(peak(with.finish()), 8192U);
    EXPECT_GT(peak(without.finish()), 100'000U);
}

TEST(resources, a_pool_takes_one_slot_size_when_told_to) {
    made_trace made;
    for (int i = 0; i < 1000; ++i) made.allocate(0, 100);
    const sequence steps = sequence_of(made);
    const std::uint32_t number = resource_number("pool");
    for (const std::uint64_t slot : {1U, 100U, 5000U, 1'000'000U}) {
        const trial_result result = resources()[number].play(
            steps.view(), {.resource = number, .parameters = {.bytes = slot}, .memory_limit = plenty});
        EXPECT_EQ(result.failed_step, trial_result::no_step) << slot;
        EXPECT_GE(result.peak_bytes, 100'000U) << slot;
    }
}

TEST(resources, an_unknown_name_gets_the_known_ones) {
    try {
        resource_number("jemalloc");
        FAIL();
    } catch (const tool_error& error) {
        const std::string sentence = error.what();
        for (const char* name : {"jemalloc", "system", "arena", "multi_pool", "std_monotonic"}) {
            EXPECT_NE(sentence.find(name), std::string::npos) << sentence;
        }
    }
    EXPECT_THROW(resource_number("loop"), tool_error);
    EXPECT_THROW(resource_number(""), tool_error);
}

}  // namespace
