// Strings over acre::allocator as keys of unordered containers: hashed as the standard's, at the same cost.
#include <acre/adapt/containers.hpp>
#include <acre/adapt/string_hash.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

template <class Character, class R>
using string_in = std::basic_string<Character, std::char_traits<Character>, acre::allocator<Character, R>>;
using text = string_in<char, acre::multi_pool>;

TEST(string_hash, example) {
    acre::multi_pool nodes;
    std::unordered_set<text> names;
    names.insert(text{"Ugluk", nodes});
    EXPECT_TRUE(names.contains(text{"Ugluk", nodes}));
    std::unordered_map<text, int, std::hash<text>, std::equal_to<>,
                       acre::allocator<std::pair<const text, int>, acre::multi_pool>>
        scores{nodes};
    scores.emplace("Ugluk", 7);
    EXPECT_EQ(scores.at(text{"Ugluk", nodes}), 7);
}

template <class Character>
void expect_the_code_of_the_view(std::basic_string_view<Character> view) {
    acre::multi_pool nodes;
    const auto expected = std::hash<std::basic_string_view<Character>>{}(view);
    using in_pool = string_in<Character, acre::multi_pool>;
    using on_heap = string_in<Character, acre::heap>;
    EXPECT_EQ(std::hash<in_pool>{}(in_pool{view, nodes}), expected);
    EXPECT_EQ(std::hash<on_heap>{}(on_heap{view}), expected);
}

TEST(string_hash, of_every_character) {
    expect_the_code_of_the_view<char>("a text longer than the small buffer");
    expect_the_code_of_the_view<char>("");
    expect_the_code_of_the_view<wchar_t>(L"a text longer than the small buffer");
    expect_the_code_of_the_view<char8_t>(u8"a text longer than the small buffer");
    expect_the_code_of_the_view<char16_t>(u"a text longer than the small buffer");
    expect_the_code_of_the_view<char32_t>(U"a text longer than the small buffer");
}

TEST(string_hash, of_any_resource) {
    using of_ambient = string_in<char, acre::ambient>;
    using of_any = string_in<char, acre::resource_ref>;
    EXPECT_EQ(std::hash<of_ambient>{}(of_ambient{"Ugluk"}), std::hash<std::string>{}("Ugluk"));
    EXPECT_EQ(std::hash<of_any>{}(of_any{"Ugluk", acre::heap{}}), std::hash<std::string>{}("Ugluk"));
}

struct other_traits : std::char_traits<char> {};
struct other_element {};

// As the standard's: enabled, or none at all.
static_assert(std::is_default_constructible_v<std::hash<text>> && std::is_copy_assignable_v<std::hash<text>>);
static_assert(std::is_nothrow_swappable_v<std::hash<text>>);
static_assert(!std::is_default_constructible_v<
              std::hash<std::basic_string<char, other_traits, acre::allocator<char, acre::multi_pool>>>>);
static_assert(!std::is_default_constructible_v<std::hash<std::vector<other_element>>>);

using watched_heap = acre::statistics<acre::heap>;
using in_watched = acre::containers_in<watched_heap>;

template <class Key, class Hash>
using standard_map =
    std::unordered_map<Key, int, Hash, std::equal_to<Key>, acre::allocator<std::pair<const Key, int>, watched_heap>>;
using map_of_standard_strings = standard_map<std::string, std::hash<std::string>>;

template <class Map>
std::size_t bytes_of_a_node() {
    watched_heap memory;
    Map map{memory};
    map.reserve(4);
    const auto before = memory.counts().bytes.value;
    map.emplace("short", 1);
    return memory.counts().bytes.value - before;
}

// libstdc++ keeps no code beside the keys of a hash that it takes for a fast one.
TEST(string_hash, nodes_keep_the_codes_as_those_of_standard_strings_do) {
    using small_text = string_in<char, acre::heap>;
    static_assert(sizeof(small_text) == sizeof(std::string));
    const std::size_t expected = bytes_of_a_node<map_of_standard_strings>();
    EXPECT_EQ((bytes_of_a_node<in_watched::unordered_map<std::string, int>>()), expected);
    EXPECT_EQ((bytes_of_a_node<in_watched::unordered_map<small_text, int>>()), expected);
    EXPECT_EQ((bytes_of_a_node<standard_map<small_text, std::hash<small_text>>>()), expected);
}

template <class A, class B>
constexpr bool throw_alike = std::is_nothrow_move_constructible_v<A> == std::is_nothrow_move_constructible_v<B> &&
                             std::is_nothrow_move_assignable_v<A> == std::is_nothrow_move_assignable_v<B> &&
                             std::is_nothrow_swappable_v<A> == std::is_nothrow_swappable_v<B>;
static_assert(throw_alike<in_watched::unordered_map<std::string, int>,
                          in_watched::unordered_map<std::string, int, std::hash<std::string>>>);
static_assert(throw_alike<in_watched::unordered_map<in_watched::string, int>,
                          in_watched::unordered_map<std::string, int, std::hash<std::string>>>);
static_assert(throw_alike<std::unordered_set<text>, std::unordered_set<std::string>>);

}  // namespace
