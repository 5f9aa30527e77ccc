// The standard's containers through acre::allocator with inline calls, against the same containers over std::allocator:
// random operations, equal contents after each step. differential.hpp says how.
#include "adapt/differential.hpp"

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <queue>
#include <random>
#include <stack>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using namespace acre::literals;
using acre_test::checking_upstream;
using acre_test::differential::containers;
using acre_test::differential::expect_no_difference;

template <class R>
struct over_checking {
    checking_upstream below;
    R tested{below};
};
template <>
struct over_checking<acre::multi_arena> {
    checking_upstream below;
    acre::multi_arena tested{{.arenas = 64, .bytes = 64_KiB}, below};
};

template <class R>
struct allocator_of {
    template <class T>
    using type = acre::allocator<T, R>;
};

template <class R>
class differential_inline : public testing::Test {};

// 112 bytes: the largest node here, one of a map of strings.
using resources = testing::Types<acre::arena, acre::pool<112>, acre::multi_pool, acre::multi_arena>;
struct names {
    template <class R>
    static std::string GetName(int) {
        const std::string name{R::name};
        return name.substr(name.rfind(':') + 1);
    }
};
TYPED_TEST_SUITE(differential_inline, resources, names);

TYPED_TEST(differential_inline, same_contents_as_over_the_heap) {
    over_checking<TypeParam> one, other;
    expect_no_difference<containers<allocator_of<TypeParam>::template type>>(one.tested, other.tested);
    if constexpr (requires { one.tested.live(); }) {
        EXPECT_EQ(one.tested.live(), 0u);
        EXPECT_EQ(other.tested.live(), 0u);
    }
}

// Adapters of containers, which show their ends only: compared while they are played with, and emptied at the end.
template <class Expected, class Tested>
void drain(Expected& expected, Tested& tested) {
    while (!expected.empty()) {
        ASSERT_FALSE(tested.empty());
        ASSERT_EQ(expected.top(), tested.top());
        expected.pop();
        tested.pop();
    }
    EXPECT_TRUE(tested.empty());
}

// A swap where the containers may be of two resources, each of which stays with its container.
template <class C>
void exchange(C& a, C& b) {
    C taken{std::move(a)};
    a = std::move(b);
    b = std::move(taken);
}

template <class Expected, class Tested, class R>
void compare_tops(std::uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    over_checking<R> one, other;
    using allocator = acre::allocator<int, R>;
    std::array<Expected, 2> expected;
    std::array<Tested, 2> tested{Tested(allocator(one.tested)), Tested(allocator(other.tested))};
    std::mt19937 random{seed};
    for (int i = 0; i < 600; ++i) {
        const std::size_t side = random() % 2;
        const int value = static_cast<int>(random() % 100);
        const auto operation = random() % 16;
        const auto both = [&](auto act) { act(expected), act(tested); };
        if (operation < 8) {
            both([&](auto& all) { all[side].push(value); });
        } else if (operation < 12) {
            both([&](auto& all) { all[side].emplace(value); });
        } else if (operation < 14) {
            if (!expected[side].empty()) both([&](auto& all) { all[side].pop(); });
        } else if (operation == 14) {
            both([&](auto& all) { exchange(all[side], all[1 - side]); });
        } else {
            both([&](auto& all) { all[side] = all[1 - side]; });
        }
        ASSERT_EQ(expected[side].size(), tested[side].size()) << "step " << i;
        if (expected[side].empty()) continue;
        ASSERT_EQ(expected[side].top(), tested[side].top()) << "step " << i;
    }
    for (std::size_t side = 0; side < 2; ++side) drain(expected[side], tested[side]);
}

TYPED_TEST(differential_inline, same_tops_as_over_the_heap) {
    using allocator = acre::allocator<int, TypeParam>;
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        compare_tops<std::stack<int, std::list<int>>, std::stack<int, std::list<int, allocator>>, TypeParam>(seed);
        compare_tops<std::priority_queue<int>, std::priority_queue<int, std::vector<int, allocator>>, TypeParam>(seed);
    }
}

// containers_in: keys of text, found by any text, and containers in containers.
template <class Words>
std::size_t total(const Words& words) {
    std::size_t sum = 0;
    for (const auto& [word, places] : words) {
        for (const auto& each : places) sum += word.size() * each.size() + static_cast<std::size_t>(each.empty());
    }
    return sum;
}

template <class Words, class Text>
void change(Words& words, Words& others, const acre_test::differential::step& s, Text make) {
    const auto word = acre_test::differential::text(s.value % 30);
    switch (s.operation) {
        case 0:
            words[make(word)].emplace_back(acre_test::differential::text(s.value));
            break;
        case 1:
            words[make(word)].resize(s.count);
            break;
        case 2:
            if (const auto found = words.find(make(word)); found != words.end()) words.erase(found);
            break;
        case 3:
            if (words.contains(make(word))) words.at(make(word)).clear();
            break;
        case 4:
            words = others;
            break;
        case 5:
            exchange(words, others);
            break;
        case 6:
            words.emplace(word, others.size());
            break;
        default:
            words.insert(others.begin(), others.end());
            break;
    }
}

template <class Expected, class Tested, class R>
void compare_words(std::uint32_t seed) {
    over_checking<R> one, other;
    std::array<Expected, 2> expected;
    std::array<Tested, 2> tested{Tested(one.tested), Tested(other.tested)};
    std::mt19937 random{seed};
    for (int i = 0; i < 500; ++i) {
        const acre_test::differential::step s{static_cast<unsigned>(random() % 8),
                                              static_cast<std::uint32_t>(random() % 1000), random() % 9, 0};
        const std::size_t side = random() % 2;
        change(expected[side], expected[1 - side], s, [](std::string_view text) { return std::string(text); });
        change(tested[side], tested[1 - side], s, [](std::string_view text) { return text; });
        for (std::size_t each = 0; each < 2; ++each) {
            ASSERT_EQ(expected[each].size(), tested[each].size()) << "seed " << seed << ", step " << i;
            ASSERT_EQ(total(expected[each]), total(tested[each])) << "seed " << seed << ", step " << i;
            for (const auto& [word, places] : expected[each]) {
                ASSERT_TRUE(tested[each].contains(std::string_view{word}));
                const auto& found = tested[each].at(std::string_view{word});
                ASSERT_TRUE(std::equal(places.begin(), places.end(), found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return std::string_view{a} == b; }));
            }
        }
    }
}

template <class R>
void compare_all_words() {
    using in = acre::containers_in<R>;
    using places = std::vector<std::string>;
    using places_in = typename in::template vector<typename in::string>;
    for (std::uint32_t seed = 1; seed <= 2; ++seed) {
        compare_words<std::map<std::string, places>, typename in::template map<typename in::string, places_in>, R>(
            seed);
        compare_words<std::unordered_map<std::string, places>,
                      typename in::template unordered_map<typename in::string, places_in>, R>(seed);
    }
}

TEST(differential_containers_in, same_words_as_over_the_heap) {
    compare_all_words<acre::arena>();
    compare_all_words<acre::multi_pool>();
}

}  // namespace
