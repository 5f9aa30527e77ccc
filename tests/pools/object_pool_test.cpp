// Objects in a pool: constructed and destroyed once, walked in address order, intact while others come and go.
#include <gtest/gtest.h>

#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

struct Bullet {
    float position = 0;
    float speed = 0;
    void step() { position += speed; }
};

TEST(object_pool, example) {
    const float position = 1;
    const float speed = 2;
    acre::object_pool<Bullet> bullets;
    Bullet* b = bullets.create(position, speed);
    for (Bullet& each : bullets) each.step();
    EXPECT_EQ(b->position, 3);
    bullets.destroy(b);
    EXPECT_EQ(bullets.live(), 0u);
}

class object_pool_of_tracked : public testing::Test {
protected:
    checking_upstream upstream_;

    void SetUp() override { tracked::start(); }
};

TEST_F(object_pool_of_tracked, its_end_destroys_the_live_exactly_once) {
    std::set<int> left;
    {
        acre::object_pool<tracked> tested{upstream_};
        std::vector<tracked*> objects;
        for (int i = 0; i < 3000; ++i) objects.push_back(tested.create(i));
        for (int i = 0; i < 3000; ++i) {
            if (i % 3 == 0) {
                tested.destroy(objects[static_cast<std::size_t>(i)]);
            } else {
                left.insert(i);
            }
        }
        tracked::destroyed.clear();
    }
    EXPECT_EQ(tracked::live, 0);
    EXPECT_EQ(tracked::destroyed.size(), left.size());
    EXPECT_EQ(std::set<int>(tracked::destroyed.begin(), tracked::destroyed.end()), left);
}

// Hazard X6: what was never constructed is never destroyed.
TEST_F(object_pool_of_tracked, only_what_lives_is_destroyed) {
    acre::object_pool<tracked> tested{upstream_};
    for (int i = 0; i < 600; ++i) tested.create(i);
    tested.reset();
    EXPECT_EQ(tracked::destroyed.size(), 600u);
    tested.reset();
    EXPECT_EQ(tracked::destroyed.size(), 600u);
    EXPECT_GT(tested.capacity(), 0u);
    tested.create(1);
    tested.release();
    EXPECT_EQ(tracked::destroyed.size(), 601u);
    EXPECT_EQ(upstream_.live_blocks(), 0u);
}

// Promise 7, hazard M10.
TEST_F(object_pool_of_tracked, a_constructor_that_throws_keeps_nothing) {
    acre::object_pool<tracked> tested{upstream_};
    tracked* before = tested.create(1);
    for (int i = 0; i < 100; ++i) {
        tracked::throw_at = tracked::constructed + 1;
        EXPECT_THROW(tested.create(2), std::runtime_error);
        EXPECT_THROW((tracked::throw_at = tracked::constructed + 1, tested.try_create(2)), std::runtime_error);
    }
    EXPECT_EQ(tested.live(), 1u);
    EXPECT_EQ(tracked::live, 1);
    EXPECT_EQ(before->number(), 1);
    EXPECT_EQ(upstream_.requests(), 1u);
}

// Hazard C7.
TEST_F(object_pool_of_tracked, destroy_runs_the_destructor_once) {
    acre::object_pool<tracked> tested{upstream_};
    tested.destroy(tested.create(5));
    EXPECT_EQ(tracked::destroyed, std::vector<int>{5});
    tested.destroy(nullptr);
    EXPECT_EQ(tracked::destroyed.size(), 1u);
}

TEST_F(object_pool_of_tracked, try_create_gives_null_without_memory) {
    acre::object_pool<tracked> tested{upstream_};
    upstream_.fail_from(1);
    EXPECT_EQ(tested.try_create(1), nullptr);
    EXPECT_THROW(tested.create(1), acre::out_of_memory);
    upstream_.recover();
    EXPECT_NE(tested.try_create(1), nullptr);
    EXPECT_EQ(tracked::live, 1);
}

// Hazards P5, X16, P12.
TEST_F(object_pool_of_tracked, moves_and_objects_stay) {
    acre::object_pool<tracked> first{upstream_};
    tracked* object = first.create(7);
    acre::object_pool<tracked> second{std::move(first)};
    EXPECT_EQ(object->number(), 7);
    EXPECT_EQ(std::distance(first.begin(), first.end()), 0);
    EXPECT_EQ(&*second.begin(), object);
    first.create(8);
    EXPECT_EQ(tracked::live, 2);
    second = std::move(first);
    EXPECT_EQ(tracked::live, 1) << "what the target held is destroyed";
    EXPECT_EQ(tracked::destroyed, std::vector<int>{7});
    EXPECT_EQ(second.begin()->number(), 8);
    auto& same = second;
    second = std::move(same);
    EXPECT_EQ(tracked::live, 1);
}

// Hazard P1.
TEST_F(object_pool_of_tracked, types_of_every_alignment) {
    struct alignas(64) a64 {
        char c;
    };
    struct alignas(4096) a4096 {
        char c;
    };
    acre::object_pool<a64> wide{upstream_};
    acre::object_pool<a4096> page{upstream_};
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(acre::is_aligned(wide.create(), 64));
        EXPECT_TRUE(acre::is_aligned(page.create(), 4096));
    }
}

TEST_F(object_pool_of_tracked, is_walked_in_address_order) {
    acre::object_pool<tracked> tested{upstream_};
    std::mt19937 random{1};
    std::vector<tracked*> objects;
    for (int i = 0; i < 5000; ++i) objects.push_back(tested.create(i));
    std::ranges::shuffle(objects, random);
    for (int i = 0; i < 2500; ++i) {
        tested.destroy(objects.back());
        objects.pop_back();
    }
    std::ranges::sort(objects);
    std::vector<tracked*> walked;
    for (tracked& each : tested) walked.push_back(&each);
    EXPECT_EQ(walked, objects);
    EXPECT_EQ(tested.live(), 2500u);
}

TEST_F(object_pool_of_tracked, may_lose_objects_during_the_walk) {
    acre::object_pool<tracked> tested{upstream_};
    for (int i = 0; i < 3000; ++i) tested.create(i);
    int seen = 0;
    for (tracked& each : tested) {
        ++seen;
        if (each.number() % 2 == 0) tested.destroy(&each);
    }
    EXPECT_EQ(seen, 3000);
    EXPECT_EQ(tested.live(), 1500u);
    // The walk skips objects ahead of it that are destroyed meanwhile.
    std::vector<tracked*> left;
    for (tracked& each : tested) left.push_back(&each);
    std::size_t visited = 0;
    for (tracked& each : tested) {
        ++visited;
        const auto self = std::ranges::find(left, &each);
        ASSERT_NE(self, left.end()) << "visited after its end";
        if (std::next(self) == left.end()) break;
        tested.destroy(*std::next(self));
        left.erase(std::next(self));
    }
    EXPECT_EQ(visited, 750u);
    EXPECT_EQ(tested.live(), 750u);
}

// A step of a walk takes one bit of a word. What it visits is what is live, also where whole groups are free, and
// whatever the loop destroys and creates.
// Hazard Y29.
TEST_F(object_pool_of_tracked, is_visited_as_by_iterators_while_objects_come_and_go) {
    for (const int kept : {1, 3, 4, 100, 2000}) {
        acre::object_pool<tracked> tested{upstream_};
        std::vector<tracked*> objects;
        for (int i = 0; i < 4000; ++i) objects.push_back(tested.create(i));
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (kept == 4 ? i % 4 == 0 : i % static_cast<std::size_t>(kept) != 0) {
                tested.destroy(std::exchange(objects[i], nullptr));
            }
        }
        std::erase(objects, nullptr);
        std::ranges::sort(objects);
        std::vector<tracked*> by_iterators;
        for (tracked& each : tested) by_iterators.push_back(&each);
        EXPECT_EQ(by_iterators, objects);
        std::vector<const tracked*> by_calls;
        std::as_const(tested).for_each([&](const tracked& each) { by_calls.push_back(&each); });
        EXPECT_TRUE(std::ranges::equal(by_calls, objects));

        // Each visit ends the object and the next one, and every third puts another in their place.
        std::set<const tracked*> ended;
        std::size_t visited = 0;
        tested.for_each([&](tracked& each) {
            ++visited;
            ASSERT_FALSE(ended.contains(&each)) << "visited after its end";
            const auto self = std::ranges::lower_bound(objects, &each);
            if (self == objects.end() || *self != &each) return tested.destroy(&each);  // created below
            for (auto at = self; at != objects.end() && at != self + 2; ++at) {
                if (!ended.insert(*at).second) continue;
                tested.destroy(*at);
            }
            if (visited % 3 == 0) ended.erase(tested.create(1));
        });
        EXPECT_GE(visited, objects.size() / 2);
        EXPECT_LE(visited, objects.size());
    }
}

// A tree whose nodes own their children in the same pool, in both orders of addresses.
struct tree_node {
    tracked counted;
    acre::object_pool<tree_node>* home;
    tree_node* left = nullptr;
    tree_node* right = nullptr;

    explicit tree_node(acre::object_pool<tree_node>& pool) : home(&pool) {}
    ~tree_node() {
        home->destroy(left);
        home->destroy(right);
    }
};

TEST_F(object_pool_of_tracked, objects_may_own_others_of_the_same_pool) {
    for (const bool by_reset : {true, false}) {
        tracked::start();
        {
            acre::object_pool<tree_node> tested{upstream_};
            for (int i = 0; i < 100; ++i) {
                tree_node* child = tested.create(tested);
                tree_node* root = tested.create(tested);
                root->left = child;
                root->right = tested.create(tested);
            }
            EXPECT_EQ(tracked::live, 300);
            if (by_reset) tested.reset();
        }
        EXPECT_EQ(tracked::live, 0);
        EXPECT_EQ(tracked::destroyed.size(), 300u);
    }
}

TEST_F(object_pool_of_tracked, is_walked_as_const_too) {
    acre::object_pool<tracked> tested{upstream_};
    tested.create(3);
    const acre::object_pool<tracked>& same = tested;
    int sum = 0;
    for (const tracked& each : same) sum += each.number();
    EXPECT_EQ(sum, 3);
    static_assert(std::forward_iterator<acre::object_pool<tracked>::const_iterator>);
}

TEST_F(object_pool_of_tracked, of_nothing_has_nothing_to_walk) {
    acre::object_pool<tracked> tested{upstream_};
    EXPECT_EQ(tested.begin(), tested.end());
    tested.destroy(tested.create(1));
    EXPECT_EQ(tested.begin(), tested.end());
}

// Hazard P12, B4: what is live is nobody else's, whatever comes and goes.
TEST(object_pool, objects_stay_whole_while_others_come_and_go) {
    struct item {
        std::uint64_t first, second, third;
        explicit item(std::uint64_t seed) : first(seed), second(seed * 3), third(~seed) {}
        bool whole() const { return second == first * 3 && third == ~first; }
    };
    checking_upstream upstream;
    acre::object_pool<item> tested{upstream};
    std::mt19937 random{2};
    std::vector<item*> items;
    for (int i = 0; i < 50'000; ++i) {
        if (items.empty() || random() % 100 < (items.size() < 3000 ? 60u : 40u)) {
            items.push_back(tested.create(random()));
        } else {
            std::swap(items[random() % items.size()], items.back());
            ASSERT_TRUE(items.back()->whole());
            tested.destroy(items.back());
            items.pop_back();
        }
    }
    for (item* each : items) ASSERT_TRUE(each->whole());
    EXPECT_EQ(tested.live(), items.size());
}

#if defined(__cpp_exceptions)
TEST(object_pool, errors_name_it) {
    try {
        acre::object_pool<int> tested{acre::pool_options{.limit_bytes = 1}};
        FAIL() << "one byte is no limit";
    } catch (const acre::bad_option& error) {
        EXPECT_NE(std::string{error.what()}.find("acre::object_pool"), std::string::npos) << error.what();
    }
    acre::object_pool<int> tested{acre::pool_options{.limit_bytes = 4096}};
    try {
        for (int i = 0; i < 10'000; ++i) (void)tested.create(i);
        FAIL() << "10,000 ints do not fit into 4,096 bytes";
    } catch (const acre::limit_exceeded& error) {
        EXPECT_NE(std::string{error.what()}.find("acre::object_pool"), std::string::npos) << error.what();
    }
}
#endif

TEST(pool, larger_requests_count_as_live) {
    acre::pool<48> tested;
    void* p = tested.allocate(100'000, 8);
    EXPECT_EQ(tested.live(), 1u);
    tested.deallocate(p, 100'000, 8);
    EXPECT_EQ(tested.live(), 0u);
}

template <class Pool, class Use>
std::string said_at_the_end(Use use) {
    testing::internal::CaptureStderr();
    {
        Pool tested{typename Pool::options_type{.report_live = true}};
        use(tested);
    }
    return testing::internal::GetCapturedStderr();
}

TEST(object_pool, reports_what_is_live_at_its_end_on_demand) {
    using acre::concurrent_object_pool;
    using acre::object_pool;
    const auto two = [](auto& pool) {
        pool.create();
        pool.destroy(pool.create());
        pool.create();
    };
    EXPECT_EQ(said_at_the_end<object_pool<double>>(two), "acre::object_pool: 2 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<object_pool<std::string>>(two), "acre::object_pool: 2 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<concurrent_object_pool<std::string>>(two),
              "acre::concurrent_object_pool: 2 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<acre::pool<24>>([](auto& pool) { (void)pool.allocate(); }),
              "acre::pool: 1 still live when it ended\n");
    const auto one_large = [](auto& pool) {
        (void)pool.allocate(5000, 16);
        (void)pool.allocate();
    };
    EXPECT_EQ(said_at_the_end<acre::pool<24>>(one_large), "acre::pool: 2 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<acre::concurrent_pool<24>>(one_large),
              "acre::concurrent_pool: 2 still live when it ended\n");
    EXPECT_EQ(
        said_at_the_end<acre::multi_pool>([](auto& pool) { (void)pool.allocate(100'000); }).find("acre::multi_pool: 1"),
        0u);
    EXPECT_EQ(said_at_the_end<object_pool<int>>([](auto& pool) { pool.destroy(pool.create()); }), "");
    EXPECT_EQ(said_at_the_end<object_pool<double>>([&two](auto& pool) {
                  two(pool);
                  const object_pool<double> taken = std::move(pool);
              }),
              "acre::object_pool: 2 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<object_pool<int>>([&two](auto& pool) {
                  two(pool);
                  pool.reset();
              }),
              "");
}

}  // namespace
