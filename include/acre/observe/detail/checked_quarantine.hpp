// The freed allocations that acre::checked holds back, oldest first: a ring of their records.
//
// Used by acre::checked, not directly. Cost: constant time; the ring takes its memory once. Not thread-safe.
#pragma once

#include <acre/core/resource_ref.hpp>
#include <acre/observe/detail/checked_record.hpp>
#include <acre/observe/detail/record_list.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace acre::detail {

class checked_quarantine {
public:
    checked_quarantine(resource_ref memory, std::size_t max_held, std::size_t max_bytes) noexcept
        : ring_(memory), max_held_(max_held), max_bytes_(max_bytes) {}
    checked_quarantine(checked_quarantine&& other) noexcept
        : ring_(std::move(other.ring_)),
          last_(std::exchange(other.last_, nullptr)),
          next_(std::exchange(other.next_, nullptr)),
          held_(std::exchange(other.held_, 0)),
          max_held_(other.max_held_),
          bytes_(std::exchange(other.bytes_, 0)),
          max_bytes_(other.max_bytes_) {}
    checked_quarantine& operator=(checked_quarantine&&) = delete;

    /// Takes the memory of the ring; false when there is none. Before the first add.
    bool prepare() noexcept {
        const std::size_t entries = max_held_ + 1;
        if (next_ != nullptr) return true;
        if (!ring_.reserve(entries)) return false;
        while (ring_.size() != entries) ring_.push(nullptr);
        next_ = ring_.data();
        last_ = next_ + max_held_;
        return true;
    }

    /// Adds a record, and takes the oldest out if there is more now than the options allow; else returns null.
    checked_record* exchange(checked_record& freed) noexcept {
        *next_ = &freed;
        next_ = after(next_);
        ++held_;
        bytes_ += freed.bytes;
        return is_overfull() ? &take() : nullptr;
    }
    /// The entry of the oldest record, if the next one makes it leave. Null, or an entry that is null, when none would.
    [[gnu::always_inline]] checked_record** leaves_next() noexcept { return after(next_); }
    /// Takes the record at leaves_next() out, which has `bytes` bytes.
    [[gnu::always_inline]] void take_at(checked_record** leaves, std::size_t bytes) noexcept {
        --held_;
        bytes_ -= bytes;
        *leaves = nullptr;
    }
    /// Adds a record, and takes the one at leaves_next() out, which has as many bytes.
    [[gnu::always_inline]] void exchange_at(checked_record** leaves, checked_record& freed) noexcept {
        *leaves = nullptr;
        *next_ = &freed;
        next_ = leaves;
    }
    /// Adds a record of `bytes` bytes where leaves_next() is null and at least one may be held. False, and nothing
    /// done, when the limit of the bytes makes others leave.
    [[gnu::always_inline]] bool add(checked_record& freed, std::size_t bytes) noexcept {
        checked_record** const leaves = leaves_next();
        if (bytes_ + bytes > max_bytes_) [[unlikely]]
            return false;
        *next_ = &freed;
        next_ = leaves;
        ++held_;
        bytes_ += bytes;
        return true;
    }
    /// True when more is held back than the options allow.
    [[gnu::always_inline]] bool is_overfull() const noexcept { return held_ > max_held_ || bytes_ > max_bytes_; }
    /// Takes the longest held one out. There must be one.
    [[gnu::noinline]] checked_record& take() noexcept {
        checked_record** const oldest = first();
        --held_;
        bytes_ -= (*oldest)->bytes;
        return *std::exchange(*oldest, nullptr);
    }

    /// Drops those that were allocated from `number` on.
    void drop_from(std::uint64_t number) noexcept {
        checked_record** at = next_ = first();
        bytes_ = 0;
        for (std::size_t left = std::exchange(held_, 0); left != 0; --left, at = after(at)) {
            checked_record* each = std::exchange(*at, nullptr);
            if (each->number < number) exchange(*each);
        }
    }

    std::size_t held() const noexcept { return held_; }
    std::size_t max_held() const noexcept { return max_held_; }

private:
    [[gnu::always_inline]] checked_record** after(checked_record** entry) noexcept {
        return entry == last_ ? ring_.data() : entry + 1;
    }
    // The entries that are held lie in front of next_. The others are null.
    checked_record** first() noexcept {
        const auto in_front = static_cast<std::size_t>(next_ - ring_.data());
        return in_front >= held_ ? next_ - held_ : next_ + (max_held_ + 1 - held_);
    }

    record_list<checked_record*> ring_;  // one entry more than are held
    checked_record** last_ = nullptr;    // of the ring
    checked_record** next_ = nullptr;
    std::size_t held_ = 0;
    std::size_t max_held_;
    // Not beside held_: the compiler would change both at once, and the processor would wait for the halves.
    std::size_t bytes_ = 0;
    std::size_t max_bytes_;
};

}  // namespace acre::detail
