// What plays notices a resource that is wrong, and keeps the order that was recorded.
#include "replay/play.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

#include "replay/footprint.hpp"
#include "replay/play_lanes.hpp"
#include "replay/sequence_builder.hpp"
#include "replay/slots.hpp"
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

/// Bytes that it hands out from, `apart` from each other.
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
    player<bad_resource, own_slots, false> each{resource, steps.view(), {.purpose = trial_purpose::check}, slots};
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

/// Knows what lives, and counts what is freed without living.
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
sequence ring_of(std::uint32_t threads, int objects) {
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
    sequence_builder builder{lanes::as_recorded};
    for (const event& e : made.events) builder.add(e);
    return builder.finish();
}

TEST(play, threads_free_only_what_was_allocated) {
    for (const std::uint32_t threads : {1U, 2U, 7U}) {
        const sequence steps = ring_of(threads, 20'000);
        EXPECT_EQ(steps.lanes, threads);
        watching_resource resource;
        const trial_request request{.purpose = trial_purpose::check};
        shared_slots slots{steps.view()};
        footprint_meter meter;
        trial_result result;
        lane_play<watching_resource, false>{resource, steps.view(), request, slots}.run(meter, result);
        EXPECT_EQ(result.failure, trial_failure::none);
        EXPECT_EQ(resource.wrong(), 0U);
        EXPECT_EQ(resource.live(), 0U);
        EXPECT_GT(result.nanoseconds, 0U);
    }
}

}  // namespace
