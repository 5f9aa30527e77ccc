// Models an acre::concurrent_multi_arena: how many arenas suffice for the recorded order of all threads.
//
// It follows lock_free_arenas.hpp with a thread_arena for each thread. Threads keep it to the end, since a trace does
// not say when they end. The shared arena serves nothing here, so fewer arenas may suffice in fact. Another order of
// the threads may need more.
#pragma once

#include <acre/arenas/concurrent_multi_arena.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "arena_stock.hpp"
#include "multi_arena_model.hpp"

namespace acre::tool {

/// The arenas must be as multi_arena_model requires.
class concurrent_multi_arena_model {
public:
    using position = std::uint32_t;

    explicit concurrent_multi_arena_model(std::uint32_t arena_granules)
        : size_{arena_granules}, arena_at_{arena_granules}, arenas_{arena_granules} {}

    position allocate(std::uint32_t granules, std::uint32_t alignment, std::uint32_t thread) {
        if (thread >= thread_arenas_.size()) thread_arenas_.resize(thread + std::size_t{1});
        thread_arena& own = thread_arenas_[thread];
        position made = 0;
        if (own.open != none && put(own, granules, alignment, made)) return made;
        if (own.open != none && arenas_[own.open].live == 0) {
            begin(own, own.open);
            put(own, granules, alignment, made);
            return made;
        }
        const std::uint32_t next = arenas_.take();
        if (next == none) return 0;
        return put_in_next(own, next, granules, thread);
    }

    void release(position at, std::uint32_t granules, std::uint32_t thread) {
        if (arenas_.gave_up()) return;
        const std::uint32_t home = arena_at_(at);
        arena& in = arenas_[home];
        --in.live;
        if (in.opened_by == closed) {
            if (in.live == 0) list(home);
            return;
        }
        if (in.opened_by != thread) return;
        thread_arena& own = thread_arenas_[thread];
        if (--own.live == 0) {
            own.used = 0;
        } else if (at - home * size_ + granules == own.used) {
            own.used = at - home * size_;
        }
    }

    std::uint64_t arena_bytes() const noexcept { return size_ * granule_bytes; }

    /// A sufficient number of arenas: one is the shared one, and at most half of them can be thread arenas.
    std::uint64_t arenas() const noexcept { return std::max<std::uint64_t>(max_taken_ + 1, 2 * threads_); }

    bool gave_up() const noexcept { return arenas_.gave_up(); }

private:
    static constexpr std::uint32_t none = max_granules;
    static constexpr std::uint32_t closed = max_granules;

    struct arena {
        std::uint32_t live = 0;
        std::uint32_t opened_by = closed;  // a thread
    };
    struct thread_arena {
        std::uint32_t open = none;
        std::uint32_t used = 0;
        std::int64_t live = 0;  // allocated there since it was opened, minus freed there by this thread
    };

    bool put(thread_arena& own, std::uint32_t granules, std::uint32_t alignment, position& made) noexcept {
        const std::uint32_t start = own.used + (alignment - own.used % alignment) % alignment;
        if (start > size_ || granules > size_ - start) return false;
        own.used = start + granules;
        ++own.live;
        ++arenas_[own.open].live;
        made = own.open * size_ + start;
        return true;
    }

    static void begin(thread_arena& own, std::uint32_t with) noexcept { own = {with, 0, 0}; }

    /// Allocates in `next`, and keeps open the arena with more free space, `next` or the one open so far.
    position put_in_next(thread_arena& own, std::uint32_t next, std::uint32_t granules, std::uint32_t thread) {
        ++taken_;
        max_taken_ = std::max(max_taken_, taken_);
        if (own.open == none) ++threads_;
        if (own.open != none && size_ - granules < size_ - own.used) {
            arenas_[next].live = 1;
            return next * size_;
        }
        if (own.open != none) arenas_[own.open].opened_by = closed;
        arenas_[next].opened_by = thread;
        begin(own, next);
        position made = 0;
        put(own, granules, 1, made);
        return made;
    }

    void list(std::uint32_t index) {
        --taken_;
        arenas_.put_back(index);
    }

    std::uint32_t size_;
    quick_divisor arena_at_;  // divided by the size
    std::uint64_t threads_ = 0;
    std::uint64_t taken_ = 0;
    std::uint64_t max_taken_ = 0;
    arena_stock<arena> arenas_;
    std::vector<thread_arena> thread_arenas_;  // by thread
};

}  // namespace acre::tool
