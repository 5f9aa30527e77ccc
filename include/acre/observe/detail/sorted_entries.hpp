// Keys and values in the order of the keys, with the look-ups of std::map, which takes long to compile. It converts to
// a std::map, or to another container of pairs.
//
// Returned by acre::live_map, acre::size_histogram and acre::statistics, not made directly. Cost: a look-up takes a
// step for each doubling of the size. A vector in the general heap holds the entries.
//
//     const auto sizes = histogram.by_size();
//     sizes.at(16);
//     std::map<std::size_t, std::uint64_t> map = sizes;
#pragma once

#include <acre/core/detail/sort.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace acre::detail {

template <class Key, class Value>
class sorted_entries {
public:
    using key_type = Key;
    using mapped_type = Value;
    using value_type = std::pair<Key, Value>;
    using const_iterator = typename std::vector<value_type>::const_iterator;

    /// `fill` gets a function that adds a key, which no other entry has, with its value. Throws std::bad_alloc.
    template <class Fill>
    sorted_entries(std::size_t count, const Fill& fill) {
        entries_.reserve(count);
        fill([this](const Key& key, const Value& value) { entries_.emplace_back(key, value); });
        detail::sort(entries_.data(), entries_.size(),
                     [](const value_type& a, const value_type& b) { return before(a.first, b.first); });
    }

    /// The value of `key`. Throws std::out_of_range when there is none.
    const Value& at(const Key& key) const {
        const std::size_t index = index_of(key);
        return entries_.at(contains_at(index, key) ? index : entries_.size()).second;
    }
    const_iterator find(const Key& key) const noexcept {
        const std::size_t index = index_of(key);
        return contains_at(index, key) ? entries_.begin() + static_cast<std::ptrdiff_t>(index) : entries_.end();
    }
    bool contains(const Key& key) const noexcept { return contains_at(index_of(key), key); }
    std::size_t count(const Key& key) const noexcept { return contains(key) ? 1 : 0; }

    /// The entries in the order of their keys.
    const_iterator begin() const noexcept { return entries_.begin(); }
    const_iterator end() const noexcept { return entries_.end(); }
    std::size_t size() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }

    template <class Map>
        requires std::is_constructible_v<Map, const_iterator, const_iterator>
    operator Map() const {
        return Map(begin(), end());
    }

private:
    // Of pointers into different objects `<` says nothing.
    static bool before(const Key& a, const Key& b) noexcept {
        if constexpr (std::is_pointer_v<Key>) {
            return reinterpret_cast<std::uintptr_t>(a) < reinterpret_cast<std::uintptr_t>(b);
        } else {
            return a < b;
        }
    }

    // Of the first entry that is not before `key`.
    std::size_t index_of(const Key& key) const noexcept {
        std::size_t first = 0;
        for (std::size_t count = entries_.size(); count > 0;) {
            const std::size_t half = count / 2;
            if (before(entries_[first + half].first, key)) {
                first += half + 1;
                count -= half + 1;
            } else {
                count = half;
            }
        }
        return first;
    }
    bool contains_at(std::size_t index, const Key& key) const noexcept {
        return index < entries_.size() && entries_[index].first == key;
    }

    std::vector<value_type> entries_;
};

}  // namespace acre::detail
