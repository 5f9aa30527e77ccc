// Walks the live objects of an acre::object_pool in address order.
#pragma once

#include <acre/pools/detail/bitmap_slabs.hpp>
#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>

namespace acre::detail {

/// Forward iterator over the live objects of `Pool`, as T or const T. The object it stands on may be destroyed before
/// it moves on; objects destroyed ahead of it are passed over; objects created meanwhile may be visited, so a loop that
/// creates one at each step may never end.
template <class Pool, class T>
class live_iterator {
public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;

    live_iterator() noexcept = default;
    explicit live_iterator(const Pool& walked) noexcept : pool_(&walked), at_(walked.first_live()) {}

    reference operator*() const noexcept { return *std::launder(static_cast<pointer>(at_.slot)); }
    pointer operator->() const noexcept { return std::launder(static_cast<pointer>(at_.slot)); }

    live_iterator& operator++() noexcept {
        pool_->advance(at_);
        return *this;
    }
    live_iterator operator++(int) noexcept {
        live_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const live_iterator& a, const live_iterator& b) noexcept { return a.at_.slot == b.at_.slot; }

private:
    const Pool* pool_ = nullptr;
    bitmap_slabs::position at_;
};

}  // namespace acre::detail
