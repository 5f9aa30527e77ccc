// An R that several threads may use: every member function runs under a lock.
//
// synchronized<R> keeps R's interface: a synchronized pool has a pool's members, a synchronized arena an arena's. What
// is not a single call (walking the live objects, two calls that belong together, upstream()) runs under the lock by
// with([](R& r) { ... }); the resource itself is never handed out. Storage that was handed out is its user's, as ever.
// Use it where threads share a resource and ask it seldom. Where each thread can have one of its own, that needs no
// lock and is faster: two threads that allocate at once wait for each other here.
//
// Cost: that of R and of locking and unlocking: std::mutex about 65 instructions where no other thread is at it,
// acre::spin_lock about 8, two of them atomic, acre::no_lock none. No reader-writer lock: the lock is held for one
// call. Lock is any type with the standard's lock, try_lock and unlock; those of std and acre are constant-initialised.
// Thread rules: all members may be called from any thread, but for construction, moving to and the end. Constructors
// and destructors of objects run under the lock: those that use the same resource in turn need std::recursive_mutex as
// Lock. reset, rewind, clear and release take back what other threads hold, too. Not copied; moved, under the lock, if
// R is.
//
//     acre::synchronized<acre::pool<64>> slots;
//     acre::synchronized<acre::object_pool<Bullet>, acre::spin_lock> bullets{{.limit_bytes = 1_MiB}};
//     bullets.with([](acre::object_pool<Bullet>& all) { for (Bullet& each : all) each.step(); });
//
// The lock goes outside: synchronized<statistics<R>>, synchronized<limited<R>>, synchronized<traced<R>> count and trace
// under it. The other order does not compile.
#pragma once

#include <acre/core/detail/forwarding.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <concepts>
#include <mutex>
#include <type_traits>
#include <utility>

namespace acre {

/// An R whose calls take a lock.
template <resource R, class Lock = std::mutex>
class synchronized : public detail::forwarded_queries<synchronized<R, Lock>, R>,
                     public detail::has_options<R>,
                     public detail::has_values<R>,
                     public detail::has_slots<R> {
    friend detail::forwarded_requests<synchronized, R>;

public:
    using lock_type = Lock;
    static constexpr const char* name = "acre::synchronized";

    synchronized() = default;
    /// R is constructed from `arguments`.
    template <class First, class... Rest>
        requires std::is_constructible_v<R, First, Rest...> &&
                 (!std::derived_from<std::remove_cvref_t<First>, synchronized>)
    explicit synchronized(First&& first, Rest&&... rest)
        : guarded_(std::forward<First>(first), std::forward<Rest>(rest)...) {}
    /// R is constructed from its options: synchronized<R> s{{.name = value}}.
    explicit synchronized(const detail::options_of<R>& chosen, resource_ref upstream = heap{})
        requires std::is_constructible_v<R, const detail::options_of<R>&, resource_ref>
        : guarded_(chosen, upstream) {}

    /// Takes over what `other` holds, under its lock.
    synchronized(synchronized&& other) noexcept(std::is_nothrow_move_constructible_v<R>)
        requires std::is_move_constructible_v<R>
        : synchronized(std::lock_guard{other.lock_}, other) {}
    /// The same, under both locks.
    synchronized& operator=(synchronized&& other) noexcept(std::is_nothrow_move_assignable_v<R>)
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        const std::scoped_lock both{lock_, other.lock_};
        guarded_ = std::move(other.guarded_);
        return *this;
    }
    synchronized(const synchronized&) = delete;
    synchronized& operator=(const synchronized&) = delete;

    /// Calls `function(r)` under the lock, r being the R, and returns a copy of what it returns. The function must keep
    /// neither r nor a pointer or reference into it, and must not use this object.
    template <class Function>
        requires std::invocable<Function, R&>
    auto with(Function&& function) {
        static_assert(!std::is_same_v<std::decay_t<std::invoke_result_t<Function, R&>>, R*>,
                      "the resource must not leave the lock");
        return around(detail::query_call{}, std::forward<Function>(function));
    }
    template <class Function>
        requires std::invocable<Function, const R&>
    auto with(Function&& function) const {
        static_assert(!std::is_same_v<std::decay_t<std::invoke_result_t<Function, const R&>>, const R*>,
                      "the resource must not leave the lock");
        return around(detail::query_call{}, std::forward<Function>(function));
    }

    /// R's mark; what other threads allocate after it goes back with a rewind to it, too.
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return with([](const R& r) { return r.mark(); });
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where); }
    void rewind(const Mark& where) noexcept {
        with([&](R& r) { r.rewind(where); });
    }

private:
    // The guard is a temporary of the caller's, which lives until the other is empty.
    synchronized(const std::lock_guard<Lock>&, synchronized& other)
        requires std::is_move_constructible_v<R>
        : guarded_(std::move(other.guarded_)) {}

    // The result is copied before the lock is left.
    template <class Call, class Function>
    auto around(const Call&, Function&& function) {
        const std::lock_guard guard{lock_};
        return std::forward<Function>(function)(guarded_);
    }
    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        const std::lock_guard guard{lock_};
        return std::forward<Function>(function)(guarded_);
    }

    R guarded_;
    [[no_unique_address]] mutable Lock lock_;
};

}  // namespace acre
