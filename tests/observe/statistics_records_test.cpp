// The options of statistics: the live map, sizes, scopes, arenas in use, leaks.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"
#include "observe/written.hpp"

namespace {

using acre::records_in;
using acre::statistics;
using acre::statistics_options;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;
using acre_test::written;

constexpr statistics_options with_map{.live_map = true};
constexpr statistics_options with_sizes{.histogram = true};
constexpr statistics_options with_scopes{.scopes = true};
constexpr statistics_options everything{.live_map = true, .histogram = true, .scopes = true};

// Options that are not given cost nothing.
static_assert(sizeof(statistics<acre::heap>) == sizeof(acre::statistics_counts));
template <class S>
concept maps = requires(S& s) { s.live_allocations(); };
template <class S>
concept measures = requires(S& s) { s.requested_sizes(); };
static_assert(maps<statistics<acre::heap, with_map>> && !maps<statistics<acre::heap>>);
static_assert(measures<statistics<acre::heap, with_sizes>> && !measures<statistics<acre::heap, with_map>>);
static_assert(!std::is_copy_constructible_v<statistics<acre::heap, everything>>);
static_assert(!std::is_move_constructible_v<statistics<acre::arena, everything>>);
static_assert(std::is_nothrow_move_constructible_v<statistics<acre::pool<8>, everything>>);

TEST(statistics_records, example) {
    acre::statistics<acre::heap, acre::statistics_options{.live_map = true, .histogram = true}> watched;
    void* p = watched.allocate(100);
    const std::string report = written([&](std::FILE* to) { watched.report_leaks(to); });
    EXPECT_NE(report.find(" 100 bytes"), std::string::npos) << report;
    watched.deallocate(p, 100);
    EXPECT_EQ(watched.requested_sizes().percentile(0.5), 100u);
    EXPECT_EQ(watched.live_sizes().percentile(0.5), 0u);
}

// Row of docs/porting.md: the records of statistics in a multi_arena.
TEST(statistics_records, a_thousand_live_are_recorded_in_arenas_of_1_kib) {
    acre::inline_multi_arena<128, 1024> own;
    statistics<acre::multi_pool, with_map> tested{records_in{own}};
    std::vector<void*> live;
    for (std::size_t i = 0; i < 1'000; ++i) live.push_back(tested.allocate(i));
    EXPECT_EQ(tested.unrecorded(), 0u);
    for (std::size_t i = 0; i < 1'000; ++i) EXPECT_EQ(tested.live_bytes_at(live[i]), i);
    std::size_t bytes = 0;
    tested.for_each_live([&](const acre::live_allocation& each) { bytes += each.bytes; });
    EXPECT_EQ(bytes, tested.counts().bytes.value);
    std::uint64_t counted = 0;
    {
        const acre::size_histogram sizes = tested.live_sizes();
        sizes.for_each([&](std::size_t size, std::uint64_t count) { counted += size * count; });
    }
    EXPECT_EQ(counted, bytes);
    for (std::size_t i = 0; i < 1'000; ++i) tested.deallocate(live[i], i);
    EXPECT_LE(own.allocations(), 1u) << "a table that fits one piece stays";
}

// Hazard M18, with and without exceptions.
TEST(statistics_records, the_map_is_empty_when_all_is_freed) {
    statistics<acre::multi_pool, with_map> tested;
    std::map<void*, std::size_t> reference;
    std::mt19937 random{18};
    for (int i = 0; i < 20'000; ++i) {
        if (reference.empty() || random() % 2 == 0) {
            const std::size_t bytes = random() % 500;
            reference[i % 2 == 0 ? tested.allocate(bytes) : tested.try_allocate(bytes)] = bytes;
        } else {
            const auto freed =
                std::next(reference.begin(), static_cast<std::ptrdiff_t>(random() % reference.size() % 50));
            tested.deallocate(freed->first, freed->second);
            EXPECT_EQ(tested.live_bytes_at(freed->first), std::nullopt);
            reference.erase(freed);
        }
        if (i % 1'000 != 0) continue;
        ASSERT_EQ(tested.live_allocations().size(), reference.size());
        for (const acre::live_allocation& each : tested.live_allocations()) {
            ASSERT_EQ(reference.at(const_cast<void*>(each.address)), each.bytes);
        }
        for (const auto& [p, bytes] : reference) ASSERT_EQ(tested.live_bytes_at(p), bytes);
    }
    for (const auto& [p, bytes] : reference) tested.deallocate(p, bytes);
    EXPECT_TRUE(tested.live_allocations().empty());
    EXPECT_EQ(tested.report_leaks(stderr), 0u);
    EXPECT_EQ(tested.unrecorded(), 0u);
}

TEST(statistics_records, the_map_follows_all_the_ways_of_an_arena) {
    statistics<acre::arena, with_map> tested;
    (void)tested.create<std::string>("a string");
    (void)tested.create_array<int>(10);
    const auto begin = tested.mark();
    (void)tested.copy("text");
    (void)tested.format("%d", 7);
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 200));
    EXPECT_EQ(tested.live_allocations().size(), 5u);
    EXPECT_EQ(tested.live_bytes_at(p), 200u);
    EXPECT_EQ(tested.counts().bytes.value, sizeof(std::string) + 10 * sizeof(int) + 5 + 2 + 200);
    tested.rewind(begin);
    const auto live = tested.live_allocations();
    ASSERT_EQ(live.size(), 2u);
    EXPECT_EQ(live[0].bytes, sizeof(std::string));
    EXPECT_EQ(live[1].bytes, 10 * sizeof(int));
    tested.reset();
    EXPECT_TRUE(tested.live_allocations().empty());
}

TEST(statistics_records, a_rewind_is_exact_with_a_map) {
    statistics<acre::arena, with_map> tested;
    void* old = tested.allocate(100);
    const auto begin = tested.mark();
    (void)tested.allocate(60);
    tested.deallocate(old, 100);
    (void)tested.allocate(70);
    tested.rewind(begin);
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
}

TEST(statistics_records, resizing_in_place_is_counted) {
    statistics<acre::arena> tested;
    void* p = tested.allocate(100);
    EXPECT_TRUE(tested.try_resize(p, 100, 300));
    EXPECT_EQ(tested.counts().bytes.value, 300u);
    EXPECT_EQ(tested.counts().bytes.peak, 300u);
    EXPECT_FALSE(tested.try_resize(p, 300, SIZE_MAX));
    EXPECT_EQ(tested.counts().bytes.value, 300u);
    EXPECT_TRUE(tested.try_resize(p, 300, 50));
    EXPECT_EQ(tested.counts().bytes.value, 50u);
    tested.deallocate(p, 50);
    EXPECT_EQ(tested.counts().bytes.value, 0u);
    EXPECT_EQ(tested.counts().allocations.total, 1u);
    EXPECT_EQ(tested.counts().failures, 0u);
}

// Hazards M11 and M12, through the resource.
// Hazards M11, M12.
TEST(statistics_records, figures_of_the_sizes_asked_for) {
    statistics<acre::multi_pool, with_sizes> tested;
    for (const std::size_t bytes : {16u, 16u, 32u, 32u, 64u, 64u, 96u})
        tested.deallocate(tested.allocate(bytes), bytes);
    const acre::size_histogram& sizes = tested.requested_sizes();
    EXPECT_DOUBLE_EQ(sizes.mean(), 320.0 / 7);
    EXPECT_NEAR(sizes.standard_deviation(), 27.618, 0.0005);
    EXPECT_EQ(sizes.percentile(0.05), 16u);
    EXPECT_EQ(sizes.percentile(0.5), 32u);
    EXPECT_EQ(sizes.percentile(1), 96u);
    EXPECT_EQ(sizes.sizes(), (std::vector<acre::size_count>{{16, 2}, {32, 2}, {64, 2}, {96, 1}}));
    EXPECT_NE(tested.report().find("mean 45.7, deviation 27.6, median 32, 99 % up to 96"), std::string::npos)
        << tested.report();
}

// Hazards M11, M18: as the published helper, figures of what is live, and look-up by address and by size.
TEST(statistics_records, figures_of_the_sizes_that_are_live) {
    statistics<acre::multi_arena, everything> tested{{.arenas = 16, .bytes = 256}};
    std::vector<void*> all;
    for (const std::size_t bytes : {16u, 16u, 32u, 200u, 200u}) all.push_back(tested.allocate(bytes));
    tested.deallocate(all[3], 200);
    tested.deallocate(all[4], 200);
    const acre::size_histogram live = tested.live_sizes();
    EXPECT_EQ(live.count(), 3u);
    EXPECT_DOUBLE_EQ(live.mean(), 64.0 / 3);
    EXPECT_EQ(live.percentile(0.5), 16u);
    EXPECT_EQ(live.percentile(1), 32u);
    EXPECT_EQ(live.by_size().at(16), 2u);
    EXPECT_EQ(live.by_size().count(200), 0u);
    EXPECT_EQ(tested.requested_sizes().percentile(1), 200u);
    EXPECT_EQ(tested.requested_sizes().by_size().at(200), 2u);
    const std::map<const void*, std::size_t> by_address = tested.live_by_address();
    EXPECT_EQ(by_address.size(), 3u);
    EXPECT_EQ(by_address.at(all[2]), 32u);
    EXPECT_TRUE(std::is_sorted(by_address.begin(), by_address.end()));
    for (int i = 0; i < 3; ++i) tested.deallocate(all[static_cast<std::size_t>(i)], i < 2 ? 16 : 32);
    EXPECT_EQ(tested.live_sizes().count(), 0u);
    EXPECT_EQ(tested.live_sizes().mean(), 0.0);
}

// The published names covered what is live; a port must say which it means.
template <class S>
concept says_of_which_sizes = !requires(S& s) { s.histogram(); } && !requires(S& s) { s.percentile(0.5); } &&
                              !requires(S& s) { s.mean(); } && !requires(S& s) { s.standard_deviation(); };
static_assert(says_of_which_sizes<statistics<acre::multi_arena, everything>>);

TEST(statistics_records, figures_under_a_lock_are_copies) {
    acre::synchronized<statistics<acre::multi_pool, everything>> tested;
    void* p = tested.allocate(100);
    const acre::size_histogram requested = tested.requested_sizes();
    EXPECT_EQ(tested.live_by_address().at(p), 100u);
    tested.deallocate(p, 100);
    tested.deallocate(tested.allocate(8), 8);
    EXPECT_EQ(requested.count(), 1u);
    EXPECT_EQ(tested.requested_sizes().count(), 2u);
    EXPECT_EQ(tested.live_sizes().count(), 0u);
}

// Hazard M8.
TEST(statistics_records_misuse, a_free_of_what_is_not_live_is_said) {
    statistics<acre::multi_arena, with_map> tested{{.arenas = 4, .bytes = 1024}};
    void* p = tested.allocate(100);
    void* q = tested.allocate(100);
    tested.deallocate(p, 100);
    // The statistics speak first; the multi_arena would abort, too.
    EXPECT_DEATH(tested.deallocate(p, 100), "not live, or was freed before");
    tested.deallocate(q, 100);
}

TEST(statistics_records, scopes_count_what_happens_between) {
    statistics<acre::heap, with_scopes> tested;
    void* a = tested.allocate(1000);
    tested.deallocate(tested.allocate(5000), 5000);
    EXPECT_TRUE(tested.push_scope());
    void* b = tested.allocate(100);
    void* c = tested.allocate(50);
    tested.deallocate(b, 100);
    const acre::statistics_scope scope = tested.pop_scope();
    EXPECT_EQ(scope.allocations_before, 1u);
    EXPECT_EQ(scope.bytes_before, 1000u);
    EXPECT_EQ(scope.counts.allocations.total, 2u);
    EXPECT_EQ(scope.counts.bytes.total, 150u);
    EXPECT_EQ(scope.counts.bytes.peak, 1150u) << "the peak within, not the 6000 before";
    EXPECT_EQ(scope.counts.allocations.peak, 3u);
    EXPECT_EQ(scope.counts.bytes.value, 1050u);
    EXPECT_EQ(scope.counts.largest, 100u);
    EXPECT_EQ(tested.counts().bytes.peak, 6000u);
    EXPECT_EQ(tested.counts().allocations.total, 4u);
    tested.deallocate(a, 1000);
    tested.deallocate(c, 50);
}

TEST(statistics_records, scopes_nest) {
    statistics<acre::heap, with_scopes> tested;
    tested.push_scope();
    void* a = tested.allocate(10);
    tested.push_scope();
    void* b = tested.allocate(200);
    EXPECT_EQ(tested.try_allocate(SIZE_MAX), nullptr);
    tested.deallocate(b, 200);
    tested.push_scope();
    const acre::statistics_scope empty = tested.pop_scope();
    const acre::statistics_scope inner = tested.pop_scope();
    tested.deallocate(a, 10);
    void* c = tested.allocate(30);
    const acre::statistics_scope outer = tested.pop_scope();
    EXPECT_EQ(empty.counts.allocations.total, 0u);
    EXPECT_EQ(empty.counts.bytes.peak, 10u);
    EXPECT_EQ(inner.counts.allocations.total, 1u);
    EXPECT_EQ(inner.counts.bytes.peak, 210u);
    EXPECT_EQ(inner.counts.failures, 1u);
    EXPECT_EQ(outer.counts.allocations.total, 3u);
    EXPECT_EQ(outer.counts.bytes.total, 240u);
    EXPECT_EQ(outer.counts.bytes.peak, 210u) << "of the inner one";
    EXPECT_EQ(outer.counts.bytes.value, 30u);
    EXPECT_EQ(outer.counts.failures, 1u);
    EXPECT_EQ(outer.counts.largest, 200u);
    tested.deallocate(c, 30);
}

TEST(statistics_records, scopes_follow_resets_and_rewinds) {
    statistics<acre::arena, with_scopes> tested;
    (void)tested.allocate(100);
    tested.push_scope();
    const auto begin = tested.mark();
    (void)tested.allocate(50);
    tested.rewind(begin);
    (void)tested.allocate(20);
    tested.reset();
    (void)tested.allocate(5);
    const acre::statistics_scope scope = tested.pop_scope();
    EXPECT_EQ(scope.counts.bytes.peak, 150u);
    EXPECT_EQ(scope.counts.bytes.total, 75u);
    EXPECT_EQ(scope.counts.bytes.value, 5u);
}

TEST(statistics_records, scopes_left_open_or_not_begun) {
    checking_upstream own;
    statistics<acre::heap, with_scopes> tested{records_in{own}};
    EXPECT_TRUE(tested.push_scope());
    EXPECT_TRUE(tested.push_scope());
    own.fail_from(1);
    EXPECT_EQ(outcome_of([&] { return tested.push_scope() ? &tested : nullptr; }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(own.live_blocks(), 2u) << "given back at the end";
    statistics<acre::heap, with_scopes> none;
    EXPECT_DEATH(none.pop_scope(), "a scope was ended that had not begun");
}

// Records never use memory of the measured resource.
TEST(statistics_records, memory_for_records_is_of_its_own) {
    checking_upstream measured;
    checking_upstream own;
    statistics<acre::resource_ref, everything> tested{records_in{own}, measured};
    std::vector<void*> all;
    for (std::size_t i = 0; i < 500; ++i) all.push_back(tested.allocate(i, 8));
    tested.push_scope();
    (void)tested.pop_scope();
    (void)written([&](std::FILE* to) { tested.report_leaks(to); });
    EXPECT_EQ(measured.requests(), 500u);
    EXPECT_GT(own.requests(), 0u);
    for (std::size_t i = 0; i < 500; ++i) tested.deallocate(all[i], i, 8);
    EXPECT_EQ(measured.live_blocks(), 0u);
}

TEST(statistics_records, without_memory_for_records_allocating_goes_on) {
    checking_upstream own;
    own.fail_from(1);
    statistics<acre::heap, everything> tested{records_in{own}};
    std::array<void*, 10> all{};
    for (void*& each : all) each = tested.allocate(10);
    EXPECT_EQ(tested.counts().allocations.value, 10u);
    EXPECT_EQ(tested.unrecorded(), 20u) << "ten addresses, ten sizes";
    EXPECT_TRUE(tested.live_allocations().empty());
    for (void* each : all) tested.deallocate(each, 10);
    EXPECT_EQ(tested.counts().allocations.value, 0u);
    EXPECT_EQ(tested.unrecorded(), 10u);
}

TEST(statistics_records, options_of_the_resource_beside_the_records) {
    checking_upstream own;
    checking_upstream below;
    statistics<acre::pool<64>, with_map> tested{records_in{own}, {.limit_bytes = 4096}, below};
    tested.deallocate(tested.allocate());
    EXPECT_EQ(below.requests(), 1u);
    EXPECT_EQ(own.requests(), 1u);
    statistics<acre::pool<64>, with_map> plain{{.limit_bytes = 4096}, below};
    plain.deallocate(plain.allocate());
}

/// Claims to serve from two arenas.
class two_arenas : public acre::heap {
public:
    std::size_t busy_arenas() const noexcept { return busy; }
    std::size_t busy = 1;
};

TEST(statistics_records, peak_of_the_busy_arenas_of_a_multi_arena) {
    statistics<acre::multi_arena, statistics_options{.peak_busy_arenas = true}> tested{
        acre::multi_arena_options{.arenas = 4, .bytes = 1024}};
    void* a = tested.allocate(1024);
    void* b = tested.allocate(1024);
    tested.deallocate(a, 1024);
    tested.deallocate(b, 1024);
    EXPECT_EQ(tested.busy_arenas(), 0u);
    EXPECT_EQ(tested.peak_busy_arenas(), 2u);
    EXPECT_EQ(tested.counts().allocations.peak, 2u);
}

TEST(statistics_records, the_most_arenas_in_use) {
    statistics<two_arenas, statistics_options{.peak_busy_arenas = true}> tested;
    void* a = tested.allocate(1);
    EXPECT_EQ(tested.peak_busy_arenas(), 1u);
    tested.busy = 2;
    void* b = tested.allocate(1);
    tested.busy = 0;
    tested.deallocate(a, 1);
    tested.deallocate(b, 1);
    EXPECT_EQ(tested.peak_busy_arenas(), 2u);
    EXPECT_NE(tested.report().find("busy arenas  peak 2\n"), std::string::npos) << tested.report();
    tested.busy = 1;
    tested.reset_counts();
    EXPECT_EQ(tested.peak_busy_arenas(), 1u);
}

TEST(statistics_records, counts_anew_on_demand_from_what_is_live) {
    statistics<acre::heap, everything> tested;
    void* p = tested.allocate(10);
    tested.push_scope();
    tested.deallocate(tested.allocate(100), 100);
    tested.reset_counts();
    EXPECT_EQ(tested.live_bytes_at(p), 10u);
    EXPECT_TRUE(tested.requested_sizes().sizes().empty());
    tested.deallocate(p, 10);
    const acre::statistics_scope scope = tested.pop_scope();
    EXPECT_EQ(scope.bytes_before, 10u);
    EXPECT_EQ(scope.counts.bytes.peak, 10u);
    EXPECT_EQ(scope.counts.bytes.value, 0u);
    EXPECT_EQ(scope.counts.bytes.total, 0u);
    EXPECT_EQ(tested.unrecorded(), 0u);
    EXPECT_TRUE(tested.live_allocations().empty());
}

// Hazard X16.
TEST(statistics_records, moves_with_what_is_recorded) {
    statistics<acre::pool<64>, everything> first;
    void* p = first.allocate();
    first.push_scope();
    auto second = std::move(first);
    EXPECT_TRUE(first.live_allocations().empty());
    EXPECT_EQ(second.live_bytes_at(p), 64u);
    EXPECT_EQ(second.requested_sizes().percentile(1), 64u);
    EXPECT_EQ(second.pop_scope().bytes_before, 64u);
    first.deallocate(first.allocate());
    second.deallocate(p);
    second = std::move(first);
    EXPECT_TRUE(second.live_allocations().empty());
    EXPECT_EQ(second.counts().allocations.total, 1u);
}

constexpr statistics_options with_report{.live_map = true, .leak_report = true};

TEST(statistics_records, what_is_live_at_the_end_is_reported) {
    void* leaked = nullptr;
    testing::internal::CaptureStderr();
    {
        statistics<acre::heap, with_report> tested;
        tested.deallocate(tested.allocate(10), 10);
        leaked = tested.allocate(123);
    }
    const std::string report = testing::internal::GetCapturedStderr();
    char line[64];
    std::snprintf(line, sizeof line, "  %p  123 bytes, allocation 1\n", leaked);
    EXPECT_EQ(report, std::string{"acre::heap: 1 allocations of 123 bytes are still live\n"} + line);
    acre::heap{}.deallocate(leaked, 123);
}

TEST(statistics_records, nothing_is_reported_when_nothing_is_live) {
    testing::internal::CaptureStderr();
    {
        statistics<acre::pool<64>, with_report> first;
        first.deallocate(first.allocate());
        void* p = first.allocate();
        statistics<acre::pool<64>, with_report> second = std::move(first);
        second.deallocate(p);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
