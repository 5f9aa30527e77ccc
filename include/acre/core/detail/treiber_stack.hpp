// A lock-free stack of indices: the free elements of an array.
//
// Used by acre::concurrent_multi_arena, not directly. The elements hold the links: `link_of(n)` is an
// Atomic<std::uint32_t> in element n, which the stack owns while it contains n. At most 2^24 - 1 elements.
//
// Cost: push and pop are a load and a compare-and-swap each. Lock-free: retries only after another thread progressed.
// Memory: 8 bytes, and 4 in each element. Thread-safe.
//
// The head has a 40-bit change count beside the index against the ABA problem: a pop that was interrupted between
// reading a link and its compare-and-swap fails even if the same index is on top again (the counted pointer of IBM's
// System/370 manual; Treiber, "Coping with Parallelism", 1986). Only 2^40 changes during the interruption defeat it.
#pragma once

#include <atomic>
#include <cstdint>

namespace acre::detail {

/// Indices below `none`, the last pushed on top. `Atomic` is std::atomic, or that of a test of all interleavings.
template <template <class> class Atomic = std::atomic>
class treiber_stack {
public:
    /// What pop() of an empty stack returns.
    static constexpr std::uint32_t none = (std::uint32_t{1} << 24) - 1;

    /// Requires that `index` is not in the stack and that the calling thread owns the element.
    template <class Links>
    void push(Links link_of, std::uint32_t index) noexcept {
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        do {
            // Relaxed: a pop that uses the link has read the head that the release below stores. A pop that reads it
            // too early fails: the count has changed.
            link_of(index).store(top_of(head), std::memory_order_relaxed);
            // Release: this thread's use of the element happens before the popping thread's.
        } while (!head_.compare_exchange_weak(head, next(head, index), std::memory_order_release,
                                              std::memory_order_relaxed));
    }

    /// The index on top, whose element the calling thread now owns; `none` when the stack is empty.
    template <class Links>
    std::uint32_t pop(Links link_of) noexcept {
        // Acquire, here and on failure: the link and the element as the push left them. Pushes and pops in between are
        // read-modify-writes, which continue the release sequence.
        std::uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            const std::uint32_t top = top_of(head);
            if (top == none) return none;
            const std::uint32_t below = link_of(top).load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, next(head, below), std::memory_order_acquire,
                                            std::memory_order_acquire)) {
                return top;
            }
        }
    }

    /// Empties the stack. No other thread may use it meanwhile.
    void clear() noexcept { head_.store(none, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t top_of(std::uint64_t head) noexcept {
        return static_cast<std::uint32_t>(head & none);
    }
    static constexpr std::uint64_t next(std::uint64_t head, std::uint32_t top) noexcept {
        return ((head >> 24) + 1) << 24 | top;
    }

    Atomic<std::uint64_t> head_{none};
};

}  // namespace acre::detail
