// The locks of acre::synchronized, besides std::mutex:
//   spin_lock                   4 bytes; tries a bounded number of times, then sleeps in the system
//   priority_inheritance_mutex  the holder runs at the priority of the most urgent waiting thread (POSIX only)
//   no_lock                     locks nothing, for programs or builds with one thread; all there is without threads
//
// Use spin_lock where calls are short and rarely collide; std::mutex where the resource's upstream may take long, for
// example for a new slab; priority_inheritance_mutex where threads of different real-time priorities (SCHED_FIFO,
// SCHED_RR) share a resource. A resource that only one thread uses needs no lock.
//
// Cost without contention: spin_lock one atomic exchange each way; priority_inheritance_mutex as std::mutex, and 40
// bytes; no_lock nothing. None is recursive or fair. spin_lock and no_lock are constant-initialised: static ones are
// ready before any code runs.
//
//     acre::synchronized<acre::pool<64>, acre::spin_lock> slots;
//
// Ideas: the three states of Drepper's "Futexes Are Tricky" (2004); Sha, Rajkumar and Lehoczky, "Priority Inheritance
// Protocols" (1990).
#pragma once

#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <atomic>
#if ACRE_HAS_THREADS && __has_include(<pthread.h>)
#include <pthread.h>
#include <system_error>
#endif

namespace acre {

/// Meets the standard's Lockable requirements without locking. Takes no space and no instruction.
class no_lock {
public:
    constexpr no_lock() noexcept = default;
    no_lock(const no_lock&) = delete;
    no_lock& operator=(const no_lock&) = delete;

    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

#if ACRE_HAS_THREADS
namespace detail {
/// Tells the processor that this thread is spinning.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// The implementation of spin_lock. The arguments are for tests of all interleavings. A waiting thread runs at most
/// `spins` pauses (some microseconds), so one of high priority never keeps the holder from running.
template <template <class> class Atomic = std::atomic, int Spins = 100>
class sleeping_lock {
public:
    /// How often a thread tries before it sleeps.
    static constexpr int spins = Spins;

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
        // Acquire: what was done under the lock before, which unlock released. Relaxed on failure: nothing is read.
        int expected = unlocked;
        return state_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
    }

    /// Requires that this thread holds the lock.
    void unlock() noexcept {
        // Release: what was done under the lock. Acquires nothing: only a wake-up follows.
        if (state_.exchange(unlocked, std::memory_order_release) == contended) state_.notify_one();
    }

private:
    static constexpr int unlocked = 0;
    static constexpr int locked = 1;
    static constexpr int contended = 2;  // locked, and a thread may be asleep

    [[gnu::noinline]] void wait() noexcept {
        // Relaxed loads: the exchange or try_lock that takes the lock acquires.
        for (int spin = 0; spin < spins; ++spin) {
            pause();
            if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
        }
        // A thread that slept locks as contended: it cannot know whether others still sleep.
        while (state_.exchange(contended, std::memory_order_acquire) != unlocked) {
            state_.wait(contended, std::memory_order_relaxed);
        }
    }

    // Locking acquires, unlocking releases. Spinning loads are relaxed: they only say when to try. Storing `contended`
    // releases nothing itself; it continues the release sequence of the unlock that it replaces.
    Atomic<int> state_ = unlocked;
};

}  // namespace detail

/// A lock whose waiting threads try a bounded number of times, then sleep.
class spin_lock : public detail::sleeping_lock<> {
public:
    constexpr spin_lock() noexcept = default;
};

#if __has_include(<pthread.h>)
/// A POSIX mutex with the protocol PTHREAD_PRIO_INHERIT: a thread of middle priority cannot keep an urgent one waiting
/// by preempting the holder. The constructor throws std::system_error where the system has no such mutexes; without
/// exceptions it aborts with a sentence.
class priority_inheritance_mutex {
public:
    static constexpr const char* name = "acre::priority_inheritance_mutex";

    /// Unlocked. Throws std::system_error, or aborts without exceptions, where the system has no such mutexes.
    priority_inheritance_mutex() {
        pthread_mutexattr_t wanted;
        int failed = pthread_mutexattr_init(&wanted);
        if (failed == 0) {
            failed = pthread_mutexattr_setprotocol(&wanted, PTHREAD_PRIO_INHERIT);
            if (failed == 0) failed = pthread_mutex_init(&mutex_, &wanted);
            pthread_mutexattr_destroy(&wanted);
        }
        if (failed != 0) fail(failed);
    }
    priority_inheritance_mutex(const priority_inheritance_mutex&) = delete;
    priority_inheritance_mutex& operator=(const priority_inheritance_mutex&) = delete;
    ~priority_inheritance_mutex() { pthread_mutex_destroy(&mutex_); }

    /// Returns when this thread holds the lock.
    void lock() noexcept { pthread_mutex_lock(&mutex_); }
    /// True when the lock was free and is now held.
    bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }
    /// Hands the lock to the most urgent waiting thread. Requires that this thread holds it.
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

    using native_handle_type = pthread_mutex_t*;
    /// The POSIX mutex.
    native_handle_type native_handle() noexcept { return &mutex_; }

private:
    [[noreturn, gnu::cold]] void fail([[maybe_unused]] int error) {
#if defined(__cpp_exceptions)
        throw std::system_error{error, std::generic_category(), name};
#else
        abort_on_misuse(name, "the system has no mutexes with priority inheritance", this);
#endif
    }

    pthread_mutex_t mutex_;
};
#endif
#endif  // ACRE_HAS_THREADS

}  // namespace acre
