// Allocations that one advice is about, and what their lives look like.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "history.hpp"

namespace acre::tool {

/// A stretch during which something of the group lived in a thread, from nothing to nothing.
struct generation {
    std::uint64_t objects = 0;
    std::uint64_t bump_bytes = 0;  // what an arena would have handed out
    std::uint64_t peak_bytes = 0;  // most that lived at a time
};

/// What the generations of a group come to.
struct generation_figures {
    std::uint64_t count = 0;
    std::uint64_t objects = 0;  // in all of them; the rest of the group was in none
    std::uint64_t p50_bytes = 0;
    std::uint64_t p99_bytes = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint32_t last_free = 0;  // a stack at whose free most generations end
    double held_bytes = 0;        // that an arena would hold, summed over the events
    double live_bytes = 0;        // that live, likewise

    /// Bytes that an arena takes for a byte that lives.
    double expansion() const noexcept {
        return peak_bytes == 0 ? 1 : static_cast<double>(max_bytes) / static_cast<double>(peak_bytes);
    }

    /// Share of what an arena holds that is dead already, on average.
    double drag() const noexcept { return held_bytes == 0 ? 0 : 1 - std::min(live_bytes / held_bytes, 1.0); }
};

/// The lives of a group.
struct group_figures {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t peak_objects = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t thread_peak_objects = 0;  // the sum of each thread's own peak: it does not depend on who runs when
    std::uint64_t thread_peak_bytes = 0;
    std::uint64_t largest_thread_peak = 0;  // bytes
    std::uint64_t never_freed = 0;
    std::uint64_t freed_elsewhere = 0;
    std::uint64_t freed_last_first = 0;   // it was the youngest of its thread's living
    std::uint64_t freed_first_first = 0;  // it was the oldest
    std::uint64_t freed_alone = 0;        // it was the only one
    std::uint64_t thread_life = 0;        // bytes that its thread allocated meanwhile, in all: 99 of 100 live no longer
    std::uint64_t group_life = 0;  // bytes of the group that its thread allocated meanwhile: 995 of 1000 live no longer
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t top_size = 0;  // the most frequent
    std::uint64_t top_size_count = 0;
    std::uint64_t sizes = 0;  // different ones
    std::uint64_t threads = 0;

    std::uint64_t events() const noexcept { return 2 * objects - never_freed; }
    double churn() const noexcept { return ratio(objects, thread_peak_objects); }
    double lifo_share() const noexcept { return ratio(freed_last_first, objects - never_freed); }
    double fifo_share() const noexcept { return ratio(freed_first_first, objects - never_freed); }
    double solo_share() const noexcept { return ratio(freed_alone, objects - never_freed); }
    double immortal_share() const noexcept { return ratio(never_freed, objects); }
    double elsewhere_share() const noexcept { return ratio(freed_elsewhere, objects - never_freed); }
    double top_size_share() const noexcept { return ratio(top_size_count, objects); }
    double growth() const noexcept { return ratio(bytes, thread_peak_bytes); }
    double mean_bytes() const noexcept { return ratio(bytes, objects); }

private:
    static double ratio(std::uint64_t a, std::uint64_t b) noexcept {
        return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
    }
};

/// Contexts, by number.
using context_set = std::vector<std::uint32_t>;

/// Asks for the generations of the contexts in `set` when `function` takes everything back each time that one of its
/// own frees leaves nothing alive in a thread.
struct generation_question {
    std::uint32_t function = 0;
    context_set set;

    friend auto operator<=>(const generation_question&, const generation_question&) = default;
};

/// Answers them all by going through the run as few times as the memory for it allows.
std::vector<generation_figures> study_generations(const history& run, std::span<const generation_question> questions);

/// The figures of several groups at once; `group_of_context` has a group's number, or `no_group`, for each context.
inline constexpr std::uint32_t no_group = 0xffff'ffff;
std::vector<group_figures> study_groups(const history& run, const std::vector<std::uint32_t>& group_of_context,
                                        std::size_t groups);

}  // namespace acre::tool
