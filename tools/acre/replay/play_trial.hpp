// Plays a sequence over a resource once or several times, by one thread, and measures either the time or the memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "footprint.hpp"
#include "metered_upstream.hpp"
#include "play.hpp"
#include "play_lanes.hpp"
#include "sequence.hpp"
#include "slots.hpp"
#include "step_window.hpp"
#include "trial.hpp"

namespace acre::tool {

/// Arrangement: constructed from (metered_upstream&, const resource_parameters&), `resource` is what is played over,
/// `threads` says who may use it, `takes_from_upstream` whether the upstream knows what it holds.
template <typename Arrangement>
class trial {
public:
    trial(const sequence_view& sequence, const trial_request& request)
        : sequence_{sequence}, request_{request}, process_ends_{request.process_ends} {}

    trial_result run() {
        trial_result result;
        for (std::uint32_t i = 1; i <= request_.repeats && !result.failed(); ++i) {
            // To give back what nobody uses again can take longer than what is measured.
            request_.process_ends = process_ends_ && i == request_.repeats && request_.purpose != trial_purpose::check;
            play_once(result);
        }
        result.nanoseconds /= request_.repeats;
        result.wall_nanoseconds /= request_.repeats;
        return result;
    }

private:
    // How often the footprint is looked at, besides where most bytes live. On a heap of many free blocks a look is
    // long.
    static constexpr std::size_t footprint_samples = 16;

    void play_once(trial_result& result) {
        if (sequence_.runs.empty()) {
            own_slots slots{sequence_};
            play_with(slots, result);
        } else {
            shared_slots slots{sequence_};
            play_with(slots, result);
        }
    }

    /// The slots are there before the memory is looked at: they are none of the resource's.
    template <typename Slots>
    void play_with(Slots& slots, trial_result& result) {
        metered_upstream upstream{request_.memory_limit, !sequence_.runs.empty()};
        footprint_meter meter = request_.purpose == trial_purpose::footprint
                                    ? footprint_meter{}
                                    : footprint_meter{footprint_meter::unused{}};
        try {
            auto arrangement = std::make_unique<Arrangement>(upstream, request_.parameters);
            play_over(arrangement->resource, slots, meter, result);
            if (request_.process_ends) static_cast<void>(arrangement.release());
        } catch (const std::bad_alloc&) {
            result.failure = trial_failure::out_of_memory;
        }
        if constexpr (Arrangement::takes_from_upstream) result.peak_bytes = upstream.peak();
    }

    template <typename Resource>
    void play_over(Resource& resource, shared_slots& slots, footprint_meter& meter, trial_result& result) {
        if constexpr (Arrangement::threads != thread_rule::any) {
            result.failure = trial_failure::not_started;
        } else if (request_.purpose == trial_purpose::time) {
            lane_play<Resource, true>{resource, sequence_, request_, slots}.run(meter, result);
        } else {
            lane_play<Resource, false>{resource, sequence_, request_, slots}.run(meter, result);
        }
    }

    template <typename Resource>
    void play_over(Resource& resource, own_slots& slots, footprint_meter& meter, trial_result& result) {
        if (request_.purpose == trial_purpose::time) {
            play_by_one<true>(resource, slots, meter, result);
        } else {
            play_by_one<false>(resource, slots, meter, result);
        }
    }

    template <bool Timed, typename Resource>
    void play_by_one(Resource& resource, own_slots& slots, footprint_meter& meter, trial_result& result) {
        player<Resource, own_slots, Timed> each{resource, sequence_, request_, slots};
        const std::size_t steps = sequence_.steps.size();
        std::size_t reached = 0;
        if constexpr (Timed) {
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

    /// Only the playing itself is timed.
    template <typename Each>
    std::size_t play_in_windows(Each& each, std::size_t first, std::size_t last, trial_result& result) {
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

    template <typename Each>
    std::size_t play_with_stops(Each& each, footprint_meter& meter, trial_result& result) {
        std::size_t reached = 0;
        for (const std::size_t stop : footprint_stops()) {
            reached = play_in_windows(each, reached, stop, result);
            if (reached < stop) return reached;
            meter.sample();
        }
        return reached;
    }

    /// Ends at the last step.
    std::vector<std::size_t> footprint_stops() const {
        const std::size_t steps = sequence_.steps.size();
        std::vector<std::size_t> stops{std::min(static_cast<std::size_t>(sequence_.peak_step) + 1, steps), steps};
        for (std::size_t i = 1; i < footprint_samples; ++i) stops.push_back(steps * i / footprint_samples);
        std::sort(stops.begin(), stops.end());
        return stops;
    }

    sequence_view sequence_;
    trial_request request_;
    const bool process_ends_;
};

}  // namespace acre::tool
