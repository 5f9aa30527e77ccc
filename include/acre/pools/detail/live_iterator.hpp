// Iterates over the live objects of a pool, or of a checked one, in address order.
//
// Used by acre::object_pool and acre::checked, not directly. `Walk` says where the objects are: object() is the address
// of the current one, null at the end, and next() goes on. The current object may be destroyed before the iterator
// moves on. It skips objects destroyed ahead of it. It may visit objects created meanwhile, so a loop that creates one
// at each step may never end. Cost: that of the walk. Thread rules: those of the pool.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace acre::detail {

/// Forward iterator over objects, as T or const T.
template <class Walk, class T>
class live_iterator {
public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;

    live_iterator() noexcept = default;
    explicit live_iterator(const Walk& first) noexcept : at_(first) {}

    reference operator*() const noexcept { return *std::launder(static_cast<pointer>(at_.object())); }
    pointer operator->() const noexcept { return std::launder(static_cast<pointer>(at_.object())); }

    live_iterator& operator++() noexcept {
        at_.next();
        return *this;
    }
    live_iterator operator++(int) noexcept {
        live_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const live_iterator& a, const live_iterator& b) noexcept {
        return a.at_.object() == b.at_.object();
    }

private:
    Walk at_;
};

}  // namespace acre::detail
