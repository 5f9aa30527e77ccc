// Raw slots of one size for all threads: any thread allocates and any thread frees, at about the cost of a pool that
// one thread has for itself.
//
// Use it where threads hand memory to each other, or share one pool. Use acre::concurrent_object_pool<T> for objects,
// acre::pool<Slot> where one thread allocates and frees, acre::static_pool for one pool of the whole program,
// acre::wait_free_pool where a thread must never wait.
//
// Each thread keeps two magazines of free slots. It allocates from one and frees into it, whoever allocated the slot.
// The threads exchange full and empty magazines through a depot under a lock, once in as many operations as a magazine
// has slots; pools/detail/magazine_depot.hpp tells what happens to a slot that another thread frees. A thread that ends
// returns its magazines. The pool may end before its threads do. Upstream is called with the lock held, so it may be
// any resource that nobody else uses at the same time.
//
// Cost: allocate and deallocate have 17 and 37 instructions, none of them atomic; one lock in 1 to 509 operations. With
// double_free_check::none they have 16 and 14, and a free looks at nothing.
// Memory: as acre::pool, up to 4 KiB for each magazine, and the free slots in each thread's two magazines: at most
// thread_bytes (64 KiB), but always two slots. A request may be refused at the limit while other threads keep free
// slots. A double free, a pointer into the middle of a slot and a pointer of another resource abort with a message at
// once, in every build (docs/misuse.md). After a fork the child goes on with
// what the forking thread kept; slots that other threads kept stay taken.
//
//     acre::concurrent_pool<64> messages;
//     void* p = messages.allocate();      // in one thread
//     messages.deallocate(p);             // in another
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#if !ACRE_HAS_THREADS
static_assert(false, "acre::concurrent_pool needs threads, which this target does not have: use acre::pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <cstddef>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`, for all threads. `Check` says what is looked at in a free.
template <std::size_t Slot, std::size_t Align, double_free_check Check>
class concurrent_pool : public detail::slot_face<concurrent_pool<Slot, Align, Check>, Slot, Align> {
    using face = detail::slot_face<concurrent_pool, Slot, Align>;
    friend face;

public:
    static constexpr const char* name = "acre::concurrent_pool";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;
    using options_type = concurrent_pool_options;
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, Align);
    /// Alignment of every slot in bytes; stricter requests get a block of their own.
    static constexpr std::size_t max_alignment = geometry.slot_alignment();

    /// Takes no memory from upstream.
    concurrent_pool() : concurrent_pool(resource_ref{heap{}}) {}
    explicit concurrent_pool(resource_ref upstream) : concurrent_pool(concurrent_pool_options{}, upstream) {}
    explicit concurrent_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : concurrent_pool(options, upstream, name) {}

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<concurrent_pool> Other>
    ACRE_IS_NOT_COPIED explicit concurrent_pool(Other&);
    concurrent_pool(const concurrent_pool&) = delete;
    concurrent_pool& operator=(const concurrent_pool&) = delete;

    /// Gives everything back to upstream, live slots included. No thread may use the pool any more; threads that did
    /// may end meanwhile, or go on.
    ~concurrent_pool() {
        report_live();
        caches_.end();
        forks_.unguard();
        depot_.release(config_);
    }

    /// Returns a slot of Slot bytes aligned to Align, contents undefined. Throws out_of_memory or limit_exceeded.
    [[gnu::always_inline]] void* allocate() {
        void* p;
        if (take(p)) [[likely]]
            return p;
        return allocate_slow();
    }

    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] void* try_allocate() noexcept {
        void* p;
        if (take(p)) [[likely]]
            return p;
        return try_allocate_slow();
    }

    /// Frees a slot that any thread allocated; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p) noexcept { give_back(name, p); }

    using face::allocate;
    using face::deallocate;
    using face::try_allocate;

    /// Gives slabs without a live slot back to upstream, while other threads go on, and returns their bytes. Free slots
    /// that other threads keep count as live; this thread's do not. Linear in the slabs held.
    std::size_t release_unused() noexcept { return depot_.release_unused(config_, this_cache()); }

    /// Gives everything back to upstream; every slot handed out becomes invalid. No other thread may use the pool
    /// meanwhile. Linear in the slabs held and, as reset(), in the free slots that threads keep, whose marks it checks.
    void release() noexcept {
        caches_.renew();
        depot_.release(config_);
    }
    /// Frees every slot and keeps the slabs; blocks of larger requests go back to upstream. No other thread may use the
    /// pool meanwhile.
    void reset() noexcept { depot_.reset(config_); }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return depot_.held_bytes(); }
    /// Number of live allocations, larger requests included: exact while no other thread uses the pool, approximate
    /// otherwise. Linear in the slabs held.
    std::size_t live() const noexcept { return depot_.live(config_) + depot_.large_count(); }
    /// Bytes of the live slots and of the blocks of larger requests. As exact as live().
    std::size_t used() const noexcept { return depot_.used_bytes(config_); }
    /// True when `p` lies in storage of this pool. Linear in the slabs held.
    bool owns(const void* p) const noexcept { return depot_.owns(config_, p); }
    /// What in the pool's own data does not agree, or null (acre::check_invariants). Linear in the slots held.
    const char* broken_invariant() const noexcept { return depot_.broken_invariant(config_); }
    /// The resource that slabs come from.
    resource_ref upstream() const noexcept { return config_.upstream; }

protected:
    // For derived pools: errors, misuse and live allocations at the end are reported under `derived`.
    concurrent_pool(const concurrent_pool_options& options, resource_ref upstream, const char* derived)
        : config_{geometry,
                  derived,
                  upstream,
                  options.limit_bytes,
                  options.region_slots,
                  detail::magazine::capacity(geometry.slot_bytes, options.thread_bytes),
                  upstream,
                  checks_frees},
          report_(options.report_live) {
        require_at_least(geometry.first_slab_bytes, derived, "limit_bytes", options.limit_bytes);
        forks_.guard(depot_.lock(), this, &abandon_other_caches);
    }
    void report_live() noexcept {
        report_.write(config_.name, [this] { return live(); });
    }

    /// Calls `visit` with each live slot in address order. `visit` may free this slot and others. No other thread may
    /// use the pool. Visits nothing in a child whose parent's other threads had caches: their live slots are not known.
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        if (depot_.has_abandoned()) return;
        // Meanwhile slots come from the slabs and return to them at once, so the slabs know which are live.
        uses_caches_ = false;
        depot_.collect(config_);
        depot_.slabs().for_each_live(geometry, visit);
        uses_caches_ = true;
    }
    /// True while for_each_live runs.
    bool visiting() const noexcept { return !uses_caches_; }
    /// True when the slot at `p` is free.
    bool is_free(void* p) const noexcept {
        if (!depot_.slabs().owns_slot(geometry, p)) return false;
        return depot_.slabs().is_free(geometry, p) || is_cached(p);
    }
    static constexpr bool checks_frees = detail::checks_frees<Check>;
    static constexpr bool marks_destroying = checks_frees;
    /// Around the destructor of the object in `p`. Aborts with a message unless it is a live slot.
    [[gnu::always_inline]] void begin_destroying(const char* derived, void* p) noexcept {
        if (!depot_.slabs().mark_ending(geometry, p)) [[unlikely]]
            abort_on(derived, p);
        if (is_marked(p)) [[unlikely]] {
            detail::bitmap_slabs::mark_live(geometry, p);
            abort_on(derived, p);
        }
    }
    [[gnu::always_inline]] void end_destroying(const char*, void* p) noexcept {
        // Without the checks of give_back: the slot was live, and is no longer ending.
        detail::bitmap_slabs::mark_live(geometry, p);
        depot_.slabs().mark_cached(geometry, p);
        poison(p, geometry.slot_bytes);
        keep(p);
    }
    /// True between these two calls.
    bool is_destroying(const void* p) const noexcept { return detail::bitmap_slabs::is_ending(geometry, p); }
    // The name of the derived pool as a constant, which costs deallocate no load.
    [[gnu::always_inline]] void give_back(const char* derived, void* p) noexcept {
        if (p == nullptr) return;
        if constexpr (checks_frees) {
            depot_.slabs().cache(geometry, p, detail::bitmap_slabs::place_of(geometry, p), mark_at,
                                 [this, derived, p]() __attribute__((always_inline)) { abort_on(derived, p); });
        }
        keep(p);
    }

private:
    [[gnu::always_inline]] detail::thread_cache* this_cache() const noexcept {
        return static_cast<detail::thread_cache*>(caches_.find());
    }

    static constexpr std::size_t mark_at = detail::free_mark::offset(geometry.slot_bytes);

    bool is_marked(void* p) const noexcept { return depot_.slabs().is_marked(p, mark_at); }

    // False also for a slot in a magazine that has no mark any more, or never had one, if this thread freed others
    // since.
    bool is_cached(void* p) const noexcept {
        if (checks_frees && is_marked(p)) return true;
        const detail::thread_cache* cache = this_cache();
        return cache != nullptr && cache->got_last(p);
    }

    // Puts a cached slot into this thread's magazine.
    [[gnu::always_inline]] void keep(void* p) noexcept {
        detail::thread_cache* cache = this_cache();
        if (cache == nullptr || !cache->put(p)) [[unlikely]]
            deallocate_slow(p);
    }

    [[gnu::always_inline]] bool take(void*& p) noexcept {
        detail::thread_cache* cache = this_cache();
        if (cache == nullptr || !cache->take(p)) [[unlikely]]
            return false;
        mark_live(p);
        return true;
    }

    [[gnu::always_inline]] static void mark_live(void* p) noexcept {
        if constexpr (checks_frees) detail::bitmap_slabs::uncache(p, mark_at);
        unpoison(p, Slot);
    }

    [[noreturn, gnu::noinline, gnu::cold]] void abort_on(const char* derived, const void* p) const noexcept {
        const bool large = depot_.owns(config_, p) && !depot_.owns_slot(config_, p);
        const char* what = large ? detail::mistake::wrong_size : depot_.slabs().mistake_with(geometry, p);
        // Null when two threads freed the slot at once and it was allocated again meanwhile.
        abort_on_misuse(derived, what == nullptr ? detail::mistake::double_free : what, p);
    }

    // Out of line: once per magazine.
    [[gnu::noinline]] void* allocate_slow() {
        if (void* p = try_allocate_slow()) return p;
        return detail::refuse(config_.name, Slot, Align, capacity(), config_.limit_bytes,
                              depot_.next_slab_bytes(config_));
    }
    [[gnu::noinline]] void* try_allocate_slow() noexcept {
        detail::thread_cache* cache = find_or_make_cache();
        void* p = cache == nullptr ? depot_.take_uncached(config_) : depot_.take(config_, *cache);
        if (p != nullptr) mark_live(p);
        return p;
    }
    [[gnu::noinline]] void deallocate_slow(void* p) noexcept {
        if (detail::thread_cache* cache = find_or_make_cache()) {
            depot_.put(config_, *cache, p);
        } else {
            depot_.put_uncached(config_, p);
        }
    }

    // Null when this thread is ending or there is no memory for a cache.
    detail::thread_cache* find_or_make_cache() noexcept {
        if (!uses_caches_) return nullptr;
        if (void* found = caches_.find_and_remember()) return static_cast<detail::thread_cache*>(found);
        if (!caches_.can_keep()) return nullptr;
        detail::thread_cache* cache = depot_.make_cache(config_);
        if (cache != nullptr) caches_.keep(cache);
        return cache;
    }

    static void thread_ended(void* pool, void* cache) noexcept {
        auto& self = *static_cast<concurrent_pool*>(pool);
        self.depot_.retire_cache(self.config_, *static_cast<detail::thread_cache*>(cache));
    }
    static void abandon_other_caches(void* pool) noexcept {
        auto& self = *static_cast<concurrent_pool*>(pool);
        self.depot_.abandon_other_caches(self.this_cache(), true);
    }

    // Out of line: requests that no slot fits are not the pool's purpose.
    [[gnu::noinline]] void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        return detail::refuse(config_.name, bytes, alignment, capacity(), config_.limit_bytes);
    }
    [[gnu::noinline]] void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) ? depot_.take_large(config_, bytes, alignment) : nullptr;
    }
    [[gnu::noinline]] void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const char* what = depot_.put_large(config_, p, bytes, alignment);
        if (what == nullptr) return;
        abort_on_misuse(config_.name, depot_.owns_slot(config_, p) ? detail::mistake::wrong_size : what, p);
    }

    // Every call reads these: they share no cache line with the depot, which other threads write.
    detail::depot_config config_;
    detail::per_thread caches_{this, &thread_ended};
    bool uses_caches_ = true;
    detail::live_report report_;
    detail::fork_guard forks_;
    detail::magazine_depot depot_;
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
