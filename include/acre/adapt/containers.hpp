// The standard's containers over a resource, by short names and without spelling an allocator.
//
// Use it where containers, and containers of containers, lie in one arena or pool. A container is constructed with the
// resource, and its elements get the resource from it. Use std::pmr's containers over an acre::pmr<R> where the type
// must not depend on the resource: their calls are virtual. Use acre::arena_vector and acre::arena_string for one list
// or text that grows in an arena.
//
// Where keys are strings, any text is looked up, inserted and erased: find, contains, operator[], at, try_emplace,
// insert_or_assign, erase, extract, and insert of a set. Make other elements in place (emplace, emplace_back): a string
// made outside needs the resource itself, {"text", level}. A container without its resource does not compile.
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
#include <acre/adapt/string_hash.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/resource.hpp>
#include <concepts>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <functional>
#include <initializer_list>
#include <iterator>
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

// The standard hashes and compares strings of one allocator only.
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
    // Not noexcept: libstdc++ takes such a hash for a fast one, and computes the codes again instead of keeping them.
    std::size_t operator()(View text) const { return std::hash<View>{}(text); }
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

/// A text to look up in a container whose keys are strings, but no key of it.
template <class Text, class Container>
concept text_for = std::convertible_to<const Text&, typename key_traits<typename Container::key_type>::view> &&
                   !std::same_as<Text, typename Container::key_type>;

/// A container whose keys are strings: any text does where the standard's function takes a key.
template <class Base>
struct text_keyed : Base {
    using Base::Base;
    using Base::erase;
    using Base::extract;
    using key_type = typename Base::key_type;
    using value_type = typename Base::value_type;
    using iterator = typename Base::iterator;
    using view = typename key_traits<key_type>::view;

    text_keyed& operator=(std::initializer_list<value_type> values) {
        Base::operator=(values);
        return *this;
    }

    template <text_for<Base> Text>
    typename Base::size_type erase(const Text& text) {
        const auto [first, last] = this->equal_range(as_key(text));
        const auto count = static_cast<typename Base::size_type>(std::distance(first, last));
        this->erase(first, last);
        return count;
    }
    template <text_for<Base> Text>
    typename Base::node_type extract(const Text& text) {
        const auto found = this->find(as_key(text));
        return found == this->end() ? typename Base::node_type{} : this->extract(found);
    }

protected:
    // What finds `text`: the text itself, or a key made of it where Compare or Hash takes nothing else.
    auto as_key(view text) const {
        if constexpr (requires(const Base& all) { all.find(text); }) {
            return text;
        } else {
            return key_of(text);
        }
    }
    // A std::string as key takes no allocator of acre's.
    key_type key_of(view text) const {
        if constexpr (std::uses_allocator_v<key_type, typename Base::allocator_type>) {
            return key_type{text, this->get_allocator()};
        } else {
            return key_type{text};
        }
    }
};

/// A map whose keys are strings. A key is made of a text only where it is missing.
template <class Map>
struct text_map : text_keyed<Map> {
    using text_keyed<Map>::text_keyed;
    using text_keyed<Map>::operator=;
    using Map::at;
    using Map::insert_or_assign;
    using Map::operator[];
    using Map::try_emplace;
    using typename text_keyed<Map>::view;
    using mapped_type = typename Map::mapped_type;

    template <text_for<Map> Text>
    mapped_type& operator[](const Text& text) {
        return try_emplace(text).first->second;
    }
    template <text_for<Map> Text>
    mapped_type& at(const Text& text) {
        return found_at(*this, text);
    }
    template <text_for<Map> Text>
    const mapped_type& at(const Text& text) const {
        return found_at(*this, text);
    }
    template <text_for<Map> Text, class... Arguments>
    std::pair<typename Map::iterator, bool> try_emplace(const Text& text, Arguments&&... arguments) {
        const auto found = this->find(this->as_key(text));
        if (found != this->end()) return {found, false};
        return this->emplace(std::piecewise_construct, std::forward_as_tuple(view{text}),
                             std::forward_as_tuple(std::forward<Arguments>(arguments)...));
    }
    template <text_for<Map> Text, class Value>
    std::pair<typename Map::iterator, bool> insert_or_assign(const Text& text, Value&& value) {
        const auto found = this->find(this->as_key(text));
        if (found == this->end()) return try_emplace(text, std::forward<Value>(value));
        found->second = std::forward<Value>(value);
        return {found, false};
    }
    /// With a hint, which costs and saves nothing where the key is a text.
    template <text_for<Map> Text, class... Arguments>
    typename Map::iterator try_emplace(typename Map::const_iterator, const Text& text, Arguments&&... arguments) {
        return try_emplace(text, std::forward<Arguments>(arguments)...).first;
    }
    template <text_for<Map> Text, class Value>
    typename Map::iterator insert_or_assign(typename Map::const_iterator, const Text& text, Value&& value) {
        return insert_or_assign(text, std::forward<Value>(value)).first;
    }

private:
    template <class Self>
    static auto& found_at(Self& self, view text) {
        const auto found = self.find(self.as_key(text));
        // The standard's own throws what it promises.
        return found == self.end() ? self.at(self.key_of(text)) : found->second;
    }
};

/// A set of strings. A key is made of a text only where it is inserted.
template <class Set>
struct text_set : text_keyed<Set> {
    using text_keyed<Set>::text_keyed;
    using text_keyed<Set>::operator=;
    using Set::insert;
    using typename text_keyed<Set>::view;

    /// As the standard's: an iterator, for a set with unique keys in a pair.
    template <text_for<Set> Text>
    auto insert(const Text& text) {
        using inserted = decltype(this->insert(std::declval<const typename Set::value_type&>()));
        if constexpr (!std::same_as<inserted, typename Set::iterator>) {
            const auto found = this->find(this->as_key(text));
            if (found != this->end()) return inserted{found, false};
        }
        return inserted{this->emplace(view{text})};
    }
    /// With a hint, which is of use only where the text is not a key yet.
    template <text_for<Set> Text>
    typename Set::iterator insert(typename Set::const_iterator hint, const Text& text) {
        return this->emplace_hint(hint, view{text});
    }
};

template <class Key, class Map>
using map_of = std::conditional_t<key_traits<Key>::is_text, text_map<Map>, Map>;
template <class Key, class Map>
using multimap_of = std::conditional_t<key_traits<Key>::is_text, text_keyed<Map>, Map>;
template <class Key, class Set>
using set_of = std::conditional_t<key_traits<Key>::is_text, text_set<Set>, Set>;

}  // namespace detail

/// The standard's containers over an R: containers_in<acre::arena>::vector<int> v{level}. Each is the standard's own
/// type with acre::allocator<T, R>, so it has the standard's members, costs and errors. Maps and sets whose keys are
/// strings can also be asked, and filled, by a std::string_view or a literal; a look-up makes no key of it.
template <resource R>
    requires true  // acre/core/detail/left_out.hpp
struct containers_in<R> {
    /// std::vector.
    template <class T>
    using vector = std::vector<T, allocator<T, R>>;
    /// std::deque.
    template <class T>
    using deque = std::deque<T, allocator<T, R>>;
    /// std::list.
    template <class T>
    using list = std::list<T, allocator<T, R>>;
    /// std::forward_list.
    template <class T>
    using forward_list = std::forward_list<T, allocator<T, R>>;

    /// std::basic_string.
    template <class Character>
    using basic_string = std::basic_string<Character, std::char_traits<Character>, allocator<Character, R>>;
    /// A std::string.
    using string = basic_string<char>;

    /// std::map. For a string as key, Compare also takes a std::string_view.
    template <class Key, class T, class Compare = typename detail::key_traits<Key>::less>
    using map = detail::map_of<Key, std::map<Key, T, Compare, allocator<std::pair<const Key, T>, R>>>;
    /// std::multimap.
    template <class Key, class T, class Compare = typename detail::key_traits<Key>::less>
    using multimap = detail::multimap_of<Key, std::multimap<Key, T, Compare, allocator<std::pair<const Key, T>, R>>>;
    /// std::set.
    template <class Key, class Compare = typename detail::key_traits<Key>::less>
    using set = detail::set_of<Key, std::set<Key, Compare, allocator<Key, R>>>;
    /// std::multiset.
    template <class Key, class Compare = typename detail::key_traits<Key>::less>
    using multiset = detail::set_of<Key, std::multiset<Key, Compare, allocator<Key, R>>>;

    /// std::unordered_map. For a string as key, Hash and Equal also take a std::string_view.
    template <class Key, class T, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_map =
        detail::map_of<Key, std::unordered_map<Key, T, Hash, Equal, allocator<std::pair<const Key, T>, R>>>;
    /// std::unordered_multimap.
    template <class Key, class T, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_multimap =
        detail::multimap_of<Key, std::unordered_multimap<Key, T, Hash, Equal, allocator<std::pair<const Key, T>, R>>>;
    /// std::unordered_set.
    template <class Key, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_set = detail::set_of<Key, std::unordered_set<Key, Hash, Equal, allocator<Key, R>>>;
    /// std::unordered_multiset.
    template <class Key, class Hash = typename detail::key_traits<Key>::hash,
              class Equal = typename detail::key_traits<Key>::equal>
    using unordered_multiset = detail::set_of<Key, std::unordered_multiset<Key, Hash, Equal, allocator<Key, R>>>;
};

}  // namespace acre
