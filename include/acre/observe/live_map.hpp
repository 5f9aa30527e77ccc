// Which allocations are live: the address of each, its bytes and its number in the order of allocation.
//
// Used by acre::statistics, and by itself where something else hands out the storage. Cost: constant time a call but
// for growing, 32 to 64 bytes of an upstream of its own an allocation; going back to a mark is linear. An allocation
// for which that upstream has no memory is not kept (see unrecorded()). Not thread-safe. Movable.
//
//     acre::live_map live;
//     live.add(p, 100);
//     live.report(stderr, "sessions");
//     live.remove(p);
#pragma once

#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace acre {

/// An allocation that was not given back yet.
struct live_allocation {
    const void* address = nullptr;
    std::size_t bytes = 0;     // as asked for
    std::uint64_t number = 0;  // of allocations recorded before it
};

/// The allocations that are live.
class live_map {
public:
    /// How many, and their bytes together.
    struct amount {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
    };

    constexpr live_map() noexcept = default;
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

    /// `bytes` bytes at `p` are live from now on.
    void add(const void* p, std::size_t bytes) noexcept {
        const std::uint64_t number = next_number_++;
        if (record* added = records_.insert(key_of(p))) {
            *added = {bytes, number};
        } else {
            ++unrecorded_;
        }
    }
    /// What lies at `p` is live no longer.
    void remove(const void* p) noexcept {
        if (!records_.erase(key_of(p)) && unrecorded_ != 0) --unrecorded_;
    }
    /// What lies at `p` has `bytes` bytes now.
    void resize(const void* p, std::size_t bytes) noexcept {
        if (record* resized = records_.find(key_of(p))) resized->bytes = bytes;
    }
    /// Removes what was added since next_number() was `first`, and says how much that was. Linear.
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
    /// Nothing is live any more.
    void clear() noexcept {
        records_.clear();
        unrecorded_ = 0;
    }

    /// Bytes of the allocation at `p`; empty when none begins there.
    std::optional<std::size_t> bytes_at(const void* p) const noexcept {
        const record* found = records_.find(key_of(p));
        return found == nullptr ? std::nullopt : std::optional{found->bytes};
    }
    /// How many are live and recorded.
    std::size_t size() const noexcept { return records_.size(); }
    /// How many are live and were not recorded, for want of memory.
    std::uint64_t unrecorded() const noexcept { return unrecorded_; }
    /// The number that the next allocation gets.
    std::uint64_t next_number() const noexcept { return next_number_; }

    /// All that are live, oldest first. Throws std::bad_alloc: the vector is the general heap's.
    std::vector<live_allocation> allocations() const {
        std::vector<live_allocation> result;
        result.reserve(size());
        for_each([&](const live_allocation& each) { result.push_back(each); });
        std::sort(result.begin(), result.end(), is_older);
        return result;
    }

    /// Writes what is live to `to`, a line each, oldest first, under a line that begins with `name`, and returns how
    /// many those are. Writes nothing when nothing is live. Sorts in memory of the map's upstream; where there is none
    /// the order is lost, not a line.
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
    void for_each(Function function) const {
        records_.for_each([&](std::size_t key, const record& each) {
            function(live_allocation{reinterpret_cast<const void*>(key), each.bytes, each.number});
        });
    }

    template <class Function>
    void for_each_in_order(Function function) const noexcept {
        const std::size_t bytes = size() * sizeof(live_allocation);
        const resource_ref upstream = records_.upstream();
        auto* first = static_cast<live_allocation*>(upstream.try_allocate(bytes, alignof(live_allocation)));
        if (first == nullptr) return for_each(function);
        live_allocation* last = first;
        for_each([&](const live_allocation& each) { std::construct_at(last++, each); });
        std::sort(first, last, is_older);
        std::for_each(first, last, function);
        upstream.deallocate(first, bytes, alignof(live_allocation));
    }

    detail::record_table<record> records_;
    std::uint64_t next_number_ = 0;
    std::uint64_t unrecorded_ = 0;
};

}  // namespace acre
