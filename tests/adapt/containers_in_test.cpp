// The standard's containers by their short names: nested ones lie in one resource, and keys are found by any text.
#include <acre/adapt/containers.hpp>
#include <acre/adapt/pmr.hpp>

#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <scoped_allocator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using in_level = acre::containers_in<acre::arena>;

constexpr const char* long_text = "a text too long for the small buffer inside a string";

TEST(containers_in, example) {
    acre::arena level;
    in_level::map<in_level::string, in_level::vector<int>> scores{level};
    scores["Ugluk"].push_back(7);
    scores[long_text].assign(100, 1);
    for (const auto& [name, points] : scores) {
        EXPECT_TRUE(level.owns(points.data()));
        EXPECT_TRUE(level.owns(&name) && level.owns(name.data()));
    }
    EXPECT_EQ(scores.at("Ugluk").front(), 7);
    EXPECT_EQ(scores.size(), 2u);
}

TEST(containers_in, nested_ones_share_the_resource_at_any_depth) {
    acre::arena level;
    in_level::unordered_map<int, in_level::vector<in_level::deque<in_level::string>>> deep{level};
    deep[3].resize(4);
    deep[3][2].emplace_back(long_text);
    EXPECT_TRUE(level.owns(deep[3].data()));
    EXPECT_TRUE(level.owns(deep[3][2].front().data()));
    in_level::list<std::pair<int, in_level::string>> pairs{level};
    pairs.emplace_back(1, long_text);
    EXPECT_TRUE(level.owns(pairs.front().second.data()));
}

TEST(containers_in, keys_are_found_by_any_text) {
    acre::arena level;
    in_level::unordered_map<in_level::string, int> counts{level};
    const std::string_view view = long_text;
    const std::string text = long_text;
    ++counts[view];
    ++counts[text];
    ++counts[long_text];
    in_level::string own{long_text, level};
    ++counts[own];
    ++counts[std::move(own)];
    EXPECT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts.at(view), 5);
    EXPECT_TRUE(counts.contains(text));
    EXPECT_THROW(counts.at("nobody"), std::out_of_range);
    EXPECT_EQ(counts.size(), 1u);
    in_level::set<in_level::string> names{level};
    names.emplace("Ugluk");
    EXPECT_TRUE(names.contains("Ugluk"));
    in_level::unordered_set<in_level::string> hashed{level};
    hashed.emplace("Ugluk");
    EXPECT_EQ(hashed.count("Ugluk"), 1u);
}

// Of any resource, without naming its type.
TEST(containers_in, of_a_handle_take_the_resource_itself) {
    using anywhere = acre::containers_in<acre::resource_ref>;
    acre::arena level;
    acre::pmr<acre::arena> memory;
    anywhere::vector<int> numbers{level};
    anywhere::map<anywhere::string, anywhere::vector<int>> nested{&memory};
    anywhere::vector<int> of_a_handle{acre::resource_ref{level}};
    const anywhere::vector<int> on_the_heap{{1, 2}, acre::heap{}};
    numbers.push_back(1);
    of_a_handle.push_back(1);
    nested[long_text].push_back(1);
    EXPECT_TRUE(level.owns(numbers.data()) && level.owns(of_a_handle.data()));
    EXPECT_TRUE(memory->owns(nested.at(long_text).data()) && memory->owns(nested.begin()->first.data()));
}

TEST(containers_in, text_is_taken_where_a_key_is) {
    acre::arena level;
    in_level::map<in_level::string, in_level::string> names{level};
    const std::string_view view = long_text;
    EXPECT_TRUE(names.try_emplace("orc", "Ugluk").second);
    EXPECT_FALSE(names.try_emplace("orc", "Grishnakh").second);
    EXPECT_FALSE(names.insert_or_assign("orc", "Shagrat").second);
    EXPECT_TRUE(names.insert_or_assign(view, long_text).second);
    EXPECT_TRUE(level.owns(names.find(view)->first.data()) && level.owns(names.find(view)->second.data()));
    const auto& unchanged = names;
    EXPECT_EQ(unchanged.at("orc"), "Shagrat");
    EXPECT_EQ(unchanged.at(view), long_text);
    EXPECT_THROW((void)unchanged.at("nobody"), std::out_of_range);
    EXPECT_EQ(names.count("orc"), 1u);
    EXPECT_EQ(names.extract("orc").mapped(), "Shagrat");
    EXPECT_TRUE(names.extract("orc").empty());
    EXPECT_EQ(names.erase(view), 1u);
    EXPECT_EQ(names.erase(view), 0u);
    EXPECT_EQ(names.try_emplace(names.end(), "orc", "Ugluk")->second, "Ugluk");
    EXPECT_EQ(names.try_emplace(names.begin(), "orc", "Grishnakh")->second, "Ugluk");
    EXPECT_EQ(names.insert_or_assign(names.begin(), "orc", "Grishnakh")->second, "Grishnakh");
    EXPECT_EQ(names.size(), 1u);
}

TEST(containers_in, text_is_inserted_into_sets) {
    acre::arena level;
    in_level::set<in_level::string> names{level};
    EXPECT_TRUE(names.insert(long_text).second);
    EXPECT_FALSE(names.insert(long_text).second);
    EXPECT_TRUE(level.owns(names.begin()->data()));
    EXPECT_EQ(*names.insert(names.end(), "orc"), "orc");
    EXPECT_EQ(names.erase("orc"), 1u);
    EXPECT_EQ(names.erase(long_text), 1u);
    in_level::unordered_multiset<in_level::string> several{level};
    several.insert("Ugluk");
    EXPECT_EQ(*several.insert("Ugluk"), "Ugluk");
    EXPECT_EQ(several.erase("Ugluk"), 2u);
    in_level::multimap<in_level::string, int> scores{level};
    scores.emplace("Ugluk", 1);
    scores.emplace("Ugluk", 2);
    EXPECT_EQ(scores.erase("Ugluk"), 2u);
}

TEST(containers_in, lists_are_assigned_to_containers_with_text_keys) {
    acre::arena level;
    in_level::map<in_level::string, int> counts{level};
    counts = {{in_level::string{"a", level}, 1}, {in_level::string{"b", level}, 2}};
    EXPECT_EQ(counts.at("b"), 2);
    counts = {};
    EXPECT_TRUE(counts.empty());
    in_level::set<in_level::string> names{level};
    names = {in_level::string{"a", level}};
    EXPECT_TRUE(names.contains("a"));
}

// A key is made of the text, because a comparator of the program's own may take nothing else.
TEST(containers_in, comparators_that_take_keys_only) {
    acre::arena level;
    in_level::map<in_level::string, int, std::less<in_level::string>> counts{level};
    ++counts["a"];
    ++counts["a"];
    EXPECT_EQ(counts.at("a"), 2);
    EXPECT_EQ(counts.erase("a"), 1u);
    in_level::map<in_level::string, int, std::greater<>> descending{level};
    descending["a"] = 1;
    descending["b"] = 2;
    EXPECT_EQ(descending.begin()->first, "b");
}

// As with std::pmr: what comes from another resource is copied.
TEST(containers_in, an_element_of_another_arena_is_copied) {
    acre::arena first, second;
    in_level::vector<in_level::string> all{first};
    in_level::string from_second{long_text, second};
    all.push_back(std::move(from_second));
    EXPECT_TRUE(first.owns(all[0].data()));
    in_level::vector<in_level::string> copy{all, second};
    EXPECT_TRUE(second.owns(copy[0].data()));
}

// An element keeps the resource of its container. Before, it took the storage of an arena that ended before it.
TEST(containers_in, an_element_assigned_from_another_arena_is_copied) {
    acre::arena level;
    in_level::vector<in_level::string> all{level};
    in_level::deque<in_level::vector<int>> rows{level};
    in_level::map<int, in_level::string> by_number{level};
    in_level::map<in_level::string, in_level::string> by_text{level};
    in_level::unordered_map<int, std::pair<in_level::string, int>> pairs{level};
    in_level::list<in_level::string> listed{level};
    all.reserve(8);
    all.resize(2);
    rows.resize(3);
    listed.resize(1);
    pairs[1];
    for (int i = 0; i < 2; ++i) {
        acre::arena passing;
        const auto text = [&] { return in_level::string{long_text, passing}; };
        by_number.insert_or_assign(1, text());
        by_text.insert_or_assign("a", text());
        if (i == 0) continue;
        all[0] = text();
        all.insert(all.begin(), text());
        rows.insert(rows.begin() + 1, in_level::vector<int>(9, 1, passing));
        rows[0] = in_level::vector<int>(9, 2, passing);
        pairs[1] = {text(), 3};
        in_level::vector<in_level::string> several({text()}, passing);
        listed.assign(std::make_move_iterator(several.begin()), std::make_move_iterator(several.end()));
    }
    for (const auto* each : {&all[0], &all[1], &by_number[1], &by_text["a"], &pairs[1].first, &listed.front()}) {
        EXPECT_TRUE(level.owns(each->data()));
        EXPECT_EQ(*each, long_text);
    }
    EXPECT_TRUE(level.owns(rows[0].data()) && level.owns(rows[1].data()));
    EXPECT_EQ(rows[1][8], 1);
}

// Code that has the standard's own adaptor, or passes the resource by itself, goes on.
TEST(containers_in, allocators_that_are_passed_are_not_passed_twice) {
    acre::arena level;
    using scoped_value = std::pair<const in_level::string, in_level::vector<int>>;
    std::map<in_level::string, in_level::vector<int>, std::less<>,
             std::scoped_allocator_adaptor<acre::allocator<scoped_value, acre::arena>>>
        scoped{level};
    scoped.emplace(std::piecewise_construct, std::forward_as_tuple(long_text), std::forward_as_tuple(3u));
    EXPECT_TRUE(level.owns(scoped.begin()->first.data()) && level.owns(scoped.begin()->second.data()));
    std::vector<in_level::string, std::scoped_allocator_adaptor<acre::allocator<in_level::string, acre::arena>>> texts{
        level};
    texts.emplace_back(long_text);
    EXPECT_TRUE(level.owns(texts[0].data()));
    in_level::vector<in_level::string> explicitly{level};
    explicitly.emplace_back(long_text, level);
    explicitly.push_back({long_text, level});
    EXPECT_TRUE(level.owns(explicitly[1].data()));
}

TEST(containers_in, unordered_containers_in_others) {
    acre::arena level;
    in_level::map<int, in_level::unordered_map<int, int>> numbers{level};
    numbers[1][2] = 3;
    in_level::unordered_map<in_level::string, in_level::unordered_set<int>> sets{level};
    sets["a"].insert(2);
    in_level::vector<in_level::unordered_multimap<int, int>> all{level};
    all.emplace_back().emplace(1, 2);
    std::optional<in_level::unordered_map<int, int>> later;
    later.emplace(level).emplace(1, 2);
    EXPECT_TRUE(level.owns(&numbers.at(1).at(2)));
    EXPECT_TRUE(level.owns(&*sets.at("a").begin()));
    EXPECT_TRUE(level.owns(&*all[0].begin()) && level.owns(&*later->begin()));
}

TEST(containers_in, keys_that_are_strings_of_the_standard) {
    acre::arena level;
    in_level::map<std::string, int> ordered{level};
    ordered["a"] = 1;
    EXPECT_EQ(std::as_const(ordered).at("a"), 1);
    EXPECT_THROW((void)ordered.at("b"), std::out_of_range);
    in_level::map<std::string, int, std::less<std::string>> opaque{level};
    opaque["a"] = 1;
    EXPECT_EQ(opaque.at("a"), 1);
    EXPECT_EQ(opaque.erase("a"), 1u);
    in_level::set<std::string, std::less<std::string>> names{level};
    EXPECT_TRUE(names.insert("a").second);
}

TEST(containers_in, every_container_compiles) {
    acre::multi_pool nodes;
    {
        using in = acre::containers_in<acre::multi_pool>;
        in::vector<int> a{nodes};
        in::deque<int> b{nodes};
        in::list<in::string> c{nodes};
        in::forward_list<in::string> d{nodes};
        in::basic_string<char16_t> e{nodes};
        in::multimap<in::string, int> f{nodes};
        in::multiset<in::string> g{nodes};
        in::unordered_multimap<in::string, in::string> h{nodes};
        in::unordered_multiset<in::string> i{nodes};
        in::map<int, in::vector<int>> j{nodes};
        a.push_back(1);
        b.push_back(1);
        c.emplace_back(long_text);
        d.emplace_front(long_text);
        e.assign(100, u'x');
        f.emplace(long_text, 1);
        g.emplace(long_text);
        h.emplace(long_text, long_text);
        i.emplace(long_text);
        j[1].push_back(1);
        EXPECT_TRUE(nodes.owns(h.begin()->second.data()));
        EXPECT_TRUE(nodes.owns(f.begin()->first.data()));
    }
    EXPECT_EQ(nodes.live(), 0u);
}

}  // namespace
