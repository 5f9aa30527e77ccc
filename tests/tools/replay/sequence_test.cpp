// Events become the right steps.
#include <gtest/gtest.h>

#include <cmath>

#include "replay/sequence_builder.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::test;

sequence sequence_of(const made_trace& made) {
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

std::string kinds_of(const sequence& steps) {
    std::string kinds;
    for (const step& each : steps.steps) kinds += "+-r|"[static_cast<std::size_t>(each.kind())];
    return kinds;
}

TEST(sequence, reuses_a_slot_after_its_object_is_freed) {
    made_trace made;
    const auto a = made.allocate(0, 10);
    const auto b = made.allocate(0, 20);
    made.release(a, 0);
    made.allocate(0, 30);
    made.release(b, 0);
    const sequence steps = sequence_of(made);
    EXPECT_EQ(kinds_of(steps), "++-+-");
    EXPECT_EQ(steps.slots, 2U);
    EXPECT_EQ(steps.steps[3].slot(), steps.steps[0].slot());
    EXPECT_EQ(steps.steps[4].slot(), steps.steps[1].slot());
    EXPECT_EQ(steps.shapes[steps.steps[3].shape()], (shape{30, 16}));
    ASSERT_EQ(steps.survivors.size(), 1U);
    EXPECT_EQ(steps.survivors[0].slot(), steps.steps[3].slot());
}

TEST(sequence, knows_objects_of_operator_new) {
    made_trace made;
    const auto a = made.allocate(0, 30, 0, operation::new_single);
    made.release(a, 0, 0, operation::delete_single);
    made.allocate(0, 30);
    made.allocate(0, 30, 0, operation::new_array);
    const sequence steps = sequence_of(made);
    const auto shape_at = [&](std::size_t number) { return steps.shapes[steps.steps[number].shape()]; };
    EXPECT_EQ(shape_at(0), (shape{30, 16, true}));
    EXPECT_EQ(shape_at(1), (shape{30, 16, true}));
    EXPECT_EQ(shape_at(2), (shape{30, 16, false}));
    EXPECT_EQ(shape_at(3), (shape{30, 16, true}));
    EXPECT_EQ(steps.shapes.size(), 2U);
}

TEST(sequence, knows_the_peak_of_live_bytes_and_its_step) {
    made_trace made;
    const auto a = made.allocate(0, 100);
    made.release(a, 0);
    made.allocate(0, 70);
    made.allocate(0, 70);
    made.allocate(0, 0);
    const sequence steps = sequence_of(made);
    EXPECT_EQ(steps.peak_bytes, 140U);
    EXPECT_EQ(steps.peak_step, 3U);
}

TEST(sequence, the_halves_of_a_realloc_become_one_step) {
    made_trace made;
    const auto a = made.allocate(0, 100);
    made.release(a, 0, 0, operation::realloc);
    const auto b = made.allocate(0, 200, 0, operation::realloc);
    made.release(b, 0);
    const sequence steps = sequence_of(made);
    ASSERT_EQ(kinds_of(steps), "+rr-");
    EXPECT_EQ(steps.shapes[steps.steps[1].shape()].bytes, 200U);
    EXPECT_EQ(steps.shapes[steps.steps[2].shape()].bytes, 100U);
    EXPECT_EQ(steps.slots, 1U);
}

TEST(sequence, the_halves_of_a_realloc_are_told_apart_by_thread) {
    made_trace made;
    const auto a = made.allocate(0, 100);
    made.release(a, 0, 0, operation::realloc);
    const auto other = made.allocate(0, 50, 1);
    made.allocate(0, 200, 0, operation::realloc);
    made.release(other, 0, 1);
    EXPECT_EQ(kinds_of(sequence_of(made)), "++rr-");
}

TEST(sequence, half_a_realloc_is_a_free_or_an_allocation) {
    made_trace made;
    const auto a = made.allocate(0, 100, 0, operation::realloc);
    made.release(a, 0, 0, operation::realloc);
    const auto b = made.allocate(0, 5);
    made.release(b, 0, 0, operation::realloc);
    EXPECT_EQ(kinds_of(sequence_of(made)), "+-+-");
}

TEST(sequence, resets_stand_between_the_events) {
    made_trace made;
    const auto a = made.allocate(0, 100);
    made.release(a, 0);
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    builder.reset();
    EXPECT_EQ(kinds_of(builder.finish()), "+-|");
}

TEST(sequence, every_event_is_a_step) {
    const made_trace made = random_trace(11, 20'000);
    const sequence steps = sequence_of(made);
    EXPECT_EQ(steps.steps.size(), made.events.size());
    std::vector<bool> live(steps.slots);
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
        const step& each = steps.steps[i];
        if (each.kind() == step_kind::reallocate) {
            ++i;
            EXPECT_TRUE(live[each.slot()]);
            continue;
        }
        EXPECT_EQ(live[each.slot()], each.kind() == step_kind::release);
        live[each.slot()] = each.kind() == step_kind::allocate;
    }
    for (const step& survivor : steps.survivors) {
        EXPECT_TRUE(live[survivor.slot()]);
        live[survivor.slot()] = false;
    }
    EXPECT_EQ(std::count(live.begin(), live.end(), true), 0);
}

TEST(sequence, each_recorded_thread_gets_its_own_steps) {
    const made_trace made = random_trace(12, 40'000);
    sequence_builder builder{lanes::as_recorded};
    for (const event& e : made.events) builder.add(e);
    const sequence steps = builder.finish();
    EXPECT_EQ(steps.lanes, 5U);
    std::vector<std::uint64_t> played(steps.lanes);
    std::vector<std::uint64_t> wanted(steps.lanes);
    std::vector<std::vector<std::uint32_t>> turns(steps.slots);
    for (const lane_run& run : steps.runs) {
        played[run.lane] += run.count;
        for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
            if (steps.steps[i].kind() == step_kind::reallocate) ++i;  // the second half has its turn
            turns[steps.steps[i].slot()].push_back(steps.turns[i]);
        }
    }
    for (const event& e : made.events) ++wanted[e.thread];
    EXPECT_EQ(played, wanted);
    // Each turn of a slot occurs once.
    for (std::vector<std::uint32_t>& of_slot : turns) {
        std::sort(of_slot.begin(), of_slot.end());
        for (std::size_t i = 0; i < of_slot.size(); ++i) EXPECT_EQ(of_slot[i], i);
    }
}

TEST(sequence, too_many_threads_are_refused_if_each_plays) {
    made_trace made;
    for (std::uint32_t i = 0; i <= sequence_builder::max_lanes; ++i) made.allocate(0, 8, i);
    EXPECT_EQ(sequence_of(made).lanes, 1U);
    sequence_builder builder{lanes::as_recorded};
    const auto add_all = [&] {
        for (const event& e : made.events) builder.add(e);
    };
    EXPECT_THROW(add_all(), tool_error);
}

TEST(sequence, the_event_of_each_step_is_found) {
    const made_trace made = random_trace(13, 5'000);
    for (const lanes who : {lanes::one, lanes::as_recorded}) {
        std::vector<wanted_step> wanted;
        for (std::uint32_t lane = 0; lane < (who == lanes::one ? 1U : 5U); ++lane) {
            for (std::uint64_t i = 0; i < 900; ++i) wanted.push_back({.lane = lane, .step = i});
        }
        step_finder finder{who, wanted};
        for (const event& e : made.events) finder.add(e);
        sequence_builder builder{who};
        for (const event& e : made.events) builder.add(e);
        const sequence steps = builder.finish();
        std::vector<std::vector<step>> by_lane(steps.lanes);
        if (steps.runs.empty()) by_lane[0].assign(steps.steps.begin(), steps.steps.end());
        for (const lane_run& run : steps.runs) {
            const step* first = steps.steps.begin() + run.first;
            by_lane[run.lane].insert(by_lane[run.lane].end(), first, first + run.count);
        }
        for (const wanted_step& each : wanted) {
            const step& made_of = by_lane[each.lane][each.step];
            ASSERT_TRUE(each.found);
            if (made_of.kind() != step_kind::allocate) continue;
            EXPECT_EQ(each.what.size, steps.shapes[made_of.shape()].bytes);
            EXPECT_EQ(made.events[each.number - 1].object, each.what.object);
            EXPECT_TRUE(each.what.allocates);
        }
    }
}

TEST(sequence, blocks_are_touched_as_a_whole_unless_they_are_too_large_together) {
    made_trace made;
    for (int i = 0; i < 7; ++i) made.allocate(0, 32 << 20);
    const sequence usual = sequence_of(made);
    EXPECT_EQ(usual.touched, ~std::uint64_t{0});
    EXPECT_EQ(usual.reserved_blocks, 0U);
    made.allocate(0, std::uint64_t{12} << 30);
    made.allocate(0, 100);
    const sequence sparse = sequence_of(made);
    EXPECT_EQ(sparse.touched, std::uint64_t{32} << 20);
    EXPECT_EQ(sparse.reserved_blocks, 1U);
    EXPECT_NE(reserved_note(1, sparse.touched).find("Of 1 block only the first 32.0 MiB was"), std::string::npos);
}

TEST(sequence, large_blocks_in_turn_are_touched_in_part) {
    made_trace made;
    for (int i = 0; i < 10'000; ++i) made.release(made.allocate(0, std::uint64_t{1} << 30), 0);
    const sequence steps = sequence_of(made);
    EXPECT_LE(steps.touched * 10'000, std::uint64_t{256} << 20);
    EXPECT_EQ(steps.reserved_blocks, 10'000U);
}

TEST(sequence, large_blocks_in_turn_are_touched_as_a_whole_within_the_budget) {
    made_trace made;
    for (int i = 0; i < 25; ++i) made.release(made.allocate(0, 10 << 20), 0);
    EXPECT_EQ(sequence_of(made).touched, ~std::uint64_t{0});
    made.release(made.allocate(0, 30 << 20), 0);
    const sequence steps = sequence_of(made);
    EXPECT_EQ(steps.touched, std::uint64_t{8} << 20);
    EXPECT_EQ(steps.reserved_blocks, 26U);
}

TEST(sequence, pages_of_smaller_blocks_are_not_written_without_end) {
    made_trace made;
    for (int i = 0; i < 600'000; ++i) made.release(made.allocate(0, 1 << 20), 0);
    const sequence steps = sequence_of(made);
    EXPECT_EQ(steps.touched, std::uint64_t{512} << 10);
    EXPECT_EQ(steps.reserved_blocks, 600'000U);
}

TEST(sequence, impossible_sizes_do_not_confuse_what_is_touched) {
    made_trace made;
    for (int i = 0; i < 100; ++i) made.allocate(0, ~std::uint64_t{1} >> (i % 20));
    const sequence steps = sequence_of(made);
    EXPECT_LE(steps.touched * 100, std::uint64_t{512} << 20);
    EXPECT_EQ(steps.reserved_blocks, 100U);
}

TEST(sequence, knows_when_small_blocks_take_much_memory) {
    sequence_builder builder;
    std::uint64_t blocks = 0;
    while (!builder.is_full() && blocks < 1'000'000) builder.add(event{.object = blocks++, .size = 4000});
    EXPECT_NEAR(static_cast<double>(blocks) * 4000, std::ldexp(1, 29), 1e4);
}

TEST(sequence, knows_when_events_take_much_time) {
    const auto events_until_full = [](std::uint64_t size) {
        sequence_builder builder;
        std::uint64_t events = 0;
        for (; !builder.is_full(); ++events) {
            const bool allocates = events % 2 == 0;
            builder.add(event{.object = events / 2, .size = size, .allocates = allocates});
        }
        return events;
    };
    EXPECT_EQ(events_until_full(100), max_replayed_events);
    EXPECT_LE(events_until_full(2 << 20), max_replayed_events / 100);
    EXPECT_LE(events_until_full(64 << 20), max_replayed_events / 500);
}

TEST(sequence, many_plays_have_a_smaller_window) {
    const replay_window few = window_for(50);
    EXPECT_EQ(few.events, max_replayed_events);
    EXPECT_GE(few.live_bytes, std::uint64_t{100} << 20);
    const replay_window many = window_for(170);
    EXPECT_LT(many.events * 170, std::uint64_t{400'000'000});
    EXPECT_GE(many.live_bytes, std::uint64_t{30} << 20);
    EXPECT_LE(many.live_bytes * 170, std::uint64_t{20} << 30);
    EXPECT_EQ(window_for(1'000'000).events, 250'000U);
}

TEST(sequence, a_window_ends_a_replay) {
    sequence_builder builder;
    std::uint64_t blocks = 0;
    while (!builder.is_full({.events = 1000})) builder.add(event{.object = blocks++, .size = 100});
    EXPECT_EQ(blocks, 1000U);
    while (!builder.is_full({.live_bytes = 1'000'000})) builder.add(event{.object = blocks++, .size = 100});
    EXPECT_EQ(blocks, 10'001U);
}

}  // namespace
