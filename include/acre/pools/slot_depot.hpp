// What the threads of a concurrent pool share: the bitmap slabs, and magazines of free slots on their way from one thread
// to another.
//
// Used by acre::concurrent_pool and acre::static_pool, not directly. A thread takes slots from a magazine of its own and
// puts freed ones into it (see slot_cache.hpp); it comes here with an empty or a full one, once in as many operations as a
// magazine has slots. Full magazines are handed on as they are, so that a slot which one thread frees and another
// allocates costs each an array access. A few full ones are kept; the slots of others go back to their slabs.
//
// Cost: an exchange is a lock and a few stores; filling or emptying a magazine from or to the slabs a dozen instructions a
// slot more. Thread-safe.
//
// The idea of magazines and a depot is Bonwick's and Adams' (2001).
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/pools/bitmap_slabs.hpp>
#include <acre/pools/slab_geometry.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace acre {

/// Free slots that are handed out by one thread.
struct magazine {
    magazine* next;
    std::size_t count;  // of slots in it

    void** slots() noexcept { return reinterpret_cast<void**>(this + 1); }

    /// Slots that fit into one, for slots of `slot_bytes` bytes: as many as make it worth the way, and no more than a
    /// thread should keep to itself.
    static constexpr std::size_t capacity(std::size_t slot_bytes) noexcept {
        return std::clamp<std::size_t>(32 * 1024 / slot_bytes, 4, 128);
    }
    static constexpr std::size_t bytes(std::size_t slot_bytes) noexcept {
        return sizeof(magazine) + capacity(slot_bytes) * sizeof(void*);
    }
};

/// The slabs of a concurrent pool, and its magazines.
class slot_depot {
public:
    constexpr slot_depot() noexcept = default;
    slot_depot(const slot_depot&) = delete;
    slot_depot& operator=(const slot_depot&) = delete;

    /// A magazine with free slots for an empty one or null. Null, and the empty one is kept here, when upstream has no
    /// memory.
    magazine* exchange_empty(const slab_geometry& geometry, resource_ref upstream, std::size_t limit,
                             magazine* empty) noexcept {
        const std::lock_guard lock{mutex_};
        if (full_ != nullptr) {
            if (empty != nullptr) push(empty_, empty);
            --full_count_;
            return pop(full_);
        }
        if (empty == nullptr) empty = take_empty(geometry, upstream);
        if (empty == nullptr) return nullptr;
        fill(geometry, upstream, limit, *empty);
        if (empty->count != 0) return empty;
        push(empty_, empty);
        return nullptr;
    }

    /// An empty magazine for a full one. Never fails: where there is no memory for another, the slots go to their slabs
    /// and the same one comes back. For null an empty one, or null when there is no memory. Aborts with a sentence naming `name` on a slot of another pool and on one that is
    /// free.
    magazine* exchange_full(const slab_geometry& geometry, resource_ref upstream, const char* name,
                            magazine* full) noexcept {
        const std::lock_guard lock{mutex_};
        magazine* empty = full == nullptr || full_count_ < most_full ? take_empty(geometry, upstream) : nullptr;
        if (full == nullptr) return empty;
        if (empty == nullptr) {
            empty_to_slabs(geometry, name, *full);
            return full;
        }
        push(full_, full);
        ++full_count_;
        return empty;
    }

    /// One slot, for threads that keep none; null when upstream has no memory.
    void* take_one(const slab_geometry& geometry, resource_ref upstream, std::size_t limit) noexcept {
        const std::lock_guard lock{mutex_};
        return take_from_slabs(geometry, upstream, limit);
    }

    /// Takes one back, as exchange_full does.
    void give_one_back(const slab_geometry& geometry, const char* name, void* slot) noexcept {
        const std::lock_guard lock{mutex_};
        slabs_.give_back(geometry, name, slot);
    }

    /// Takes a thread's magazine, which may be null or hold anything.
    void adopt(const slab_geometry& geometry, const char* name, magazine* adopted) noexcept {
        if (adopted == nullptr) return;
        const std::lock_guard lock{mutex_};
        empty_to_slabs(geometry, name, *adopted);
        push(empty_, adopted);
    }

    /// Puts the slots of all magazines kept here into their slabs and gives slabs without a live slot back to upstream;
    /// returns their bytes. Slots in the magazines of threads count as live.
    std::size_t release_unused(const slab_geometry& geometry, resource_ref upstream, const char* name) noexcept {
        const std::lock_guard lock{mutex_};
        return_full(geometry, name);
        while (empty_ != nullptr) give_magazine_back(geometry, upstream, pop(empty_));
        return slabs_.release_unused(geometry, upstream);
    }

    /// Gives everything back to upstream. No thread may have a magazine of this.
    void release(const slab_geometry& geometry, resource_ref upstream) noexcept {
        const std::lock_guard lock{mutex_};
        while (full_ != nullptr) give_magazine_back(geometry, upstream, pop(full_));
        while (empty_ != nullptr) give_magazine_back(geometry, upstream, pop(empty_));
        full_count_ = 0;
        slabs_.release(geometry, upstream);
    }

    /// Makes sure that `count` slots can be handed out without upstream; false when it has not so much.
    bool reserve(const slab_geometry& geometry, resource_ref upstream, std::size_t limit, const char* name,
                 std::size_t count) noexcept {
        const std::lock_guard lock{mutex_};
        void* taken = nullptr;
        bool served = true;
        for (; count > 0 && served; --count) {
            void* slot = take_from_slabs(geometry, upstream, limit);
            served = slot != nullptr;
            if (!served) break;
            *static_cast<void**>(slot) = std::exchange(taken, slot);
        }
        while (taken != nullptr) slabs_.give_back(geometry, name, std::exchange(taken, *static_cast<void**>(taken)));
        return served;
    }

    /// Bytes held from upstream: slabs, and magazines with those of the threads.
    std::size_t held_bytes(const slab_geometry& geometry) const noexcept {
        const std::lock_guard lock{mutex_};
        return slabs_.held_bytes() + magazine_count_ * magazine::bytes(geometry.slot_bytes);
    }

    /// Slots that are in no slab and in no magazine kept here: those handed out, and those that threads keep. Linear in
    /// the slabs held.
    std::size_t taken(const slab_geometry& geometry) const noexcept {
        const std::lock_guard lock{mutex_};
        std::size_t in_magazines = 0;
        for (const magazine* each = full_; each != nullptr; each = each->next) in_magazines += each->count;
        return slabs_.used(geometry) - in_magazines;
    }

    /// True when `p` lies in a slab of this. Linear in the slabs held.
    bool owns(const slab_geometry& geometry, const void* p) const noexcept {
        const std::lock_guard lock{mutex_};
        return slabs_.owns(geometry, p);
    }

    /// The lock, for what must not happen meanwhile: a fork.
    std::mutex& mutex() noexcept { return mutex_; }
    /// The slabs, when no other thread uses this.
    bitmap_slabs& slabs() noexcept { return slabs_; }

private:
    // Kept for threads that come with an empty one.
    static constexpr std::size_t most_full = 16;

    static void push(magazine*& list, magazine* added) noexcept {
        added->next = list;
        list = added;
    }
    static magazine* pop(magazine*& list) noexcept { return std::exchange(list, list->next); }

    magazine* take_empty(const slab_geometry& geometry, resource_ref upstream) noexcept {
        if (empty_ != nullptr) return pop(empty_);
        void* p = upstream.try_allocate(magazine::bytes(geometry.slot_bytes), alignof(magazine));
        if (p == nullptr) return nullptr;
        ++magazine_count_;
        return ::new (p) magazine{nullptr, 0};
    }

    void give_magazine_back(const slab_geometry& geometry, resource_ref upstream, magazine* given) noexcept {
        --magazine_count_;
        upstream.deallocate(given, magazine::bytes(geometry.slot_bytes), alignof(magazine));
    }

    void* take_from_slabs(const slab_geometry& geometry, resource_ref upstream, std::size_t limit) noexcept {
        void* slot;
        return slabs_.take(geometry, slot) ? slot : slabs_.refill(geometry, upstream, limit);
    }

    // The last of a magazine goes out first, and slots should go out in ascending order.
    void fill(const slab_geometry& geometry, resource_ref upstream, std::size_t limit, magazine& filled) noexcept {
        const std::size_t wanted = magazine::capacity(geometry.slot_bytes);
        while (filled.count < wanted) {
            void* slot = take_from_slabs(geometry, upstream, limit);
            if (slot == nullptr) break;
            poison(slot, geometry.slot_bytes);
            filled.slots()[filled.count++] = slot;
        }
        std::reverse(filled.slots(), filled.slots() + filled.count);
    }

    void empty_to_slabs(const slab_geometry& geometry, const char* name, magazine& emptied) noexcept {
        for (; emptied.count > 0; --emptied.count) slabs_.give_back(geometry, name, emptied.slots()[emptied.count - 1]);
    }

    void return_full(const slab_geometry& geometry, const char* name) noexcept {
        while (full_ != nullptr) {
            magazine* each = pop(full_);
            empty_to_slabs(geometry, name, *each);
            push(empty_, each);
        }
        full_count_ = 0;
    }

    mutable std::mutex mutex_;
    bitmap_slabs slabs_;
    magazine* full_ = nullptr;
    magazine* empty_ = nullptr;
    std::size_t full_count_ = 0;
    std::size_t magazine_count_ = 0;  // those of the threads as well
};

}  // namespace acre
