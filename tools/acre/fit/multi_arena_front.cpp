#include "multi_arena_front.hpp"

#include <fmt/format.h>

#include <acre/core/alignment.hpp>
#include <algorithm>
#include <bit>
#include <future>
#include <iterator>
#include <type_traits>

#include "concurrent_multi_arena_model.hpp"
#include "multi_arena_model.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t memory_for_positions = std::uint64_t{256} << 20;
constexpr std::uint32_t highest_rank = 0xffff'ffff;
constexpr std::uint64_t objects_for_two = 50'000;  // threads

/// Several trials in one pass over the events.
template <typename Model>
class trial_pass {
public:
    trial_pass(std::span<const multi_arena_trial> trials, const object_rank& rank) : trials_{trials}, rank_{rank} {
        for (const multi_arena_trial& each : trials) {
            if constexpr (std::is_same_v<Model, multi_arena_model>) {
                models_.emplace_back(granules_of(each.bytes), each.open);
            } else {
                models_.emplace_back(granules_of(each.bytes));
            }
        }
    }

    void allocate(const event& e) {
        const auto number = static_cast<std::size_t>(e.object);
        if (number >= objects_.size()) {
            objects_.resize(number + 1);
            positions_.resize((number + 1) * models_.size());
        }
        const std::uint32_t granules = granules_of(e.size);
        const std::uint32_t alignment = granules_of(alignment_of(e));
        const std::uint32_t rank = rank_ ? rank_(e) : highest_rank;
        objects_[number] = {granules, rank};
        std::uint32_t* const positions = positions_of(number);
        for (std::size_t i = 0; i < models_.size(); ++i) {
            if (trials_[i].left_out > rank) continue;
            if constexpr (std::is_same_v<Model, multi_arena_model>) {
                positions[i] = models_[i].allocate(granules, alignment);
            } else {
                positions[i] = models_[i].allocate(granules, alignment, e.thread);
            }
        }
    }

    void release(std::uint64_t object, std::uint32_t thread) {
        const auto number = static_cast<std::size_t>(object);
        const object_shape gone = objects_[number];
        const std::uint32_t* const positions = positions_of(number);
        for (std::size_t i = 0; i < models_.size(); ++i) {
            if (trials_[i].left_out > gone.rank) continue;
            if constexpr (std::is_same_v<Model, multi_arena_model>) {
                models_[i].release(positions[i], gone.granules);
            } else {
                models_[i].release(positions[i], gone.granules, thread);
            }
        }
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    std::vector<arenas_needed> results() const {
        std::vector<arenas_needed> found;
        found.reserve(models_.size());
        for (const Model& each : models_) {
            found.push_back(each.gave_up() ? arenas_needed{} : arenas_needed{each.arenas()});
        }
        return found;
    }

private:
    struct object_shape {
        std::uint32_t granules = 0;
        std::uint32_t rank = 0;
    };

    std::uint32_t* positions_of(std::size_t number) noexcept { return positions_.data() + number * models_.size(); }

    std::span<const multi_arena_trial> trials_;
    const object_rank& rank_;
    std::vector<Model> models_;
    std::vector<std::uint32_t> positions_;  // by the object's number and model
    std::vector<object_shape> objects_;     // by number
};

template <typename Model>
std::vector<arenas_needed> try_in_one_pass(const event_source& source, std::span<const multi_arena_trial> trials,
                                           const object_rank& rank) {
    trial_pass<Model> pass{trials, rank};
    play(source, pass);
    return pass.results();
}

/// In two threads where that is worth it; in this one where the system refuses another.
template <typename Model>
std::vector<arenas_needed> try_at_once(const event_source& source, const census& of,
                                       std::span<const multi_arena_trial> trials, const object_rank& rank) {
    if (trials.size() < 2 || of.objects < objects_for_two) return try_in_one_pass<Model>(source, trials, rank);
    const std::size_t half = trials.size() / 2;
    std::future<std::vector<arenas_needed>> first = std::async(std::launch::async | std::launch::deferred, [&] {
        return try_in_one_pass<Model>(source, trials.first(half), rank);
    });
    const std::vector<arenas_needed> second = try_in_one_pass<Model>(source, trials.subspan(half), rank);
    std::vector<arenas_needed> results = first.get();
    results.insert(results.end(), second.begin(), second.end());
    return results;
}

template <typename Model>
std::vector<arenas_needed> try_in_batches(const event_source& source, const census& of,
                                          std::span<const multi_arena_trial> trials, const object_rank& rank) {
    const std::uint64_t bytes_per_trial = std::max<std::uint64_t>(of.peak_objects, 1) * sizeof(std::uint32_t);
    const auto at_once = static_cast<std::size_t>(std::max<std::uint64_t>(memory_for_positions / bytes_per_trial, 1));
    std::vector<arenas_needed> results;
    while (!trials.empty()) {
        const auto batch = trials.first(std::min(at_once, trials.size()));
        std::ranges::copy(try_at_once<Model>(source, of, batch, rank), std::back_inserter(results));
        trials = trials.subspan(batch.size());
    }
    return results;
}

// The strictest alignment of arenas.
constexpr std::uint64_t max_alignment = 4096;
constexpr std::uint64_t largest_object = std::uint64_t{16} << 30;

using pairs = std::vector<acre::multi_arena_fit>;

/// Sets `impossible` if no size can work.
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

/// Large enough for the peak of live bytes with room for freed objects, or for a whole generation.
std::uint64_t largest_size(const census& of) {
    const std::uint64_t live = std::bit_ceil(std::min(of.peak_granules * granule_bytes, largest_object));
    const std::uint64_t everything = std::bit_ceil(std::min(of.generations.max_bytes, largest_object));
    return std::max(4 * live, std::min(everything, 16 * live));
}

std::vector<std::uint64_t> coarse_sizes(const census& of, std::uint64_t unit, bool between_powers_of_two) {
    const std::uint64_t first = smallest_size(of, unit);
    const std::uint64_t last = std::max(largest_size(of), 2 * first);
    std::vector<std::uint64_t> sizes{first};
    for (std::uint64_t power = std::bit_floor(first); power <= last; power *= 2) {
        if (power > first && power % unit == 0) sizes.push_back(power);
        const std::uint64_t between = power + power / 2;
        if (between_powers_of_two && between > first && between % unit == 0) sizes.push_back(between);
    }
    return sizes;
}

std::size_t smallest_of(const pairs& among, arena_sharing sharing) {
    const auto total = [&](const acre::multi_arena_fit& each) { return required_bytes(each, sharing); };
    return static_cast<std::size_t>(std::ranges::min_element(among, {}, total) - among.begin());
}

/// Sizes between the neighbours of the best.
std::vector<std::uint64_t> finer_sizes(const pairs& tried, std::size_t best, std::uint64_t unit, std::uint64_t steps) {
    const std::uint64_t low = tried[best == 0 ? 0 : best - 1].bytes;
    const std::uint64_t high = tried[std::min(best + 1, tried.size() - 1)].bytes;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 1; i < steps; ++i) {
        const std::uint64_t size = align_up(low + (high - low) * i / steps, unit);
        if (size <= low || size >= high || size == tried[best].bytes) continue;
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    }
    return sizes;
}

class front_search {
public:
    front_search(const event_source& source, const census& of, const front_options& options)
        : source_{source}, of_{of}, options_{options} {}

    /// Sorted by size.
    pairs run() {
        const std::uint64_t unit = std::max(granule_bytes, of_.strictest);
        try_sizes(coarse_sizes(of_, unit, options_.between_powers_of_two));
        if (!found_.empty())
            try_sizes(finer_sizes(found_, smallest_of(found_, options_.sharing), unit, options_.finer_steps));
        std::ranges::sort(found_, {}, &acre::multi_arena_fit::bytes);
        return std::move(found_);
    }

private:
    void try_sizes(const std::vector<std::uint64_t>& sizes) {
        std::vector<multi_arena_trial> trials;
        trials.reserve(sizes.size());
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

std::vector<arenas_needed> try_multi_arenas(const event_source& source, const census& of,
                                            std::span<const multi_arena_trial> trials, arena_sharing sharing,
                                            const object_rank& rank) {
    return sharing == arena_sharing::one_thread
               ? try_in_batches<multi_arena_model>(source, of, trials, rank)
               : try_in_batches<concurrent_multi_arena_model>(source, of, trials, rank);
}

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
