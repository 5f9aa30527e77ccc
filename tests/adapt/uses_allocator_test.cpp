// Elements get the allocator of their container as std::pmr's do: classes, pairs, tuples, and what they are made of.
#include <gtest/gtest.h>

#include <acre/adapt/containers.hpp>
#include <acre/arenas/arena.hpp>
#include <functional>
#include <map>
#include <scoped_allocator>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using in_level = acre::containers_in<acre::arena>;

constexpr const char* long_text = "a text too long for the small buffer inside a string";

/// A string in another arena. Not inline: g++ 12 would warn of reads that cannot happen.
[[gnu::noinline]] in_level::string text_in(acre::arena& other) {
    return {long_text, other};
}

class uses_allocator : public testing::Test {
protected:
    acre::arena level_;
    acre::arena other_;

    bool owns(const in_level::string& text) const { return text == long_text && level_.owns(text.data()); }
};

// The arena is an argument of its own, and the allocator comes behind it.
struct node {
    using allocator_type = acre::allocator<char, acre::arena>;

    explicit node(allocator_type given) : text(long_text, given) {}
    node(acre::arena& works_with, allocator_type given) : text(long_text, given), works_in(&works_with) {}
    node(const node& from, allocator_type given) : text(from.text, given), works_in(from.works_in) {}
    node(const node&) = delete;

    in_level::string text;
    acre::arena* works_in = nullptr;
};

TEST_F(uses_allocator, a_resource_as_an_argument_does_not_take_the_place_of_the_allocator) {
    in_level::list<node> nodes{level_};
    nodes.emplace_back(other_);
    nodes.push_back(nodes.front());
    for (const node& each : nodes) {
        EXPECT_EQ(each.works_in, &other_);
        EXPECT_TRUE(owns(each.text));
    }
}

// Takes the allocator in front.
struct leading {
    using allocator_type = acre::allocator<char, acre::arena>;

    leading(std::allocator_arg_t, allocator_type given, const char* words) : text(words, given) {}

    in_level::string text;
};

TEST_F(uses_allocator, in_front_of_the_arguments) {
    in_level::list<leading> all{level_};
    all.emplace_back(long_text);
    EXPECT_TRUE(owns(all.front().text));
}

TEST_F(uses_allocator, tuples) {
    in_level::vector<std::tuple<int, in_level::string>> all{level_};
    all.emplace_back(1, long_text);
    all.emplace_back(2, text_in(other_));
    all.emplace_back(std::tuple{3, text_in(other_)});
    const auto copy = all;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(std::get<0>(copy[static_cast<std::size_t>(i)]), i + 1);
        EXPECT_TRUE(owns(std::get<1>(copy[static_cast<std::size_t>(i)])));
    }
}

// It adds the allocator itself: as many arguments as the tuple has elements.
TEST_F(uses_allocator, tuples_in_a_scoped_allocator_adaptor) {
    using element = std::tuple<int, int, in_level::string>;
    std::vector<element, std::scoped_allocator_adaptor<acre::allocator<element, acre::arena>>> all{level_};
    all.push_back({1, 2, text_in(other_)});
    EXPECT_TRUE(owns(std::get<2>(all.front())));
}

TEST_F(uses_allocator, elements_of_a_scoped_allocator_adaptor) {
    using element = std::tuple<in_level::string>;
    std::vector<element, std::scoped_allocator_adaptor<acre::allocator<element, acre::arena>>> all{level_};
    all.emplace_back(text_in(other_));
    all.push_back(all.front());
    for (const element& each : all) EXPECT_TRUE(owns(std::get<0>(each)));

    using entry = std::pair<const in_level::string, in_level::string>;
    std::map<in_level::string, in_level::string, std::less<>,
             std::scoped_allocator_adaptor<acre::allocator<entry, acre::arena>>>
        map{level_};
    map.emplace(long_text, long_text);
    EXPECT_TRUE(owns(map.begin()->first) && owns(map.begin()->second));
}

TEST_F(uses_allocator, tuples_of_parts_of_other_types) {
    in_level::vector<std::tuple<in_level::string, int>> all{level_};
    all.emplace_back(std::tuple{long_text, short{1}});
    all.emplace_back(std::pair{long_text, short{1}});
    const std::pair<const char*, long> named{long_text, 1};
    all.emplace_back(std::tuple<const char* const&, const long&>{named.first, named.second});
    all.emplace_back(std::allocator_arg, acre::allocator<char, acre::arena>{level_}, long_text, 1);
    for (const auto& each : all) EXPECT_TRUE(owns(std::get<0>(each)) && std::get<1>(each) == 1);

    in_level::vector<std::tuple<in_level::string>> single{level_};
    single.emplace_back(long_text);
    single.emplace_back(std::tuple{long_text});
    single.push_back(single.front());
    for (const auto& each : single) EXPECT_TRUE(owns(std::get<0>(each)));

    in_level::vector<std::pair<int, in_level::string>> pairs{level_};
    pairs.emplace_back(std::tuple{1, long_text});
    EXPECT_TRUE(owns(pairs.front().second));
}

// A pair does not pass the allocator on by itself, which std::tuple's constructor would ask of it.
TEST_F(uses_allocator, tuples_of_nothing) {
    using pair = std::pair<in_level::string, int>;
    in_level::vector<std::tuple<int, pair, std::tuple<const pair>>> all{level_};
    all.emplace_back();
    all.resize(3);
    for (const auto& [number, direct, nested] : all) {
        EXPECT_EQ(number, 0);
        EXPECT_EQ(&direct.first.get_allocator().referred(), &level_);
        EXPECT_EQ(&std::get<0>(nested).first.get_allocator().referred(), &level_);
    }
    in_level::map<int, std::tuple<pair>> mapped{level_};
    EXPECT_EQ(&std::get<0>(mapped[1]).first.get_allocator().referred(), &level_);
}

// Only what takes the allocator is made in front of the tuple and moved into it.
TEST_F(uses_allocator, tuples_with_elements_that_stay_where_they_are) {
    struct immovable {
        explicit immovable(int given) : value(given) {}
        immovable(immovable&&) = delete;
        int value;
    };
    in_level::list<std::tuple<immovable, in_level::string>> all{level_};
    all.emplace_back(7, long_text);
    EXPECT_TRUE(std::get<0>(all.front()).value == 7 && owns(std::get<1>(all.front())));
    in_level::vector<std::tuple<in_level::string&, const in_level::string>> refers{level_};
    refers.emplace_back(std::get<1>(all.front()), long_text);
    EXPECT_EQ(&std::get<0>(refers.front()), &std::get<1>(all.front()));
    EXPECT_TRUE(owns(std::get<1>(refers.front())));
}

TEST_F(uses_allocator, pairs_in_all_their_forms) {
    struct becomes_a_pair {
        acre::arena& in;
        operator std::pair<int, in_level::string>() const { return {1, text_in(in)}; }
    };
    in_level::vector<std::pair<int, in_level::string>> all{level_};
    all.emplace_back(1, long_text);
    all.emplace_back(std::pair{1, long_text});
    all.emplace_back(all[0]);
    all.emplace_back(std::pair{1, text_in(other_)});
    all.emplace_back(becomes_a_pair{other_});
    all.emplace_back(std::piecewise_construct, std::tuple{1}, std::tuple{long_text});
    for (const auto& each : all) EXPECT_TRUE(each.first == 1 && owns(each.second));
    EXPECT_EQ(all.emplace_back().first, 0);
}

TEST_F(uses_allocator, pairs_and_tuples_in_each_other) {
    using inner = std::pair<const in_level::string, int>;
    in_level::list<std::pair<inner, std::tuple<in_level::string, in_level::vector<int>>>> all{level_};
    all.emplace_back(std::piecewise_construct, std::forward_as_tuple(long_text, 1),
                     std::forward_as_tuple(long_text, 3));
    EXPECT_TRUE(owns(all.front().first.first));
    EXPECT_TRUE(owns(std::get<0>(all.front().second)));
    EXPECT_EQ(std::get<1>(all.front().second).size(), 3u);
    EXPECT_TRUE(level_.owns(std::get<1>(all.front().second).data()));
}

}  // namespace
