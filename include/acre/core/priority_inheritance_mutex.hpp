// A mutex whose holder runs at the priority of the most urgent thread that waits for it, for acre::synchronized under
// real-time scheduling: a thread of middle priority cannot keep an urgent one waiting by keeping the holder from
// running.
//
// Use it where threads of different real-time priorities (SCHED_FIFO, SCHED_RR) share a resource. Use std::mutex or
// acre::spin_lock where they do not: those know of no priorities. A resource of each thread's own needs no lock at all.
//
// Cost: as std::mutex when nobody waits, one atomic exchange each way; 40 bytes. It is not recursive. Not
// constant-initialised: a static one is ready once its initialiser has run. Its constructor throws std::system_error
// where the system has no such mutexes (without exceptions it aborts with a sentence).
//
//     acre::synchronized<acre::pool<64>, acre::priority_inheritance_mutex> slots;
//
// Idea: Sha, Rajkumar and Lehoczky, "Priority Inheritance Protocols" (1990); POSIX's PTHREAD_PRIO_INHERIT.
#pragma once

#if __has_include(<pthread.h>)
#include <pthread.h>
#include <acre/core/error.hpp>
#include <system_error>

namespace acre {

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

}  // namespace acre
#endif
