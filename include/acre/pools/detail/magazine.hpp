// Magazines, arrays of free slots that move whole between threads, and the cache of two that each thread has.
//
// Concurrent pools use these; see magazine_depot.hpp for the life of a slot. A thread_cache allocates from and frees
// into its loaded magazine. Without the spare one, a thread that alternates between allocating and freeing at the end
// of a magazine would visit the depot each time. A new cache has no magazine: the depot supplies both.
//
// Pools that the program has for itself add a place in front of the magazines, for the slot freed last. A program that
// allocates and frees in turns then needs no count, whose value each call would wait for: a store and a load of the
// same word take the processor longer than all the rest. Pools of many sizes do without: there the place is empty or
// not at random, which the processor cannot predict.
//
// Cost: take and put are nine and seven instructions; four and four at the place in front, and behind it three and five
// more. A cache is for one thread; any thread may read how many slots it has.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace acre::detail {

/// A stack of free slots, in memory from upstream, on cache lines of its own.
struct magazine {
    magazine* next;
    std::size_t count;  // of slots; meaningful while no thread has the magazine loaded
    void* below;        // not a slot: read as the top of an empty stack

    /// The cells: slots from index 1 on, `below` at index 0.
    void** cells() noexcept { return &below; }

    /// Prefetches all cache lines of a full magazine that another thread wrote: the thread waits for all at once
    /// instead of for one after the other.
    void fetch(std::size_t slots) noexcept {
        for_each_line(slots, [](void** first) { __builtin_prefetch(first); });
    }
    /// Gets all cache lines of an empty magazine for writing. A store does that on every processor; a prefetch for
    /// writing does not.
    void claim(std::size_t slots) noexcept {
        for_each_line(slots, [](void** first) { *first = nullptr; });
    }

    /// Alignment in bytes.
    static constexpr std::size_t alignment = 64;

    /// Capacity of a magazine of slots of `slot_bytes` bytes, if a thread's two may hold `thread_bytes`: 1 to 509.
    static constexpr std::size_t capacity(std::size_t slot_bytes, std::size_t thread_bytes) noexcept {
        return detail::clamp<std::size_t>(thread_bytes / 2 / slot_bytes, 1, 509);
    }
    /// Bytes of a magazine for `slots` slots: 4 KiB for 509.
    static constexpr std::size_t bytes(std::size_t slots) noexcept {
        return align_up(sizeof(magazine) + slots * sizeof(void*), alignment);
    }

private:
    // Visits the first cell in each cache line but the header's.
    template <class Visit>
    void for_each_line(std::size_t slots, Visit visit) noexcept {
        constexpr std::size_t in_a_line = alignment / sizeof(void*);
        constexpr std::size_t in_the_first = in_a_line - 2;
        for (std::size_t cell = in_the_first; cell <= slots; cell += in_a_line) visit(cells() + cell);
    }
};

/// The two magazines of one thread, on a cache line of its own.
class alignas(64) thread_cache {
public:
    constexpr thread_cache() noexcept = default;
    thread_cache(const thread_cache&) = delete;
    thread_cache& operator=(const thread_cache&) = delete;

    /// Sets `slot` to a free slot; false when the loaded magazine is empty.
    [[gnu::always_inline]] bool take(void*& slot) noexcept { return take_of(words{*this}, slot); }
    /// As take, of a cache whose words are read and written through `cache`.
    template <class Words>
    [[gnu::always_inline]] static bool take_of(Words cache, void*& slot) noexcept {
        const std::size_t count = cache.count();
        if (count == 0) [[unlikely]]
            return false;
        void** top = cache.loaded()->cells() + count;
        slot = *top;
        // The next slot: another thread may have used it last, and a store that misses delays all stores behind it.
        __builtin_prefetch(top[-1]);
        cache.set_count(count - 1);
        return true;
    }

    /// As take_of, of a cache with a place in front.
    template <class Words>
    [[gnu::always_inline]] static bool take_front_of(Words cache, void*& slot) noexcept {
        const std::uintptr_t front = cache.front();
        if (front <= closed) return take_of(cache, slot);
        cache.set_front(0);
        slot = reinterpret_cast<void*>(front);
        return true;
    }

    /// Keeps a free slot; false when the loaded magazine is full.
    [[gnu::always_inline]] bool put(void* slot) noexcept { return put_of(words{*this}, slot); }
    /// As put, of a cache whose words are read and written through `cache`.
    template <class Words>
    [[gnu::always_inline]] static bool put_of(Words cache, void* slot) noexcept {
        const std::size_t count = cache.count();
        if (cache.has_room_for_no_more_than(count)) [[unlikely]]
            return false;
        cache.loaded()->cells()[count + 1] = slot;
        cache.set_count(count + 1);
        return true;
    }

    /// As put_of, of a cache with a place in front. The slot that was there goes on to the magazine, so that slots are
    /// allocated newest first.
    template <class Words>
    [[gnu::always_inline]] static bool put_front_of(Words cache, void* slot) noexcept {
        const std::uintptr_t front = cache.front();
        // That of a closed cache has no room, as it has no magazine.
        if (front != 0 && !put_of(cache, reinterpret_cast<void*>(front))) return false;
        cache.set_front(reinterpret_cast<std::uintptr_t>(slot));
        return true;
    }

    [[gnu::always_inline]] bool take_front(void*& slot) noexcept { return take_front_of(words{*this}, slot); }
    [[gnu::always_inline]] bool put_front(void* slot) noexcept { return put_front_of(words{*this}, slot); }

    /// Keeps a free slot in front and returns the one that was there, or null.
    void* replace_front(void* slot) noexcept {
        void* before = unset_front();
        front_.store(reinterpret_cast<std::uintptr_t>(slot), std::memory_order_relaxed);
        return before;
    }
    /// Opens and closes the place in front. To close it, it must be empty.
    void open_front() noexcept { front_.store(0, std::memory_order_relaxed); }
    void close_front() noexcept { front_.store(closed, std::memory_order_relaxed); }

    /// Whether the loaded magazine got this slot last.
    bool got_last(const void* slot) const noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        return count != 0 && loaded_->cells()[count] == slot;
    }

    /// Number of slots kept: exact in this thread, and in others while this one is idle.
    std::size_t kept() const noexcept {
        return count_.load(std::memory_order_relaxed) + spare_count_.load(std::memory_order_relaxed) +
               (front_.load(std::memory_order_relaxed) > closed ? 1 : 0);
    }

    /// Where the words are that these functions need.
    static constexpr std::size_t front_at() noexcept { return offsetof(thread_cache, front_); }
    static constexpr std::size_t count_at() noexcept { return offsetof(thread_cache, count_); }
    static constexpr std::size_t room_at() noexcept { return offsetof(thread_cache, room_); }
    static constexpr std::size_t loaded_at() noexcept { return offsetof(thread_cache, loaded_); }

private:
    friend class magazine_depot;

    // The words of an object.
    struct words {
        thread_cache& of;
        [[gnu::always_inline]] std::uintptr_t front() const noexcept {
            return of.front_.load(std::memory_order_relaxed);
        }
        [[gnu::always_inline]] void set_front(std::uintptr_t front) const noexcept {
            of.front_.store(front, std::memory_order_relaxed);
        }
        [[gnu::always_inline]] std::size_t count() const noexcept { return of.count_.load(std::memory_order_relaxed); }
        [[gnu::always_inline]] void set_count(std::size_t count) const noexcept {
            of.count_.store(count, std::memory_order_relaxed);
        }
        [[gnu::always_inline]] bool has_room_for_no_more_than(std::size_t count) const noexcept {
            return count == of.room_;
        }
        [[gnu::always_inline]] magazine* loaded() const noexcept { return of.loaded_; }
    };

    // In place of the slot in front: there is none, and none is kept.
    static constexpr std::uintptr_t closed = 1;

    // Takes the slot in front; null when there is none.
    void* unset_front() noexcept {
        const std::uintptr_t front = front_.load(std::memory_order_relaxed);
        if (front <= closed) return nullptr;
        open_front();
        return reinterpret_cast<void*>(front);
    }

    bool spare_has_slots() const noexcept { return spare_count_.load(std::memory_order_relaxed) != 0; }

    void swap_magazines(std::size_t capacity) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        magazine* before = std::exchange(loaded_, spare_);
        count_.store(spare_count_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        room_ = loaded_ == nullptr ? 0 : capacity;
        set_spare(before, count);
    }

    void load(magazine* loaded, std::size_t capacity) noexcept {
        loaded_ = loaded;
        count_.store(loaded == nullptr ? 0 : loaded->count, std::memory_order_relaxed);
        room_ = loaded == nullptr ? 0 : capacity;
    }
    magazine* unload() noexcept {
        if (loaded_ != nullptr) loaded_->count = count_.load(std::memory_order_relaxed);
        magazine* unloaded = loaded_;
        load(nullptr, 0);
        return unloaded;
    }

    void set_spare(magazine* spare, std::size_t count) noexcept {
        spare_ = spare;
        spare_count_.store(count, std::memory_order_relaxed);
    }
    magazine* unset_spare() noexcept {
        if (spare_ != nullptr) spare_->count = spare_count_.load(std::memory_order_relaxed);
        magazine* spare = spare_;
        set_spare(nullptr, 0);
        return spare;
    }

    // Relaxed everywhere, as is front_: other threads only sum the slots up and read none because of that. At the
    // thread's end the depot's lock publishes slots and counts; callers of reset() keep other threads away.
    std::atomic<std::size_t> count_{0};  // of slots in the loaded magazine
    std::size_t room_ = 0;               // capacity of the loaded magazine; 0 when there is none
    magazine* loaded_ = nullptr;
    magazine* spare_ = nullptr;
    std::atomic<std::size_t> spare_count_{0};
    std::atomic<std::uintptr_t> front_{closed};
    thread_cache* next_ = nullptr;  // in a list of the depot's
};

static_assert(sizeof(thread_cache) == 64, "acre: the caches of two threads never share a cache line");

}  // namespace acre::detail
