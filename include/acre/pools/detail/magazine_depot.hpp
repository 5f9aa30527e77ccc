// What the threads of a concurrent pool share: the bitmap slabs, the blocks for larger requests, and magazines of free
// slots on their way from one thread to another.
//
// Used by acre::concurrent_object_pool and acre::static_pool, not directly. A thread takes slots from a cache of its
// own and puts freed ones into it (see thread_cache.hpp); it comes here when that is empty or full, once in as many
// operations as a magazine has slots. Full magazines are handed on as they are, so that a slot which one thread frees
// and another allocates costs each an array access. A few full ones are kept; the slots of others go back to their
// slabs.
//
// Cost: an exchange is a lock and a few stores; filling or emptying a magazine from or to the slabs a dozen
// instructions a slot more. Thread-safe, and upstream is only called with the lock held.
//
// The idea of magazines and a depot is Bonwick's and Adams' (2001).
#pragma once

#include <acre/core/locks.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/detail/thread_cache.hpp>
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace acre::detail {

/// What a depot's slots are, and where its memory comes from: told on each call, so that a static pool keeps none of
/// it.
struct depot_config {
    const slab_geometry& geometry;
    const char* name;  // of the pool, in sentences about misuse
    resource_ref upstream;
    std::size_t limit_bytes;  // of everything held from upstream
    std::size_t region_slots;
    std::size_t magazine_slots;  // that one magazine is made for
    resource_ref bookkeeping;    // where magazines and caches come from
};

/// The slabs of a concurrent pool, and its magazines; on cache lines of its own.
class alignas(64) magazine_depot {
public:
    constexpr magazine_depot() noexcept = default;
    magazine_depot(const magazine_depot&) = delete;
    magazine_depot& operator=(const magazine_depot&) = delete;

    /// A slot, when the cache gave none, which is filled by the way; null when there is no memory.
    void* take(const depot_config& source, thread_cache& cache) noexcept {
        void* slot = nullptr;
        if (cache.spare_has_slots()) {
            cache.turn(source.magazine_slots);
        } else {
            const std::lock_guard lock{lock_};
            fetch(source, cache);
            if (cache.loaded_ != nullptr) cache.loaded_->fetch(source.magazine_slots);
            // Without memory for a magazine there may still be a slot.
            if (cache.loaded_ == nullptr) return take_from_slabs(source);
        }
        cache.take(slot);
        return slot;
    }

    /// Takes a slot back that the cache has no room for, and makes room by the way. Never fails. Aborts with a sentence
    /// on a slot of another pool and on one that is free, when slots go to their slabs.
    void put(const depot_config& source, thread_cache& cache, void* slot) noexcept {
        // As in thread_cache::put, where it has room.
        if (cache.is_last(slot)) abort_on_misuse(source.name, "double free", slot);
        if (cache.spare_ == nullptr || cache.spare_has_slots()) {
            const std::lock_guard lock{lock_};
            empty_spare(source, cache);
            if (cache.spare_ == nullptr) return slabs_.give_back(source.geometry, source.name, slot);
            cache.spare_->claim(source.magazine_slots);
        }
        cache.turn(source.magazine_slots);
        cache.put(source.name, slot);
    }

    /// A slot for a thread without a cache; null when there is no memory.
    void* take_one(const depot_config& source) noexcept {
        const std::lock_guard lock{lock_};
        return take_from_slabs(source);
    }
    /// Takes one back, as put does.
    void put_one(const depot_config& source, void* slot) noexcept {
        const std::lock_guard lock{lock_};
        slabs_.give_back(source.geometry, source.name, slot);
    }

    /// Has the slots that `joined` keeps counted as free. It must leave before it ends.
    void join(thread_cache& joined) noexcept {
        const std::lock_guard lock{lock_};
        link(caches_, joined);
    }
    /// Takes everything from a cache, which does not count any more.
    void leave(const depot_config& source, thread_cache& left) noexcept {
        const std::lock_guard lock{lock_};
        hand_over(source, left);
        unlink(caches_, left);
    }

    /// A cache that has joined, in memory from upstream; null when there is none.
    thread_cache* make_cache(const depot_config& source) noexcept {
        const std::lock_guard lock{lock_};
        if (idle_ != nullptr) {
            thread_cache* made = idle_;
            unlink(idle_, *made);
            link(caches_, *made);
            return made;
        }
        void* p = take_bookkeeping(source, sizeof(thread_cache), alignof(thread_cache));
        if (p == nullptr) return nullptr;
        auto* made = ::new (p) thread_cache;
        link(caches_, *made);
        return made;
    }
    /// Takes everything from a cache that was made here, and keeps it for another thread.
    void keep_cache(const depot_config& source, thread_cache& left) noexcept {
        const std::lock_guard lock{lock_};
        hand_over(source, left);
        unlink(caches_, left);
        link(idle_, left);
    }

    /// A block that no slot has room for; null when there is no memory.
    void* take_large(const depot_config& source, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t needed = large_blocks::upstream_bytes(bytes, alignment);
        const std::lock_guard lock{lock_};
        return needed <= left(source) ? large_.try_allocate(source.upstream, bytes, alignment) : nullptr;
    }
    /// Takes one back.
    void put_large(const depot_config& source, void* p, std::size_t bytes, std::size_t alignment) noexcept {
        const std::lock_guard lock{lock_};
        large_.deallocate(source.upstream, source.name, p, bytes, alignment);
    }

    /// Puts the slots of `mine`, which may be null, and of the magazines kept here into their slabs, and gives slabs
    /// without a live slot and empty magazines back to upstream; returns the bytes given back. Slots that other threads
    /// keep count as live.
    std::size_t release_unused(const depot_config& source, thread_cache* mine) noexcept {
        const std::lock_guard lock{lock_};
        return release_unused_locked(source, mine);
    }
    /// The same; does nothing where that would have to wait, for this thread as well.
    std::size_t try_release_unused(const depot_config& source, thread_cache* mine) noexcept {
        if (!lock_.try_lock()) return 0;
        const std::lock_guard lock{lock_, std::adopt_lock};
        return release_unused_locked(source, mine);
    }

    /// Puts all free slots into their slabs. No thread may use its cache meanwhile.
    void collect(const depot_config& source) noexcept {
        const std::lock_guard lock{lock_};
        for (thread_cache* each = caches_; each != nullptr; each = each->next_) hand_over(source, *each);
        put_full(source);
    }

    /// Marks every slot free and keeps the slabs; larger blocks go to upstream. No thread may use its cache meanwhile.
    void reset(const depot_config& source) noexcept {
        const std::lock_guard lock{lock_};
        forget_slots();
        slabs_.clear(source.geometry);
        large_.release(source.upstream);
    }

    /// Gives everything back to upstream, the caches made here included. No thread may use its cache any more.
    void release(const depot_config& source) noexcept {
        const std::lock_guard lock{lock_};
        forget_slots();
        give_magazines_back(source);
        give_caches_back(source, caches_);
        give_caches_back(source, idle_);
        give_caches_back(source, lost_);
        bookkeeping_bytes_ = 0;  // but for what lost caches kept, which nobody finds
        slabs_.release(source.geometry, source.upstream);
        large_.release(source.upstream);
    }

    /// Makes sure that a thread can take `count` slots without upstream; false when there is not so much.
    bool reserve(const depot_config& source, thread_cache& cache, std::size_t count) noexcept {
        const std::lock_guard lock{lock_};
        if (cache.loaded_ == nullptr) cache.load(take_empty(source), source.magazine_slots);
        if (cache.spare_ == nullptr) cache.set_spare(take_empty(source), 0);
        void* taken = nullptr;
        for (; count > 0; --count) {
            void* slot = take_from_slabs(source);
            if (slot == nullptr) break;
            *static_cast<void**>(slot) = std::exchange(taken, slot);
        }
        while (taken != nullptr) {
            void* slot = std::exchange(taken, *static_cast<void**>(taken));
            slabs_.give_back(source.geometry, source.name, slot);
        }
        return count == 0 && cache.loaded_ != nullptr && cache.spare_ != nullptr;
    }

    /// In the child after a fork, with the lock held: the caches of other threads than the one that keeps `mine` are
    /// not to be touched any more, since these may have been changing them. `made_here` tells whether their memory is
    /// upstream's.
    void forget_others(thread_cache* mine, bool made_here) noexcept {
        while (caches_ != nullptr) {
            thread_cache* each = caches_;
            unlink(caches_, *each);
            if (each == mine) continue;
            lost_any_ = true;
            if (made_here) link(lost_, *each);
        }
        if (mine != nullptr) link(caches_, *mine);
    }
    /// True in a child whose parent had threads with caches: which slots are live is not known for certain.
    bool lost_caches() const noexcept { return lost_any_; }

    /// Bytes held from upstream.
    std::size_t held_bytes() const noexcept {
        const std::lock_guard lock{lock_};
        return held();
    }
    /// Bytes that upstream is asked for when there is no free slot.
    std::size_t next_slab_bytes(const depot_config& source) const noexcept {
        const std::lock_guard lock{lock_};
        return slabs_.next_slab_bytes(source.geometry);
    }
    /// Slots handed out. Exact while no thread uses its cache. Linear in the slabs held and in the threads.
    std::size_t live(const depot_config& source) const noexcept {
        const std::lock_guard lock{lock_};
        return live_slots(source);
    }
    /// Larger blocks handed out.
    std::size_t large_count() const noexcept {
        const std::lock_guard lock{lock_};
        return large_.count();
    }
    /// Bytes of the slots handed out, and of larger blocks.
    std::size_t used_bytes(const depot_config& source) const noexcept {
        const std::lock_guard lock{lock_};
        return live_slots(source) * source.geometry.slot_bytes + large_.held_bytes();
    }
    /// True when `p` lies in a slab or in a larger block. Linear in the number of both.
    bool owns(const depot_config& source, const void* p) const noexcept {
        const std::lock_guard lock{lock_};
        return slabs_.owns(source.geometry, p) || large_.owns(p);
    }

    /// The lock, for what must not happen meanwhile: a fork.
    spin_lock& lock() noexcept { return lock_; }
    /// The slabs, while no other thread uses this: with all free slots in them after collect().
    const bitmap_slabs& slabs() const noexcept { return slabs_; }

private:
    // Kept for threads that come with an empty one.
    static constexpr std::size_t max_full = 16;

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

    // What follows is called with the lock held.

    // Bytes of the limit that are left.
    std::size_t left(const depot_config& source) const noexcept {
        return source.limit_bytes - slabs_.held_bytes() - large_.held_bytes() - bookkeeping_bytes_;
    }
    std::size_t held() const noexcept { return slabs_.held_bytes() + large_.held_bytes() + bookkeeping_bytes_; }

    // What makes the pool fast must not take the last of what slots could be made of.
    void* take_bookkeeping(const depot_config& source, std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes + slabs_.next_slab_bytes(source.geometry) > left(source)) return nullptr;
        void* p = source.bookkeeping.try_allocate(bytes, alignment);
        if (p != nullptr) bookkeeping_bytes_ += bytes;
        return p;
    }
    void give_bookkeeping_back(const depot_config& source, void* p, std::size_t bytes, std::size_t alignment) noexcept {
        bookkeeping_bytes_ -= bytes;
        source.bookkeeping.deallocate(p, bytes, alignment);
    }

    std::size_t release_unused_locked(const depot_config& source, thread_cache* mine) noexcept {
        const std::size_t before = held();
        if (mine != nullptr) hand_over(source, *mine);
        put_full(source);
        give_magazines_back(source);
        slabs_.release_unused(source.geometry, source.upstream);
        return before - held();
    }

    magazine* take_empty(const depot_config& source) noexcept {
        if (empty_ != nullptr) return pop(empty_);
        void* p = take_bookkeeping(source, magazine::bytes(source.magazine_slots), magazine::alignment);
        return p == nullptr ? nullptr : ::new (p) magazine{nullptr, 0, nullptr};
    }

    void* take_from_slabs(const depot_config& source) noexcept {
        // What the slabs hold is left to them.
        return take_within(source, slabs_.held_bytes() + left(source));
    }
    void* take_within(const depot_config& source, std::size_t slab_limit) noexcept {
        void* slot;
        if (slabs_.take(source.geometry, slot)) return slot;
        return slabs_.refill(source.geometry, source.upstream, {slab_limit, source.region_slots});
    }

    // Loads a magazine with slots; the one loaded stays empty when there are none, and null when there is no memory for
    // it.
    void fetch(const depot_config& source, thread_cache& cache) noexcept {
        if (full_ != nullptr) {
            if (cache.spare_ != nullptr) push(empty_, cache.unset_spare());
            cache.set_spare(cache.unload(), 0);
            --full_count_;
            cache.load(pop(full_), source.magazine_slots);
            return;
        }
        if (cache.loaded_ == nullptr) cache.load(take_empty(source), source.magazine_slots);
        if (cache.loaded_ == nullptr) return;
        cache.loaded_->count = fill(source, *cache.loaded_);
        cache.load(cache.loaded_, source.magazine_slots);
    }

    // Only for the first slot is upstream asked. The last of a magazine goes out first, and slots should go out in
    // ascending order.
    std::size_t fill(const depot_config& source, magazine& filled) noexcept {
        const std::size_t wanted = source.magazine_slots;
        void** cells = filled.cells() + 1;
        std::size_t count = 0;
        void* slot = take_from_slabs(source);
        while (slot != nullptr) {
            poison(slot, source.geometry.slot_bytes);
            cells[count++] = slot;
            slot = count == wanted ? nullptr : take_within(source, 0);
        }
        std::reverse(cells, cells + count);
        return count;
    }

    // Makes an empty magazine the spare one, which is null or full; null stays null when there is no memory.
    void empty_spare(const depot_config& source, thread_cache& cache) noexcept {
        if (cache.spare_ == nullptr) return cache.set_spare(take_empty(source), 0);
        magazine* full = cache.unset_spare();
        magazine* empty = full_count_ < max_full ? take_empty(source) : nullptr;
        if (empty == nullptr) {
            put_slots(source, *full);
            empty = full;
        } else {
            push(full_, full);
            ++full_count_;
        }
        cache.set_spare(empty, 0);
    }

    void hand_over(const depot_config& source, thread_cache& from) noexcept {
        receive(source, from.unload());
        receive(source, from.unset_spare());
    }
    void receive(const depot_config& source, magazine* received) noexcept {
        if (received == nullptr) return;
        if (received->count == source.magazine_slots && full_count_ < max_full) {
            push(full_, received);
            ++full_count_;
        } else {
            put_slots(source, *received);
            push(empty_, received);
        }
    }

    void put_slots(const depot_config& source, magazine& from) noexcept {
        for (; from.count > 0; --from.count) {
            slabs_.give_back(source.geometry, source.name, from.cells()[from.count]);
        }
    }
    void put_full(const depot_config& source) noexcept {
        while (full_ != nullptr) {
            magazine* each = pop(full_);
            put_slots(source, *each);
            push(empty_, each);
        }
        full_count_ = 0;
    }

    // Empties all magazines, whose slots are about to be void.
    void forget_slots() noexcept {
        for (thread_cache* each = caches_; each != nullptr; each = each->next_) {
            for (magazine* kept : {each->unload(), each->unset_spare()}) {
                if (kept != nullptr) push(empty_, kept);
            }
        }
        while (full_ != nullptr) push(empty_, pop(full_));
        full_count_ = 0;
        for (magazine* each = empty_; each != nullptr; each = each->next) each->count = 0;
    }

    void give_magazines_back(const depot_config& source) noexcept {
        while (empty_ != nullptr) {
            magazine* each = pop(empty_);
            give_bookkeeping_back(source, each, magazine::bytes(source.magazine_slots), magazine::alignment);
        }
    }
    void give_caches_back(const depot_config& source, thread_cache*& list) noexcept {
        while (list != nullptr) {
            thread_cache* each = list;
            list = each->next_;
            give_bookkeeping_back(source, each, sizeof(thread_cache), alignof(thread_cache));
        }
    }

    std::size_t live_slots(const depot_config& source) const noexcept {
        std::size_t free = 0;
        for (const magazine* each = full_; each != nullptr; each = each->next) free += each->count;
        for (const thread_cache* each = caches_; each != nullptr; each = each->next_) free += each->kept();
        const std::size_t outside_slabs = slabs_.used(source.geometry);
        // Threads that go on meanwhile may be counted twice.
        return outside_slabs - std::min(free, outside_slabs);
    }

    mutable spin_lock lock_;
    bitmap_slabs slabs_;
    large_blocks large_;
    magazine* full_ = nullptr;
    magazine* empty_ = nullptr;
    std::size_t full_count_ = 0;
    thread_cache* caches_ = nullptr;     // of the threads
    thread_cache* idle_ = nullptr;       // made here for threads that have ended
    thread_cache* lost_ = nullptr;       // made here for threads that a fork left behind
    std::size_t bookkeeping_bytes_ = 0;  // of magazines, those in caches as well, and of caches made here
    bool lost_any_ = false;
};

}  // namespace acre::detail
