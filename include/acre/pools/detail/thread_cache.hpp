// The free slots that a thread keeps of a concurrent pool: the magazine it takes from and puts into, and a spare one,
// so that a thread which allocates and frees in turns at the edge of one does not go to the depot each time.
//
// Used by acre::concurrent_object_pool and acre::static_pool, not directly. There is no magazine at first: the first
// operation fetches one from the depot (acre::magazine_depot).
//
// Cost: take is nine instructions, put nine. For one thread; any thread may ask how many slots are kept.
#pragma once

#include <acre/core/error.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <atomic>
#include <cstddef>
#include <utility>

namespace acre::detail {

/// Two magazines of one thread, which has its cache line for itself.
class alignas(64) thread_cache {
public:
    constexpr thread_cache() noexcept = default;
    thread_cache(const thread_cache&) = delete;
    thread_cache& operator=(const thread_cache&) = delete;

    /// Sets `slot` to a free slot; false when the magazine is empty.
    [[gnu::always_inline]] bool take(void*& slot) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        if (count == 0) [[unlikely]]
            return false;
        void** top = loaded_->cells() + count;
        slot = *top;
        // The next one: another thread may have used it last, and a store to it holds up all stores behind it.
        __builtin_prefetch(top[-1]);
        count_.store(count - 1, std::memory_order_relaxed);
        return true;
    }

    /// Keeps a free slot; false when the magazine is full. Aborts with a sentence naming `name` on the slot that was
    /// put last.
    [[gnu::always_inline]] bool put(const char* name, void* slot) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        if (count == room_) [[unlikely]]
            return false;
        void** top = loaded_->cells() + count;
        if (*top == slot) [[unlikely]]
            abort_on_misuse(name, "double free", slot);
        top[1] = slot;
        count_.store(count + 1, std::memory_order_relaxed);
        return true;
    }

    /// True when `slot` was put last.
    bool is_last(const void* slot) const noexcept {
        return loaded_ != nullptr && loaded_->cells()[count_.load(std::memory_order_relaxed)] == slot;
    }

    /// Slots kept: exact in this thread, and in others while this one does nothing.
    std::size_t kept() const noexcept {
        return count_.load(std::memory_order_relaxed) + spare_count_.load(std::memory_order_relaxed);
    }

private:
    friend class magazine_depot;

    bool spare_has_slots() const noexcept { return spare_count_.load(std::memory_order_relaxed) != 0; }

    // The spare magazine is loaded, and the loaded one is spare.
    void turn(std::size_t capacity) noexcept {
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

    // Both counts are relaxed everywhere: other threads read them only to sum them up, and look at no slot for it. At
    // the thread's end the depot's lock hands over slots and counts alike; a reset is ordered by whoever keeps others
    // away.
    std::atomic<std::size_t> count_{0};  // of slots in the loaded magazine
    std::size_t room_ = 0;               // for how many; 0 when none is loaded
    magazine* loaded_ = nullptr;
    magazine* spare_ = nullptr;
    std::atomic<std::size_t> spare_count_{0};
    thread_cache* next_ = nullptr;  // in a list of the depot's
};

static_assert(sizeof(thread_cache) == 64, "the caches of two threads never share a cache line");

}  // namespace acre::detail
