// Random operations on a container over acre and on the same container over std::allocator, with the contents compared
// after each operation. Three containers are played with at a time: two over one resource and one over another, so that
// moves, swaps and copies cross resources. A failure names its seed.
//
//     std::string said = play<std::list<int>, std::list<int, acre::allocator<int, acre::arena>>>(one, other, seed);
//     EXPECT_EQ(said, "");
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/refusal.hpp"

namespace acre_test::differential {

/// One step: what to do, and the numbers to do it with. Both sides get the same.
struct step {
    unsigned operation;
    std::uint32_t value;
    std::size_t count;  // small
    std::size_t position;
};

/// Text of up to 96 characters, of which the short ones need no memory.
inline std::string_view text(std::uint32_t number) {
    static const std::vector<std::string> texts = [] {
        std::vector<std::string> made;
        for (std::size_t i = 0; i < 97; ++i)
            made.push_back(std::to_string(i) + std::string(i, static_cast<char>('a' + i % 26)));
        return made;
    }();
    return texts[number % texts.size()];
}

/// What an element of type T is made from.
template <class T>
auto made_from(std::uint32_t number) {
    if constexpr (std::is_same_v<T, char>) {
        return static_cast<char>('a' + number % 26);
    } else if constexpr (std::is_same_v<T, int>) {
        return static_cast<int>(number % 50);  // few, so that keys meet
    } else {
        return text(number);
    }
}

template <class T>
const T& key_of(const T& value) {
    return value;
}
template <class Key, class T>
const Key& key_of(const std::pair<Key, T>& value) {
    return value.first;
}

template <class A, class B>
bool same_element(const A& a, const B& b) {
    if constexpr (requires { std::string_view{a}; }) {
        return std::string_view{a} == std::string_view{b};
    } else {
        return a == b;
    }
}
template <class K, class A, class L, class B>
bool same_element(const std::pair<K, A>& a, const std::pair<L, B>& b) {
    return same_element(a.first, b.first) && same_element(a.second, b.second);
}

template <class C>
concept map_like = requires { typename C::mapped_type; };
template <class C>
concept keyed = requires { typename C::key_type; };
template <class C>
concept singly_linked = requires(C& c) { c.before_begin(); };
template <class C>
concept linked = requires(C& c) { c.remove_if([](const auto&) { return true; }); };
template <class C>
concept hashed = requires(C& c) { c.bucket_count(); };

template <class C>
std::size_t size_of(const C& c) {
    return static_cast<std::size_t>(std::distance(c.begin(), c.end()));
}

/// An iterator to one of the elements or the end; of a forward_list, one to insert or erase behind.
template <class C>
auto at(C& c, std::size_t position, std::size_t places) {
    auto first = [&] {
        if constexpr (singly_linked<C>) {
            return c.before_begin();
        } else {
            return c.begin();
        }
    }();
    return std::next(first, static_cast<std::ptrdiff_t>(places == 0 ? 0 : position % places));
}

template <class C>
void insert_one(C& c, const step& s) {
    if constexpr (map_like<C>) {
        c.emplace(made_from<typename C::key_type>(s.value), made_from<typename C::mapped_type>(s.value + 1));
    } else if constexpr (keyed<C>) {
        c.emplace(made_from<typename C::key_type>(s.value));
    } else if constexpr (singly_linked<C>) {
        c.emplace_after(at(c, s.position, size_of(c) + 1), made_from<typename C::value_type>(s.value));
    } else if constexpr (requires { c.emplace(c.begin(), made_from<typename C::value_type>(0)); }) {
        c.emplace(at(c, s.position, c.size() + 1), made_from<typename C::value_type>(s.value));
    } else {
        c.insert(at(c, s.position, c.size() + 1), made_from<typename C::value_type>(s.value));
    }
}

template <class C>
void insert_at_an_end(C& c, const step& s) {
    if constexpr (keyed<C>) {
        if constexpr (requires { c.emplace_hint(c.begin(), *c.begin()); } && !hashed<C>) {
            if (!c.empty()) c.emplace_hint(c.begin(), *c.begin());
        }
        insert_one(c, s);
    } else if constexpr (requires { c.emplace_front(made_from<typename C::value_type>(0)); }) {
        if (s.position % 2 == 0) return (void)c.emplace_front(made_from<typename C::value_type>(s.value));
        if constexpr (requires { c.emplace_back(made_from<typename C::value_type>(0)); })
            c.emplace_back(made_from<typename C::value_type>(s.value));
    } else if constexpr (requires { c.emplace_back(made_from<typename C::value_type>(0)); }) {
        c.emplace_back(made_from<typename C::value_type>(s.value));
    } else {
        c.push_back(made_from<typename C::value_type>(s.value));
    }
}

/// Copies of an element of the container itself, which the insertion may move.
template <class C>
void insert_own(C& c, const step& s) {
    if (c.begin() == c.end()) return;
    if constexpr (keyed<C>) {
        c.insert(*c.begin());
    } else if constexpr (singly_linked<C>) {
        c.insert_after(at(c, s.position, size_of(c) + 1), s.count, c.front());
    } else {
        c.insert(at(c, s.position, c.size() + 1), s.count, c.front());
        c.push_back(c.front());
    }
}

template <class C>
void erase_one(C& c, const step& s) {
    if (c.begin() == c.end()) return;
    if constexpr (keyed<C>) {
        // By key: the order of a hashed container is its own affair.
        if constexpr (!hashed<C>) {
            if (s.position % 2 == 0) return (void)c.erase(at(c, s.position, c.size()));
        }
        if constexpr (std::is_same_v<typename C::key_type, int>) c.erase(made_from<int>(s.value));
    } else if constexpr (singly_linked<C>) {
        c.erase_after(at(c, s.position, size_of(c)));
    } else {
        c.erase(at(c, s.position, c.size()));
    }
}

template <class C>
void erase_some(C& c, const step& s) {
    const std::size_t size = size_of(c);
    const std::size_t first = size == 0 ? 0 : s.position % size;
    const std::size_t count = std::min(s.count, size - first);
    if constexpr (hashed<C>) {
        std::erase_if(c,
                      [&](const auto& each) { return static_cast<std::size_t>(key_of(each)) % 7 == s.position % 7; });
    } else if constexpr (singly_linked<C>) {
        const auto before = std::next(c.before_begin(), static_cast<std::ptrdiff_t>(first));
        c.erase_after(before, std::next(before, static_cast<std::ptrdiff_t>(count + 1)));
    } else {
        const auto from = std::next(c.begin(), static_cast<std::ptrdiff_t>(first));
        c.erase(from, std::next(from, static_cast<std::ptrdiff_t>(count)));
    }
}

template <class C>
void resize(C& c, const step& s) {
    if constexpr (requires { c.resize(1); }) c.resize(s.position % 40);
    if constexpr (requires { c.reserve(1); }) c.reserve(s.count * 8);
    if constexpr (requires { c.shrink_to_fit(); }) {
        if (s.value % 2 == 0) c.shrink_to_fit();
    }
    if constexpr (requires { c.rehash(1); }) c.rehash(s.count);
}

/// Elements of another container, of another resource perhaps.
template <class C>
void take_copies(C& c, const C& from, const step& s) {
    if (&c == &from) return;
    if constexpr (keyed<C>) {
        c.insert(from.begin(), from.end());
    } else if (s.value % 4 == 0) {
        C copied{from};
        c.assign(std::make_move_iterator(copied.begin()), std::make_move_iterator(copied.end()));
    } else if (s.value % 4 == 2) {
        c.assign(from.begin(), from.end());
    } else if constexpr (singly_linked<C>) {
        c.insert_after(at(c, s.position, size_of(c) + 1), from.begin(), from.end());
    } else {
        c.insert(at(c, s.position, c.size() + 1), from.begin(), from.end());
    }
}

template <class C>
void assign(C& c, const step& s) {
    if constexpr (requires { c.assign(s.count, typename C::value_type{*c.begin()}); }) {
        if (c.begin() != c.end()) c.assign(s.count, typename C::value_type{*c.begin()});
    }
    if constexpr (requires { c.append(text(0)); }) {
        c.append(text(s.value));
        c.replace(0, s.count, text(s.value + 1));
    }
    if constexpr (requires { c.insert_or_assign(1, text(0)); })
        c.insert_or_assign(made_from<int>(s.value), text(s.value));
    if constexpr (map_like<C> && requires { c[1] = text(0); }) c[made_from<int>(s.value)] = text(s.value + 2);
}

/// Operations on links, which take no memory and must free none.
template <class C>
void relink(C& c, const step& s) {
    if constexpr (linked<C>) {
        switch (s.value % 4) {
            case 0:
                return c.sort();
            case 1:
                return c.reverse();
            case 2:
                return (void)c.unique();
            default:
                break;
        }
        if (c.begin() == c.end()) return;
        if constexpr (singly_linked<C>) {
            c.splice_after(c.before_begin(), c, at(c, s.position, size_of(c)));
        } else {
            c.splice(c.begin(), c, at(c, s.position, c.size()));
        }
        c.remove(typename C::value_type{c.front()});
    } else if constexpr (keyed<C>) {
        if (c.empty()) return;
        if constexpr (std::is_same_v<typename C::key_type, int>) {
            auto node = c.extract(made_from<int>(s.value));
            if (node) c.insert(std::move(node));
        }
    }
}

/// Moves nodes between containers of one resource.
template <class C>
void take_nodes(C& c, C& from, const step& s) {
    if (&c == &from || from.begin() == from.end()) return;
    if constexpr (singly_linked<C>) {
        c.splice_after(at(c, s.position, size_of(c) + 1), from, from.before_begin());
        c.splice_after(c.before_begin(), from);
    } else if constexpr (linked<C>) {
        c.splice(at(c, s.position, c.size() + 1), from, from.begin());
        c.sort();
        from.sort();
        c.merge(from);
    } else if constexpr (keyed<C>) {
        if constexpr (!hashed<C>) c.insert(from.extract(from.begin()));
        c.merge(from);
    }
}

/// A copy in the other's resource, taken over.
template <class C>
void copy_and_move(C& c, C& from, const step& s) {
    if (&c == &from) return;
    C copied{from, c.get_allocator()};
    if (s.value % 2 == 0) {
        c = std::move(copied);
    } else {
        C moved{std::move(copied), from.get_allocator()};
        c = std::move(moved);
        from = c;
    }
}

inline constexpr unsigned operation_count = 20;

/// Does one step to `c`, with `from` as the other container. `one_resource`: both are of the same on both sides.
template <class C>
void apply(C& c, C& from, const step& s, bool one_resource) {
    switch (s.operation % operation_count) {
        case 0:
        case 1:
        case 2:
            for (std::uint32_t i = 0; i < 12; ++i)
                insert_one(c, {s.operation, s.value + 7 * i, s.count, s.position + 3 * i});
            return;
        case 3:
        case 4:
            return insert_at_an_end(c, s);
        case 5:
            return insert_own(c, s);
        case 6:
        case 7:
            return erase_one(c, s);
        case 8:
            return erase_some(c, s);
        case 9:
            return resize(c, s);
        case 10:
            return take_copies(c, from, s);
        case 11:
        case 12:
            return assign(c, s);
        case 13:
            return relink(c, s);
        case 14:
            if (one_resource) take_nodes(c, from, s);
            return;
        case 15:
            if (one_resource) c.swap(from);
            return;
        case 16:
            c = from;
            return;
        case 17:
            if (&c == &from) return;
            c = std::move(from);
            return from.clear();
        case 18:
            return copy_and_move(c, from, s);
        default:
            if (s.value % 8 == 0) c.clear();
            return;
    }
}

template <class Expected, class Tested>
bool same_contents(const Expected& expected, const Tested& tested) {
    if (size_of(expected) != size_of(tested)) return false;
    if constexpr (hashed<Expected>) {
        return std::all_of(expected.begin(), expected.end(), [&](const auto& each) {
            const auto found = tested.find(key_of(each));
            return found != tested.end() && same_element(each, *found);
        });
    } else {
        return std::equal(expected.begin(), expected.end(), tested.begin(),
                          [](const auto& a, const auto& b) { return same_element(a, b); });
    }
}

/// False when an element that takes an allocator has another one than its container.
template <class C>
bool elements_share_the_allocator(const C& c) {
    const auto shares = [&]<class T>(const T& element) {
        if constexpr (requires { element.get_allocator() == c.get_allocator(); }) {
            return element.get_allocator() == c.get_allocator();
        } else if constexpr (requires { element.second.get_allocator() == c.get_allocator(); }) {
            return element.second.get_allocator() == c.get_allocator();
        } else {
            return true;
        }
    };
    return std::all_of(c.begin(), c.end(), shares);
}

template <class C>
void keep_small(C& c) {
    if (size_of(c) <= 120) return;
    if constexpr (singly_linked<C>) {
        c.erase_after(std::next(c.before_begin(), 60), c.end());
    } else if constexpr (hashed<C>) {
        c.clear();
    } else {
        c.erase(std::next(c.begin(), 60), c.end());
    }
}

/// Plays `steps` steps drawn from `seed`. Returns what differed first; empty when nothing did.
template <class Expected, class Tested, class One, class Other>
std::string play(One&& one, Other&& other, std::uint32_t seed, int steps = 500) {
    using allocator = typename Tested::allocator_type;
    std::array<Expected, 3> expected;
    std::array<Tested, 3> tested{Tested(allocator(one)), Tested(allocator(one)), Tested(allocator(other))};
    std::mt19937 random{seed};
    for (int i = 0; i < steps; ++i) {
        const step next{static_cast<unsigned>(random() % operation_count), static_cast<std::uint32_t>(random() % 1000),
                        random() % 9, random() % 1000};
        const std::size_t target = random() % 3, source = random() % 3;
        const bool one_resource = tested[target].get_allocator() == tested[source].get_allocator();
        apply(expected[target], expected[source], next, one_resource);
        apply(tested[target], tested[source], next, one_resource);
        for (std::size_t each = 0; each < 3; ++each) {
            const bool same = same_contents(expected[each], tested[each]);
            if (same && elements_share_the_allocator(tested[each])) {
                keep_small(expected[each]);
                keep_small(tested[each]);
                continue;
            }
            std::ostringstream said;
            said << "seed " << seed << ", step " << i << ", operation " << next.operation << " on container " << target
                 << " with " << source << ": container " << each
                 << (same ? " has elements of another resource" : " has other contents than that of std::allocator");
            return said.str();
        }
    }
    return {};
}

/// The containers that are played with, over allocators of one kind.
template <template <class> class Allocator>
struct containers {
    using string = std::basic_string<char, std::char_traits<char>, Allocator<char>>;
    template <class T>
    using pair_allocator = Allocator<std::pair<const int, T>>;

    using numbers = std::vector<int, Allocator<int>>;
    using texts = std::vector<string, Allocator<string>>;
    using deque = std::deque<int, Allocator<int>>;
    using list = std::list<string, Allocator<string>>;
    using forward_list = std::forward_list<int, Allocator<int>>;
    using set = std::set<int, std::less<>, Allocator<int>>;
    using map = std::map<int, string, std::less<>, pair_allocator<string>>;
    using multimap = std::multimap<int, int, std::less<>, pair_allocator<int>>;
    using unordered_map = std::unordered_map<int, string, std::hash<int>, std::equal_to<>, pair_allocator<string>>;
};

using over_the_heap = containers<std::allocator>;

template <class Tested, class One, class Other>
std::string first_difference(One& one, Other& other, std::uint32_t seed) {
    const auto of = [](const char* container, const std::string& said) {
        return said.empty() ? said : std::string(container) + ", " + said + "\n";
    };
    return of("string", play<over_the_heap::string, typename Tested::string>(one, other, seed)) +
           of("numbers", play<over_the_heap::numbers, typename Tested::numbers>(one, other, seed)) +
           of("texts", play<over_the_heap::texts, typename Tested::texts>(one, other, seed)) +
           of("deque", play<over_the_heap::deque, typename Tested::deque>(one, other, seed)) +
           of("list", play<over_the_heap::list, typename Tested::list>(one, other, seed)) +
           of("forward_list", play<over_the_heap::forward_list, typename Tested::forward_list>(one, other, seed)) +
           of("set", play<over_the_heap::set, typename Tested::set>(one, other, seed)) +
           of("map", play<over_the_heap::map, typename Tested::map>(one, other, seed)) +
           of("multimap", play<over_the_heap::multimap, typename Tested::multimap>(one, other, seed)) +
           of("unordered_map", play<over_the_heap::unordered_map, typename Tested::unordered_map>(one, other, seed));
}

template <class Tested, class One, class Other>
void expect_no_difference(One& one, Other& other) {
    constexpr std::uint32_t seeds = acre_test::sanitized ? 5 : 10;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) EXPECT_EQ(first_difference<Tested>(one, other, seed), "");
}

}  // namespace acre_test::differential
