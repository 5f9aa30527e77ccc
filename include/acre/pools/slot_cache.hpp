// The free slots that a thread keeps of a concurrent pool: the magazine it takes from and puts into, and a spare one, so
// that a thread which allocates and frees in turns at the edge of one does not go to the depot each time.
//
// Used by acre::concurrent_pool and acre::static_pool, not directly. All null at first: the first operation fetches a
// magazine.
//
// Cost: take and put are four instructions. For one thread.
#pragma once

#include <acre/pools/slot_depot.hpp>
#include <cstddef>
#include <utility>

namespace acre {

/// Two magazines of one thread.
class slot_cache {
public:
    /// Sets `slot` to a free slot; false when the magazine is empty.
    [[gnu::always_inline]] bool take(void*& slot) noexcept {
        if (top_ == bottom_) [[unlikely]]
            return false;
        slot = *--top_;
        return true;
    }

    /// Keeps a free slot; false when the magazine is full.
    [[gnu::always_inline]] bool put(void* slot) noexcept {
        if (top_ == end_) [[unlikely]]
            return false;
        *top_++ = slot;
        return true;
    }

    /// A free slot when take gave none; null when upstream has no memory. `exchange_empty` is the depot's.
    template <class Exchange>
    void* take_from_next(std::size_t capacity, Exchange exchange_empty) noexcept {
        magazine* empty = unload();
        if (spare_ == nullptr || spare_->count == 0) {
            magazine* fetched = exchange_empty(std::exchange(spare_, nullptr));
            if (fetched == nullptr) return load(empty, capacity), nullptr;
            spare_ = fetched;
        }
        load(std::exchange(spare_, empty), capacity);
        void* slot = nullptr;
        take(slot);
        return slot;
    }

    /// Keeps a free slot when put could not: in the spare magazine, or in an empty one of the depot's, whose
    /// `exchange_full` this is. False when there is none.
    template <class Exchange>
    bool put_into_next(void* slot, std::size_t capacity, Exchange exchange_full) noexcept {
        magazine* full = unload();
        if (spare_ == nullptr || spare_->count != 0) spare_ = exchange_full(spare_);
        if (spare_ == nullptr) return load(full, capacity), false;
        load(std::exchange(spare_, full), capacity);
        return put(slot);
    }

    /// Gives both magazines to `adopt` and is empty then.
    template <class Adopt>
    void give_up(Adopt adopt) noexcept {
        adopt(unload());
        adopt(std::exchange(spare_, nullptr));
        top_ = bottom_ = end_ = nullptr;
    }

private:
    magazine* unload() noexcept {
        if (loaded_ != nullptr) loaded_->count = static_cast<std::size_t>(top_ - bottom_);
        return std::exchange(loaded_, nullptr);
    }

    void load(magazine* loaded, std::size_t capacity) noexcept {
        loaded_ = loaded;
        bottom_ = loaded == nullptr ? nullptr : loaded->slots();
        top_ = loaded == nullptr ? nullptr : bottom_ + loaded->count;
        end_ = loaded == nullptr ? nullptr : bottom_ + capacity;
    }

    void** top_ = nullptr;     // behind the slot that goes out next
    void** bottom_ = nullptr;  // the first slot of the magazine
    void** end_ = nullptr;     // behind the last that fits
    magazine* loaded_ = nullptr;
    magazine* spare_ = nullptr;
};

}  // namespace acre
