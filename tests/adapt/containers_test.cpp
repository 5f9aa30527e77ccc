// Every container of the standard over every kind of resource: the same contents as with std::allocator, no leaks, and
// copies, moves and swaps across two resources.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;

/// A resource over the checking upstream, new for each test.
template <class R>
struct place {
    checking_upstream below;
    R tested{below};
};
template <>
struct place<acre::heap> {
    acre::heap tested;
};

template <class R>
class containers : public testing::Test {
protected:
    place<R> one_;
    place<R> other_;

    // Random insertions and erasures that leave several hundred elements.
    template <class Container, class Insert, class Erase>
    void exercise(Container& tested, Insert insert, Erase erase) {
        std::mt19937 random{1};
        for (int i = 0; i < 4000; ++i) {
            const int value = static_cast<int>(random() % 2000);
            if (random() % 3 != 0) {
                insert(tested, value);
            } else if (!tested.empty()) {
                erase(tested, value);
            }
        }
    }

    template <class Standard, class Tested, class Insert, class Erase>
    void compare(Insert insert, Erase erase) {
        Standard expected;
        Tested tested{one_.tested};
        exercise(expected, insert, erase);
        exercise(tested, insert, erase);
        const auto same = [](const Standard& a, const Tested& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        EXPECT_TRUE(same(expected, tested));
        Tested copied{tested, other_.tested};
        EXPECT_TRUE(same(expected, copied));
        Tested moved{std::move(copied), one_.tested};
        EXPECT_TRUE(same(expected, moved));
        Tested assigned{other_.tested};
        assigned = tested;
        EXPECT_TRUE(same(expected, assigned));
        assigned = std::move(moved);
        EXPECT_TRUE(same(expected, assigned));
        EXPECT_EQ(assigned.get_allocator(), Tested{other_.tested}.get_allocator()) << "it stays where it was made";
        Tested swapped{other_.tested};
        swapped.swap(assigned);
        EXPECT_TRUE(same(expected, swapped));
        EXPECT_TRUE(assigned.empty());
        assigned = std::move(swapped);
        EXPECT_TRUE(same(expected, assigned));
        Tested carried{std::move(assigned)};
        EXPECT_TRUE(same(expected, carried));
    }
};

using resources =
    testing::Types<acre::heap, acre::arena, acre::pool<48>, acre::multi_pool, checking_upstream, acre::resource_ref>;

template <>
struct place<checking_upstream> {
    checking_upstream tested;
};

struct names {
    template <class R>
    static std::string GetName(int number) {
        return std::string{"resource_"} + std::to_string(number);
    }
};

TYPED_TEST_SUITE(containers, resources, names);

constexpr auto push_back = [](auto& into, int value) { into.push_back(value); };
constexpr auto pop_back = [](auto& from, int) { from.pop_back(); };
constexpr auto insert = [](auto& into, int value) { into.insert(value); };
constexpr auto erase = [](auto& from, int value) { from.erase(value); };
constexpr auto set_value = [](auto& into, int value) { into[value] = value * 3; };

TYPED_TEST(containers, vector) {
    this->template compare<std::vector<int>, std::vector<int, acre::allocator<int, TypeParam>>>(push_back, pop_back);
}

TYPED_TEST(containers, deque) {
    this->template compare<std::deque<int>, std::deque<int, acre::allocator<int, TypeParam>>>(push_back, pop_back);
}

TYPED_TEST(containers, list) {
    this->template compare<std::list<int>, std::list<int, acre::allocator<int, TypeParam>>>(push_back, pop_back);
}

TYPED_TEST(containers, forward_list) {
    this->template compare<std::forward_list<int>, std::forward_list<int, acre::allocator<int, TypeParam>>>(
        [](auto& into, int value) { into.push_front(value); }, [](auto& from, int) { from.pop_front(); });
}

TYPED_TEST(containers, set) {
    this->template compare<std::set<int>, std::set<int, std::less<>, acre::allocator<int, TypeParam>>>(insert, erase);
}

TYPED_TEST(containers, map) {
    using allocator = acre::allocator<std::pair<const int, int>, TypeParam>;
    this->template compare<std::map<int, int>, std::map<int, int, std::less<>, allocator>>(set_value, erase);
}

TYPED_TEST(containers, string) {
    this->template compare<std::string,
                           std::basic_string<char, std::char_traits<char>, acre::allocator<char, TypeParam>>>(
        [](auto& into, int value) { into.push_back(static_cast<char>('a' + value % 26)); }, pop_back);
}

// The order of unordered containers depends on how they grew: contents are compared as sets.
TYPED_TEST(containers, unordered_map) {
    using allocator = acre::allocator<std::pair<const int, int>, TypeParam>;
    std::unordered_map<int, int> expected;
    std::unordered_map<int, int, std::hash<int>, std::equal_to<>, allocator> tested{this->one_.tested};
    this->exercise(expected, set_value, erase);
    this->exercise(tested, set_value, erase);
    using sorted = std::map<int, int>;
    EXPECT_EQ(sorted(expected.begin(), expected.end()), sorted(tested.begin(), tested.end()));
    std::unordered_map<int, int, std::hash<int>, std::equal_to<>, allocator> moved{this->other_.tested};
    moved = std::move(tested);
    EXPECT_EQ(sorted(expected.begin(), expected.end()), sorted(moved.begin(), moved.end()));
}

TYPED_TEST(containers, unordered_set) {
    std::unordered_set<int> expected;
    std::unordered_set<int, std::hash<int>, std::equal_to<>, acre::allocator<int, TypeParam>> tested{this->one_.tested};
    this->exercise(expected, insert, erase);
    this->exercise(tested, insert, erase);
    EXPECT_EQ(std::set<int>(expected.begin(), expected.end()), std::set<int>(tested.begin(), tested.end()));
}

// Hazards A7, A10: what is assigned stays in its arena; what is moved into a new container brings its arena along.
TEST(containers_over_two_arenas, each_ends_with_the_arena_of_its_storage) {
    using numbers = std::vector<int, acre::allocator<int, acre::arena>>;
    acre::arena longer;
    numbers kept{longer};
    {
        acre::arena shorter;
        numbers brief({1, 2, 3}, shorter);
        const numbers copied = kept = brief;
        EXPECT_TRUE(longer.owns(kept.data()));
        EXPECT_EQ(copied.get_allocator(), kept.get_allocator());
        const int* const before = brief.data();
        numbers carried{std::move(brief)};
        EXPECT_EQ(carried.data(), before) << "the storage came along";
        carried.push_back(4);
        kept = std::move(carried);
        EXPECT_TRUE(longer.owns(kept.data()));
        numbers same({5}, longer);
        same.swap(kept);
        kept = std::move(same);
    }
    EXPECT_EQ(kept[3], 4);
}

// Hazard A10: std::pmr leaves it undefined.
// The standard leaves it undefined. Some libraries look at the allocators in some builds, and abort first.
TEST(containers_over_two_pools, a_node_of_the_other_pool_is_noticed_when_it_is_freed) {
    acre::multi_pool here;
    acre::multi_pool there;
    using set = std::set<int, std::less<int>, acre::allocator<int, acre::multi_pool>>;
    const auto insert_a_foreign_node = [&] {
        set mine{here};
        set other{there};
        other.insert(1);
        mine.insert(other.extract(1));
    };
    EXPECT_DEATH(insert_a_foreign_node(), "a pointer of another resource was freed|[Aa]ssert");
}

TEST(containers_over_two_arenas, a_swap_aborts) {
    acre::arena one, other;
    std::vector<int, acre::allocator<int, acre::arena>> here{one}, there{other};
    std::map<int, int, std::less<>, acre::allocator<std::pair<const int, int>, acre::arena>> nodes{one}, others{other};
    EXPECT_DEATH(here.swap(there), "acre::allocator: containers in two resources were swapped: .*move one into a new");
    EXPECT_DEATH(std::swap(nodes, others), "acre::allocator: containers in two resources were swapped");
}

TEST(containers_in_a_scratch, come_and_go_with_it) {
    acre::arena frame;
    void* kept = frame.allocate(8);
    std::size_t held = 0;
    for (int round = 0; round < 100; ++round) {
        acre::scratch temporary{frame};
        std::vector<int, acre::allocator<int, acre::scratch>> numbers{temporary};
        for (int i = 0; i < 1000; ++i) numbers.push_back(i);
        ASSERT_EQ(numbers[999], 999);
        if (round == 0) held = frame.capacity();
    }
    EXPECT_EQ(frame.capacity(), held);
    EXPECT_TRUE(frame.owns(kept));
}

}  // namespace
