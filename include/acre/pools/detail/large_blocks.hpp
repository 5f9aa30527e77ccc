// Requests that no slot of a pool fits: each gets a block of its own from upstream. A record in front of the storage
// lets release() and the pool's end give blocks back that were not freed.
//
// Cost: one upstream call and 48 bytes per block; moving is linear in the number of blocks. Not thread-safe.
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace acre::detail {

/// A doubly linked list of upstream blocks.
class large_blocks {
public:
    large_blocks() noexcept = default;
    large_blocks(large_blocks&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          count_(std::exchange(other.count_, 0)) {
        for (record* each = first_; each != nullptr; each = each->next) each->owner = name();
    }
    large_blocks& operator=(large_blocks&&) = delete;

    /// Returns a block of `bytes` bytes aligned to `alignment`, a power of two; null when upstream has no memory.
    void* try_allocate(resource_ref upstream, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t all = upstream_bytes(bytes, alignment);
        if (all > max_request) return nullptr;
        auto* start = static_cast<std::byte*>(upstream.try_allocate(all, detail::max(alignment, alignof(record))));
        if (start == nullptr) return nullptr;
        const std::size_t offset = offset_for(alignment);
        auto* added = ::new (record_of(start + offset))
            record{name(), nullptr, first_, detail::max<std::size_t>(bytes, 1), alignment};
        poison(added + 1, redzone_bytes);
        poison(start + offset + bytes, all - offset - bytes);
        for (const void*& each : last_freed_) {
            if (each == start + offset) each = nullptr;
        }
        if (first_ != nullptr) first_->previous = added;
        first_ = added;
        bytes_ += all;
        ++count_;
        return start + offset;
    }

    /// Gives a block back to upstream. Returns null, or the sentence for the mistake that the record in front of `p`
    /// tells of: then nothing has changed.
    [[nodiscard]] const char* deallocate(resource_ref upstream, void* p, std::size_t bytes,
                                         std::size_t alignment) noexcept {
        if (const char* what = mistake_with(p)) return what;
        record* removed = record_of(p);
        if (removed->bytes != detail::max<std::size_t>(bytes, 1) || removed->alignment != alignment)
            return mistake::wrong_size;
        give_back(upstream, removed);
        return nullptr;
    }

    /// As deallocate, without a known size.
    [[nodiscard]] const char* deallocate_unsized(resource_ref upstream, void* p) noexcept {
        if (const char* what = mistake_with(p)) return what;
        give_back(upstream, record_of(p));
        return nullptr;
    }

    /// The sentence for the mistake in freeing `p`; null when it is a block of this list. Reads what lies in front of
    /// `p`, but nothing when there are no blocks. A double free is told from other mistakes until upstream uses the
    /// memory again; of the last four freed blocks always.
    const char* mistake_with(const void* p) const noexcept {
        for (const void* each : last_freed_) {
            if (each == p) return mistake::double_free;
        }
        if (count_ == 0) return mistake::foreign_pointer;
        const record* tested = record_of(const_cast<void*>(p));
        if (!is_poisoned(tested) && tested->owner == name()) return nullptr;
        if (owns(p)) return mistake::inside_an_allocation;
        return !is_poisoned(tested) && tested->alignment == freed_mark() ? mistake::double_free
                                                                         : mistake::foreign_pointer;
    }

    /// Gives all blocks back to upstream.
    void release(resource_ref upstream) noexcept {
        while (first_ != nullptr) give_back(upstream, first_);
    }

    /// Bytes asked of upstream for a block of `bytes` bytes aligned to `alignment`, with its record. SIZE_MAX when such
    /// a block is impossible.
    static constexpr std::size_t upstream_bytes(std::size_t bytes, std::size_t alignment) noexcept {
        if (bytes > max_request / 2 || alignment > max_request / 2) return SIZE_MAX;
        // At least 1 byte, so that an empty block has an address of its own. A multiple of the alignment, because some
        // standard resources require it.
        return align_up(offset_for(alignment) + detail::max<std::size_t>(bytes, 1) + redzone_bytes,
                        detail::max(alignment, alignof(record)));
    }

    /// Bytes held from upstream, records included.
    std::size_t held_bytes() const noexcept { return bytes_; }
    /// Number of blocks.
    std::size_t count() const noexcept { return count_; }
    /// What in the blocks' records does not agree, or null. Linear in the number of blocks.
    const char* broken_invariant() const noexcept {
        std::size_t count = 0;
        std::size_t bytes = 0;
        const record* before = nullptr;
        for (const record* each = first_; each != nullptr; before = each, each = each->next) {
            if (++count > count_ || each->owner != name() || each->previous != before)
                return "the record in front of a large block was overwritten";
            bytes += upstream_bytes(each->bytes, each->alignment);
        }
        return count == count_ && bytes == bytes_ ? nullptr : "large blocks hold other bytes than counted";
    }
    /// True when `p` points into a block. Linear in the number of blocks.
    bool owns(const void* p) const noexcept {
        for (const record* each = first_; each != nullptr; each = each->next) {
            const auto* start = reinterpret_cast<const std::byte*>(each + 1) + redzone_bytes;
            if (p >= start && p < start + each->bytes) return true;
        }
        return false;
    }

private:
    struct record {
        std::uintptr_t owner;  // the list's name(); 0 once the block was freed
        record* previous;
        record* next;
        std::size_t bytes;      // of the storage, at least 1
        std::size_t alignment;  // as requested; freed_mark() once the block was freed: allocators write to the
                                // beginning of free memory, and this is the end of the record
    };

    // Odd, so that no pointer equals it: memory in front of what is not a block may well hold the list's address.
    std::uintptr_t name() const noexcept { return reinterpret_cast<std::uintptr_t>(this) + 1; }

    static record* record_of(void* p) noexcept {
        return reinterpret_cast<record*>(static_cast<std::byte*>(p) - redzone_bytes) - 1;
    }
    // No alignment.
    std::size_t freed_mark() const noexcept { return name(); }

    void give_back(resource_ref upstream, record* removed) noexcept {
        (removed->previous == nullptr ? first_ : removed->previous->next) = removed->next;
        if (removed->next != nullptr) removed->next->previous = removed->previous;
        const std::size_t offset = offset_for(removed->alignment);
        const std::size_t bytes = upstream_bytes(removed->bytes, removed->alignment);
        const std::size_t alignment = detail::max(removed->alignment, alignof(record));
        std::byte* storage = reinterpret_cast<std::byte*>(removed + 1) + redzone_bytes;
        std::byte* start = storage - offset;
        removed->owner = 0;
        removed->alignment = freed_mark();
        last_freed_[freed_++ % 4] = storage;
        bytes_ -= bytes;
        --count_;
        unpoison_defined(removed + 1, redzone_bytes);
        unpoison_defined(storage + removed->bytes, bytes - offset - removed->bytes);
        unpoison_defined(storage, 1);
        upstream.deallocate(start, bytes, alignment);
    }

    // Offset of the storage in the block; the record lies right in front of it.
    static constexpr std::size_t offset_for(std::size_t alignment) noexcept {
        return align_up(sizeof(record) + redzone_bytes, detail::max(alignment, alignof(record)));
    }

    record* first_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t count_ = 0;
    const void* last_freed_[4] = {};  // the storage of the blocks that were freed last
    std::size_t freed_ = 0;
};

}  // namespace acre::detail
