// The counts of statistics over every kind of resource and through every kind of call.
#include <acre/observe/statistics.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <map>
#include <memory_resource>
#include <random>
#include <string>
#include <vector>

#include "arenas/tracked.hpp"
#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
using acre_test::tracked;

struct Bullet {
    float position = 0;
    float speed = 0;
};

TEST(statistics, example) {
    const float position = 1;
    const float speed = 2;
    acre::statistics<acre::object_pool<Bullet>> bullets;
    bullets.destroy(bullets.create(position, speed));
    EXPECT_NE(bullets.report().find("1 in all"), std::string::npos) << bullets.report();
}

TEST(statistics, counts_by_size) {
    acre::statistics<acre::multi_pool> tested;
    void* a = tested.allocate(100);
    void* b = tested.allocate(50, 64);
    tested.deallocate(a, 100);
    void* c = tested.try_allocate(20);
    const acre::statistics_counts& counts = tested.counts();
    EXPECT_EQ(counts.allocations.value, 2u);
    EXPECT_EQ(counts.allocations.peak, 2u);
    EXPECT_EQ(counts.allocations.total, 3u);
    EXPECT_EQ(counts.bytes.value, 70u) << "as asked for, not as rounded";
    EXPECT_EQ(counts.bytes.peak, 150u);
    EXPECT_EQ(counts.bytes.total, 170u);
    EXPECT_EQ(counts.largest, 100u);
    EXPECT_EQ(counts.failures, 0u);
    tested.deallocate(nullptr, 10);
    tested.deallocate(b, 50, 64);
    tested.deallocate(c, 20);
    EXPECT_EQ(counts.allocations.value, 0u);
    EXPECT_EQ(counts.bytes.value, 0u);
}

TEST(statistics, counts_failures_of_both_forms) {
    checking_upstream below;
    acre::statistics<acre::multi_pool> tested{below};
    below.fail_from(1);
    EXPECT_THROW((void)tested.allocate(10), acre::out_of_memory);
    EXPECT_EQ(tested.try_allocate(10), nullptr);
    EXPECT_THROW((void)tested.allocate(SIZE_MAX), acre::request_too_large);
    EXPECT_EQ(tested.counts().failures, 3u);
    EXPECT_EQ(tested.counts().allocations.total, 0u);
    EXPECT_EQ(tested.counts().bytes.total, 0u);
}

TEST(statistics, of_a_pool_counts_slots) {
    acre::statistics<acre::pool<48>> tested;
    void* p = tested.allocate();
    void* q = tested.try_allocate();
    EXPECT_EQ(tested.counts().bytes.value, 96u);
    tested.deallocate(p);
    EXPECT_EQ(tested.counts().allocations.value, 1u);
    tested.deallocate(q);
    (void)tested.allocate();
    tested.reset();
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.live(), 0u);
}

TEST(statistics, of_an_object_pool_counts_objects) {
    tracked::start();
    acre::statistics<acre::object_pool<tracked>> tested;
    tracked* p = tested.create(1);
    tested.create(2);
    tested.try_create(3);
    EXPECT_EQ(tested.counts().allocations.value, 3u);
    EXPECT_EQ(tested.counts().bytes.value, 3 * sizeof(tracked));
    tested.destroy(p);
    tested.destroy(nullptr);
    EXPECT_EQ(tested.counts().allocations.value, 2u);
    tracked::throw_at = tracked::constructed + 1;
    EXPECT_THROW(tested.create(4), std::runtime_error);
    EXPECT_EQ(tested.counts().allocations.value, 2u);
    EXPECT_EQ(tested.counts().failures, 1u);
    tested.reset();
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.counts().allocations.peak, 3u);
    EXPECT_EQ(tracked::live, 0);
}

TEST(statistics, of_an_arena_counts_objects_and_arrays) {
    acre::statistics<acre::arena> tested;
    tested.create<std::string>("a string");
    (void)tested.create_array<int>(10);
    (void)tested.allocate<double>(4);
    EXPECT_EQ(tested.counts().allocations.value, 3u);
    EXPECT_EQ(tested.counts().bytes.value, sizeof(std::string) + 10 * sizeof(int) + 4 * sizeof(double));
    tested.reset();
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
    EXPECT_EQ(tested.counts().allocations.total, 3u);
}

TEST(statistics, of_an_arena_counts_texts_and_the_forms_that_do_not_throw) {
    acre::statistics<acre::arena> tested;
    EXPECT_NE(tested.try_create<int>(3), nullptr);
    EXPECT_EQ(tested.try_create_array<int>(5).size(), 5u);
    EXPECT_EQ(tested.copy("four"), "four");
    EXPECT_EQ(tested.try_copy("five!"), "five!");
    EXPECT_EQ(tested.format("%d", 123456), "123456");
    EXPECT_EQ(tested.counts().allocations.value, 5u);
    EXPECT_EQ(tested.counts().bytes.value, sizeof(int) + 5 * sizeof(int) + 5 + 6 + 7);
}

TEST(statistics, of_an_arena_goes_back_with_it) {
    acre::statistics<acre::arena> tested;
    (void)tested.allocate(100);
    const auto begin = tested.mark();
    (void)tested.allocate(50);
    tested.create<std::string>("a string");
    tested.rewind(begin);
    EXPECT_EQ(tested.counts().allocations.value, 1u);
    EXPECT_EQ(tested.counts().bytes.value, 100u);
    EXPECT_EQ(tested.counts().allocations.peak, 3u);
}

TEST(statistics, moves_with_what_it_counts) {
    acre::statistics<acre::object_pool<Bullet>> first;
    Bullet* b = first.create();
    auto second = std::move(first);
    EXPECT_EQ(first.counts().allocations.value, 0u);
    EXPECT_EQ(second.counts().allocations.value, 1u);
    second.destroy(b);
    first.create();
    second = std::move(first);
    EXPECT_EQ(second.counts().allocations.value, 1u);
    EXPECT_EQ(second.live(), 1u);
}

TEST(statistics, counts_anew_on_demand_from_what_is_live) {
    acre::statistics<acre::heap> tested;
    void* p = tested.allocate(10);
    tested.deallocate(tested.allocate(100), 100);
    tested.reset_counts();
    EXPECT_EQ(tested.counts().bytes.peak, 10u);
    EXPECT_EQ(tested.counts().bytes.total, 0u);
    EXPECT_EQ(tested.counts().largest, 0u);
    void* q = tested.allocate(20);
    tested.deallocate(p, 10);
    EXPECT_EQ(tested.counts().allocations.value, 1u);
    EXPECT_EQ(tested.counts().bytes.value, 20u);
    EXPECT_EQ(tested.counts().bytes.peak, 30u);
    EXPECT_EQ(tested.counts().bytes.total, 20u);
    tested.deallocate(q, 20);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
}

// Hazard M18.
TEST(statistics, all_freed_is_nothing_live) {
    acre::statistics<acre::multi_pool> tested;
    {
        std::map<int, std::string, std::less<>,
                 acre::allocator<std::pair<const int, std::string>, acre::statistics<acre::multi_pool>>>
            map{tested};
        for (int i = 0; i < 100; ++i) map[i] = "value";
        EXPECT_EQ(tested.counts().allocations.value, 100u);
    }
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
}

TEST(statistics, sees_what_comes_through_pmr) {
    acre::pmr<acre::statistics<acre::multi_pool>> tested;
    {
        std::pmr::vector<std::pmr::string> words{&tested};
        words.emplace_back("a word that is too long to lie in the string itself");
        EXPECT_EQ(tested->counts().allocations.value, 2u);
    }
    EXPECT_EQ(tested->counts().allocations.value, 0u);
}

TEST(statistics, agrees_with_a_reference_over_random_work) {
    acre::statistics<acre::multi_pool> tested;
    struct item {
        void* p;
        std::size_t bytes;
    };
    std::vector<item> live;
    std::uint64_t bytes = 0;
    std::uint64_t peak = 0;
    std::uint64_t total = 0;
    std::mt19937 random{5};
    for (int i = 0; i < 20'000; ++i) {
        if (live.empty() || random() % 2 == 0) {
            const std::size_t size = random() % 3000;
            live.push_back({tested.allocate(size), size});
            bytes += size;
            total += size;
            peak = std::max(peak, bytes);
        } else {
            std::swap(live[random() % live.size()], live.back());
            tested.deallocate(live.back().p, live.back().bytes);
            bytes -= live.back().bytes;
            live.pop_back();
        }
        ASSERT_EQ(tested.counts().bytes.value, bytes);
        ASSERT_EQ(tested.counts().allocations.value, live.size());
    }
    EXPECT_EQ(tested.counts().bytes.peak, peak);
    EXPECT_EQ(tested.counts().bytes.total, total);
}

TEST(statistics, report_names_the_resource_and_its_figures) {
    acre::statistics<acre::multi_pool> tested;
    (void)tested.allocate(1234);
    const std::string report = tested.report();
    EXPECT_EQ(report.rfind("acre::multi_pool\n", 0), 0u) << report;
    EXPECT_NE(report.find("1 live, peak 1, 1 in all, 0 failed"), std::string::npos) << report;
    EXPECT_NE(report.find("1234 live, peak 1234, 1234 in all, largest request 1234"), std::string::npos) << report;
}

}  // namespace
