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
// statistics<synchronized<R>> and limited<synchronized<R>> are synchronized<statistics<R>> and
// synchronized<limited<R>>: what they count is under the same lock. So is traced<synchronized<R>>, whose trace keeps
// the order of the calls.
#pragma once

#include <acre/combine/limited.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/observe/traced.hpp>
#include <concepts>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre {

/// An R whose calls take a lock.
template <resource R, class Lock = std::mutex>
class synchronized : public detail::has_options<R>, public detail::has_values<R>, public detail::has_slots<R> {
public:
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
        return locked(std::forward<Function>(function));
    }
    template <class Function>
        requires std::invocable<Function, const R&>
    auto with(Function&& function) const {
        static_assert(!std::is_same_v<std::decay_t<std::invoke_result_t<Function, const R&>>, const R*>,
                      "the resource must not leave the lock");
        return locked(std::forward<Function>(function));
    }

    // From here on: R's members, each under the lock.

    // By size.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        const std::lock_guard guard{lock_};
        return guarded_.allocate(bytes, alignment);
    }
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        const std::lock_guard guard{lock_};
        return guarded_.try_allocate(bytes, alignment);
    }
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        const std::lock_guard guard{lock_};
        guarded_.deallocate(p, bytes, alignment);
    }
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept
        requires resizable_resource<R>
    {
        const std::lock_guard guard{lock_};
        return guarded_.try_resize(p, old_bytes, new_bytes);
    }

    // Slots of a pool.
    void* allocate()
        requires requires(R& r) { r.allocate(); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.allocate();
    }
    void* try_allocate() noexcept
        requires requires(R& r) { r.try_allocate(); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.try_allocate();
    }
    void deallocate(void* p) noexcept
        requires requires(R& r, void* slot) { r.deallocate(slot); }
    {
        const std::lock_guard guard{lock_};
        guarded_.deallocate(p);
    }

    // Objects of an object pool.
    template <class... Arguments>
        requires detail::of_one_type<R>
    auto create(Arguments&&... arguments) {
        const std::lock_guard guard{lock_};
        return guarded_.create(std::forward<Arguments>(arguments)...);
    }
    template <class... Arguments>
        requires detail::of_one_type<R>
    auto try_create(Arguments&&... arguments) {
        const std::lock_guard guard{lock_};
        return guarded_.try_create(std::forward<Arguments>(arguments)...);
    }
    template <class Pointer>
        requires requires(R& r, Pointer object) { r.destroy(object); }
    void destroy(Pointer object) noexcept {
        const std::lock_guard guard{lock_};
        guarded_.destroy(object);
    }

    // Objects, arrays and texts in an arena.
    template <class T>
        requires requires(R& r, std::size_t count) { r.template allocate<T>(count); }
    std::span<T> allocate(std::size_t count) {
        const std::lock_guard guard{lock_};
        return guarded_.template allocate<T>(count);
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_allocate<T>(count); }
    std::span<T> try_allocate(std::size_t count) noexcept {
        const std::lock_guard guard{lock_};
        return guarded_.template try_allocate<T>(count);
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template create<T>(std::forward<Arguments>(a)...); } &&
                 (!detail::of_one_type<R>)
    T* create(Arguments&&... arguments) {
        const std::lock_guard guard{lock_};
        return guarded_.template create<T>(std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.template try_create<T>(std::forward<Arguments>(a)...); } &&
                 (!detail::of_one_type<R>)
    T* try_create(Arguments&&... arguments) {
        const std::lock_guard guard{lock_};
        return guarded_.template try_create<T>(std::forward<Arguments>(arguments)...);
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template create_array<T>(count); }
    std::span<T> create_array(std::size_t count) {
        const std::lock_guard guard{lock_};
        return guarded_.template create_array<T>(count);
    }
    template <class T>
        requires requires(R& r, std::size_t count) { r.template try_create_array<T>(count); }
    std::span<T> try_create_array(std::size_t count) {
        const std::lock_guard guard{lock_};
        return guarded_.template try_create_array<T>(count);
    }
    std::string_view copy(std::string_view text)
        requires requires(R& r) { r.copy(text); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.copy(text);
    }
    std::string_view try_copy(std::string_view text) noexcept
        requires requires(R& r) { r.try_copy(text); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.try_copy(text);
    }
    template <class T>
        requires requires(R& r, std::span<const T> values) { r.copy(values); }
    std::span<T> copy(std::span<const T> values) {
        const std::lock_guard guard{lock_};
        return guarded_.copy(values);
    }
    template <class T>
        requires requires(R& r, std::span<const T> values) { r.try_copy(values); }
    std::span<T> try_copy(std::span<const T> values) noexcept {
        const std::lock_guard guard{lock_};
        return guarded_.try_copy(values);
    }
    [[gnu::format(printf, 2, 3)]] std::string_view format(const char* pattern, ...)
        requires requires(R& r, std::va_list list) { r.format_list(pattern, list); }
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }
    [[gnu::format(printf, 2, 0)]] std::string_view format_list(const char* pattern, std::va_list arguments)
        requires requires(R& r) { r.format_list(pattern, arguments); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.format_list(pattern, arguments);
    }
    [[gnu::format(printf, 2, 3)]] std::string_view try_format(const char* pattern, ...) noexcept
        requires requires(R& r, std::va_list list) { r.try_format_list(pattern, list); }
    {
        std::va_list arguments;
        va_start(arguments, pattern);
        const std::string_view result = try_format_list(pattern, arguments);
        va_end(arguments);
        return result;
    }
    [[gnu::format(printf, 2, 0)]] std::string_view try_format_list(const char* pattern, std::va_list arguments) noexcept
        requires requires(R& r) { r.try_format_list(pattern, arguments); }
    {
        const std::lock_guard guard{lock_};
        return guarded_.try_format_list(pattern, arguments);
    }

    // Everything at once.
    auto mark() const
        requires requires(const R& r) { r.mark(); }
    {
        return locked([](const R& r) { return r.mark(); });
    }
    template <class Mark>
        requires requires(R& r, const Mark& where) { r.rewind(where); }
    void rewind(const Mark& where) noexcept {
        locked([&](R& r) { r.rewind(where); });
    }
    template <class... Arguments>
        requires requires(R& r, Arguments&&... a) { r.reset(std::forward<Arguments>(a)...); }
    void reset(Arguments&&... arguments) {
        locked([&](R& r) { r.reset(std::forward<Arguments>(arguments)...); });
    }
    void release() noexcept
        requires requires(R& r) { r.release(); }
    {
        locked([](R& r) { r.release(); });
    }
    void clear() noexcept
        requires requires(R& r) { r.clear(); }
    {
        locked([](R& r) { r.clear(); });
    }
    std::size_t release_unused() noexcept
        requires requires(R& r) { r.release_unused(); }
    {
        return locked([](R& r) { return r.release_unused(); });
    }

    // What it knows of itself.
    bool owns(const void* p) const noexcept
        requires owning_resource<R>
    {
        return locked([p](const R& r) { return r.owns(p); });
    }
    std::size_t wasted() const noexcept
        requires requires(const R& r) { r.wasted(); }
    {
        return locked([](const R& r) { return r.wasted(); });
    }
    std::size_t capacity() const noexcept
        requires requires(const R& r) { r.capacity(); }
    {
        return locked([](const R& r) { return r.capacity(); });
    }
    std::size_t used() const noexcept
        requires requires(const R& r) { r.used(); }
    {
        return locked([](const R& r) { return r.used(); });
    }
    std::size_t live() const noexcept
        requires requires(const R& r) { r.live(); }
    {
        return locked([](const R& r) { return r.live(); });
    }
    std::size_t slots() const noexcept
        requires requires(const R& r) { r.slots(); }
    {
        return locked([](const R& r) { return r.slots(); });
    }
    template <std::integral... Numbers>
        requires requires(Numbers... n) { R::required_bytes(static_cast<std::size_t>(n)...); }
    static constexpr std::size_t required_bytes(Numbers... n) noexcept {
        return R::required_bytes(static_cast<std::size_t>(n)...);
    }

    // Of a multi-arena.
    std::size_t arenas() const noexcept
        requires requires(const R& r) { r.arenas(); }
    {
        return locked([](const R& r) { return r.arenas(); });
    }
    std::size_t arena_bytes() const noexcept
        requires requires(const R& r) { r.arena_bytes(); }
    {
        return locked([](const R& r) { return r.arena_bytes(); });
    }
    std::size_t busy_arenas() const noexcept
        requires requires(const R& r) { r.busy_arenas(); }
    {
        return locked([](const R& r) { return r.busy_arenas(); });
    }
    std::size_t allocations() const noexcept
        requires requires(const R& r) { r.allocations(); }
    {
        return locked([](const R& r) { return r.allocations(); });
    }

    // Of limited.
    std::size_t limit_bytes() const noexcept
        requires requires(const R& r) { r.limit_bytes(); }
    {
        return locked([](const R& r) { return r.limit_bytes(); });
    }
    std::size_t live_bytes() const noexcept
        requires requires(const R& r) { r.live_bytes(); }
    {
        return locked([](const R& r) { return r.live_bytes(); });
    }
    std::size_t peak_bytes() const noexcept
        requires requires(const R& r) { r.peak_bytes(); }
    {
        return locked([](const R& r) { return r.peak_bytes(); });
    }
    std::size_t live_count() const noexcept
        requires requires(const R& r) { r.live_count(); }
    {
        return locked([](const R& r) { return r.live_count(); });
    }

    // Of statistics; by value, as they were at one moment.
    auto counts() const
        requires requires(const R& r) { r.counts(); }
    {
        return locked([](const R& r) { return r.counts(); });
    }
    auto report() const
        requires requires(const R& r) { r.report(); }
    {
        return locked([](const R& r) { return r.report(); });
    }
    void reset_counts() noexcept
        requires requires(R& r) { r.reset_counts(); }
    {
        locked([](R& r) { r.reset_counts(); });
    }
    auto live_allocations() const
        requires requires(const R& r) { r.live_allocations(); }
    {
        return locked([](const R& r) { return r.live_allocations(); });
    }
    auto live_bytes_at(const void* p) const noexcept
        requires requires(const R& r) { r.live_bytes_at(p); }
    {
        return locked([p](const R& r) { return r.live_bytes_at(p); });
    }
    std::size_t report_leaks(std::FILE* to) const noexcept
        requires requires(const R& r) { r.report_leaks(to); }
    {
        return locked([to](const R& r) { return r.report_leaks(to); });
    }
    auto histogram() const
        requires requires(const R& r) { r.histogram(); }
    {
        return locked([](const R& r) { return r.histogram(); });
    }
    std::size_t percentile(double p) const noexcept
        requires requires(const R& r) { r.percentile(p); }
    {
        return locked([p](const R& r) { return r.percentile(p); });
    }
    double mean() const noexcept
        requires requires(const R& r) { r.mean(); }
    {
        return locked([](const R& r) { return r.mean(); });
    }
    double standard_deviation() const noexcept
        requires requires(const R& r) { r.standard_deviation(); }
    {
        return locked([](const R& r) { return r.standard_deviation(); });
    }
    auto unrecorded() const noexcept
        requires requires(const R& r) { r.unrecorded(); }
    {
        return locked([](const R& r) { return r.unrecorded(); });
    }
    bool push_scope()
        requires requires(R& r) { r.push_scope(); }
    {
        return locked([](R& r) { return r.push_scope(); });
    }
    auto pop_scope() noexcept
        requires requires(R& r) { r.pop_scope(); }
    {
        return locked([](R& r) { return r.pop_scope(); });
    }
    std::size_t peak_busy_arenas() const noexcept
        requires requires(const R& r) { r.peak_busy_arenas(); }
    {
        return locked([](const R& r) { return r.peak_busy_arenas(); });
    }

private:
    // The guard is a temporary of the caller's, which lives until the other is empty.
    synchronized(const std::lock_guard<Lock>&, synchronized& other)
        requires std::is_move_constructible_v<R>
        : guarded_(std::move(other.guarded_)) {}

    // What `function` refers to is copied before the lock is left.
    template <class Function>
    auto locked(Function&& function) {
        const std::lock_guard guard{lock_};
        return std::forward<Function>(function)(guarded_);
    }
    template <class Function>
    auto locked(Function&& function) const {
        const std::lock_guard guard{lock_};
        return std::forward<Function>(function)(guarded_);
    }

    R guarded_;
    [[no_unique_address]] mutable Lock lock_;
};

/// Counted under the lock of the resource that is counted.
template <class R, class Lock, statistics_options Options>
class statistics<synchronized<R, Lock>, Options> : public synchronized<statistics<R, Options>, Lock> {
    using base = synchronized<statistics<R, Options>, Lock>;

public:
    using base::base;
    statistics() = default;
};

/// Traced under the lock of the resource that is traced.
template <class R, class Lock>
class traced<synchronized<R, Lock>> : public synchronized<traced<R>, Lock> {
    using base = synchronized<traced<R>, Lock>;

public:
    using base::base;
    traced() = default;
};

/// Limited under the lock of the resource that is limited.
template <class R, class Lock>
class limited<synchronized<R, Lock>> : public synchronized<limited<R>, Lock> {
    using base = synchronized<limited<R>, Lock>;

public:
    using base::base;
};

}  // namespace acre
