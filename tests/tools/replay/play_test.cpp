// A player notices a faulty resource and keeps the recorded order.
#include "replay/play.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "replay/play_trial.hpp"
#include "replay/sequence_builder.hpp"
#include "replay/step_window.hpp"
#include "tools/support/made_trace.hpp"

namespace {

using namespace acre::test;

sequence some_steps() {
    made_trace made;
    const auto a = made.allocate(0, 100);
    const auto b = made.allocate(0, 100);
    made.release(a, 0);
    made.release(b, 0);
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

/// Returns blocks that begin at `offset`, `apart` bytes from each other.
struct bad_resource {
    std::size_t offset = 0;
    std::size_t apart = 0;
    alignas(64) std::array<unsigned char, 4096> bytes{};
    std::size_t taken = 0;

    void* try_allocate(std::size_t, std::size_t) noexcept { return bytes.data() + offset + apart * taken++; }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

trial_failure failure_with(std::size_t offset, std::size_t apart, std::size_t step) {
    bad_resource resource{.offset = offset, .apart = apart};
    const sequence steps = some_steps();
    own_slots slots{steps.view()};
    const trial_request request{.purpose = trial_purpose::check};
    player<direct_calls<bad_resource>, own_slots, false> each{direct_calls{resource}, steps.view(), request, slots};
    EXPECT_EQ(each.play(0, steps.steps.size()), step);
    return each.failure();
}

TEST(play, notices_a_block_that_was_handed_out_twice) {
    EXPECT_EQ(failure_with(0, 64, 2), trial_failure::wrong_content);
    EXPECT_EQ(failure_with(0, 0, 2), trial_failure::wrong_content);
}

TEST(play, notices_a_block_that_is_not_aligned) {
    EXPECT_EQ(failure_with(8, 128, 0), trial_failure::misaligned);
    EXPECT_EQ(failure_with(0, 128, 4), trial_failure::none);
}

/// Counts frees of objects that are not live.
class watching_resource {
public:
    void* try_allocate(std::size_t bytes, std::size_t) noexcept {
        void* made = std::malloc(bytes);
        const std::lock_guard guard{lock_};
        live_.insert(made);
        return made;
    }
    void deallocate(void* p, std::size_t, std::size_t) noexcept {
        {
            const std::lock_guard guard{lock_};
            if (live_.erase(p) == 0) ++wrong_;
        }
        std::free(p);
    }
    std::size_t live() const { return live_.size(); }
    std::size_t wrong() const { return wrong_; }

private:
    std::mutex lock_;
    std::unordered_set<void*> live_;
    std::size_t wrong_ = 0;
};

/// Each thread frees what the one before it allocated, and reallocates some of it.
sequence ring_of(std::uint32_t threads, int objects, std::size_t memory = shared_array<step>::usual_memory) {
    made_trace made;
    std::vector<std::uint64_t> live;
    for (int i = 0; i < objects; ++i) {
        const auto thread = static_cast<std::uint32_t>(i) % threads;
        live.push_back(made.allocate(0, 24 + static_cast<std::uint64_t>(i) % 90, thread));
        if (live.size() < 20) continue;
        const std::uint32_t next = (thread + 1) % threads;
        made.release(live.front(), 0, next, i % 5 == 0 ? operation::realloc : operation::free);
        if (i % 5 == 0) live.push_back(made.allocate(0, 200, next, operation::realloc));
        live.erase(live.begin());
    }
    sequence_builder builder{lanes::as_recorded, memory};
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

/// Plays over the watching_resource that the test looks at afterwards.
class watched final : public played_resource {
public:
    explicit watched(watching_resource& resource) : calls_{resource} {}

    void* allocate(const shape& wanted) override { return calls_.allocate(wanted); }
    void deallocate(void* object, const shape& had) override { calls_.deallocate(object, had); }
    void* reallocate(void* object, const shape& had, const shape& wanted, const realloc_limits& limits) override {
        return calls_.reallocate(object, had, wanted, limits);
    }
    void reset() override {}
    void with_timed_player(const sequence_view&, const trial_request&, own_slots&, const player_user&) override {}
    void with_timed_player(const sequence_view&, const trial_request&, shared_slots::lane&,
                           const player_user&) override {}

private:
    direct_calls<watching_resource> calls_;
};

void expect_played_in_order(const sequence& steps) {
    watching_resource resource;
    watched played{resource};
    const trial_request request{.purpose = trial_purpose::check};
    shared_slots slots{steps.view()};
    footprint_meter meter;
    trial_result result;
    constexpr std::uint64_t window_steps = 1;
    play_lanes(played, steps.view(), request, slots, meter, result, window_steps);
    EXPECT_EQ(result.failure, trial_failure::none);
    EXPECT_EQ(resource.wrong(), 0U);
    EXPECT_EQ(resource.live(), 0U);
    EXPECT_GT(result.nanoseconds, 0U);
}

TEST(play, threads_free_only_what_was_allocated) {
    for (const std::uint32_t threads : {1U, 2U, 7U}) {
        const sequence steps = ring_of(threads, 20'000);
        EXPECT_EQ(steps.lanes, threads);
        EXPECT_TRUE(steps.view().in_memory);
        expect_played_in_order(steps);
    }
}

TEST(play, threads_play_steps_out_of_a_file) {
    for (const std::uint32_t threads : {2U, 3U}) {
        const sequence steps = ring_of(threads, 20'000, 0);
        EXPECT_FALSE(steps.view().in_memory);
        EXPECT_GT(steps.runs.size(), 2 * threads);
        expect_played_in_order(steps);
    }
}

/// Counts the calls; every block is the same storage.
struct counting_resource {
    std::uint64_t calls = 0;
    std::array<unsigned char, 4096> bytes{};

    void* try_allocate(std::size_t, std::size_t) noexcept {
        ++calls;
        return bytes.data();
    }
    void deallocate(void*, std::size_t, std::size_t) noexcept { ++calls; }
};

/// Reallocations only, so that some windows end between the two halves of one.
sequence reallocations(int count, std::size_t memory) {
    sequence_builder builder{lanes::one, memory};
    event e;
    e.allocates = true;
    e.size = 10;
    e.op = operation::malloc;
    builder.add(e);
    for (int i = 0; i < count; ++i) {
        e.op = operation::realloc;
        e.allocates = false;
        builder.add(e);
        ++e.object;
        e.allocates = true;
        builder.add(e);
    }
    return builder.finish();
}

TEST(play, windows_of_a_file_miss_and_repeat_nothing) {
    const sequence steps = reallocations(2'500'000, 1 << 20);
    const sequence_view view = steps.view();
    ASSERT_FALSE(view.in_memory);
    own_slots slots{view};
    counting_resource resource;
    player<direct_calls<counting_resource>, own_slots, true> each{direct_calls{resource}, view, {}, slots};
    const step_window window{view};
    std::uint64_t windows = 0;
    for (std::uint64_t reached = 0; reached < view.steps.size(); ++windows) {
        const std::uint64_t end = window.bring_in(reached, view.steps.size());
        const std::uint64_t next = each.play(reached, end);
        window.let_go(reached, end);
        reached = next;
    }
    EXPECT_EQ(windows, 5U);
    EXPECT_EQ(resource.calls, 1U + 2 * 2'500'000U);
}

TEST(play, steps_are_the_same_in_memory_and_in_a_file) {
    const sequence in_memory = reallocations(300'000, shared_array<step>::usual_memory);
    const sequence in_file = reallocations(300'000, 0);
    ASSERT_EQ(in_memory.steps.size(), in_file.steps.size());
    EXPECT_EQ(std::memcmp(in_memory.steps.begin(), in_file.steps.begin(), in_file.steps.size() * sizeof(step)), 0);
    EXPECT_EQ(in_memory.uses, in_file.uses);
    EXPECT_EQ(in_file.uses, std::vector<std::uint64_t>{in_file.steps.size()});
}

TEST(play, writes_to_the_first_bytes_of_a_large_block_only) {
    made_trace made;
    const auto kept = made.allocate(0, std::uint64_t{2} << 30);
    made.release(kept, 0, 0, operation::realloc);
    made.allocate(0, std::uint64_t{3} << 30, 0, operation::realloc);
    sequence_builder builder;
    for (const event& e : made.events) builder.add(e);
    const sequence steps = builder.finish();
    // All requests get the same few bytes, which is enough if no more is touched.
    struct small_resource {
        std::vector<unsigned char> bytes;
        void* try_allocate(std::size_t, std::size_t) noexcept { return bytes.data(); }
        void deallocate(void*, std::size_t, std::size_t) noexcept {}
    };
    small_resource resource{std::vector<unsigned char>(steps.touched + 1)};
    for (const trial_purpose purpose : {trial_purpose::footprint, trial_purpose::check}) {
        own_slots slots{steps.view()};
        player<direct_calls<small_resource>, own_slots, false> each{
            direct_calls{resource}, steps.view(), {.purpose = purpose}, slots};
        EXPECT_EQ(each.play(0, steps.steps.size()), steps.steps.size());
        EXPECT_EQ(resource.bytes.back(), 0) << "touched beyond the limit";
    }
}

}  // namespace
