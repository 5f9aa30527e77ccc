// Locks.
#pragma once

#include <acre/core/error.hpp>
#include <atomic>
#if __has_include(<pthread.h>)
#include <pthread.h>
#include <system_error>
#endif

namespace acre {

/// Meets the standard's requirements of a lock without locking.
class no_lock {
public:
    constexpr no_lock() noexcept = default;
    no_lock(const no_lock&) = delete;
    no_lock& operator=(const no_lock&) = delete;

    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

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

#if __has_include(<pthread.h>)
/// A POSIX mutex with the protocol PTHREAD_PRIO_INHERIT.
class priority_inheritance_mutex {
public:
    static constexpr const char* name = "acre::priority_inheritance_mutex";

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
    /// Lets the most urgent of those who wait in; only the thread that holds the lock may.
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

    using native_handle_type = pthread_mutex_t*;
    /// The POSIX mutex.
    native_handle_type native_handle() noexcept { return &mutex_; }

private:
    [[gnu::cold]] void fail([[maybe_unused]] int error) {
#if defined(__cpp_exceptions)
        throw std::system_error{error, std::generic_category(), name};
#else
        abort_on_misuse(name, "the system has no mutexes with priority inheritance", this);
#endif
    }

    pthread_mutex_t mutex_;
};
#endif

}  // namespace acre
