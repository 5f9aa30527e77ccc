// The shared state of a concurrent pool: the bitmap slabs, the blocks of larger requests, and full and empty
// magazines on their way from one thread to another.
//
// What happens to a slot that another thread frees:
//  1. Thread A allocates it: the top of A's loaded magazine (thread_cache::take), no lock, no atomic operation.
//  2. Thread B frees it: the slot gets a mark, which finds double frees (free_mark.hpp), and goes on top of B's loaded
//     magazine (thread_cache::put). Nothing returns to A, and the slab still counts the slot as taken.
//  3. When B's loaded and spare magazines are full, B takes the lock and hands a full one to the depot for an empty one
//     (put). When A has used up both of its own, it takes the lock and swaps an empty one for a full one (take). So the
//     slot reaches A again inside a whole magazine: two array accesses per slot, one lock per magazine.
//  4. The depot keeps at most max_full full magazines. Slots of any further one return to their slabs. A pool that
//  looks
//     at nothing in a free sets no mark in step 2: then this is where a slot that was freed twice is noticed.
//  5. When the depot has no full magazine, A's is filled from the slabs, which call upstream when they are used up.
//
// Cost: an exchange is a lock and a few stores; filling a magazine from the slabs, or emptying it, is a dozen
// instructions per slot. Thread-safe. Upstream is only called with the lock held.
//
// Magazines and depots are by Bonwick and Adams (2001).
#pragma once

#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace acre::detail {

/// The slots and the upstream of a depot. An argument of each call, so that a static pool keeps it as constants.
struct depot_config {
    const slab_geometry& geometry;
    const char* name;  // of the pool, for messages about misuse
    resource_ref upstream;
    std::size_t limit_bytes;  // of everything held from upstream
    std::size_t region_slots;
    std::size_t magazine_slots;  // capacity of one magazine
    resource_ref bookkeeping;    // upstream of magazines and caches
    bool checks_frees;           // marks what is freed
};

/// The slabs and the magazines of a concurrent pool, on cache lines of their own.
class alignas(64) magazine_depot {
public:
    constexpr magazine_depot() noexcept = default;
    magazine_depot(const magazine_depot&) = delete;
    magazine_depot& operator=(const magazine_depot&) = delete;

    /// Refills an empty cache and returns one slot; null when there is no memory.
    void* take(const depot_config& config, thread_cache& cache) noexcept {
        void* slot = nullptr;
        if (cache.spare_has_slots()) {
            cache.swap_magazines(config.magazine_slots);
        } else {
            const lock_guard lock{lock_};
            fetch(config, cache);
            if (cache.loaded_ != nullptr) cache.loaded_->fetch(config.magazine_slots);
            // There may still be a slot where there is no memory for a magazine.
            if (cache.loaded_ == nullptr) return take_from_slabs(config);
        }
        cache.take(slot);
        return slot;
    }

    /// Keeps a cached slot in a full cache, which is given an empty magazine. Never fails.
    void put(const depot_config& config, thread_cache& cache, void* slot) noexcept {
        if (cache.spare_ == nullptr || cache.spare_has_slots()) {
            const lock_guard lock{lock_};
            empty_spare(config, cache);
            if (cache.spare_ == nullptr) return give_back(config, slot);
            cache.spare_->claim(config.magazine_slots);
        }
        cache.swap_magazines(config.magazine_slots);
        cache.put(slot);
    }

    /// Returns a slot for a thread without a cache; null when there is no memory.
    void* take_uncached(const depot_config& config) noexcept {
        const lock_guard lock{lock_};
        return take_from_slabs(config);
    }
    /// Returns a cached slot to its slab, for a thread without a cache.
    void put_uncached(const depot_config& config, void* slot) noexcept {
        const lock_guard lock{lock_};
        give_back(config, slot);
    }

    /// Counts the slots in `cache` as free from now on. The cache must be detached before its end.
    void attach(thread_cache& cache) noexcept {
        const lock_guard lock{lock_};
        link(caches_, cache);
    }
    /// Takes all magazines from an attached cache and forgets it.
    void detach(const depot_config& config, thread_cache& cache) noexcept {
        const lock_guard lock{lock_};
        flush(config, cache);
        unlink(caches_, cache);
    }

    /// Returns an attached cache in memory from upstream; null when there is none. To be ended by retire_cache.
    thread_cache* make_cache(const depot_config& config) noexcept {
        const lock_guard lock{lock_};
        if (idle_ != nullptr) {
            thread_cache* reused = idle_;
            unlink(idle_, *reused);
            link(caches_, *reused);
            return reused;
        }
        void* p = take_bookkeeping(config, sizeof(thread_cache), alignof(thread_cache));
        if (p == nullptr) return nullptr;
        auto* cache = ::new (p) thread_cache;
        link(caches_, *cache);
        return cache;
    }
    /// Takes all magazines from a cache that make_cache returned, and keeps the cache for another thread.
    void retire_cache(const depot_config& config, thread_cache& cache) noexcept {
        const lock_guard lock{lock_};
        flush(config, cache);
        unlink(caches_, cache);
        link(idle_, cache);
    }

    /// Returns a block of its own for a request that no slot fits; null when there is no memory.
    void* take_large(const depot_config& config, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t needed = large_blocks::upstream_bytes(bytes, alignment);
        const lock_guard lock{lock_};
        return needed <= bytes_left(config) ? large_.try_allocate(config.upstream, bytes, alignment) : nullptr;
    }
    /// Frees such a block. Returns null, or the sentence for a mistake.
    [[nodiscard]] const char* put_large(const depot_config& config, void* p, std::size_t bytes,
                                        std::size_t alignment) noexcept {
        const lock_guard lock{lock_};
        return large_.deallocate(config.upstream, p, bytes, alignment);
    }

    /// Returns the free slots of the depot's magazines and of `own`, the calling thread's cache or null, to their
    /// slabs. Then gives slabs without a live slot and empty magazines back to upstream, and returns their bytes. Slots
    /// that other threads keep count as live.
    std::size_t release_unused(const depot_config& config, thread_cache* own) noexcept {
        const lock_guard lock{lock_};
        return release_unused_locked(config, own);
    }
    /// As release_unused, but does nothing when the lock is taken, by this thread included.
    std::size_t try_release_unused(const depot_config& config, thread_cache* own) noexcept {
        if (!lock_.try_lock()) return 0;
        const std::size_t bytes = release_unused_locked(config, own);
        lock_.unlock();
        return bytes;
    }

    /// Returns all free slots to their slabs. No thread may use its cache meanwhile.
    void collect(const depot_config& config) noexcept {
        const lock_guard lock{lock_};
        collect_locked(config);
    }

    /// Frees every slot and keeps the slabs; large blocks go back to upstream. No thread may use its cache meanwhile.
    void reset(const depot_config& config) noexcept {
        const lock_guard lock{lock_};
        collect_locked(config);
        empty_magazines();
        slabs_.clear(config.geometry);
        large_.release(config.upstream);
    }

    /// Gives everything back to upstream, caches of make_cache included. No thread may use its cache any more.
    void release(const depot_config& config) noexcept {
        const lock_guard lock{lock_};
        collect_locked(config);
        empty_magazines();
        give_magazines_back(config);
        give_caches_back(config, caches_);
        give_caches_back(config, idle_);
        give_caches_back(config, abandoned_);
        bookkeeping_bytes_ = 0;  // the magazines of abandoned caches leak: nothing refers to them
        slabs_.release(config.geometry, config.upstream);
        large_.release(config.upstream);
    }

    /// Makes sure that a thread can take `count` slots without upstream; false when there is not enough memory.
    bool reserve(const depot_config& config, thread_cache& cache, std::size_t count) noexcept {
        const lock_guard lock{lock_};
        if (cache.loaded_ == nullptr) cache.load(take_empty(config), config.magazine_slots);
        if (cache.spare_ == nullptr) cache.set_spare(take_empty(config), 0);
        void* taken = nullptr;
        for (; count > 0; --count) {
            void* slot = take_from_slabs(config);
            if (slot == nullptr) break;
            unpoison(slot, sizeof(void*));
            *static_cast<void**>(slot) = std::exchange(taken, slot);
        }
        while (taken != nullptr) {
            void* slot = std::exchange(taken, *static_cast<void**>(taken));
            slabs_.give_back_cached(config.geometry, slot, false);
        }
        return count == 0 && cache.loaded_ != nullptr && cache.spare_ != nullptr;
    }

    /// In the child after a fork, with the lock held: gives up all caches but `own`, the calling thread's cache or
    /// null. The fork may have stopped other threads midway in a change. `from_upstream`: make_cache made the caches.
    void abandon_other_caches(thread_cache* own, bool from_upstream) noexcept {
        while (caches_ != nullptr) {
            thread_cache* each = caches_;
            unlink(caches_, *each);
            if (each == own) continue;
            has_abandoned_ = true;
            if (from_upstream) link(abandoned_, *each);
        }
        if (own != nullptr) link(caches_, *own);
    }
    /// True in a child whose parent's other threads had caches: which slots are live is not known for certain.
    bool has_abandoned() const noexcept { return has_abandoned_; }

    /// Bytes held from upstream.
    std::size_t held_bytes() const noexcept {
        const lock_guard lock{lock_};
        return held();
    }
    /// Bytes of the next slab.
    std::size_t next_slab_bytes(const depot_config& config) const noexcept {
        const lock_guard lock{lock_};
        return slabs_.next_slab_bytes(config.geometry);
    }
    /// Number of live slots. Exact while no thread uses its cache. Linear in the slabs held and in the threads.
    std::size_t live(const depot_config& config) const noexcept {
        const lock_guard lock{lock_};
        return live_slots(config);
    }
    /// Number of live large blocks.
    std::size_t large_count() const noexcept {
        const lock_guard lock{lock_};
        return large_.count();
    }
    /// Bytes of the live slots and large blocks.
    std::size_t used_bytes(const depot_config& config) const noexcept {
        const lock_guard lock{lock_};
        return live_slots(config) * config.geometry.slot_bytes + large_.held_bytes();
    }
    /// What in the data of slabs and large blocks does not agree, or null. Linear in the slots held, under the lock.
    const char* broken_invariant(const depot_config& config) const noexcept {
        const lock_guard lock{lock_};
        const char* const of_slabs = slabs_.broken_invariant(config.geometry);
        return of_slabs != nullptr ? of_slabs : large_.broken_invariant();
    }
    /// True when `p` lies in a slab or a large block. Linear in the number of both.
    bool owns(const depot_config& config, const void* p) const noexcept {
        const lock_guard lock{lock_};
        return slabs_.owns(config.geometry, p) || large_.owns(p);
    }
    /// True when `p` lies in a slab. Linear in their number.
    bool owns_slot(const depot_config& config, const void* p) const noexcept {
        const lock_guard lock{lock_};
        return slabs_.owns(config.geometry, p);
    }

    /// The lock, for fork guards to hold.
    spin_lock& lock() noexcept { return lock_; }
    /// The slabs: which slots are live, any thread may ask; they have all free slots after collect().
    const bitmap_slabs& slabs() const noexcept { return slabs_; }

private:
    // Upper limit of full magazines in the depot: they have at most 1 MiB of slots, or 32 slots. Taking a slot from its
    // slab and putting it back costs twice as much as the rest of the way.
    static constexpr std::size_t max_full = 32;

    static void push(magazine*& list, magazine* added) noexcept {
        added->next = list;
        list = added;
    }
    static magazine* pop(magazine*& list) noexcept { return std::exchange(list, list->next); }

    static void link(thread_cache*& list, thread_cache& added) noexcept {
        added.next_ = list;
        list = &added;
    }
    static void unlink(thread_cache*& list, const thread_cache& removed) noexcept {
        thread_cache** each = &list;
        while (*each != nullptr && *each != &removed) each = &(*each)->next_;
        if (*each != nullptr) *each = removed.next_;
    }

    // The functions from here on may be called only with the lock held.

    std::size_t bytes_left(const depot_config& config) const noexcept {
        return config.limit_bytes - slabs_.held_bytes() - large_.held_bytes() - bookkeeping_bytes_;
    }
    std::size_t held() const noexcept { return slabs_.held_bytes() + large_.held_bytes() + bookkeeping_bytes_; }

    // Magazines and caches only make the pool faster: they leave room for the next slab.
    void* take_bookkeeping(const depot_config& config, std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes + slabs_.next_slab_bytes(config.geometry) > bytes_left(config)) return nullptr;
        void* p = config.bookkeeping.try_allocate(bytes, alignment);
        if (p != nullptr) bookkeeping_bytes_ += bytes;
        return p;
    }
    void give_bookkeeping_back(const depot_config& config, void* p, std::size_t bytes, std::size_t alignment) noexcept {
        bookkeeping_bytes_ -= bytes;
        config.bookkeeping.deallocate(p, bytes, alignment);
    }

    std::size_t release_unused_locked(const depot_config& config, thread_cache* own) noexcept {
        const std::size_t before = held();
        if (own != nullptr) flush(config, *own);
        put_full(config);
        give_magazines_back(config);
        slabs_.release_unused(config.geometry, config.upstream);
        return before - held();
    }

    // Notices a slot that lies in magazines twice, or was written to. Linear in the slots in magazines.
    void collect_locked(const depot_config& config) noexcept {
        for (thread_cache* each = caches_; each != nullptr; each = each->next_) flush(config, *each);
        put_full(config);
    }

    magazine* take_empty(const depot_config& config) noexcept {
        if (empty_ != nullptr) return pop(empty_);
        void* p = take_bookkeeping(config, magazine::bytes(config.magazine_slots), magazine::alignment);
        return p == nullptr ? nullptr : ::new (p) magazine{nullptr, 0, nullptr};
    }

    void* take_from_slabs(const depot_config& config) noexcept {
        return take_within(config, slabs_.held_bytes() + bytes_left(config));
    }
    void* take_within(const depot_config& config, std::size_t slab_limit) noexcept {
        void* slot;
        if (slabs_.take(config.geometry, slot)) return slot;
        return slabs_.refill(config.geometry, config.upstream, {slab_limit, config.region_slots});
    }

    // Loads a magazine with slots. It stays empty when there are no slots, and null when there is no memory for it.
    void fetch(const depot_config& config, thread_cache& cache) noexcept {
        if (full_ != nullptr) {
            if (cache.spare_ != nullptr) push(empty_, cache.unset_spare());
            cache.set_spare(cache.unload(), 0);
            cache.load(pop_full(), config.magazine_slots);
            return;
        }
        if (cache.loaded_ == nullptr) cache.load(take_empty(config), config.magazine_slots);
        if (cache.loaded_ == nullptr) return;
        cache.loaded_->count = fill(config, *cache.loaded_);
        cache.load(cache.loaded_, config.magazine_slots);
    }

    // Only the first slot may cause an upstream call. Reversed, because a magazine is a stack and slots should go out
    // in ascending order.
    std::size_t fill(const depot_config& config, magazine& filled) noexcept {
        const std::size_t capacity = config.magazine_slots;
        void** cells = filled.cells() + 1;
        std::size_t count = 0;
        void* slot = take_from_slabs(config);
        while (slot != nullptr) {
            if (config.checks_frees) slabs_.mark_cached(config.geometry, slot);
            cells[count++] = slot;
            slot = count == capacity ? nullptr : take_within(config, 0);
        }
        for (std::size_t i = 0; i < count / 2; ++i) std::swap(cells[i], cells[count - 1 - i]);
        return count;
    }

    // Replaces the spare magazine, null or full, by an empty one. A null one stays null when there is no memory.
    void empty_spare(const depot_config& config, thread_cache& cache) noexcept {
        if (cache.spare_ == nullptr) return cache.set_spare(take_empty(config), 0);
        magazine* full = cache.unset_spare();
        magazine* empty = full_count_ < max_full ? take_empty(config) : nullptr;
        if (empty == nullptr) {
            put_slots(config, *full);
            empty = full;
        } else {
            push_full(full);
        }
        cache.set_spare(empty, 0);
    }

    void flush(const depot_config& config, thread_cache& cache) noexcept {
        if (void* slot = cache.unset_front()) give_back(config, slot);
        take_back(config, cache.unload());
        take_back(config, cache.unset_spare());
    }
    void take_back(const depot_config& config, magazine* returned) noexcept {
        if (returned == nullptr) return;
        if (returned->count == config.magazine_slots && full_count_ < max_full) {
            push_full(returned);
        } else {
            put_slots(config, *returned);
            push(empty_, returned);
        }
    }

    void put_slots(const depot_config& config, magazine& from) noexcept {
        for (; from.count > 0; --from.count) {
            give_back(config, from.cells()[from.count]);
        }
    }
    void put_full(const depot_config& config) noexcept {
        while (full_ != nullptr) {
            magazine* each = pop_full();
            put_slots(config, *each);
            push(empty_, each);
        }
    }

    void push_full(magazine* full) noexcept {
        push(full_, full);
        ++full_count_;
    }
    magazine* pop_full() noexcept {
        --full_count_;
        return pop(full_);
    }

    // Releases the lock, which the caller holds: what reports the misuse may allocate here.
    [[noreturn, gnu::noinline, gnu::cold]] void abort_on(const depot_config& config, const void* slot) const noexcept {
        const char* what = slabs_.mistake_with(config.geometry, slot);
        lock_.unlock();
        abort_on_misuse(config.name, what == nullptr ? mistake::double_free_or_write : what, slot);
    }

    // Returns a freed slot to its slab.
    void give_back(const depot_config& config, void* slot) noexcept {
        if (!slabs_.give_back_cached(config.geometry, slot, config.checks_frees)) [[unlikely]]
            abort_on(config, slot);
    }

    // Empties all magazines: their slots are about to become invalid.
    void empty_magazines() noexcept {
        for (thread_cache* each = caches_; each != nullptr; each = each->next_) {
            for (magazine* kept : {each->unload(), each->unset_spare()}) {
                if (kept != nullptr) push(empty_, kept);
            }
        }
        while (full_ != nullptr) push(empty_, pop(full_));
        full_count_ = 0;
        for (magazine* each = empty_; each != nullptr; each = each->next) each->count = 0;
    }

    void give_magazines_back(const depot_config& config) noexcept {
        while (empty_ != nullptr) {
            magazine* each = pop(empty_);
            give_bookkeeping_back(config, each, magazine::bytes(config.magazine_slots), magazine::alignment);
        }
    }
    void give_caches_back(const depot_config& config, thread_cache*& list) noexcept {
        while (list != nullptr) {
            thread_cache* each = list;
            list = each->next_;
            give_bookkeeping_back(config, each, sizeof(thread_cache), alignof(thread_cache));
        }
    }

    std::size_t live_slots(const depot_config& config) const noexcept {
        std::size_t free = 0;
        for (const magazine* each = full_; each != nullptr; each = each->next) free += each->count;
        for (const thread_cache* each = caches_; each != nullptr; each = each->next_) free += each->kept();
        const std::size_t outside_slabs = slabs_.used(config.geometry);
        // Slots of threads that go on meanwhile may be counted twice.
        return outside_slabs - detail::min(free, outside_slabs);
    }

    mutable spin_lock lock_;
    bitmap_slabs slabs_;
    large_blocks large_;
    magazine* full_ = nullptr;
    magazine* empty_ = nullptr;
    std::size_t full_count_ = 0;
    thread_cache* caches_ = nullptr;     // attached
    thread_cache* idle_ = nullptr;       // from make_cache; their threads have ended
    thread_cache* abandoned_ = nullptr;  // from make_cache; their threads are in the parent process
    std::size_t bookkeeping_bytes_ = 0;  // of magazines, loaded ones included, and of caches from make_cache
    bool has_abandoned_ = false;
};

}  // namespace acre::detail
