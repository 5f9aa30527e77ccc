// Raw slots of one size for all threads: a pool that any thread allocates from and any thread frees to, at about the cost
// of a pool of its own.
//
// Use it where threads hand memory to each other, or share one pool. Use acre::concurrent_pool<T> for objects,
// acre::pool<Slot> where one thread allocates and frees, acre::static_pool for one pool of the whole program.
//
// Each thread keeps two magazines of free slots; allocating takes from one, freeing puts into it, whoever allocated. Full
// and empty ones are exchanged with a depot under a lock, once in as many operations as a magazine has slots. A thread
// that ends gives its magazines back.
//
// Cost: allocate and deallocate about 15 instructions each, no atomic operation; one lock in 4 to 128 operations.
// Memory: what acre::pool holds, and for each thread two magazines' slots: at most 64 KiB of them, or eight.
// Double frees and pointers of other pools abort with a sentence when a magazine goes to the slabs, which may be later.
//
//     acre::concurrent_pool_for<64> messages;
//     void* p = messages.allocate();      // in one thread
//     messages.deallocate(p);             // in another
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/fork_guard.hpp>
#include <acre/core/per_thread.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/large_blocks.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/slab_geometry.hpp>
#include <acre/pools/slot_cache.hpp>
#include <acre/pools/slot_depot.hpp>
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`, for all threads.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class concurrent_pool_for {
public:
    static_assert(Slot > 0 && Slot <= max_request / 1024, "the slots of a pool have at least one byte");
    static_assert(is_alignment(Align), "the alignment of a pool is a power of two");

    static constexpr const char* name = "acre::concurrent_pool_for";
    using options_type = pool_options;
    static constexpr slab_geometry geometry = slab_geometry::of(Slot, Align);

    /// Takes no memory from upstream, which must be thread-safe if anything else uses it.
    concurrent_pool_for() : concurrent_pool_for(resource_ref{heap{}}) {}
    explicit concurrent_pool_for(resource_ref upstream) : concurrent_pool_for(pool_options{}, upstream) {}
    explicit concurrent_pool_for(const pool_options& options, resource_ref upstream = heap{})
        : limit_(options.limit_bytes), upstream_(upstream) {
        require_at_least(geometry.first_slab_bytes, name, "limit_bytes", options.limit_bytes);
        depot_forks_.guard(depot_.mutex());
        forks_.guard(mutex_);
    }

    concurrent_pool_for(const concurrent_pool_for&) = delete;
    concurrent_pool_for& operator=(const concurrent_pool_for&) = delete;

    /// Gives everything back to upstream, slots that were not freed included. No thread may use it any more.
    ~concurrent_pool_for() {
        forks_.unguard();
        depot_forks_.unguard();
        // A thread that used it may end just now.
        parts_by_thread_.end();
        release();
        while (parts_ != nullptr) {
            thread_part* each = parts_;
            parts_ = each->next;
            upstream_.deallocate(each, sizeof(thread_part), alignof(thread_part));
        }
    }

    /// A slot of Slot bytes aligned to Align, contents undefined. Throws out_of_memory or limit_exceeded.
    [[gnu::always_inline]] void* allocate() {
        void* p;
        if (take(p)) [[likely]]
            return p;
        return allocate_rarely();
    }

    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] void* try_allocate() noexcept {
        void* p;
        if (take(p)) [[likely]]
            return p;
        return try_allocate_rarely();
    }

    /// Takes a slot back that any thread allocated; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p) noexcept {
        if (p == nullptr) return;
        poison(p, geometry.slot_bytes);
        auto* part = static_cast<thread_part*>(parts_by_thread_.find());
        if (part != nullptr && part->cache.put(p)) [[likely]]
            return;
        deallocate_rarely(p);
    }

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

    /// Gives slabs without a live slot back to upstream, while other threads go on; returns their bytes. What threads
    /// keep counts as live. Linear in the slabs held.
    std::size_t release_unused() noexcept { return depot_.release_unused(geometry, upstream_, name); }

    /// Gives everything back to upstream: every slot handed out is void. No other thread may use it meanwhile.
    void release() noexcept {
        collect();
        depot_.release(geometry, upstream_);
        const std::lock_guard lock{mutex_};
        large_.release(upstream_);
    }
    /// Takes everything back and keeps the slabs; blocks for larger requests go to upstream. No other thread may use it
    /// meanwhile.
    void reset() noexcept {
        collect();
        depot_.release_unused(geometry, upstream_, name);
        depot_.slabs().clear(geometry);
        const std::lock_guard lock{mutex_};
        large_.release(upstream_);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept {
        const std::lock_guard lock{mutex_};
        return depot_.held_bytes(geometry) + large_.held_bytes() + part_count_ * sizeof(thread_part);
    }
    /// Slots handed out. Exact while no other thread uses the pool, which then gives up what threads keep.
    std::size_t live() noexcept {
        collect();
        return depot_.taken(geometry);
    }
    /// Slots handed out, and those that threads keep for themselves. Linear in the slabs held.
    std::size_t taken() const noexcept { return depot_.taken(geometry); }
    /// Bytes of the slots taken, and of the blocks for larger requests. Linear in the slabs held.
    std::size_t used() const noexcept {
        const std::lock_guard lock{mutex_};
        return depot_.taken(geometry) * geometry.slot_bytes + large_.held_bytes();
    }
    /// True when `p` lies in storage of this pool. Linear in the slabs held.
    bool owns(const void* p) const noexcept {
        const std::lock_guard lock{mutex_};
        return depot_.owns(geometry, p) || large_.owns(p);
    }
    /// The resource that slabs come from.
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    /// The slabs, with everything that threads kept in them. No other thread may use the pool.
    bitmap_slabs& collected() noexcept {
        collect();
        depot_.release_unused(geometry, upstream_, name);
        return depot_.slabs();
    }

private:
    // What one thread keeps, on cache lines of its own.
    struct alignas(64) thread_part {
        slot_cache cache;
        thread_part* next;
        bool in_use;
    };

    static constexpr std::size_t slot_alignment =
        std::min(geometry.slot_bytes & (0 - geometry.slot_bytes), geometry.slab_bytes);
    static constexpr std::size_t magazine_slots = magazine::capacity(geometry.slot_bytes);

    [[gnu::always_inline]] bool take(void*& p) noexcept {
        auto* part = static_cast<thread_part*>(parts_by_thread_.find());
        if (part == nullptr || !part->cache.take(p)) [[unlikely]]
            return false;
        unpoison(p, geometry.slot_bytes);
        return true;
    }

    // Out of line: once a magazine.
    [[gnu::noinline]] void* allocate_rarely() {
        if (void* p = try_allocate_rarely()) return p;
        return fail(geometry.first_slab_bytes, Slot, Align);
    }

    [[gnu::noinline]] void* try_allocate_rarely() noexcept {
        thread_part* part = this_part();
        void* p = part == nullptr ? nullptr : part->cache.take_from_next(magazine_slots, [this](magazine* empty) {
            return depot_.exchange_empty(geometry, upstream_, limit_, empty);
        });
        // Without a part, or where there is no memory for a magazine.
        if (p == nullptr) p = depot_.take_one(geometry, upstream_, limit_);
        if (p != nullptr) unpoison(p, geometry.slot_bytes);
        return p;
    }

    [[gnu::noinline]] void deallocate_rarely(void* p) noexcept {
        thread_part* part = this_part();
        const auto exchange_full = [this](magazine* full) {
            return depot_.exchange_full(geometry, upstream_, name, full);
        };
        if (part != nullptr && part->cache.put_into_next(p, magazine_slots, exchange_full)) return;
        depot_.give_one_back(geometry, name, p);
    }

    // What this thread keeps; null when it is ending or there is no memory.
    thread_part* this_part() noexcept {
        if (void* found = parts_by_thread_.find()) return static_cast<thread_part*>(found);
        thread_part* joined = unused_part();
        if (joined == nullptr || parts_by_thread_.keep(joined)) return joined;
        leave(this, joined);
        return nullptr;
    }

    thread_part* unused_part() noexcept {
        const std::lock_guard lock{mutex_};
        for (thread_part* each = parts_; each != nullptr; each = each->next) {
            if (each->in_use) continue;
            each->in_use = true;
            return each;
        }
        void* p = upstream_.try_allocate(sizeof(thread_part), alignof(thread_part));
        if (p == nullptr) return nullptr;
        parts_ = ::new (p) thread_part{{}, parts_, true};
        ++part_count_;
        return parts_;
    }

    static void leave(void* pool, void* left) noexcept {
        auto& self = *static_cast<concurrent_pool_for*>(pool);
        auto& part = *static_cast<thread_part*>(left);
        self.collect(part);
        const std::lock_guard lock{self.mutex_};
        part.in_use = false;
    }

    void collect(thread_part& from) noexcept {
        from.cache.give_up([this](magazine* kept) { depot_.adopt(geometry, name, kept); });
    }
    void collect() noexcept {
        for (thread_part* each = parts_; each != nullptr; each = each->next) collect(*each);
    }

    // Out of line: not what a pool is for.
    [[gnu::noinline]] void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        if (!is_alignment(alignment)) return raise(bad_alignment{name, alignment});
        if (bytes > max_request / 2) return raise(request_too_large{name, bytes, max_request / 2});
        return fail(large_blocks::upstream_bytes(bytes, alignment), bytes, alignment);
    }
    [[gnu::noinline]] void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        const std::size_t needed = large_blocks::upstream_bytes(bytes, alignment);
        const std::lock_guard lock{mutex_};
        const std::size_t held = depot_.held_bytes(geometry) + large_.held_bytes();
        if (held > limit_ || needed > limit_ - held) return nullptr;
        return large_.try_allocate(upstream_, bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const std::lock_guard lock{mutex_};
        large_.deallocate(upstream_, name, p, bytes, alignment);
    }

    [[gnu::cold]] void* fail(std::size_t needed, std::size_t bytes, std::size_t alignment) const {
        const std::size_t held = capacity();
        if (held > limit_ || needed > limit_ - held) return raise(limit_exceeded{name, needed, held, limit_});
        return raise(out_of_memory{name, bytes, alignment});
    }

    slot_depot depot_;
    mutable std::mutex mutex_;  // over what follows; taken before the depot's
    thread_part* parts_ = nullptr;
    std::size_t part_count_ = 0;
    large_blocks large_;
    std::size_t limit_ = SIZE_MAX;
    resource_ref upstream_ = heap{};
    per_thread parts_by_thread_{this, &leave};
    fork_guard depot_forks_;
    fork_guard forks_;  // the newer, so taken first
};

}  // namespace acre
