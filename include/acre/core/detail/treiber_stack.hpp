// A stack of numbers that any thread pushes and pops without a lock: which of some equal things are free.
//
// Used by acre::concurrent_multi_arena, not directly. The things hold the links: `link_of(n)` is an
// Atomic<std::uint32_t> that lies in thing n and is the stack's while n is in it. At most 2^24 - 1 things.
//
// Cost: push and pop are a load and a compare-and-swap each, tried again only when another thread's was done meanwhile:
// lock-free. Memory: 8 bytes, and 4 in each thing. Thread-safe.
//
// The head counts its changes in 40 bits beside the number, so that a pop which was interrupted between reading a link
// and its compare-and-swap fails when the same number has come back on top meanwhile (the counted pointer of IBM's
// System/370 manual; Treiber, "Coping with Parallelism", 1986). It would take 2^40 changes within the interruption to
// deceive it.
#pragma once

#include <atomic>
#include <cstdint>

namespace acre::detail {

/// Numbers below `none`, the last pushed on top. `Atomic` is std::atomic, or what a check of all interleavings puts
/// there.
template <template <class> class Atomic = std::atomic>
class treiber_stack {
public:
    /// No number: what an empty stack pops.
    static constexpr std::uint32_t none = (std::uint32_t{1} << 24) - 1;

    /// `index` is not in the stack, and the calling thread's alone.
    template <class Links>
    void push(Links link_of, std::uint32_t index) noexcept {
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        do {
            // Relaxed: whoever reads it after a pop has read the head that is stored with release below; who reads it
            // before, in a pop that comes too late, is found out by the count.
            link_of(index).store(top_of(head), std::memory_order_relaxed);
            // Release: what this thread did with the thing comes before what the one does that pops it.
        } while (!head_.compare_exchange_weak(head, next(head, index), std::memory_order_release,
                                              std::memory_order_relaxed));
    }

    /// The number on top, now the calling thread's alone; `none` when there is none.
    template <class Links>
    std::uint32_t pop(Links link_of) noexcept {
        // Acquire, here and where it fails: the link, and the thing, as the push that is read left them. Pushes and
        // pops in between are read-modify-writes, which pass that on.
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

    /// Empties it, for a thread that has it alone.
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
