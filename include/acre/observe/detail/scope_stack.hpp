// The open scopes of an acre::statistics, each with the counts of its own. Used by acre::statistics, not directly.
//
// Cost: one more set of counts a call; about 100 bytes of an upstream of its own an open scope. Not thread-safe.
// Movable.
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics_counts.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace acre::detail {

/// Counts of the innermost scope, and beneath them those of the outer ones.
class scope_stack {
public:
    constexpr scope_stack() noexcept = default;
    explicit scope_stack(resource_ref upstream) noexcept : upstream_(upstream) {}
    scope_stack(scope_stack&& other) noexcept
        : innermost_(std::exchange(other.innermost_, {})),
          outer_(std::exchange(other.outer_, nullptr)),
          upstream_(other.upstream_) {}
    scope_stack& operator=(scope_stack&& other) noexcept {
        if (this == &other) return *this;
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }
    ~scope_stack() {
        while (outer_ != nullptr) drop();
    }

    /// Counts of the scope that was begun last.
    statistics_counts& innermost() noexcept { return innermost_; }

    /// Begins a scope in which `live` is what is live. Throws out_of_memory; false without exceptions.
    bool push(const statistics_counts& live) {
        void* storage = upstream_.try_allocate(sizeof(saved), alignof(saved));
        if (storage == nullptr) {
            raise(out_of_memory{"acre::statistics", sizeof(saved), alignof(saved)});
            return false;
        }
        outer_ = ::new (storage) saved{innermost_, outer_, live.allocations.value, live.bytes.value};
        innermost_ = live.anew();
        return true;
    }

    /// Ends the scope begun last: what it counted is counted in the next outer one too.
    statistics_scope pop() noexcept {
        if (outer_ == nullptr) abort_on_misuse("acre::statistics", "a scope was ended that had not begun", this);
        const statistics_scope result{innermost_, outer_->allocations_before, outer_->bytes_before};
        innermost_ = outer_->counts;
        drop();
        merge(innermost_.allocations, result.counts.allocations);
        merge(innermost_.bytes, result.counts.bytes);
        innermost_.failures += result.counts.failures;
        innermost_.largest = std::max(innermost_.largest, result.counts.largest);
        return result;
    }

    /// All scopes count anew, as if they began while `live` is what is live.
    void restart(const statistics_counts& live) noexcept {
        innermost_ = live.anew();
        for (saved* each = outer_; each != nullptr; each = each->outer) {
            each->counts = innermost_;
            each->allocations_before = live.allocations.value;
            each->bytes_before = live.bytes.value;
        }
    }

private:
    struct saved {
        statistics_counts counts;  // of the scope around
        saved* outer;
        std::uint64_t allocations_before;
        std::uint64_t bytes_before;
    };

    static void merge(statistics_counter& outer, const statistics_counter& inner) noexcept {
        outer.value = inner.value;
        outer.peak = std::max(outer.peak, inner.peak);
        outer.total += inner.total;
    }

    void drop() noexcept { upstream_.deallocate(std::exchange(outer_, outer_->outer), sizeof(saved), alignof(saved)); }

    statistics_counts innermost_;
    saved* outer_ = nullptr;
    resource_ref upstream_ = heap{};
};

}  // namespace acre::detail
