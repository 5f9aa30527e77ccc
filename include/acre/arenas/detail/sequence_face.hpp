// Members of std::vector and std::string that arena_vector and basic_arena_string have alike, written once.
//
// Used by these two, not directly. Self has data, size, reserve, clear, resize(count, value), append(first, last) and
// erase(first, last).
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/iterable.hpp>
#include <acre/core/detail/referred.hpp>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre::detail {

template <class From, class R>
constexpr bool is_allocator_of = false;
template <class T, class R>
constexpr bool is_allocator_of<allocator<T, R>, R> = true;

/// What a constructor takes memory from: an R, a pointer to it, a handle, or what get_allocator returns.
template <class From, class R>
concept memory_of =
    std::is_convertible_v<From, R&> || stands_for<From, R> || is_allocator_of<std::remove_cvref_t<From>, R>;

template <class Self, class T, class R>
class sequence_face {
public:
    using value_type = T;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using pointer = T*;
    using const_pointer = const T*;
    using iterator = T*;
    using const_iterator = const T*;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    iterator begin() noexcept { return self().data(); }
    iterator end() noexcept { return begin() + self().size(); }
    const_iterator begin() const noexcept { return self().data(); }
    const_iterator end() const noexcept { return begin() + self().size(); }
    const_iterator cbegin() const noexcept { return begin(); }
    const_iterator cend() const noexcept { return end(); }
    reverse_iterator rbegin() noexcept { return reverse_iterator{end()}; }
    reverse_iterator rend() noexcept { return reverse_iterator{begin()}; }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator{end()}; }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator{begin()}; }
    const_reverse_iterator crbegin() const noexcept { return rbegin(); }
    const_reverse_iterator crend() const noexcept { return rend(); }

    /// The element `index`. Throws std::out_of_range if there is none; without exceptions it aborts.
    T& at(std::size_t index) { return require_below_size(index), begin()[index]; }
    const T& at(std::size_t index) const { return require_below_size(index), begin()[index]; }
    T& front() noexcept { return assert(begin() != end()), *begin(); }
    const T& front() const noexcept { return assert(begin() != end()), *begin(); }
    T& back() noexcept { return assert(begin() != end()), end()[-1]; }
    const T& back() const noexcept { return assert(begin() != end()), end()[-1]; }

    /// A standard allocator of the same resource, of which a container or another of these can be made. Include
    /// <acre/adapt/allocator.hpp>.
    auto get_allocator() const noexcept { return allocator<T, R>{self().referred()}; }

    /// Replaces the elements by those of [first, last), which tells its size where last - first does. Only text may be
    /// part of itself. Throws what the resource throws; then nothing has changed. Of a range that does not tell its
    /// size the elements that fit are there instead.
    template <class First, class Last>
        requires iterator_and_end<First, Last>
    Self& assign(First first, Last last) {
        if constexpr (std::is_assignable_v<Self&, std::string_view> &&
                      std::is_constructible_v<std::string_view, First, Last>) {
            return self() = std::string_view{first, last};
        } else {
            if constexpr (requires { static_cast<std::size_t>(last - first); })
                self().reserve(static_cast<std::size_t>(last - first));
            self().clear();
            self().append(first, last);
            return self();
        }
    }
    Self& assign(std::initializer_list<T> values) { return assign(values.begin(), values.end()); }
    /// Replaces the elements by `count` copies of `value`, which may be one of them.
    Self& assign(std::size_t count, const T& value) {
        const T copy = value;
        self().reserve(count);
        self().clear();
        self().resize(count, copy);
        return self();
    }
    Self& append(std::initializer_list<T> values) {
        self().append(values.begin(), values.end());
        return self();
    }

    // A template, so that a literal 0 is no position but an index.
    /// Inserts copies of a range before `position`. The range may be a contiguous part of this. If a copy throws, those
    /// before it stay appended.
    template <std::convertible_to<const_iterator> Position, class First, class Last>
        requires iterator_and_end<First, Last>
    iterator insert(Position position, First first, Last last) {
        return insert_appended(position, [&] { self().append(first, last); });
    }
    template <std::convertible_to<const_iterator> Position>
    iterator insert(Position position, std::size_t count, const T& value) {
        return insert_appended(position, [&] { self().resize(self().size() + count, value); });
    }
    iterator insert(const_iterator position, std::initializer_list<T> values) {
        return insert(position, values.begin(), values.end());
    }
    template <std::convertible_to<const_iterator> Position>
    iterator erase(Position position) {
        return self().erase(position, position + 1);
    }

    /// These three, of C++23, take a range.
    template <iterable Range>
    void append_range(Range&& values) {
        using std::begin, std::end;
        self().append(begin(values), end(values));
    }
    template <iterable Range>
    iterator insert_range(const_iterator position, Range&& values) {
        using std::begin, std::end;
        return insert(position, begin(values), end(values));
    }
    template <iterable Range>
    void assign_range(Range&& values) {
        using std::begin, std::end;
        assign(begin(values), end(values));
    }

    /// Removes the elements that are as `is_unwanted` says; returns how many. Linear.
    template <class Predicate>
    friend std::size_t erase_if(Self& values, Predicate is_unwanted) {
        T* kept = values.begin();
        for (T* each = kept; each != values.end(); ++each) {
            if (is_unwanted(*each)) continue;
            if (kept != each) *kept = std::move(*each);
            ++kept;
        }
        const auto count = static_cast<std::size_t>(values.end() - kept);
        values.erase(kept, values.end());
        return count;
    }
    /// Removes the elements that equal `value`, which must not be one of them.
    template <class Value = T>
    friend std::size_t erase(Self& values, const Value& value) {
        return erase_if(values, [&](const T& each) { return each == value; });
    }

protected:
    /// Brings what `append` appends before `position`.
    template <class Append>
    iterator insert_appended(const_iterator position, Append append) {
        const auto index = position - begin();
        const auto before = static_cast<std::ptrdiff_t>(self().size());
        append();
        T* const place = begin() + index;
        reverse(place, begin() + before);
        reverse(begin() + before, end());
        reverse(place, end());
        return place;
    }

private:
    static void reverse(T* first, T* last) {
        using std::swap;
        for (; last - first > 1; ++first) swap(*first, *--last);
    }

    // The standard's error, without <stdexcept>, which takes a compiler longer than all of this.
    void require_below_size(std::size_t index) const {
        (void)std::string_view{reinterpret_cast<const char*>(begin()), self().size()}.at(index);
    }

    Self& self() noexcept { return static_cast<Self&>(*this); }
    const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace acre::detail
