#include "multi_arena_front.hpp"

#include <fmt/format.h>

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <bit>

#include "multi_arena_model.hpp"

namespace acre::tool {

namespace {

// Arenas begin at multiples of no more.
constexpr std::uint64_t max_alignment = 4096;
constexpr std::uint64_t largest_object = std::uint64_t{16} << 30;
constexpr std::uint64_t finer_steps = 16;  // between the neighbours of the best

using pairs = std::vector<acre::multi_arena_fit>;

/// Says so where there can be no front.
void note_impossible(multi_arena_front& front, const census& of) {
    if (of.objects == 0) {
        front.impossible = "nothing is selected";
    } else if (of.strictest > max_alignment) {
        front.impossible =
            fmt::format("an allocation is aligned to {} bytes, and arenas begin at multiples of at most {} bytes",
                        of.strictest, max_alignment);
        front.culprit = of.strictest_stack;
    } else if (of.largest > largest_object) {
        front.impossible = fmt::format("the largest allocation takes {} bytes", of.largest);
        front.culprit = of.largest_stack;
    }
}

std::uint64_t smallest_size(const census& of, std::uint64_t unit) {
    return align_up(std::max<std::uint64_t>(of.largest, 1), unit);
}

/// Where an arena holds all that lives, with room for what died, or all from nothing to nothing.
std::uint64_t largest_size(const census& of) {
    const std::uint64_t live = std::bit_ceil(std::min(of.peak_granules * granule_bytes, largest_object));
    const std::uint64_t everything = std::bit_ceil(std::min(of.generations.max_bytes, largest_object));
    return std::max(4 * live, std::min(everything, 16 * live));
}

std::vector<std::uint64_t> coarse_sizes(const census& of, std::uint64_t unit) {
    const std::uint64_t first = smallest_size(of, unit);
    const std::uint64_t last = std::max(largest_size(of), 2 * first);
    std::vector<std::uint64_t> sizes{first};
    for (std::uint64_t power = std::bit_floor(first); power <= last; power *= 2) {
        for (const std::uint64_t size : {power, power + power / 2}) {
            if (size > first && size % unit == 0) sizes.push_back(size);
        }
    }
    return sizes;
}

std::size_t smallest_of(const pairs& among, arena_sharing sharing) {
    const auto total = [&](const acre::multi_arena_fit& each) { return required_bytes(each, sharing); };
    return static_cast<std::size_t>(std::ranges::min_element(among, {}, total) - among.begin());
}

/// Between the sizes before and after the best, which are not tried again.
std::vector<std::uint64_t> finer_sizes(const pairs& tried, std::size_t best, std::uint64_t unit) {
    const std::uint64_t low = tried[best == 0 ? 0 : best - 1].bytes;
    const std::uint64_t high = tried[std::min(best + 1, tried.size() - 1)].bytes;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 1; i < finer_steps; ++i) {
        const std::uint64_t size = align_up(low + (high - low) * i / finer_steps, unit);
        if (size <= low || size >= high || size == tried[best].bytes) continue;
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    }
    return sizes;
}

class front_search {
public:
    front_search(const event_source& source, const census& of, const front_options& options)
        : source_{source}, of_{of}, options_{options} {}

    /// By size.
    pairs run() {
        const std::uint64_t unit = std::max(granule_bytes, of_.strictest);
        try_sizes(coarse_sizes(of_, unit));
        if (!found_.empty()) try_sizes(finer_sizes(found_, smallest_of(found_, options_.sharing), unit));
        std::ranges::sort(found_, {}, &acre::multi_arena_fit::bytes);
        return std::move(found_);
    }

private:
    void try_sizes(const std::vector<std::uint64_t>& sizes) {
        std::vector<multi_arena_trial> trials;
        for (const std::uint64_t bytes : sizes) trials.push_back({bytes, options_.open, options_.left_out});
        const std::vector<arenas_needed> needed =
            try_multi_arenas(source_, of_, trials, options_.sharing, options_.rank);
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (needed[i]) found_.push_back({std::max<std::uint64_t>(*needed[i], 1), sizes[i], options_.open});
        }
    }

    const event_source& source_;
    const census& of_;
    const front_options& options_;
    pairs found_;
};

pairs unbeaten(const pairs& by_size) {
    pairs front;
    for (const acre::multi_arena_fit& each : by_size) {
        if (front.empty() || each.arenas < front.back().arenas) front.push_back(each);
    }
    return front;
}

}  // namespace

std::uint64_t required_bytes(const acre::multi_arena_fit& pair, arena_sharing sharing) {
    if (sharing == arena_sharing::all_threads)
        return acre::concurrent_multi_arena::required_bytes({.arenas = pair.arenas, .bytes = pair.bytes});
    return acre::multi_arena::required_bytes(pair.options());
}

multi_arena_front find_front(const event_source& source, const census& of, const front_options& options) {
    multi_arena_front result;
    note_impossible(result, of);
    if (!result.impossible.empty()) return result;
    result.tried = front_search{source, of, options}.run();
    result.pairs = unbeaten(result.tried);
    if (result.pairs.empty()) {
        result.impossible = "every size of arena would take more than 64 GiB";
        result.culprit = of.largest_stack;
        return result;
    }
    result.smallest = smallest_of(result.pairs, options.sharing);
    return result;
}

std::uint64_t size_for_objects(const multi_arena_front& front, const census& of, std::uint64_t objects) {
    const std::uint64_t wanted = (of.bytes / of.objects + granule_bytes) * objects;
    for (const acre::multi_arena_fit& each : front.tried) {
        if (each.bytes >= wanted) return each.bytes;
    }
    return front.tried.back().bytes;
}

}  // namespace acre::tool
