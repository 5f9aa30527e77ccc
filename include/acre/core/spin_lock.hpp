// A lock for a few instructions' work: it looks a bounded number of times whether the lock is free, then lets the
// system put the thread to sleep until it is.
//
// Use it for acre::synchronized where calls are short and collide rarely. Use std::mutex where the resource's upstream
// may take long (a new slab from the heap): there waiting in the system at once is as good. It is not recursive and
// promises no order.
//
// Cost: one atomic exchange to lock and one to unlock when nobody waits; 4 bytes. A thread that waits runs at most
// `looks` pauses (some microseconds) before it sleeps, so a waiting thread of high priority never keeps the holder from
// running. Constant-initialised, so that a static one is ready before any code runs.
//
//     acre::synchronized<acre::pool<64>, acre::spin_lock> slots;
//
// Idea: the three states of Drepper's "Futexes Are Tricky" (2004).
#pragma once

#include <atomic>

namespace acre {

namespace detail {
/// Tells the processor that this thread only waits.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// What spin_lock is. The arguments are for tests that try every order of steps.
template <template <class> class Atomic = std::atomic, int Looks = 100>
class sleeping_lock {
public:
    /// How often a thread looks before it sleeps.
    static constexpr int looks = Looks;

    constexpr sleeping_lock() noexcept = default;
    sleeping_lock(const sleeping_lock&) = delete;
    sleeping_lock& operator=(const sleeping_lock&) = delete;

    /// Returns when this thread holds the lock.
    void lock() noexcept {
        if (!try_lock()) [[unlikely]]
            wait();
    }

    /// True when the lock was free and is now held.
    bool try_lock() noexcept {
        // Acquire: what was done under the lock before, which unlock released. A refusal tells nothing.
        int expected = unlocked;
        return state_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
    }

    /// Lets the next one in; only the thread that holds the lock may.
    void unlock() noexcept {
        // Release: what was done under the lock. Reading the state acquires nothing, as only a wake-up follows.
        if (state_.exchange(unlocked, std::memory_order_release) == awaited) state_.notify_one();
    }

private:
    static constexpr int unlocked = 0;
    static constexpr int locked = 1;
    static constexpr int awaited = 2;  // locked, and a thread may be asleep

    [[gnu::noinline]] void wait() noexcept {
        // Relaxed where it is only looked: the exchange or try_lock that takes the lock acquires.
        for (int look = 0; look < looks; ++look) {
            pause();
            if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
        }
        // Whoever has slept locks as awaited: it cannot know whether others sleep on.
        while (state_.exchange(awaited, std::memory_order_acquire) != unlocked) {
            state_.wait(awaited, std::memory_order_relaxed);
        }
    }

    // Acquired by whoever locks, released by whoever unlocks. Looking is relaxed: it only says when to try. Storing
    // `awaited` hands over nothing, and what it replaces is released with it as a part of the release sequence.
    Atomic<int> state_ = unlocked;
};

}  // namespace detail

/// A lock that is looked at a bounded number of times and slept on then.
class spin_lock : public detail::sleeping_lock<> {
public:
    constexpr spin_lock() noexcept = default;
};

}  // namespace acre
