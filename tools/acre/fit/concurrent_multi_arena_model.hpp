// An acre::concurrent_multi_arena in numbers: how many arenas suffice for the recorded order of all threads.
//
// It follows lock_free_arenas.hpp with a part for each thread, which threads keep to the end since a trace does not say
// when they ended. The arena that threads share is not counted on, and never serves anything here; where it does, fewer
// arenas may do: what is said suffices for this order, and another order of the threads may need more.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "multi_arena_model.hpp"

namespace acre::tool {

/// Arenas as a multi_arena_model wants them.
class concurrent_multi_arena_model {
public:
    using place = std::uint32_t;

    explicit concurrent_multi_arena_model(std::uint32_t arena_granules)
        : size_{arena_granules}, arena_at_{arena_granules} {}

    place allocate(std::uint32_t granules, std::uint32_t alignment, std::uint32_t thread) {
        if (thread >= parts_.size()) parts_.resize(thread + std::size_t{1});
        part& mine = parts_[thread];
        place made = 0;
        if (mine.open != none && put(mine, granules, alignment, made)) return made;
        if (mine.open != none && arenas_[mine.open].live == 0) {
            begin(mine, mine.open);
            put(mine, granules, alignment, made);
            return made;
        }
        const std::uint32_t next = take_empty();
        if (next == none) return 0;
        return put_in_next(mine, next, granules, thread);
    }

    void release(place at, std::uint32_t granules, std::uint32_t thread) {
        if (gave_up_) return;
        const std::uint32_t home = arena_at_(at);
        arena& in = arenas_[home];
        --in.live;
        if (in.opened_by == closed) {
            if (in.live == 0) list(home);
            return;
        }
        if (in.opened_by != thread) return;
        part& mine = parts_[thread];
        if (--mine.live == 0) {
            mine.used = 0;
        } else if (at - home * size_ + granules == mine.used) {
            mine.used = at - home * size_;
        }
    }

    std::uint64_t arena_bytes() const noexcept { return size_ * granule_bytes; }

    /// That suffice: one is the shared one, and half of them are enough for every thread to have its own.
    std::uint64_t arenas() const noexcept { return std::max<std::uint64_t>(max_taken_ + 1, 2 * threads_); }

    bool gave_up() const noexcept { return gave_up_; }

private:
    static constexpr std::uint32_t none = max_granules;
    static constexpr std::uint32_t closed = max_granules;

    struct arena {
        std::uint32_t live = 0;
        std::uint32_t opened_by = closed;  // a thread
    };
    struct part {
        std::uint32_t open = none;
        std::uint32_t used = 0;
        std::int64_t live = 0;  // allocated since it was opened less what this thread freed there
    };

    bool put(part& mine, std::uint32_t granules, std::uint32_t alignment, place& made) noexcept {
        const std::uint32_t start = mine.used + (alignment - mine.used % alignment) % alignment;
        if (start > size_ || granules > size_ - start) return false;
        mine.used = start + granules;
        ++mine.live;
        ++arenas_[mine.open].live;
        made = mine.open * size_ + start;
        return true;
    }

    static void begin(part& mine, std::uint32_t with) noexcept { mine = {with, 0, 0}; }

    /// Of the arena that is open and `next`, the one with more room left is open from then on.
    place put_in_next(part& mine, std::uint32_t next, std::uint32_t granules, std::uint32_t thread) {
        ++taken_;
        max_taken_ = std::max(max_taken_, taken_);
        if (mine.open == none) ++threads_;
        if (mine.open != none && size_ - granules < size_ - mine.used) {
            arenas_[next].live = 1;
            return next * size_;
        }
        if (mine.open != none) arenas_[mine.open].opened_by = closed;
        arenas_[next].opened_by = thread;
        begin(mine, next);
        place made = 0;
        put(mine, granules, 1, made);
        return made;
    }

    std::uint32_t take_empty() {
        if (gave_up_) return none;
        if (!empty_.empty()) {
            const std::uint32_t next = empty_.back();
            empty_.pop_back();
            return next;
        }
        if (arenas_.size() + 1 > max_granules / size_) {
            gave_up_ = true;
            return none;
        }
        arenas_.emplace_back();
        return static_cast<std::uint32_t>(arenas_.size() - 1);
    }

    void list(std::uint32_t index) {
        --taken_;
        empty_.push_back(index);
    }

    std::uint32_t size_;
    quick_divisor arena_at_;  // divided by the size
    bool gave_up_ = false;
    std::uint64_t threads_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t max_taken_ = 0;
    std::vector<arena> arenas_;
    std::vector<std::uint32_t> empty_;
    std::vector<part> parts_;  // by thread
};

}  // namespace acre::tool
