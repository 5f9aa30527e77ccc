// Plays a sequence over a resource once or several times, and measures either the time or the memory it takes.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "metered_upstream.hpp"
#include "play.hpp"
#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// CPU time of this thread: what other programs do to the clock on the wall does not count.
inline std::uint64_t thread_nanoseconds() {
    std::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Bytes that malloc holds from the operating system.
inline std::uint64_t malloc_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.arena + info.hblkhd;
}

/// Arrangement: constructed from (metered_upstream&, const trial_request&), `resource` is what is played over.
template <typename Arrangement>
class trial {
public:
    trial(const sequence_view& sequence, const trial_request& request)
        : sequence_{sequence}, request_{request}, slots_(sequence.slots + std::size_t{1}) {}

    trial_result run() {
        trial_result result;
        for (std::uint32_t i = 0; i < request_.repeats && result.failed_step == trial_result::no_step; ++i) {
            play_once(result);
        }
        result.nanoseconds /= request_.repeats;
        return result;
    }

private:
    // How often malloc is asked for its footprint, besides where most bytes live.
    static constexpr std::size_t footprint_samples = 64;

    void play_once(trial_result& result) {
        metered_upstream upstream{request_.memory_limit};
        Arrangement arrangement{upstream, request_};
        player each{arrangement.resource, sequence_, slots_.data()};
        const std::size_t steps = sequence_.steps.size();
        std::size_t reached = 0;
        if (request_.footprint) {
            reached = sample_footprint(each, result);
        } else {
            const std::uint64_t start = thread_nanoseconds();
            reached = each.play(0, steps);
            result.nanoseconds += thread_nanoseconds() - start;
        }
        if (reached != steps) {
            result.failed_step = reached;
            for (const step& survivor : live_before(reached)) release(arrangement.resource, survivor);
        } else {
            for (const step& survivor : sequence_.survivors) release(arrangement.resource, survivor);
        }
        if constexpr (Arrangement::takes_from_upstream) result.peak_bytes = upstream.peak();
    }

    template <typename Each>
    std::size_t sample_footprint(Each& each, trial_result& result) {
        const std::size_t steps = sequence_.steps.size();
        const struct mallinfo2 before = ::mallinfo2();
        const std::uint64_t in_use_before = before.uordblks + before.hblkhd;
        std::size_t reached = 0;
        for (const std::size_t stop : footprint_stops()) {
            reached = each.play(reached, stop);
            if (reached < stop) break;
            const std::uint64_t held = malloc_bytes();
            result.peak_bytes = std::max(result.peak_bytes, held - std::min(held, in_use_before));
        }
        return std::min(reached, steps);
    }

    /// Ends at the last step; never between the two halves of a reallocation.
    std::vector<std::size_t> footprint_stops() const {
        const std::size_t steps = sequence_.steps.size();
        std::vector<std::size_t> stops{static_cast<std::size_t>(sequence_.peak_step) + 1, steps};
        for (std::size_t i = 1; i < footprint_samples; ++i) stops.push_back(steps * i / footprint_samples);
        for (std::size_t& stop : stops) stop = std::min(whole_step(stop), steps);
        std::sort(stops.begin(), stops.end());
        return stops;
    }

    std::size_t whole_step(std::size_t stop) const {
        std::size_t halves = 0;
        for (std::size_t i = stop; i > 0 && sequence_.steps[i - 1].kind() == step_kind::reallocate; --i) ++halves;
        return stop + halves % 2;
    }

    /// What lives when a step has failed.
    std::vector<step> live_before(std::size_t failed) const {
        const step gone{step_kind::release, 0, 0};
        std::vector<step> live(slots_.size(), gone);
        for (std::size_t i = 0; i < failed; ++i) {
            const step& now = sequence_.steps[i];
            live[now.slot()] = now;
            if (now.kind() == step_kind::reallocate) ++i;
            if (now.kind() == step_kind::reset) std::fill(live.begin(), live.end(), gone);
        }
        std::erase_if(live, [](const step& each) { return each.kind() == step_kind::release; });
        return live;
    }

    template <typename Resource>
    void release(Resource& resource, const step& survivor) {
        const shape& had = sequence_.shapes[survivor.shape()];
        resource.deallocate(slots_[survivor.slot()], had.bytes, had.alignment);
    }

    sequence_view sequence_;
    trial_request request_;
    std::vector<void*> slots_;
};

}  // namespace acre::tool
