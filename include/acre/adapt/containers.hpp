// The standard's containers over a resource, by short names and without spelling an allocator.
//
// Use it where containers, and containers of containers, lie in one arena or pool. A container is constructed with the
// resource, and its elements get the resource from it. Use std::pmr's containers over an acre::pmr<R> where the type
// must not depend on the resource: their calls are virtual. Use acre::arena_vector and acre::arena_string for one list
// or text that grows in an arena.
//
// Maps whose keys are strings are searched by any text, without a copy of it: find, contains and operator[]. Make
// elements in place (emplace, emplace_back, operator[]): a string made outside needs the resource itself, {"text",
// level}.
//
// Cost: that of acre::allocator, inline calls. This header includes the standard's containers, so acre.hpp does not
// include it. Thread rules: those of the resource, which must live longer than the containers.
//
//     acre::arena level;
//     using in_level = acre::containers_in<acre::arena>;
//     in_level::map<in_level::string, in_level::vector<int>> scores{level};
//     scores["Ugluk"].push_back(7);  // node, text and vector: all in the arena
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/resource.hpp>
#include <concepts>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace acre {

namespace detail {

// The standard hashes strings of its own allocators only, and compares only strings of one allocator.
template <class View>
struct text_less {
    using is_transparent = void;
    bool operator()(View a, View b) const noexcept { return a < b; }
};
template <class View>
struct text_equal {
    using is_transparent = void;
    bool operator()(View a, View b) const noexcept { return a == b; }
};
template <class View>
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(View text) const noexcept { return std::hash<View>{}(text); }
};

/// How keys are compared and hashed by default.
template <class Key>
struct key_traits {
    static constexpr bool is_text = false;
    using less = std::less<Key>;
    using equal = std::equal_to<Key>;
    using hash = std::hash<Key>;
};
template <class Character, class Traits, class Allocator>
struct key_traits<std::basic_string<Character, Traits, Allocator>> {
    static constexpr bool is_text = true;
    using view = std::basic_string_view<Character, Traits>;
    using less = text_less<view>;
    using equal = text_equal<view>;
    using hash = text_hash<view>;
};

/// A map whose keys are strings: operator[] and at() take any text, and make a key of it only where it is missing.
template <class Map>
struct text_keyed : Map {
    using Map::at;
    using Map::Map;
    using Map::operator[];
    using view = typename key_traits<typename Map::key_type>::view;

    template <class Text>
        requires std::convertible_to<const Text&, view> && (!std::same_as<Text, typename Map::key_type>)
    typename Map::mapped_type& operator[](const Text& text) {
        const view key = text;
        auto found = this->find(key);
        if (found == this->end())
            found = this->emplace(std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>{}).first;
        return found->second;
    }
    template <class Text>
        requires std::convertible_to<const Text&, view> && (!std::same_as<Text, typename Map::key_type>)
    typename Map::mapped_type& at(const Text& text) {
        const view key = text;
        auto found = this->find(key);
        // The standard's own throws what it promises.
        return found == this->end() ? Map::at(typename Map::key_type{key, this->get_allocator()}) : found->second;
    }
};

template <class Key, class Map>
using map_of = std::conditional_t<key_traits<Key>::is_text, text_keyed<Map>, Map>;

}  // namespace detail

/// The standard's containers over an R.
template <resource R>
struct containers_in {
    template <class T>
    using vector = std::vector<T, allocator<T, R>>;
    template <class T>
    using deque = std::deque<T, allocator<T, R>>;
    template <class T>
    using list = std::list<T, allocator<T, R>>;
    template <class T>
    using forward_list = std::forward_list<T, allocator<T, R>>;

    template <class Character>
    using basic_string = std::basic_string<Character, std::char_traits<Character>, allocator<Character, R>>;
    using string = basic_string<char>;

    template <class Key, class T, class Compare = typename detail::key_traits<Key>::less>
    using map = detail::map_of<Key, std::map<Key, T, Compare, allocator<std::pair<const Key, T>, R>>>;
    template <class Key, class T, class Compare = typename detail::key_traits<Key>::less>
    using multimap = std::multimap<Key, T, Compare, allocator<std::pair<const Key, T>, R>>;
    template <class Key, class Compare = typename detail::key_traits<Key>::less>
    using set = std::set<Key, Compare, allocator<Key, R>>;
    template <class Key, class Compare = typename detail::key_traits<Key>::less>
    using multiset = std::multiset<Key, Compare, allocator<Key, R>>;

    template <class Key, class T, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_map =
        detail::map_of<Key, std::unordered_map<Key, T, Hash, Equal, allocator<std::pair<const Key, T>, R>>>;
    template <class Key, class T, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_multimap = std::unordered_multimap<Key, T, Hash, Equal, allocator<std::pair<const Key, T>, R>>;
    template <class Key, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_set = std::unordered_set<Key, Hash, Equal, allocator<Key, R>>;
    template <class Key, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_multiset = std::unordered_multiset<Key, Hash, Equal, allocator<Key, R>>;
};

}  // namespace acre
