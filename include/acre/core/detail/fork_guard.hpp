// Holds locks around a fork, so that the child never finds a lock held by a thread that it does not have, nor the data
// behind it half changed.
//
// Used by the concurrent resources and synchronized, not directly. A fork takes the locks in the order in which the
// resources nest them. The newest object comes first: a resource is made after its upstream, and holds its lock during
// upstream calls. Static resources come last, as any resource may have them as upstream. So an upstream must not make
// or end a concurrent resource while it serves a request.
//
// Cost: registering and unregistering are constant time and take a lock of the process; a fork takes all locks. The
// child's data are whole, unless another thread made the program's first concurrent resource at the very moment of the
// fork.
#pragma once

#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif
#if __has_include(<pthread.h>)
#include <pthread.h>
#define ACRE_HAS_PTHREAD 1
#endif

#if defined(__clang__)
// What each library has of its own is not shared on purpose.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wunique-object-duplication"
#endif

namespace acre::detail {

class fork_guard;

/// Its address tells libraries apart.
ACRE_OF_THIS_LIBRARY inline constinit char this_library = 0;

// For what runs when the library is unloaded, before the destructors of its static objects, or after all of them when
// the process exits; once for each source. Programs are never unloaded.
#if defined(__ELF__) && defined(__PIC__) && !defined(__PIE__)
#define ACRE_HAS_LIBRARY_END 1
#define ACRE_AT_LIBRARY_END [[gnu::destructor, gnu::visibility("hidden")]]
#else
#define ACRE_HAS_LIBRARY_END 0
#endif

/// The state of the process; a shared library with hidden visibility has its own. Never destroyed: static objects may
/// use it until the process ends.
struct process_wide {
    spin_lock lock;  // taken before the locks of all resources
    fork_guard* newest = nullptr;
    spin_lock statics_lock;  // taken after the locks of objects, before those of static resources
    fork_guard* statics = nullptr;
};
inline constinit process_wide process;

/// Whether this library installed handlers, which go when it is unloaded. Acquire and release: they are installed
/// before any lock is taken.
ACRE_OF_THIS_LIBRARY inline constinit std::atomic<bool> handles_forks{false};

/// This thread holds all locks, for a fork.
inline thread_local constinit bool forking = false;

/// A scope in which this thread holds locks and runs a function of the program, which must not fork: the fork would
/// wait for these locks. It ends the program with a sentence instead.
class no_fork_scope {
public:
    explicit no_fork_scope(const void* resource) noexcept : outer_(std::exchange(innermost, resource)) {}
    no_fork_scope(const no_fork_scope&) = delete;
    no_fork_scope& operator=(const no_fork_scope&) = delete;
    ~no_fork_scope() { innermost = outer_; }

    /// The resource of the innermost scope of this thread; null when there is none.
    static const void* resource() noexcept { return innermost; }

private:
    static inline thread_local constinit const void* innermost = nullptr;
    const void* outer_;
};

/// True where the C library knows that no other thread exists.
inline bool is_single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

/// Installs the fork handlers. To be called before either lock of the process is taken.
ACRE_OF_THIS_LIBRARY inline void handle_forks() noexcept;

/// Holds the lock of the process.
class process_lock {
public:
    explicit process_lock(process_wide& locked = process) noexcept : locked_(locked) {
        handle_forks();
        locked_.lock.lock();
    }
    process_lock(const process_lock&) = delete;
    process_lock& operator=(const process_lock&) = delete;
    ~process_lock() { locked_.lock.unlock(); }

private:
    process_wide& locked_;
};

/// Holds a resource's lock around forks.
class fork_guard : lock_functions {
public:
    using child_function = void (*)(void* owner) noexcept;
    using lock_function = lock_functions::function;

    /// Guards nothing.
    constexpr fork_guard() noexcept = default;
    fork_guard(const fork_guard&) = delete;
    fork_guard& operator=(const fork_guard&) = delete;

    /// From now on holds `guarded` around forks, and calls `in_child(owner)` in the child while all locks are held. The
    /// calling thread must not hold `guarded`.
    void guard(spin_lock& guarded, void* owner, child_function in_child) noexcept {
        const process_lock lock;
        set(&guarded, &lock_one, &unlock_one);
        link(process.newest, owner, in_child);
    }

    /// As above, for an object with several locks: `lock_all` takes them all, `unlock_all` releases them.
    void guard(void* owner, lock_function lock_all, lock_function unlock_all, child_function in_child) noexcept {
        const process_lock lock;
        set(owner, lock_all, unlock_all);
        link(process.newest, owner, in_child);
    }

    /// As guard(), for a static resource, until the process ends; further calls are no-ops. The calling thread may hold
    /// other resources' locks.
    void guard_static(spin_lock& guarded, void* owner, child_function in_child) noexcept {
        guard_static(&guarded, &lock_one, &unlock_one, owner, in_child);
    }

    /// As above, for locks of any type.
    void guard_static(void* locks, lock_function lock_all, lock_function unlock_all, void* owner,
                      child_function in_child) noexcept {
        handle_forks();
        const lock_guard lock{process.statics_lock};
        if (locks_ != nullptr) return;
        set(locks, lock_all, unlock_all);
        link(process.statics, owner, in_child);
    }

    /// Ends guard_static() of all that a library has, which is about to be unloaded.
    static void unguard_statics(const void* library) noexcept {
        // Without process_lock: the library needs no fork handlers any more.
        const lock_guard lock{process.lock};
        const lock_guard also{process.statics_lock};
        for (fork_guard** link = &process.statics; *link != nullptr;) {
            fork_guard& each = **link;
            if (each.library_ == library) {
                each.unlink();
            } else {
                link = &each.older_;
            }
        }
    }

    /// What it guards.
    const lock_functions& functions() const noexcept { return *this; }

    /// Ends guard() or guard_static(). The calling thread must hold no lock of a resource.
    void unguard() noexcept {
        const process_lock lock{*home_};
        const lock_guard also{home_->statics_lock};
        if (locks_ != nullptr) unlink();
    }

private:
    friend void handle_forks() noexcept;

    static void lock_one(void* lock) noexcept { static_cast<spin_lock*>(lock)->lock(); }
    static void unlock_one(void* lock) noexcept { static_cast<spin_lock*>(lock)->unlock(); }

    void set(void* locks, lock_function lock_all, lock_function unlock_all) noexcept {
        locks_ = locks;
        lock_all_ = lock_all;
        unlock_all_ = unlock_all;
    }

    void unlink() noexcept {
        *link_ = older_;
        if (older_ != nullptr) older_->link_ = link_;
        locks_ = nullptr;
    }
    void link(fork_guard*& list, void* owner, child_function in_child) noexcept {
        owner_ = owner;
        in_child_ = in_child;
        older_ = list;
        link_ = &list;
        if (older_ != nullptr) older_->link_ = &older_;
        list = this;
    }

    // Handlers may be installed twice, when two threads install them at once. In a process of one thread a lock that is
    // held is held by the code that a signal handler interrupted: waiting for it would never end, and the child goes on
    // in that code. A thread that reports a misuse may hold a lock of a resource that has no other.
    static void before_fork() noexcept {
        if (forking || reporting_misuse) return;
        if (const void* held = no_fork_scope::resource()) [[unlikely]] {
            abort_on_misuse("acre::synchronized", "forked in a function that runs under the lock", held);
        }
        if (is_single_threaded()) return;
        forking = true;
        process.lock.lock();
        for (const fork_guard* each = process.newest; each != nullptr; each = each->older_) {
            each->lock_all_(each->locks_);
        }
        process.statics_lock.lock();
        for (const fork_guard* each = process.statics; each != nullptr; each = each->older_) {
            each->lock_all_(each->locks_);
        }
    }
    static void after_fork() noexcept {
        if (!forking) return;
        forking = false;
        unlock(process.statics);
        process.statics_lock.unlock();
        unlock(process.newest);
        process.lock.unlock();
    }
    static void after_fork_in_child() noexcept {
        if (!forking) return;
        tell_child(process.statics);
        tell_child(process.newest);
        after_fork();
    }

    static void unlock(const fork_guard* list) noexcept {
        for (; list != nullptr; list = list->older_) list->unlock_all_(list->locks_);
    }
    static void tell_child(const fork_guard* list) noexcept {
        for (; list != nullptr; list = list->older_) list->in_child_(list->owner_);
    }

    void* owner_ = nullptr;
    child_function in_child_ = nullptr;
    fork_guard* older_ = nullptr;
    fork_guard** link_ = nullptr;          // the pointer to this object in its list
    process_wide* home_ = &process;        // has the list: the object may be destroyed by code of another library
    const void* library_ = &this_library;  // has the object, if that is static
};

#if ACRE_HAS_LIBRARY_END
/// The library is unloaded, or the process exits.
ACRE_AT_LIBRARY_END inline void unguard_statics_of_library() noexcept {
    fork_guard::unguard_statics(&this_library);
}
#endif

/// Guards one lock of any type: from construction on, or from the first use on if it was constant-initialised. The
/// child gets a new lock, since many locks can be released only by the thread that took them.
template <class Lock>
class lock_fork_guard {
public:
    constexpr explicit lock_fork_guard(Lock& guarded) noexcept : lock_(guarded) {
        if (std::is_constant_evaluated()) return;
        guard_.guard(&guarded, &lock, &unlock, &renew);
        guards_.store(true, std::memory_order_relaxed);
    }
    lock_fork_guard(const lock_fork_guard&) = delete;
    lock_fork_guard& operator=(const lock_fork_guard&) = delete;
    ~lock_fork_guard() {
        if (guards_.load(std::memory_order_relaxed)) guard_.unguard();
    }

    /// Says that the calling thread holds the lock, which it took after before_use().
    class held_scope {
    public:
        explicit held_scope(const lock_fork_guard& guard) noexcept
            : held_{locks_of_this_thread, &guard.guard_.functions()} {
            locks_of_this_thread = &held_;
        }
        held_scope(const held_scope&) = delete;
        held_scope& operator=(const held_scope&) = delete;
        ~held_scope() { locks_of_this_thread = held_.outer; }

    private:
        const held_locks held_;
    };

    /// To be called before the lock is taken.
    void before_use() noexcept {
        if (!guards_.load(std::memory_order_acquire)) [[unlikely]]
            guard_late();
    }

private:
    static void lock(void* guarded) noexcept { static_cast<Lock*>(guarded)->lock(); }
    static void unlock(void* guarded) noexcept { static_cast<Lock*>(guarded)->unlock(); }
    static void renew(void* guarded) noexcept { (::new (guarded) Lock)->lock(); }

    [[gnu::noinline]] void guard_late() noexcept {
        guard_.guard_static(&lock_, &lock, &unlock, &lock_, &renew);
        guards_.store(true, std::memory_order_release);
    }

    Lock& lock_;
    fork_guard guard_;
    // Release and acquire: whoever sees it set may take the lock.
    std::atomic<bool> guards_{false};
};

/// A spin_lock of static storage duration that is held around forks from its first use on. It is never destroyed.
class static_lock {
public:
    constexpr static_lock() noexcept = default;

    /// The calling thread may hold other resources' locks.
    void lock() noexcept {
        if (!guarded_.load(std::memory_order_acquire)) [[unlikely]]
            guard();
        lock_.lock();
    }
    void unlock() noexcept { lock_.unlock(); }

private:
    static void nothing_to_tell(void*) noexcept {}

    [[gnu::noinline]] void guard() noexcept {
        guard_.guard_static(lock_, this, &nothing_to_tell);
        guarded_.store(true, std::memory_order_release);
    }

    spin_lock lock_;
    fork_guard guard_;
    // Release and acquire: whoever sees it set may take the lock.
    std::atomic<bool> guarded_{false};
};

/// A program that needs no lock is not held up by a fork.
template <>
class lock_fork_guard<no_lock> {
public:
    constexpr explicit lock_fork_guard(no_lock&) noexcept {}
    void before_use() noexcept {}
    struct held_scope {
        explicit held_scope(const lock_fork_guard&) noexcept {}
    };
};

inline void handle_forks() noexcept {
    if (handles_forks.load(std::memory_order_acquire)) return;
#if defined(ACRE_HAS_PTHREAD)
    // No lock is held here that a fork could leave locked. A failure matters only in a child that does not exec.
    (void)pthread_atfork(&fork_guard::before_fork, &fork_guard::after_fork, &fork_guard::after_fork_in_child);
#endif
    handles_forks.store(true, std::memory_order_release);
}

}  // namespace acre::detail

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
