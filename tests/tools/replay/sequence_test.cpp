// Events become the steps that they should.
#include <gtest/gtest.h>

#include "replay/sequence_builder.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"

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

TEST(sequence, uses_a_slot_again_once_its_object_died) {
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

TEST(sequence, knows_the_most_bytes_alive_and_when) {
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

TEST(sequence, the_halves_of_a_realloc_become_one) {
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

TEST(sequence, a_realloc_that_only_frees_or_only_allocates_is_that) {
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

}  // namespace
