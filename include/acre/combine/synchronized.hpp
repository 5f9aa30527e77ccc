// An R for several threads: each member function runs under a lock.
//
// synchronized<R> keeps R's interface: a synchronized pool has a pool's members, a synchronized arena an arena's.
// Anything longer than a call (iterating over the live objects, two calls that belong together, upstream()) runs under
// the lock by with([](R& r) { ... }); the resource itself is never handed out. Use it where threads share a resource
// and call it rarely. A resource that only one thread uses needs no lock and is faster.
//
// Cost: that of R and of the lock: std::mutex about 65 instructions without contention, acre::spin_lock about 8, two of
// them atomic, acre::no_lock none; 2 to see that forks are prepared for; and 6, in a shared library 35, to know the
// lock when a misuse is reported. Memory: that of R and of the lock, and 80 bytes for forks, which acre::no_lock does
// not take. The lock is held for one call, so there is no reader-writer lock. Lock is any type with the standard's
// lock, try_lock and unlock. All of std's and acre's but priority_inheritance_mutex are constant-initialised. Thread
// rules: any thread may call any member; construct, move into and destroy it only while no other thread uses it.
// Constructors and destructors of objects run under the lock: if they use the same resource, Lock must be
// std::recursive_mutex. A fork waits until no thread holds the lock, and the child gets a new one. So a function passed
// to with(), a constructor and a destructor must not fork, which ends the program with a sentence, nor may an upstream,
// whose fork would wait forever; and the function should use no resource that is younger than this one. reset, rewind,
// deallocate_all and release take back what other threads hold, too. The lock is released before a misuse is reported:
// the handler may use the resource. Not copied; moved, under the lock, if R is.
//
//     using namespace acre::literals;
//     acre::synchronized<acre::pool<64>> slots;
//     acre::synchronized<acre::object_pool<Bullet>, acre::spin_lock> bullets{{.limit_bytes = 1_MiB}};
//     bullets.with([](acre::object_pool<Bullet>& all) { for (Bullet& each : all) each.step(); });
//
// The lock goes outside: synchronized<statistics<R>>, synchronized<limited<R>>, synchronized<traced<R>> count and trace
// under it. The other order does not compile.
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false, "acre::synchronized needs threads, which this target does not have: use the resource itself");
#else

#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lock_guard.hpp>
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

    /// Refused by a sentence: a number without its name.
    template <class Number>
        requires(std::is_arithmetic_v<Number> && !std::is_constructible_v<R, Number>)
    __attribute__((
        unavailable("acre::synchronized: name the number, as in {{.first_block_bytes = 65536}}: the page of "
                    "the resource lists its options"))) explicit synchronized(Number);

    /// Takes over what `other` holds, under its lock.
    synchronized(synchronized&& other) noexcept(std::is_nothrow_move_constructible_v<R>)
        requires std::is_move_constructible_v<R>
        : synchronized(detail::lock_guard{other.lock_}, other) {}
    /// Takes over what `other` holds, under both locks.
    synchronized& operator=(synchronized&& other) noexcept(std::is_nothrow_move_assignable_v<R>)
        requires std::is_move_assignable_v<R>
    {
        if (this == &other) return *this;
        const std::scoped_lock<Lock, Lock> both{lock_, other.lock_};
        guarded_ = std::move(other.guarded_);
        return *this;
    }
    synchronized(const synchronized&) = delete;
    synchronized& operator=(const synchronized&) = delete;

    /// Calls `function(r)` on the R under the lock and returns a copy of its result. The function must keep no pointer
    /// or reference to r, and must not use this object.
    template <class Function>
        requires std::invocable<Function, R&>
    auto with(Function&& function) {
        static_assert(!std::is_same_v<std::decay_t<std::invoke_result_t<Function, R&>>, R*>,
                      "acre: the resource must not leave the lock");
        return around(with_call{}, std::forward<Function>(function));
    }
    template <class Function>
        requires std::invocable<Function, const R&>
    auto with(Function&& function) const {
        static_assert(!std::is_same_v<std::decay_t<std::invoke_result_t<Function, const R&>>, const R*>,
                      "acre: the resource must not leave the lock");
        return around(with_call{}, std::forward<Function>(function));
    }

    /// R's mark. A rewind to it also frees what other threads have allocated since.
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
    struct with_call {};
    // Calls in which a function of the program runs under the lock.
    template <class Call>
    static constexpr bool runs_others =
        std::is_same_v<Call, with_call> || std::is_same_v<Call, detail::request_call<true, true>> ||
        std::is_same_v<Call, detail::request_call<false, true>> || std::is_same_v<Call, detail::destroy_call> ||
        std::is_same_v<Call, detail::free_all_call>;
    struct nothing {
        explicit nothing(const void*) noexcept {}
    };
    template <class Call>
    using fork_refusal =
        std::conditional_t<runs_others<Call> && !std::is_same_v<Lock, no_lock>, detail::no_fork_scope, nothing>;

    // The guard is a temporary of the caller, which lives until `other` is empty.
    synchronized(const detail::lock_guard<Lock>&, synchronized& other)
        requires std::is_move_constructible_v<R>
        : guarded_(std::move(other.guarded_)) {}

    // The result is copied before the lock is released.
    template <class Call, class Function>
    auto around(const Call&, Function&& function) {
        forks_.before_use();
        const detail::lock_guard guard{lock_};
        [[maybe_unused]] const typename detail::lock_fork_guard<Lock>::held_scope held{forks_};
        [[maybe_unused]] const fork_refusal<Call> refusal{this};
        return std::forward<Function>(function)(guarded_);
    }
    template <class Call, class Function>
    auto around(const Call&, Function&& function) const {
        forks_.before_use();
        const detail::lock_guard guard{lock_};
        [[maybe_unused]] const typename detail::lock_fork_guard<Lock>::held_scope held{forks_};
        [[maybe_unused]] const fork_refusal<Call> refusal{this};
        return std::forward<Function>(function)(guarded_);
    }

    R guarded_;
    [[no_unique_address]] mutable Lock lock_;
    [[no_unique_address]] mutable detail::lock_fork_guard<Lock> forks_{lock_};
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
