#include "census.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "arena_model.hpp"
#include "multi_arena_model.hpp"
#include "trace/live_table.hpp"
#include "trace/value_counts.hpp"

namespace acre::tool {

namespace {

/// Counts generations by a model of an arena that is reset whenever it is empty.
class generation_counter {
public:
    arena_model::offset allocate(const event& e) noexcept {
        ++live_;
        ++objects_;
        return arena_.allocate(e.size, alignment_of(e));
    }

    void release(arena_model::offset at, std::uint64_t bytes) {
        arena_.release(at, bytes);
        if (--live_ == 0) end();
    }

    generation_sizes sizes() {
        // Ranks of the 50th and the 99th percentile.
        result_.p50_bytes = capacities_.at_rank((result_.count * 50 + 99) / 100 - (result_.count != 0));
        result_.p99_bytes = capacities_.at_rank((result_.count * 99 + 99) / 100 - (result_.count != 0));
        if (live_ != 0) result_.max_bytes = std::max(result_.max_bytes, arena_.capacity());
        return result_;
    }

private:
    void end() {
        const std::uint64_t capacity = arena_.capacity();
        capacities_.add(capacity);
        result_.max_bytes = std::max(result_.max_bytes, capacity);
        ++result_.count;
        result_.objects += objects_;
        objects_ = 0;
        arena_.reset();
    }

    arena_model arena_;
    value_counts capacities_;
    generation_sizes result_;
    std::uint64_t live_ = 0;
    std::uint64_t objects_ = 0;
};

class census_taker {
public:
    census_taker() : sizes_(census::largest_slot + 1) {}

    void allocate(const event& e) {
        require_possible(e);
        note_shape(e);
        size_use& use = use_of(e.size);
        ++use.objects;
        use.alignment = std::max(use.alignment, alignment_of(e));
        use.peak_objects = std::max(use.peak_objects, ++use.live);
        live_bytes_ += e.size;
        live_granules_ += granules_of(e.size);
        live_.insert(e.object, {all_.allocate(e.size, alignment_of(e)), generations_.allocate(e), e.size, e.thread});
        result_.peak_bytes = std::max(result_.peak_bytes, live_bytes_);
        result_.peak_granules = std::max(result_.peak_granules, live_granules_);
        result_.peak_objects = std::max<std::uint64_t>(result_.peak_objects, live_.size());
    }

    void release(std::uint64_t object, std::uint32_t thread) {
        live_object gone;
        if (!live_.take(object, gone)) return;
        if (gone.thread != thread) ++result_.freed_elsewhere;
        --use_of(gone.bytes).live;
        live_bytes_ -= gone.bytes;
        live_granules_ -= granules_of(gone.bytes);
        all_.release(gone.in_arena, gone.bytes);
        generations_.release(gone.in_generation, gone.bytes);
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    census finish() {
        result_.never_freed = live_.size();
        result_.arena_bytes = all_.capacity();
        result_.generations = generations_.sizes();
        result_.threads = static_cast<std::uint64_t>(std::count(allocates_.begin(), allocates_.end(), true));
        for (std::uint64_t bytes = 0; bytes < sizes_.size(); ++bytes) {
            if (sizes_[bytes].objects == 0) continue;
            result_.sizes.push_back(sizes_[bytes]);
            result_.sizes.back().bytes = bytes;
        }
        std::sort(result_.sizes.begin(), result_.sizes.end(), [](const size_use& a, const size_use& b) {
            const std::uint64_t peak_of_a = a.peak_objects * a.bytes;
            const std::uint64_t peak_of_b = b.peak_objects * b.bytes;
            return peak_of_a != peak_of_b ? peak_of_a > peak_of_b : a.bytes < b.bytes;
        });
        return std::move(result_);
    }

private:
    struct live_object {
        arena_model::offset in_arena = 0;
        arena_model::offset in_generation = 0;
        std::uint64_t bytes = 0;
        std::uint32_t thread = 0;
    };

    void note_shape(const event& e) {
        ++result_.objects;
        result_.bytes += e.size;
        ++result_.objects_of_class[static_cast<std::size_t>(std::bit_width(e.size))];
        if (e.size >= result_.largest) {
            result_.largest = e.size;
            result_.largest_stack = e.stack;
        }
        if (alignment_of(e) > result_.strictest) {
            result_.strictest = alignment_of(e);
            result_.strictest_stack = e.stack;
        }
        if (e.thread >= allocates_.size()) allocates_.resize(e.thread + std::size_t{1});
        allocates_[e.thread] = true;
    }

    size_use& use_of(std::uint64_t bytes) {
        return bytes < sizes_.size() ? sizes_[static_cast<std::size_t>(bytes)] : result_.larger;
    }

    census result_;
    std::vector<size_use> sizes_;  // by bytes
    std::vector<bool> allocates_;  // by thread
    live_array<live_object> live_;
    std::uint64_t live_bytes_ = 0;
    std::uint64_t live_granules_ = 0;
    arena_model all_;
    generation_counter generations_;
};

}  // namespace

census take_census(const event_source& source) {
    census_taker taker;
    play(source, taker);
    return taker.finish();
}

}  // namespace acre::tool
