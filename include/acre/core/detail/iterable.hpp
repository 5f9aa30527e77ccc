// What a range-based for loop accepts. The standard's concepts are in <ranges>, which takes a compiler longer than all
// of an arena.
//
// Used by the library, not directly.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>

namespace acre::detail {

// Members, arrays, and functions found by the argument's namespace.
namespace begin_and_end {
using std::begin;
using std::end;
template <class Range>
auto first_of(Range& values) -> decltype(begin(values));
template <class Range>
auto last_of(Range& values) -> decltype(end(values));
}  // namespace begin_and_end

template <class First, class Last>
concept iterator_and_end = requires(First& first, const Last& last) {
    *first;
    ++first;
    { first != last } -> std::convertible_to<bool>;
};

template <class Range>
using iterator_of = decltype(begin_and_end::first_of(std::declval<Range&>()));
template <class Range>
using end_of = decltype(begin_and_end::last_of(std::declval<Range&>()));

/// A range whose elements can be visited at least once.
template <class Range>
concept iterable = iterator_and_end<iterator_of<Range>, end_of<Range>>;

/// What a loop over a Range sees as an element.
template <class Range>
using element_of = decltype(*std::declval<iterator_of<Range>&>());

/// Number of elements of a range, and 0 where only a loop would tell.
template <class Range>
constexpr std::size_t known_size(const Range& values) {
    using std::size;
    if constexpr (requires { size(values); }) return static_cast<std::size_t>(size(values));
    return 0;
}

}  // namespace acre::detail
