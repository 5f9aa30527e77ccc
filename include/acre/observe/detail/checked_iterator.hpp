// Iterates over the live objects of a checked pool.
//
// Used by acre::checked, not directly. Cost: a look-up of a record for each object of the pool beneath. Thread rules:
// those of acre::checked.
#pragma once

#include <acre/observe/detail/checked_form.hpp>
#include <acre/observe/detail/checked_records.hpp>
#include <cstddef>
#include <new>
#include <type_traits>

namespace acre::detail {

/// The live objects of a checked pool: those of the pool beneath that have a live record.
template <class Iterator, class T>
class checked_iterator {
public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;

    checked_iterator() noexcept = default;
    checked_iterator(Iterator at, Iterator end, checked_records& records) noexcept
        : at_(at), end_(end), records_(&records) {
        skip_freed();
    }

    reference operator*() const noexcept { return *std::launder(static_cast<pointer>(object())); }
    pointer operator->() const noexcept { return std::launder(static_cast<pointer>(object())); }
    checked_iterator& operator++() noexcept {
        ++at_;
        skip_freed();
        return *this;
    }
    checked_iterator operator++(int) noexcept {
        checked_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const checked_iterator& a, const checked_iterator& b) noexcept { return a.at_ == b.at_; }

private:
    void* object() const noexcept { return const_cast<std::byte*>(at_->storage) + fenced_slot<value_type>::alignment; }
    void skip_freed() noexcept {
        while (at_ != end_ && !records_->is_live_object(object())) ++at_;
    }

    Iterator at_;
    Iterator end_;
    checked_records* records_ = nullptr;
};

}  // namespace acre::detail
