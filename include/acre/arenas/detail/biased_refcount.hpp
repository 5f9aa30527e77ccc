// How many allocations of an arena live, where one thread allocates and any thread frees: while the arena is open its
// count is so far above zero that frees alone never end it, and what was allocated is added once, when it is closed.
//
// Used by acre::concurrent_multi_arena, not directly. The thread that has the arena open counts its allocations, and
// its own frees, without an atomic operation.
//
// Cost: one atomic operation for a free, one to close. Thread-safe: count_down by any thread, the rest by the one that
// has the arena. After Choi, Shull and Torrellas, "Biased reference counting" (PACT 2018).
#pragma once

#include <atomic>
#include <cstdint>

namespace acre::detail {

/// The count of one arena. `Atomic` is std::atomic, or what a check of all interleavings puts there.
template <template <class> class Atomic = std::atomic>
class biased_refcount {
public:
    /// Has the arena open, with nothing freed yet. Relaxed: nobody else knows of the arena, and whoever frees in it has
    /// its pointer from the thread that does this.
    void open() noexcept { count_.store(bias, std::memory_order_relaxed); }

    /// Has it closed with `live` allocations. For the one that has the arena, as open.
    void start_closed(std::int64_t live) noexcept { count_.store(live, std::memory_order_relaxed); }

    /// One less; returns the count before. One: the arena is the caller's, empty. Less: it was freed once too often.
    /// Release: what this thread did with its allocation comes before the arena is used again. Acquire: for the last
    /// one, what all others did does, too (their read-modify-writes are one release sequence).
    std::int64_t count_down() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel); }

    /// Closes it: of `live` allocations, those not freed since it was opened are left. Zero: the arena is the caller's,
    /// empty. Negative: it was freed once too often. The orders are those of count_down, for the same reasons.
    std::int64_t close(std::int64_t live) noexcept {
        return count_.fetch_sub(bias - live, std::memory_order_acq_rel) - (bias - live);
    }

    /// Frees counted down since it was opened. Acquire: when these are all that were allocated, the room is used again,
    /// after all that was done with it.
    std::int64_t freed() const noexcept { return bias - count_.load(std::memory_order_acquire); }

    /// Allocations of a closed one; what has been freed, as a negative number, of an open one. Relaxed: a number to
    /// look at.
    std::int64_t settled() const noexcept {
        const std::int64_t count = count_.load(std::memory_order_relaxed);
        return count > bias / 2 ? count - bias : count;
    }

private:
    static constexpr std::int64_t bias = std::int64_t{1} << 62;

    Atomic<std::int64_t> count_{0};
};

}  // namespace acre::detail
