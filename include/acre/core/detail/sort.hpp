// Sorts an array in place, for reports. The standard's sort is in <algorithm>, which takes a compiler longer than all
// of an arena.
//
// Used by the library, not directly. Cost: n log n comparisons, whatever the order; no memory.
#pragma once

#include <cstddef>
#include <utility>

namespace acre::detail {

/// Restores the order of a heap in [first, first + count) whose element at `parent` may be less than its children.
template <class T, class Less>
void sift_down(T* first, std::size_t parent, std::size_t count, Less less) noexcept {
    for (std::size_t child; (child = 2 * parent + 1) < count; parent = child) {
        if (child + 1 < count && less(first[child], first[child + 1])) ++child;
        if (!less(first[parent], first[child])) return;
        std::swap(first[parent], first[child]);
    }
}

/// A heap sort.
template <class T, class Less>
void sort(T* first, std::size_t count, Less less) noexcept {
    for (std::size_t parent = count / 2; parent > 0; --parent) detail::sift_down(first, parent - 1, count, less);
    for (; count > 1; --count) {
        std::swap(first[0], first[count - 1]);
        detail::sift_down(first, 0, count - 1, less);
    }
}

}  // namespace acre::detail
