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
        for (record* each = first_; each != nullptr; each = each->next) each->owner = this;
    }
    large_blocks& operator=(large_blocks&&) = delete;

    /// Returns a block of `bytes` bytes aligned to `alignment`, a power of two; null when upstream has no memory.
    void* try_allocate(resource_ref upstream, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t all = upstream_bytes(bytes, alignment);
        if (all > max_request) return nullptr;
        auto* start = static_cast<std::byte*>(upstream.try_allocate(all, detail::max(alignment, alignof(record))));
        if (start == nullptr) return nullptr;
        const std::size_t offset = offset_for(alignment);
        auto* added = ::new (start + offset - sizeof(record))
            record{this, nullptr, first_, detail::max<std::size_t>(bytes, 1), alignment};
        if (first_ != nullptr) first_->previous = added;
        first_ = added;
        bytes_ += all;
        ++count_;
        return start + offset;
    }

    /// Gives a block back to upstream. Aborts with a message naming `name` when the record in front of `p` does not
    /// name this list, size and alignment: on a wrong size, a pointer of another pool, and in most cases a double free.
    void deallocate(resource_ref upstream, const char* name, void* p, std::size_t bytes,
                    std::size_t alignment) noexcept {
        record* removed = static_cast<record*>(p) - 1;
        if (!is_record_of(removed, detail::max<std::size_t>(bytes, 1), alignment)) [[unlikely]]
            abort_on_misuse(name, "a large block was freed twice, with another size, or to another pool", p);
        give_back(upstream, removed);
    }

    /// As deallocate, without a known size.
    void deallocate_unsized(resource_ref upstream, const char* name, void* p) noexcept {
        check_live(name, p);
        give_back(upstream, static_cast<record*>(p) - 1);
    }

    /// Aborts with a message, as deallocate_unsized would, unless `p` is a block of this list.
    void check_live(const char* name, const void* p) const noexcept {
        const bool lives = count_ != 0 && (static_cast<const record*>(p) - 1)->owner == this;
        if (!lives) abort_on_misuse(name, "a block was freed twice, or is of another resource", p);
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
        return align_up(offset_for(alignment) + detail::max<std::size_t>(bytes, 1),
                        detail::max(alignment, alignof(record)));
    }

    /// Bytes held from upstream, records included.
    std::size_t held_bytes() const noexcept { return bytes_; }
    /// Number of blocks.
    std::size_t count() const noexcept { return count_; }
    /// True when `p` points into a block. Linear in the number of blocks.
    bool owns(const void* p) const noexcept {
        for (const record* each = first_; each != nullptr; each = each->next) {
            const auto* start = reinterpret_cast<const std::byte*>(each + 1);
            if (p >= start && p < start + each->bytes) return true;
        }
        return false;
    }

private:
    struct record {
        const large_blocks* owner;
        record* previous;
        record* next;
        std::size_t bytes;      // of the storage, at least 1
        std::size_t alignment;  // as requested
    };

    bool is_record_of(const record* tested, std::size_t bytes, std::size_t alignment) const noexcept {
        return tested->owner == this && tested->bytes == bytes && tested->alignment == alignment;
    }

    void give_back(resource_ref upstream, record* removed) noexcept {
        (removed->previous == nullptr ? first_ : removed->previous->next) = removed->next;
        if (removed->next != nullptr) removed->next->previous = removed->previous;
        const std::size_t offset = offset_for(removed->alignment);
        const std::size_t bytes = upstream_bytes(removed->bytes, removed->alignment);
        const std::size_t alignment = detail::max(removed->alignment, alignof(record));
        auto* start = reinterpret_cast<std::byte*>(removed + 1) - offset;
        // A second free finds no owner and aborts.
        removed->owner = nullptr;
        bytes_ -= bytes;
        --count_;
        upstream.deallocate(start, bytes, alignment);
    }

    // Offset of the storage in the block; the record lies right in front of it.
    static constexpr std::size_t offset_for(std::size_t alignment) noexcept {
        return align_up(sizeof(record), detail::max(alignment, alignof(record)));
    }

    record* first_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t count_ = 0;
};

}  // namespace acre::detail
