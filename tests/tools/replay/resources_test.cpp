// Every resource plays every trace that it accepts, keeps the content of its blocks, and reports failures.
#include "replay/resources.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include "replay/replay_host.hpp"
#include "replay/sequence_builder.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

constexpr std::uint64_t plenty = std::uint64_t{1} << 32;

/// A trace without impossible sizes and alignments.
made_trace modest_trace(unsigned seed) {
    made_trace made = random_trace(seed, 6'000);
    for (event& e : made.events) {
        e.size %= e.size % 50 == 0 ? 20'000 : 700;
        e.alignment_log2 %= 10;
    }
    return made;
}

/// A trace that pools of one slot size can play as well.
made_trace small_trace(unsigned seed) {
    made_trace made = modest_trace(seed);
    for (event& e : made.events) {
        e.size %= 4'000;
        e.alignment_log2 = 0;
    }
    return made;
}

sequence sequence_of(const made_trace& made, lanes who = lanes::one) {
    sequence_builder builder{who};
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

class every_resource : public testing::TestWithParam<std::uint32_t> {
protected:
    const resource_entry& entry() const { return resources()[GetParam()]; }

    bool can_play(const sequence& steps) const {
        return entry().refuse == nullptr || entry().refuse({}, steps.view()).empty();
    }

    /// The request with generous parameters, where the resource needs any.
    trial_request completed(const sequence& steps, trial_request request) const {
        constexpr unsigned generous = 6;
        request.resource = GetParam();
        if (entry().complete != nullptr) request.parameters = entry().complete({}, steps.view(), generous);
        if (request.memory_limit == 0) request.memory_limit = plenty;
        return request;
    }

    trial_result play(const sequence& steps, const trial_request& request) const {
        return entry().play(steps.view(), completed(steps, request));
    }

    bool has_upstream() const {
        return entry().group != resource_group::system && entry().group != resource_group::preload &&
               entry().name != "static_pool" && entry().name != "general_heap" && !entry().name.starts_with("inline_");
    }
};

TEST_P(every_resource, keeps_the_content_of_its_blocks) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
        for (const made_trace& made : {modest_trace(seed), small_trace(seed)}) {
            const sequence steps = sequence_of(made);
            if (!can_play(steps)) continue;
            const trial_result result = play(steps, {.repeats = 2, .purpose = trial_purpose::check});
            EXPECT_EQ(result.failure, trial_failure::none) << "at step " << result.failed_step;
        }
    }
}

TEST_P(every_resource, measures_the_time) {
    const trial_result result = play(sequence_of(small_trace(3)), {.repeats = 2});
    EXPECT_EQ(result.failure, trial_failure::none);
    EXPECT_GT(result.nanoseconds, 0U);
    EXPECT_GT(result.wall_nanoseconds, 0U);
}

TEST_P(every_resource, is_played_by_several_threads_if_it_allows_them) {
    const sequence steps = sequence_of(small_trace(5), lanes::as_recorded);
    ASSERT_EQ(steps.lanes, 5U);
    const trial_failure wanted = entry().threads == thread_rule::any ? trial_failure::none : trial_failure::not_started;
    EXPECT_EQ(play(steps, {.repeats = 2, .purpose = trial_purpose::check}).failure, wanted);
    EXPECT_EQ(play(steps, {.repeats = 2}).failure, wanted);
}

TEST_P(every_resource, holds_at_least_the_live_bytes_at_the_peak) {
    const sequence steps = sequence_of(small_trace(4));
    const trial_result result = play(steps, {.purpose = trial_purpose::footprint});
    EXPECT_EQ(result.failure, trial_failure::none);
    // AddressSanitizer's malloc does not report what it holds.
    const bool tells = !acre::poisoning || has_upstream();
    EXPECT_GE(result.peak_bytes, tells ? steps.peak_bytes : 0);
}

// Hazard X19.
TEST_P(every_resource, names_the_step_at_which_memory_ran_out) {
    if (!has_upstream()) return;
    made_trace made;
    for (int i = 0; i < 1000; ++i) made.allocate(0, 4096);
    const sequence steps = sequence_of(made);
    // In a process of its own, since objects that live when a step fails are not freed.
    replay_host host;
    host.stage(steps.view());
    const trial_result result = host.measure(completed(steps, {.memory_limit = 1 << 20}));
    EXPECT_EQ(result.failure, trial_failure::out_of_memory);
    EXPECT_LE(result.failed_step, 256U);
    EXPECT_EQ(host.measure(completed(steps, {})).failure, trial_failure::none);
}

TEST_P(every_resource, plays_resets) {
    made_trace made;
    sequence_builder builder;
    for (int round = 0; round < 100; ++round) {
        const auto a = made.allocate(0, 24);
        const auto b = made.allocate(0, 4000);
        made.release(a, 0);
        made.release(b, 0);
        for (std::size_t i = made.events.size() - 4; i < made.events.size(); ++i) builder.add(made.events[i]);
        builder.reset();
    }
    EXPECT_EQ(play(builder.finish(), {.repeats = 3}).failure, trial_failure::none);
}

TEST_P(every_resource, that_takes_all_back_needs_no_frees) {
    if (!entry().takes_all_back) return;
    const sequence steps = sequence_of(modest_trace(6));
    for (const trial_purpose purpose : {trial_purpose::time, trial_purpose::check}) {
        EXPECT_EQ(play(steps, {.purpose = purpose, .without_frees = true}).failure, trial_failure::none);
    }
    const auto peak = [&](bool without) {
        return play(steps, {.purpose = trial_purpose::footprint, .without_frees = without}).peak_bytes;
    };
    EXPECT_GE(peak(true), peak(false));
}

std::vector<std::uint32_t> all_but_the_loop() {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < resources().size(); ++i) {
        if (i != loop_number) numbers.push_back(i);
    }
    return numbers;
}

INSTANTIATE_TEST_SUITE_P(all, every_resource, testing::ValuesIn(all_but_the_loop()),
                         [](const auto& parameter) { return std::string{resources()[parameter.param].name}; });

TEST(resources, have_distinct_names) {
    for (std::uint32_t i : all_but_the_loop()) EXPECT_EQ(resource_number(resources()[i].name), i);
}

TEST(resources, one_without_room_fails_in_every_thread) {
    made_trace made;
    for (std::uint32_t i = 0; i < 4000; ++i) made.allocate(0, 4096, i % 4);
    for (std::uint64_t i = 0; i < 4000; ++i) made.release(i, 0, (i + 1) % 4);
    const sequence steps = sequence_of(made, lanes::as_recorded);
    replay_host host;
    host.stage(steps.view());
    const std::uint32_t number = resource_number("concurrent_multi_pool");
    const trial_result result = host.measure({.resource = number, .memory_limit = 1 << 20});
    EXPECT_EQ(result.failure, trial_failure::out_of_memory);
    EXPECT_LT(result.failed_lane, 4U);
    EXPECT_LE(result.failed_step, 256U);
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
    for (const std::uint64_t slot : {1U, 100U, 4096U}) {
        const trial_result result = resources()[number].play(steps.view(), {.resource = number,
                                                                            .parameters = {.count = 0, .bytes = slot},
                                                                            .memory_limit = plenty,
                                                                            .purpose = trial_purpose::check});
        EXPECT_EQ(result.failure, trial_failure::none) << slot;
        EXPECT_GE(result.peak_bytes, 100'000U) << slot;
    }
}

TEST(resources, an_unknown_name_is_refused_with_the_known_ones) {
    try {
        resource_number("mymalloc");
        FAIL();
    } catch (const tool_error& error) {
        const std::string sentence = error.what();
        for (const char* name : {"mymalloc", "system", "arena", "multi_pool", "std_monotonic"}) {
            EXPECT_NE(sentence.find(name), std::string::npos) << sentence;
        }
    }
    EXPECT_THROW(resource_number("loop"), tool_error);
    EXPECT_THROW(resource_number(""), tool_error);
}

}  // namespace
