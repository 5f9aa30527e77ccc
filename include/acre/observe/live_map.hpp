// The live allocations: the address, bytes and sequence number of each.
//
// acre::statistics with .live_map keeps one. Use it directly where something else hands out the storage. Cost: constant
// time per call except for growing, and 32 to 64 bytes per allocation from an upstream of its own. Rewinding to a mark
// is linear. An upstream of small pieces takes a piece an allocation, and a step for each two bits of their number. An
// allocation for whose record upstream has no memory is only counted (unrecorded()). Not thread-safe. Movable.
//
//     acre::live_map live;
//     void* p = std::malloc(100);
//     live.add(p, 100);
//     live.report(stderr, "sessions");
//     live.remove(p);
//     std::free(p);
#pragma once

#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/sort.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <acre/observe/size_histogram.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace acre {

/// A live allocation.
struct live_allocation {
    /// Where it begins.
    const void* address = nullptr;
    std::size_t bytes = 0;     // as requested
    std::uint64_t number = 0;  // of allocations added before it
};

/// The allocations that are live.
class live_map {
public:
    /// A number of allocations and their total bytes.
    struct amount {
        /// Number of allocations.
        std::uint64_t count = 0;
        /// Bytes of all of them, as requested.
        std::uint64_t bytes = 0;
    };

    constexpr live_map() noexcept = default;
    /// Its records come from `upstream`, which must live longer. Takes no memory yet.
    explicit live_map(resource_ref upstream) noexcept : records_(upstream) {}
    live_map(live_map&& other) noexcept
        : records_(std::move(other.records_)),
          next_number_(std::exchange(other.next_number_, 0)),
          unrecorded_(std::exchange(other.unrecorded_, 0)) {}
    live_map& operator=(live_map&& other) noexcept {
        records_ = std::move(other.records_);
        next_number_ = std::exchange(other.next_number_, 0);
        unrecorded_ = std::exchange(other.unrecorded_, 0);
        return *this;
    }

    /// Adds the allocation of `bytes` bytes at `p`.
    void add(const void* p, std::size_t bytes) noexcept {
        const std::uint64_t number = next_number_++;
        if (record* added = records_.insert(key_of(p))) {
            *added = {bytes, number};
        } else {
            ++unrecorded_;
        }
    }
    /// Removes the allocation at `p`. False when none is live there.
    bool remove(const void* p) noexcept {
        if (records_.erase(key_of(p))) return true;
        if (unrecorded_ == 0) return false;
        --unrecorded_;
        return true;
    }
    /// Sets the size of the allocation at `p`.
    void resize(const void* p, std::size_t bytes) noexcept {
        if (record* resized = records_.find(key_of(p))) resized->bytes = bytes;
    }
    /// Removes all that were added since next_number() was `first`, and returns how much that was. Linear.
    amount remove_from(std::uint64_t first) noexcept {
        amount removed;
        records_.erase_if([&](const record& each) {
            if (each.number < first) return false;
            ++removed.count;
            removed.bytes += each.bytes;
            return true;
        });
        return removed;
    }
    /// Removes all.
    void clear() noexcept {
        records_.clear();
        unrecorded_ = 0;
    }

    /// Bytes of the allocation at `p`; empty when none begins there.
    std::optional<std::size_t> bytes_at(const void* p) const noexcept {
        const record* found = records_.find(key_of(p));
        if (found == nullptr) return std::nullopt;
        return found->bytes;
    }
    /// Number of recorded live allocations.
    std::size_t size() const noexcept { return records_.size(); }
    /// Number of live allocations without a record, for lack of memory.
    std::uint64_t unrecorded() const noexcept { return unrecorded_; }
    /// The number of the next allocation.
    std::uint64_t next_number() const noexcept { return next_number_; }

    /// Calls `function(const live_allocation&)` for each recorded live allocation, in no order and without memory.
    template <class Function>
    void for_each(Function function) const {
        records_.for_each([&](std::size_t key, const record& each) {
            function(live_allocation{reinterpret_cast<const void*>(key), each.bytes, each.number});
        });
    }
    /// All live allocations, oldest first. Throws std::bad_alloc: the vector uses the general heap.
    /// A template, so that only a program that calls it compiles the vector.
    template <class Allocation = live_allocation>
    std::vector<Allocation> allocations() const {
        std::vector<Allocation> result(size());
        Allocation* next = result.data();
        for_each([&](const live_allocation& each) { *next++ = each; });
        detail::sort(result.data(), result.size(), is_older);
        return result;
    }

    /// Bytes of each live allocation by its address, for look-up: by_address().at(p), or as a std::map. Throws
    /// std::bad_alloc: it uses the general heap.
    template <class Bytes = std::size_t>
    detail::sorted_entries<const void*, Bytes> by_address() const {
        return {size(), [this](const auto& add) {
                    this->for_each([&](const live_allocation& each) { add(each.address, each.bytes); });
                }};
    }
    /// The sizes of the live allocations, in memory of this map's upstream. Linear.
    size_histogram sizes() const noexcept {
        size_histogram result{records_.upstream()};
        for_each([&](const live_allocation& each) { result.add(each.bytes); });
        return result;
    }

    /// Writes a line for each live allocation to `to`, oldest first, under a heading that begins with `name`, and
    /// returns their number. Writes nothing when nothing is live. Sorts in memory of the map's upstream; without memory
    /// the lines are unsorted.
    std::size_t report(std::FILE* to, const char* name) const noexcept {
        if (size() == 0 && unrecorded_ == 0) return 0;
        std::uint64_t bytes = 0;
        for_each([&](const live_allocation& each) { bytes += each.bytes; });
        std::fprintf(to, "%s: %zu allocations of %llu bytes are still live\n", name, size(),
                     static_cast<unsigned long long>(bytes));
        for_each_in_order([&](const live_allocation& each) {
            std::fprintf(to, "  %p  %zu bytes, allocation %llu\n", each.address, each.bytes,
                         static_cast<unsigned long long>(each.number));
        });
        if (unrecorded_ != 0) {
            std::fprintf(to, "  and %llu more, for whose records there was no memory\n",
                         static_cast<unsigned long long>(unrecorded_));
        }
        return size();
    }

private:
    struct record {
        std::size_t bytes = 0;
        std::uint64_t number = 0;
    };

    static std::size_t key_of(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }
    static bool is_older(const live_allocation& a, const live_allocation& b) noexcept { return a.number < b.number; }

    template <class Function>
    void for_each_in_order(Function function) const noexcept {
        const std::size_t bytes = size() * sizeof(live_allocation);
        const resource_ref upstream = records_.upstream();
        auto* first = static_cast<live_allocation*>(upstream.try_allocate(bytes, alignof(live_allocation)));
        if (first == nullptr) return for_each(function);
        live_allocation* last = first;
        for_each([&](const live_allocation& each) { detail::construct_at(last++, each); });
        const auto count = static_cast<std::size_t>(last - first);
        detail::sort(first, count, is_older);
        for (std::size_t i = 0; i < count; ++i) function(std::as_const(first[i]));
        upstream.deallocate(first, bytes, alignof(live_allocation));
    }

    detail::record_table<record> records_;
    std::uint64_t next_number_ = 0;
    std::uint64_t unrecorded_ = 0;
};

}  // namespace acre
