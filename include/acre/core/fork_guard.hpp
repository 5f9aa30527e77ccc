// Locks that are held around a fork, so that the child never finds one locked by a thread that it does not have.
//
// Used by the concurrent resources, not directly. The newest is locked first: a resource is made after its upstream, and
// takes its own lock before its upstream's.
//
// Cost: adding and removing take a lock of the process; a fork takes all.
#pragma once

#include <mutex>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace acre {

class fork_guard;

namespace detail {
/// What is known of the whole process. Never destroyed: objects of static storage duration may outlive any that is.
struct process_wide {
    std::mutex mutex;  // taken before any other lock of acre
    fork_guard* newest = nullptr;
    bool handles_forks = false;
};
inline constinit process_wide process;
}  // namespace detail

/// Has a mutex locked around forks.
class fork_guard {
public:
    /// Guards nothing.
    constexpr fork_guard() noexcept = default;
    fork_guard(const fork_guard&) = delete;
    fork_guard& operator=(const fork_guard&) = delete;

    /// From now on `guarded` is locked around forks; the calling thread must not hold it.
    void guard(std::mutex& guarded) noexcept {
        const std::lock_guard lock{detail::process.mutex};
        if (mutex_ != nullptr) return;
        handle_forks();
        mutex_ = &guarded;
        older_ = detail::process.newest;
        detail::process.newest = this;
    }

    /// No longer.
    void unguard() noexcept {
        const std::lock_guard lock{detail::process.mutex};
        fork_guard** link = &detail::process.newest;
        while (*link != nullptr && *link != this) link = &(*link)->older_;
        if (*link == this) *link = older_;
        mutex_ = nullptr;
    }

private:
    static void handle_forks() noexcept {
        if (detail::process.handles_forks) return;
        detail::process.handles_forks = true;
#if __has_include(<pthread.h>)
        // A refusal is of consequence only in a child that goes on without exec.
        (void)pthread_atfork(&lock_all, &unlock_all, &unlock_all);
#endif
    }

    static void lock_all() noexcept {
        detail::process.mutex.lock();
        for (const fork_guard* each = detail::process.newest; each != nullptr; each = each->older_)
            each->mutex_->lock();
    }
    static void unlock_all() noexcept {
        for (const fork_guard* each = detail::process.newest; each != nullptr; each = each->older_) {
            each->mutex_->unlock();
        }
        detail::process.mutex.unlock();
    }

    std::mutex* mutex_ = nullptr;
    fork_guard* older_ = nullptr;
};

}  // namespace acre
