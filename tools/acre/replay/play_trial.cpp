#include "play_trial.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <new>
#include <span>
#include <thread>
#include <vector>

namespace acre::tool {

namespace {

/// The functions of direct_calls for a resource of any type.
class virtual_calls {
public:
    explicit virtual_calls(played_resource& resource) : resource_{resource} {}

    void* allocate(const shape& wanted) { return resource_.allocate(wanted); }
    void deallocate(void* object, const shape& had) { resource_.deallocate(object, had); }
    void* reallocate(void* object, const shape& had, const shape& wanted, const realloc_limits& limits) {
        return resource_.reallocate(object, had, wanted, limits);
    }
    void reset() { resource_.reset(); }

private:
    played_resource& resource_;
};

template <typename Slots>
void with_player(played_resource& resource, const sequence_view& sequence, const trial_request& request, Slots& slots,
                 const played_resource::player_user& use) {
    if (request.purpose == trial_purpose::time) return resource.with_timed_player(sequence, request, slots, use);
    player<virtual_calls, Slots, false> untimed{virtual_calls{resource}, sequence, request, slots};
    use(untimed);
}

std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{std::chrono::steady_clock::now() - start}.count());
}

/// One play of all lanes. They start together; after that only steps of the same object wait for each other.
class lane_play {
public:
    lane_play(played_resource& resource, const sequence_view& sequence, const trial_request& request,
              shared_slots& slots, std::uint64_t window_steps)
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
            threads.reserve(sequence_.lanes);
            const std::vector<int> cores = allowed_cores();
            for (std::uint32_t lane = 0; lane < sequence_.lanes; ++lane) {
                threads.emplace_back([this, lane, &start, &cores] {
                    if (!cores.empty()) pin_to(cores[lane % cores.size()]);
                    start.arrive_and_wait();
                    play(outcomes_[lane]);
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
    struct outcome {
        std::vector<const lane_run*> runs;
        std::uint64_t nanoseconds = 0;
        std::uint64_t end = 0;     // nanoseconds after the start
        std::uint64_t played = 0;  // steps
        trial_failure failure = trial_failure::none;
    };

    void play(outcome& of) {
        shared_slots::lane slots{slots_};
        const auto play_windows = [&](step_player& each) {
            const std::uint64_t reading = play_in_windows(each, of);
            of.nanoseconds -= slots.waited_nanoseconds();
            of.end = nanoseconds_since(start_) - reading;
            of.failure = each.failure();
        };
        with_player(resource_, sequence_, request_, slots, std::ref(play_windows));
        if (of.failure != trial_failure::none) slots_.stop();
        playing_.fetch_sub(1, std::memory_order_release);
    }

    /// Returns the nanoseconds that reading steps in took.
    std::uint64_t play_in_windows(step_player& each, outcome& of) const {
        const step_window window{sequence_};
        const std::size_t at_a_time = window.is_whole() ? of.runs.size() : runs_in_window();
        std::uint64_t reading = 0;
        bool whole = true;
        for (std::size_t first = 0; whole && first < of.runs.size(); first += at_a_time) {
            const std::span runs = std::span{of.runs}.subspan(first, std::min(at_a_time, of.runs.size() - first));
            const auto begin = std::chrono::steady_clock::now();
            for (const lane_run* run : runs) window.bring_in(run->first, run->first + run->count);
            reading += nanoseconds_since(begin);
            whole = play_runs(runs, each, of);
            for (const lane_run* run : runs) window.let_go(run->first, run->first + run->count);
        }
        return reading;
    }

    /// False when a step failed, here or in another lane.
    static bool play_runs(std::span<const lane_run* const> runs, step_player& each, outcome& of) {
        const std::uint64_t start = thread_nanoseconds();
        bool whole = true;
        for (const lane_run* run : runs) {
            const std::size_t reached = each.play(run->first, run->first + run->count);
            of.played += reached - run->first;
            whole = reached == run->first + run->count;
            if (!whole) break;
        }
        of.nanoseconds += thread_nanoseconds() - start;
        return whole;
    }

    /// So many that all lanes together have as many steps in memory as a single thread would.
    std::size_t runs_in_window() const noexcept {
        const std::uint64_t steps = std::ranges::max_element(sequence_.runs, {}, &lane_run::count)->count;
        return std::max<std::size_t>(window_steps_ / (steps * sequence_.lanes), 1);
    }

    void watch(footprint_meter& meter) {
        while (playing_.load(std::memory_order_acquire) > 0) {
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
        shared_slots::lane slots{slots_};
        const auto release = [&](step_player& each) {
            for (const step& survivor : sequence_.survivors) each.release(slots_.object(survivor.slot()), survivor);
            result.failure = each.failure();
        };
        with_player(resource_, sequence_, request_, slots, std::ref(release));
    }

    played_resource& resource_;
    sequence_view sequence_;
    trial_request request_;
    shared_slots& slots_;
    std::uint64_t window_steps_;
    std::vector<outcome> outcomes_;
    std::atomic<std::uint32_t> playing_{sequence_.lanes};
    std::chrono::steady_clock::time_point start_;
};

class trial {
public:
    trial(const resource_factory& factory, const sequence_view& sequence, const trial_request& request)
        : factory_{factory}, sequence_{sequence}, request_{request}, process_ends_{request.process_ends} {}

    trial_result run() {
        trial_result result;
        for (std::uint32_t i = 1; i <= request_.repeats && !result.failed(); ++i) {
            // Before the process ends nothing is given back: that can take longer than what is measured.
            request_.process_ends = process_ends_ && i == request_.repeats && request_.purpose != trial_purpose::check;
            if (sequence_.runs.empty()) {
                own_slots slots{sequence_};
                play_with(slots, result);
            } else {
                shared_slots slots{sequence_};
                play_with(slots, result);
            }
        }
        result.nanoseconds /= request_.repeats;
        result.wall_nanoseconds /= request_.repeats;
        return result;
    }

private:
    // Samples besides the one where most bytes live. On a heap with many free blocks each takes long.
    static constexpr std::size_t footprint_samples = 16;

    /// The slots exist before the memory is measured, so they are not counted for the resource.
    template <typename Slots>
    void play_with(Slots& slots, trial_result& result) {
        metered_upstream upstream{request_.memory_limit, !sequence_.runs.empty()};
        footprint_meter meter = request_.purpose == trial_purpose::footprint
                                    ? footprint_meter{}
                                    : footprint_meter{footprint_meter::unused{}};
        try {
            auto resource = factory_.make(upstream, request_.parameters);
            play_over(*resource, slots, meter, result);
            if (request_.process_ends) static_cast<void>(resource.release());
        } catch (const std::bad_alloc&) {
            result.failure = trial_failure::out_of_memory;
        }
        if (factory_.takes_from_upstream) result.peak_bytes = upstream.peak();
    }

    void play_over(played_resource& resource, shared_slots& slots, footprint_meter& meter, trial_result& result) {
        if (factory_.threads == thread_rule::any) {
            play_lanes(resource, sequence_, request_, slots, meter, result);
        } else {
            result.failure = trial_failure::not_started;
        }
    }

    void play_over(played_resource& resource, own_slots& slots, footprint_meter& meter, trial_result& result) {
        const auto play_all = [&](step_player& each) { play_by_one(each, slots, meter, result); };
        with_player(resource, sequence_, request_, slots, std::ref(play_all));
    }

    void play_by_one(step_player& each, own_slots& slots, footprint_meter& meter, trial_result& result) {
        const std::size_t steps = sequence_.steps.size();
        std::size_t reached = 0;
        if (request_.purpose == trial_purpose::time) {
            reached = play_in_windows(each, 0, steps, result);
        } else {
            reached = play_with_stops(each, meter, result);
            result.peak_bytes = meter.held();
            result.system_bytes = meter.system();
        }
        if (reached >= steps && !request_.without_frees && !request_.process_ends) {
            for (const step& survivor : sequence_.survivors) each.release(slots.object(survivor.slot()), survivor);
        }
        result.failure = each.failure();
        if (reached < steps) result.failed_step = reached;
    }

    /// Reading steps in is not timed.
    std::size_t play_in_windows(step_player& each, std::size_t first, std::size_t last, trial_result& result) {
        const step_window window{sequence_};
        std::size_t reached = first;
        while (reached < last) {
            const std::size_t begin = reached;
            const std::size_t end = window.bring_in(begin, last);
            const auto wall = std::chrono::steady_clock::now();
            const std::uint64_t start = thread_nanoseconds();
            reached = each.play(begin, end);
            result.nanoseconds += thread_nanoseconds() - start;
            result.wall_nanoseconds += nanoseconds_since(wall);
            window.let_go(begin, end);
            if (reached < end) break;
        }
        return reached;
    }

    std::size_t play_with_stops(step_player& each, footprint_meter& meter, trial_result& result) {
        std::size_t reached = 0;
        for (const std::size_t stop : footprint_stops()) {
            reached = play_in_windows(each, reached, stop, result);
            if (reached < stop) return reached;
            const bool important = stop == peak_stop() || stop == sequence_.steps.size();
            if (important || !meter.is_slow()) meter.sample();
        }
        return reached;
    }

    std::size_t peak_stop() const {
        return std::min(static_cast<std::size_t>(sequence_.peak_step) + 1, sequence_.steps.size());
    }

    /// In ascending order; the last one is the end of the sequence.
    std::vector<std::size_t> footprint_stops() const {
        const std::size_t steps = sequence_.steps.size();
        std::vector<std::size_t> stops{peak_stop(), steps};
        for (std::size_t i = 1; i < footprint_samples; ++i) stops.push_back(steps * i / footprint_samples);
        std::sort(stops.begin(), stops.end());
        return stops;
    }

    resource_factory factory_;
    sequence_view sequence_;
    trial_request request_;
    const bool process_ends_;
};

}  // namespace

trial_result play_trial(const resource_factory& factory, const sequence_view& sequence, const trial_request& request) {
    return trial{factory, sequence, request}.run();
}

void play_lanes(played_resource& resource, const sequence_view& sequence, const trial_request& request,
                shared_slots& slots, footprint_meter& meter, trial_result& result, std::uint64_t window_steps) {
    lane_play{resource, sequence, request, slots, window_steps}.run(meter, result);
}

}  // namespace acre::tool
