#include "multi_arena_trials.hpp"

#include <algorithm>
#include <type_traits>

#include "concurrent_multi_arena_model.hpp"
#include "multi_arena_model.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t memory_for_places = std::uint64_t{256} << 20;
constexpr std::uint32_t highest_rank = 0xffff'ffff;

/// One pass over the events.
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
        const std::uint32_t slot = take_slot();
        live_.insert(e.object, slot);
        const std::uint32_t granules = granules_of(e.size);
        const std::uint32_t alignment = granules_of(alignment_of(e));
        objects_[slot] = {granules, rank_ ? rank_(e) : highest_rank};
        std::uint32_t* const places = places_of(slot);
        for (std::size_t i = 0; i < models_.size(); ++i) {
            if (trials_[i].left_out > objects_[slot].rank) continue;
            if constexpr (std::is_same_v<Model, multi_arena_model>) {
                places[i] = models_[i].allocate(granules, alignment);
            } else {
                places[i] = models_[i].allocate(granules, alignment, e.thread);
            }
        }
    }

    void release(std::uint64_t object, std::uint32_t thread) {
        std::uint32_t slot = 0;
        if (!live_.take(object, slot)) return;
        const std::uint32_t granules = objects_[slot].granules;
        const std::uint32_t* const places = places_of(slot);
        for (std::size_t i = 0; i < models_.size(); ++i) {
            if (trials_[i].left_out > objects_[slot].rank) continue;
            if constexpr (std::is_same_v<Model, multi_arena_model>) {
                models_[i].release(places[i], granules);
            } else {
                models_[i].release(places[i], granules, thread);
            }
        }
        free_slots_.push_back(slot);
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    void append_to(std::vector<arenas_needed>& results) const {
        for (const Model& each : models_) {
            results.push_back(each.gave_up() ? arenas_needed{} : arenas_needed{each.arenas()});
        }
    }

private:
    struct object_shape {
        std::uint32_t granules = 0;
        std::uint32_t rank = 0;
    };

    std::uint32_t take_slot() {
        if (free_slots_.empty()) {
            objects_.emplace_back();
            places_.resize(places_.size() + models_.size());
            return static_cast<std::uint32_t>(objects_.size() - 1);
        }
        const std::uint32_t slot = free_slots_.back();
        free_slots_.pop_back();
        return slot;
    }

    std::uint32_t* places_of(std::uint32_t slot) noexcept { return places_.data() + slot * models_.size(); }

    std::span<const multi_arena_trial> trials_;
    const object_rank& rank_;
    std::vector<Model> models_;
    live_table<std::uint32_t> live_;     // slots
    std::vector<std::uint32_t> places_;  // by slot and model
    std::vector<object_shape> objects_;  // by slot
    std::vector<std::uint32_t> free_slots_;
};

template <typename Model>
std::vector<arenas_needed> try_in_batches(const event_source& source, const census& of,
                                          std::span<const multi_arena_trial> trials, const object_rank& rank) {
    const std::uint64_t bytes_a_trial = std::max<std::uint64_t>(of.peak_objects, 1) * sizeof(std::uint32_t);
    const auto at_once = static_cast<std::size_t>(std::max<std::uint64_t>(memory_for_places / bytes_a_trial, 1));
    std::vector<arenas_needed> results;
    while (!trials.empty()) {
        const auto batch = trials.first(std::min(at_once, trials.size()));
        trial_pass<Model> pass{batch, rank};
        play(source, pass);
        pass.append_to(results);
        trials = trials.subspan(batch.size());
    }
    return results;
}

}  // namespace

std::vector<arenas_needed> try_multi_arenas(const event_source& source, const census& of,
                                            std::span<const multi_arena_trial> trials, arena_sharing sharing,
                                            const object_rank& rank) {
    return sharing == arena_sharing::one_thread
               ? try_in_batches<multi_arena_model>(source, of, trials, rank)
               : try_in_batches<concurrent_multi_arena_model>(source, of, trials, rank);
}

}  // namespace acre::tool
