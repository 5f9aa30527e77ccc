// Raw slots of one size for all threads: a pool that any thread allocates from and any thread frees to, at about the
// cost of a pool of its own.
//
// Use it where threads hand memory to each other, or share one pool. Use acre::concurrent_object_pool<T> for objects,
// acre::pool<Slot> where one thread allocates and frees, acre::static_pool for one pool of the whole program,
// acre::wait_free_pool where a thread must never wait.
//
// Each thread keeps two magazines of free slots; allocating takes from one, freeing puts into it, whoever allocated.
// Full and empty ones are exchanged with a depot under a lock, once in as many operations as a magazine has slots. A
// thread that ends gives its magazines back. The pool may end before its threads do. Upstream is called with the lock
// held, so it may be any resource that nobody else uses at the same time.
//
// Cost: allocate and deallocate about 20 instructions each, none of them atomic; one lock in 4 to 509 operations.
// Memory: what acre::pool holds, up to 4 KiB for each magazine, and the free slots of each thread's two magazines: at
// most 64 KiB of them (option thread_bytes), or two. A request may be refused at the limit while other threads keep
// free slots. A slot freed twice in a row aborts with a sentence at once; other double frees and pointers of other
// pools do when their magazine goes to the slabs, and under AddressSanitizer at once. After a fork the child goes on
// with what the thread kept that forked; what other threads kept stays taken.
//
//     acre::concurrent_pool<64> messages;
//     void* p = messages.allocate();      // in one thread
//     messages.deallocate(p);             // in another
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_pool_options.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/live_report.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/detail/thread_cache.hpp>
#include <algorithm>
#include <cstddef>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`, for all threads.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class concurrent_pool {
public:
    static_assert(Slot > 0 && Slot <= max_request / 1024, "the slots of a pool have at least one byte");
    static_assert(is_alignment(Align), "the alignment of a pool is a power of two");

    static constexpr const char* name = "acre::concurrent_pool";
    using options_type = concurrent_pool_options;
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, Align);

    /// Takes no memory from upstream.
    concurrent_pool() : concurrent_pool(resource_ref{heap{}}) {}
    explicit concurrent_pool(resource_ref upstream) : concurrent_pool(concurrent_pool_options{}, upstream) {}
    explicit concurrent_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : concurrent_pool(options, upstream, name) {}

    concurrent_pool(const concurrent_pool&) = delete;
    concurrent_pool& operator=(const concurrent_pool&) = delete;

    /// Gives everything back to upstream, slots that were not freed included. No thread may use it any more; threads
    /// that did may end meanwhile, or go on.
    ~concurrent_pool() {
        report_live(name);
        caches_.end();
        forks_.unguard();
        depot_.release(source_);
    }

    /// A slot of Slot bytes aligned to Align, contents undefined. Throws out_of_memory or limit_exceeded.
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

    /// Takes a slot back that any thread allocated; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p) noexcept { give_back(name, p); }

    /// True when a request of this size and alignment is served from a slot; others go to upstream.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slot && alignment <= slot_alignment && is_alignment(alignment);
    }

    // The face of a resource.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return allocate();
        return allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return try_allocate();
        return try_allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return deallocate(p);
        deallocate_large(p, bytes, alignment);
    }

    /// Gives slabs without a live slot back to upstream, while other threads go on; returns the bytes given back. What
    /// other threads keep counts as live, what this one keeps does not. Linear in the slabs held.
    std::size_t release_unused() noexcept { return depot_.release_unused(source_, this_cache()); }

    /// Gives everything back to upstream: every slot handed out is void. No other thread may use it meanwhile.
    void release() noexcept {
        caches_.renew();
        depot_.release(source_);
    }
    /// Takes everything back and keeps the slabs; blocks for larger requests go to upstream. No other thread may use it
    /// meanwhile.
    void reset() noexcept { depot_.reset(source_); }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return depot_.held_bytes(); }
    /// Number of allocations not yet taken back, larger requests included: exact while no other thread uses the pool,
    /// else near it. Linear in the slabs held.
    std::size_t live() const noexcept { return depot_.live(source_) + depot_.large_count(); }
    /// Bytes of the slots handed out, and of the blocks for larger requests. As exact as live().
    std::size_t used() const noexcept { return depot_.used_bytes(source_); }
    /// True when `p` lies in storage of this pool. Linear in the slabs held.
    bool owns(const void* p) const noexcept { return depot_.owns(source_, p); }
    /// The resource that slabs come from.
    resource_ref upstream() const noexcept { return source_.upstream; }

protected:
    // For pools made of this one, which errors, misuse and what is live at the end are reported of in their name.
    concurrent_pool(const concurrent_pool_options& options, resource_ref upstream, const char* reported)
        : source_{geometry,
                  reported,
                  upstream,
                  options.limit_bytes,
                  options.region_slots,
                  detail::magazine::capacity(geometry.slot_bytes, options.thread_bytes),
                  upstream},
          report_(options.report_live) {
        require_at_least(geometry.first_slab_bytes, reported, "limit_bytes", options.limit_bytes);
        forks_.guard(depot_.lock(), this, &forget_other_threads);
    }
    void report_live(const char* reported) noexcept {
        report_.write(reported, [this] { return live(); });
    }
    [[gnu::always_inline]] void give_back(const char* reported, void* p) noexcept {
        if (p == nullptr) return;
        // Known in this build alone; otherwise the slot's header would have to be looked at.
        if (is_poisoned(p)) [[unlikely]]
            abort_on_misuse(reported, "double free", p);
        poison(p, geometry.slot_bytes);
        detail::thread_cache* cache = this_cache();
        if (cache == nullptr || !cache->put(reported, p)) [[unlikely]]
            deallocate_slow(p);
    }

    /// Calls `visit` with each live slot, in address order, which may give back this one and others. Visits none in a
    /// child whose parent had other threads here: what they kept is not known. No other thread may use the pool.
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        if (depot_.lost_caches()) return;
        // Until the end slots come from the slabs and go there at once, so that these know which are live.
        keeps_caches_ = false;
        depot_.collect(source_);
        const detail::bitmap_slabs& slabs = depot_.slabs();
        for (auto each = slabs.first_live(geometry); each.slot != nullptr; slabs.advance(geometry, each)) {
            visit(each.slot);
        }
        keeps_caches_ = true;
    }
    /// True while for_each_live runs.
    bool visiting() const noexcept { return !keeps_caches_; }
    /// True when the slot at `p`, which lies in a slab of this, is free; while for_each_live runs.
    bool is_free(const void* p) const noexcept { return detail::bitmap_slabs::is_free(geometry, p); }

private:
    static constexpr std::size_t slot_alignment =
        std::min(geometry.slot_bytes & (0 - geometry.slot_bytes), geometry.slab_bytes);

    [[gnu::always_inline]] detail::thread_cache* this_cache() const noexcept {
        return static_cast<detail::thread_cache*>(caches_.find());
    }

    [[gnu::always_inline]] bool take(void*& p) noexcept {
        detail::thread_cache* cache = this_cache();
        if (cache == nullptr || !cache->take(p)) [[unlikely]]
            return false;
        unpoison(p, geometry.slot_bytes);
        return true;
    }

    // Out of line: once a magazine.
    [[gnu::noinline]] void* allocate_slow() {
        if (void* p = try_allocate_slow()) return p;
        return fail(depot_.next_slab_bytes(source_), Slot, Align);
    }

    [[gnu::noinline]] void* try_allocate_slow() noexcept {
        detail::thread_cache* cache = make_cache();
        void* p = cache == nullptr ? depot_.take_one(source_) : depot_.take(source_, *cache);
        if (p != nullptr) unpoison(p, geometry.slot_bytes);
        return p;
    }

    [[gnu::noinline]] void deallocate_slow(void* p) noexcept {
        if (detail::thread_cache* cache = make_cache()) {
            depot_.put(source_, *cache, p);
        } else {
            depot_.put_one(source_, p);
        }
    }

    // What this thread keeps; null when it is ending or there is no memory.
    detail::thread_cache* make_cache() noexcept {
        if (!keeps_caches_) return nullptr;
        if (detail::thread_cache* found = this_cache()) return found;
        if (!caches_.can_keep()) return nullptr;
        detail::thread_cache* made = depot_.make_cache(source_);
        if (made != nullptr) caches_.keep(made);
        return made;
    }

    static void thread_ended(void* pool, void* cache) noexcept {
        auto& self = *static_cast<concurrent_pool*>(pool);
        self.depot_.keep_cache(self.source_, *static_cast<detail::thread_cache*>(cache));
    }
    static void forget_other_threads(void* pool) noexcept {
        auto& self = *static_cast<concurrent_pool*>(pool);
        self.depot_.forget_others(self.this_cache(), true);
    }

    // Out of line: not what a pool is for.
    [[gnu::noinline]] void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        if (!is_alignment(alignment)) return raise(bad_alignment{source_.name, alignment});
        if (bytes > max_request / 2) return raise(request_too_large{source_.name, bytes, max_request / 2});
        return fail(detail::large_blocks::upstream_bytes(bytes, alignment), bytes, alignment);
    }
    [[gnu::noinline]] void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) ? depot_.take_large(source_, bytes, alignment) : nullptr;
    }
    [[gnu::noinline]] void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p != nullptr) depot_.put_large(source_, p, bytes, alignment);
    }

    // Upstream would have had to give `needed` bytes for a request of `bytes`.
    [[gnu::cold]] void* fail(std::size_t needed, std::size_t bytes, std::size_t alignment) const {
        const std::size_t held = capacity();
        const std::size_t limit = source_.limit_bytes;
        if (needed > limit - held) return raise(limit_exceeded{source_.name, needed, held, limit});
        return raise(out_of_memory{source_.name, bytes, alignment});
    }

    // Threads read these on each call, and must not wait for what others write in the depot.
    detail::depot_config source_;
    detail::per_thread caches_{this, &thread_ended};
    bool keeps_caches_ = true;
    detail::live_report report_;
    detail::fork_guard forks_;
    detail::magazine_depot depot_;
};

}  // namespace acre
