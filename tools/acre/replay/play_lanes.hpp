// Plays the lanes of a sequence over a resource, each in a thread of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <span>
#include <thread>
#include <vector>

#include "cores.hpp"
#include "footprint.hpp"
#include "play.hpp"
#include "sequence.hpp"
#include "slots.hpp"
#include "step_window.hpp"
#include "trial.hpp"

namespace acre::tool {

inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{std::chrono::steady_clock::now() - start}.count());
}

/// One play of all lanes. They begin together, and run free but for the turns of their objects.
template <typename Resource, bool Timed>
class lane_play {
public:
    /// Of steps that lie in a file, `window_steps` are in memory at a time, or one stretch of each lane.
    lane_play(Resource& resource, const sequence_view& sequence, const trial_request& request, shared_slots& slots,
              std::uint64_t window_steps = step_window::usual_steps)
        : resource_{resource},
          sequence_{sequence},
          request_{request},
          slots_{slots},
          window_steps_{window_steps},
          outcomes_(sequence.lanes) {
        for (const lane_run& run : sequence.runs) outcomes_[run.lane].runs.push_back(&run);
    }

    void run(footprint_meter& meter, trial_result& result) {
        {
            std::latch start{static_cast<std::ptrdiff_t>(sequence_.lanes) + 1};
            std::vector<std::jthread> threads;
            const std::vector<int> cores = allowed_cores();
            for (std::uint32_t lane = 0; lane < sequence_.lanes; ++lane) {
                threads.emplace_back([this, lane, &start, &cores] {
                    if (!cores.empty()) pin_to(cores[lane % cores.size()]);
                    start.arrive_and_wait();
                    play(lane);
                });
            }
            start_ = std::chrono::steady_clock::now();
            start.arrive_and_wait();
            if (request_.purpose == trial_purpose::footprint) watch(meter);
        }
        gather(result);
        if (result.failed()) return;
        if (request_.purpose == trial_purpose::footprint) {
            meter.sample();
            result.peak_bytes = result.system_bytes = meter.system();
        }
        if (!request_.without_frees && !request_.process_ends) release_survivors(result);
    }

private:
    using lane_slots = shared_slots::lane;

    struct outcome {
        std::vector<const lane_run*> runs;
        std::uint64_t nanoseconds = 0;
        std::uint64_t end = 0;     // nanoseconds after the start
        std::uint64_t played = 0;  // steps
        trial_failure failure = trial_failure::none;
    };

    void play(std::uint32_t lane) {
        outcome& mine = outcomes_[lane];
        lane_slots slots{slots_};
        player<Resource, lane_slots, Timed> each{resource_, sequence_, request_, slots};
        const step_window window{sequence_};
        const std::size_t at_a_time = window.is_whole() ? mine.runs.size() : runs_in_window();
        std::uint64_t not_playing = 0;
        bool whole = true;
        for (std::size_t first = 0; whole && first < mine.runs.size(); first += at_a_time) {
            const std::span runs = std::span{mine.runs}.subspan(first, std::min(at_a_time, mine.runs.size() - first));
            const auto reading = std::chrono::steady_clock::now();
            for (const lane_run* run : runs) window.bring_in(run->first, run->first + run->count);
            not_playing += nanoseconds_since(reading);
            whole = play(runs, each, mine);
            for (const lane_run* run : runs) window.let_go(run->first, run->first + run->count);
        }
        mine.nanoseconds -= slots.waited_nanoseconds();
        mine.end = nanoseconds_since(start_) - not_playing;
        mine.failure = each.failure();
        if (mine.failure != trial_failure::none) slots_.stop();
        left_.fetch_sub(1, std::memory_order_release);
    }

    /// False when a step failed, here or in another lane.
    template <typename Each>
    bool play(std::span<const lane_run* const> runs, Each& each, outcome& mine) {
        const std::uint64_t start = thread_nanoseconds();
        bool whole = true;
        for (const lane_run* run : runs) {
            const std::size_t reached = each.play(run->first, run->first + run->count);
            mine.played += reached - run->first;
            whole = reached == run->first + run->count;
            if (!whole) break;
        }
        mine.nanoseconds += thread_nanoseconds() - start;
        return whole;
    }

    /// All lanes together have as much in memory as one thread would.
    std::size_t runs_in_window() const noexcept {
        const std::uint64_t steps = std::ranges::max_element(sequence_.runs, {}, &lane_run::count)->count;
        return std::max<std::size_t>(window_steps_ / (steps * sequence_.lanes), 1);
    }

    void watch(footprint_meter& meter) {
        while (left_.load(std::memory_order_acquire) > 0) {
            meter.sample();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    void gather(trial_result& result) const {
        std::uint64_t last_end = 0;
        for (std::uint32_t lane = 0; lane < outcomes_.size(); ++lane) {
            const outcome& each = outcomes_[lane];
            result.nanoseconds += each.nanoseconds;
            last_end = std::max(last_end, each.end);
            if (each.failure == trial_failure::none || result.failed()) continue;
            result.failure = each.failure;
            result.failed_lane = lane;
            result.failed_step = each.played;
        }
        result.wall_nanoseconds += last_end;
    }

    void release_survivors(trial_result& result) {
        lane_slots slots{slots_};
        player<Resource, lane_slots, Timed> each{resource_, sequence_, request_, slots};
        for (const step& survivor : sequence_.survivors) each.release(slots_.object(survivor.slot()), survivor);
        result.failure = each.failure();
    }

    Resource& resource_;
    sequence_view sequence_;
    trial_request request_;
    shared_slots& slots_;
    std::uint64_t window_steps_;
    std::vector<outcome> outcomes_;
    std::atomic<std::uint32_t> left_{sequence_.lanes};
    std::chrono::steady_clock::time_point start_;
};

}  // namespace acre::tool
