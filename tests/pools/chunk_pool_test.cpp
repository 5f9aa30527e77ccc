// acre::chunk_pool: known sizes, reused slots, full classes that spill.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "conformance/live_model.hpp"
#include "conformance/refusal.hpp"

namespace {

using namespace acre::literals;
using acre::chunk_pool;
using acre::chunk_pool_options;
using acre::exhaustion;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

constexpr chunk_pool_options falling_back{.when_full = exhaustion::fall_back};

struct packet {
    std::array<char, 62> bytes{};
};
struct point {
    int x = 3;
    int y = 4;
};

// Counts live objects; with exceptions, construction number `throw_at` throws.
struct counted {
    counted() {
        ++constructed;
#if defined(__cpp_exceptions)
        if (constructed == throw_at) throw 42;
#endif
        ++live;
    }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    virtual ~counted() {
        --live;
        ++destroyed;
    }
    static void start(int throwing = 0) {
        live = constructed = destroyed = 0;
        throw_at = throwing;
    }
    static inline int live, constructed, destroyed, throw_at;
    int value = 7;
};
struct alignas(64) wide_counted : counted {};
struct small_counted final : counted {};
struct larger_counted final : counted {
    std::array<long, 7> more{};
};

// Compile-time properties.
using three = chunk_pool<100, 32, 62, 128>;
static_assert(three::capacity() == 100 * (32 + 64 + 128));
static_assert(three::waste_bytes() == 100 * 2);
static_assert(three::max_alignment == 128);
static_assert(acre::poisoning || three::required_bytes() - three::capacity() <= 3 * (16 + 100 / 8 + 8 + 8));
using tens = chunk_pool<3, 10, 20, 40>;
static_assert(tens::capacity() == 3 * (16 + 32 + 48) && tens::waste_bytes() == 3 * (6 + 12 + 8));
static_assert(three::classes[1].size == 62 && three::classes[1].slot_bytes == 64 && three::classes[1].alignment == 64);
static_assert(chunk_pool<1, 3_MiB>::max_alignment == 4096);
static_assert(acre::poisoning || chunk_pool<100'000, 32, 62, 128>::required_bytes() <
                                     100'000 * (32 + 64 + 128) + 3 * (100'000 / 8 * 65 / 64 + 64));

// The object's size does not depend on N.
static_assert(sizeof(chunk_pool<1'000'000, 16, 32>) == sizeof(chunk_pool<1, 16>));

static_assert(!std::is_copy_constructible_v<three> && !std::is_move_constructible_v<three>);
static_assert(acre::owning_resource<three> && !acre::resettable_resource<three>);
static_assert(!std::is_constructible_v<three, std::size_t>);

TEST(chunk_pool, example) {
    counted::start();
    acre::chunk_pool<100'000, 32, 62, 128> chunks;
    auto* one = new (chunks) packet{};
    EXPECT_EQ(chunks.class_of(one), 1u);
    auto* row = new (chunks) point[7];
    EXPECT_EQ(row[6].y, 4);
    EXPECT_EQ(chunks.live(), 2u);
    EXPECT_EQ(chunks.used(), 128u);
    chunks.destroy(one);
    chunks.destroy_array(row);
    EXPECT_EQ(chunks.live(), 0u);
}

// Hazard C1.
TEST(chunk_pool, a_size_that_is_a_class_comes_from_it) {
    chunk_pool<2, 16, 64, 128, 4096> chunks;
    for (const std::size_t bytes : {16u, 64u, 128u, 4096u}) {
        void* p = chunks.allocate(bytes);
        const std::size_t home = chunks.class_of(p);
        ASSERT_LT(home, chunks.classes.size());
        EXPECT_EQ(chunks.classes[home].size, bytes);
        void* next = chunks.allocate(bytes + 1 > 4096 ? 4096 : bytes + 1);
        EXPECT_EQ(chunks.class_of(next), bytes == 4096 ? home : home + 1);
        chunks.deallocate(p, bytes);
        chunks.deallocate(next, bytes + 1 > 4096 ? 4096 : bytes + 1);
    }
}

// Hazard C2: N + 1 times in a row, and upstream is asked once in all.
TEST(chunk_pool, freed_storage_is_used_again) {
    checking_upstream upstream;
    chunk_pool<2, 16, 32> chunks{falling_back, upstream};
    for (int i = 0; i < 1000; ++i) {
        void* one = chunks.allocate(16);
        void* two = chunks.allocate(16);
        EXPECT_EQ(chunks.class_of(one), 0u);
        EXPECT_EQ(chunks.class_of(two), 0u);
        chunks.deallocate(i % 2 == 0 ? one : two, 16);
        chunks.deallocate(i % 2 == 0 ? two : one, 16);
    }
    EXPECT_EQ(upstream.requests(), 1u);
    EXPECT_EQ(chunks.used(), 0u);
}

TEST(chunk_pool, the_lowest_freed_slot_is_used_first) {
    chunk_pool<200, 16> chunks;
    std::vector<void*> all(200);
    for (void*& each : all) each = chunks.allocate(16);
    for (const std::size_t each : {150u, 3u, 64u, 199u}) chunks.deallocate(all[each], 16);
    for (const std::size_t each : {3u, 64u, 150u, 199u}) EXPECT_EQ(chunks.allocate(16), all[each]);
}

// Hazard C3.
TEST(chunk_pool, every_class_is_as_aligned_as_its_size) {
    checking_upstream upstream;
    chunk_pool<3, 16, 32, 48, 64, 80, 96, 128, 256, 1000, 1024, 4096, 8192, 12288> chunks{upstream};
    for (const acre::detail::chunk_class& each : chunks.classes) {
        const std::size_t natural = std::min<std::size_t>(each.slot_bytes & (0 - each.slot_bytes), 4096);
        EXPECT_EQ(each.alignment, natural);
        for (int i = 0; i < 3; ++i) {
            void* p = chunks.allocate(each.size);
            EXPECT_EQ(chunks.class_of(p), static_cast<std::size_t>(&each - chunks.classes.data()));
            EXPECT_TRUE(acre::is_aligned(p, natural)) << each.size;
        }
    }
    EXPECT_EQ(chunks.used(), chunks.capacity());
}

// Hazard X1: the next class that is aligned so serves, or the request is refused by name.
TEST(chunk_pool, every_alignment_is_honoured_or_refused) {
    chunk_pool<2, 32, 48, 64, 96> chunks;
    EXPECT_EQ(chunks.class_of(chunks.allocate(8, 32)), 0u);
    EXPECT_EQ(chunks.class_of(chunks.allocate(40, 16)), 1u);
    EXPECT_EQ(chunks.class_of(chunks.allocate(40, 32)), 2u);
    void* wide = chunks.allocate(1, 64);
    EXPECT_TRUE(acre::is_aligned(wide, 64));
    EXPECT_EQ(chunks.class_of(wide), 2u);
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(16, 64); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(70, 64); }), refused_as(outcome::request_too_large));
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(16, 128); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(16, 24); }), refused_as(outcome::bad_alignment));
    EXPECT_EQ(chunks.try_allocate(16, 0), nullptr);
    chunk_pool<2, 32> open{falling_back};
    void* page = open.allocate(16, 4096);
    EXPECT_TRUE(acre::is_aligned(page, 4096));
    EXPECT_EQ(open.class_of(page), open.classes.size());
    open.deallocate(page, 16, 4096);
}

// Hazard C4.
TEST(chunk_pool, sizes_10_20_40_work) {
    tens chunks;
    std::set<void*> given;
    for (int i = 0; i < 3; ++i) {
        for (const std::size_t bytes : {10u, 20u, 40u}) {
            auto* p = static_cast<std::byte*>(chunks.allocate(bytes));
            EXPECT_EQ(chunks.classes[chunks.class_of(p)].size, bytes);
            EXPECT_TRUE(acre::is_aligned(p, 16));
            std::fill_n(p, bytes, std::byte{0xAB});
            EXPECT_TRUE(given.insert(p).second);
        }
    }
    EXPECT_EQ(chunks.used(), chunks.capacity());
    EXPECT_EQ(chunks.try_allocate(1), nullptr);
}

// Hazard C7.
TEST(chunk_pool, destroy_runs_the_destructor_once) {
    chunk_pool<10, 16, 64, 512> chunks;
    counted::start();
    auto* one = new (chunks) counted;
    auto* wide = new (chunks) wide_counted;
    auto* made = chunks.create<counted>();
    EXPECT_TRUE(acre::is_aligned(wide, 64));
    EXPECT_EQ(made->value, 7);
    EXPECT_EQ(counted::live, 3);
    chunks.destroy(one);
    EXPECT_EQ(counted::destroyed, 1);
    chunks.destroy(static_cast<const wide_counted*>(wide));
    chunks.destroy(made);
    EXPECT_EQ(counted::destroyed, 3);
    EXPECT_EQ(counted::live, 0);
    EXPECT_EQ(chunks.live(), 0u);
}

TEST(chunk_pool, destroys_by_a_base_class) {
    chunk_pool<2, 16, 128> chunks{falling_back};
    counted::start();
    std::vector<counted*> all;
    for (int i = 0; i < 4; ++i) all.push_back(new (chunks) larger_counted);
    EXPECT_EQ(chunks.class_of(all[1]), 1u);
    EXPECT_EQ(chunks.class_of(all[2]), chunks.classes.size());
    for (counted* each : all) chunks.destroy(each);
    EXPECT_EQ(counted::destroyed, 4);
    EXPECT_EQ(chunks.live(), 0u);
}

// Hazard B2: the compiler's cookie has room, and is found again.
// Hazards B2, C7.
TEST(chunk_pool, arrays_take_one_slot_each) {
    chunk_pool<3, 32, 128, 1024> chunks;
    for (const std::size_t count : {0u, 1u, 3u, 7u, 20u}) {
        counted::start();
        auto* row = new (chunks) counted[count];
        EXPECT_EQ(counted::live, static_cast<int>(count));
        EXPECT_EQ(chunks.live(), 1u);
        void* after = chunks.allocate(1);
        for (std::size_t i = 0; i < count; ++i) row[i].value = 9;
        const bool apart = after >= row + count || after < row;
        EXPECT_TRUE(apart);
        chunks.destroy_array(row);
        EXPECT_EQ(counted::destroyed, static_cast<int>(count));
        chunks.deallocate(after, 1);
        EXPECT_EQ(chunks.live(), 0u);

        auto* wide = new (chunks) wide_counted[count % 8];
        EXPECT_TRUE(acre::is_aligned(wide, 64));
        chunks.destroy_array(wide);
        auto* plain = new (chunks) point[count];
        chunks.destroy_array(plain);
        EXPECT_EQ(chunks.live(), 0u);
        EXPECT_EQ(counted::live, 0);
    }
}

// The matching operators delete can be called, too: they free raw storage.
TEST(chunk_pool, the_matching_deletes_take_storage_back) {
    chunk_pool<1, 64> chunks{falling_back};
    for (int i = 0; i < 3; ++i) {
        auto* one = new (chunks) point;
        auto* row = new (chunks) point[5];
        EXPECT_EQ(chunks.live(), 2u);
        operator delete(one, chunks);
        operator delete[](row, chunks);
        void* wide = operator new(10, std::align_val_t{64}, chunks);
        operator delete(wide, std::align_val_t{64}, chunks);
        void* wide_row = operator new[](10, std::align_val_t{64}, chunks);
        operator delete[](wide_row, std::align_val_t{64}, chunks);
        EXPECT_EQ(chunks.live(), 0u);
    }
}

// The same with the size, which is checked.
TEST(chunk_pool, the_sized_deletes_take_storage_back) {
    chunk_pool<1, 64> chunks{falling_back};
    for (int i = 0; i < 3; ++i) {
        auto* one = new (chunks) point;
        auto* row = new (chunks) point[5];
        operator delete(one, sizeof(point), chunks);
        operator delete[](row, 5 * sizeof(point), chunks);
        EXPECT_EQ(chunks.live(), 0u);
    }
    auto* one = new (chunks) point;
    EXPECT_DEATH(operator delete(one, 65, chunks), "acre::chunk_pool: freed with another size");
    operator delete(one, sizeof(point), chunks);
}

// The book's pool has a mutex; here it goes around the pool, and `new` stays the same.
TEST(chunk_pool, new_and_delete_through_a_lock) {
    acre::synchronized<chunk_pool<1000, 16, 64, 128>> chunks;
    counted::start();
    const auto work = [&chunks] {
        for (int i = 0; i < 300; ++i) {
            auto* one = new (chunks) point;
            auto* row = new (chunks) point[3];
            struct alignas(64) wide {
                int value = 3;
            };
            auto* aligned = new (chunks) wide;
            auto* aligned_row = new (chunks) wide[2];
            EXPECT_TRUE(acre::is_aligned(aligned, 64) && acre::is_aligned(aligned_row, 64));
            chunks.destroy(one);
            chunks.destroy_array(row);
            operator delete(aligned, std::align_val_t{64}, chunks);
            operator delete[](aligned_row, std::align_val_t{64}, chunks);
        }
    };
    std::thread other{work};
    work();
    other.join();
    EXPECT_EQ(chunks.live(), 0u);
    operator delete(new (chunks) point, chunks);
    operator delete(new (chunks) point, sizeof(point), chunks);
    operator delete[](new (chunks) point[2], chunks);
    operator delete[](new (chunks) point[2], 2 * sizeof(point), chunks);
    chunks.deallocate_unsized(new (chunks) point);
    EXPECT_EQ(chunks.live(), 0u);
    (void)new (chunks) point;
    chunks.deallocate_all();
    EXPECT_EQ(chunks.live(), 0u);
}

// Hazard B9.
TEST(chunk_pool, aborts_when_full_on_demand) {
    chunk_pool<1, 16> chunks{{.when_full = exhaustion::abort}};
    void* one = chunks.allocate(16);
    EXPECT_DEATH((void)new (chunks) int, "acre::chunk_pool: limit exceeded: 16 bytes more were needed");
    EXPECT_DEATH((void)chunks.allocate(17), "acre::chunk_pool: request too large");
    EXPECT_EQ(chunks.try_allocate(16), nullptr);
    chunks.deallocate(one, 16);
}

TEST(chunk_pool, reports_what_is_live_at_its_end) {
    testing::internal::CaptureStderr();
    {
        chunk_pool<4, 16, 64> chunks{{.when_full = exhaustion::fall_back, .report_live = true}};
        chunks.destroy(new (chunks) int);
        (void)new (chunks) int;
        (void)chunks.allocate(1000);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "acre::chunk_pool: 2 still live when it ended\n");
}

#if SIZE_MAX > UINT32_MAX
// Hazard C8: sizes that would take for ever to be counted up to.
TEST(chunk_pool, a_class_of_a_gibibyte) {
    using huge = chunk_pool<1, 1_GiB, 64_GiB + 1>;
    static_assert(huge::capacity() == 65_GiB + 16 && huge::waste_bytes() == 15);
    if (acre_test::sanitized) GTEST_SKIP() << "the sanitizer's shadow of it would be large";
    chunk_pool<2, 1_KiB, 1_GiB> chunks{{.prefault = false}};
    auto* p = static_cast<volatile char*>(chunks.allocate(1_GiB));
    p[1_GiB - 1] = 1;
    EXPECT_TRUE(acre::is_aligned(const_cast<char*>(p), 4096));
    EXPECT_EQ(chunks.class_of(const_cast<char*>(p) + 1_GiB - 1), 1u);
    chunks.deallocate(const_cast<char*>(p), 1_GiB);
}
#endif

TEST(chunk_pool, full_classes_spill_to_the_next_one) {
    chunk_pool<2, 16, 64, 256> chunks;
    std::vector<void*> all;
    for (std::size_t i = 0; i < 6; ++i) {
        all.push_back(i % 2 == 0 ? chunks.allocate(16) : chunks.try_allocate(10));
        EXPECT_EQ(chunks.class_of(all.back()), i / 2);
    }
    EXPECT_EQ(chunks.try_allocate(16), nullptr);
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(64); }, &sentence), refused_as(outcome::limit_exceeded));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(
            sentence,
            "acre::chunk_pool: limit exceeded: 64 bytes more were needed, 640 of the limit of 640 bytes are held");
    }
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(257); }, &sentence), refused_as(outcome::request_too_large));
    if (acre::exceptions_enabled) {
        EXPECT_EQ(sentence, "acre::chunk_pool: request too large: 257 bytes were asked for, at most 256 can be served");
    }
    EXPECT_EQ(chunks.used(), chunks.capacity());
    // A spilled slot returns to the class it came from, which reuses it.
    chunks.deallocate(all[2], 16);
    EXPECT_EQ(chunks.allocate(50), all[2]);
    chunks.deallocate(all[2], 50);
    for (const std::size_t each : {0u, 1u, 3u, 4u, 5u}) chunks.deallocate(all[each], each % 2 == 0 ? 16 : 10);
    EXPECT_EQ(chunks.used(), 0u);
}

// Hazard B1: N of each, and not one more.
TEST(chunk_pool, as_many_as_were_named) {
    chunk_pool<65, 24, 100> chunks;
    acre_test::live_model model;
    for (int i = 0; i < 65; ++i) {
        model.add(chunks.allocate(24, 8), 24, 8);
        model.add(chunks.allocate(100, 8), 100, 8);
    }
    EXPECT_EQ(chunks.try_allocate(1), nullptr);
    EXPECT_EQ(chunks.live_of(0), 65u);
    EXPECT_EQ(chunks.live_of(1), 65u);
    model.verify_all();
}

TEST(chunk_pool, falls_back_when_full) {
    checking_upstream upstream;
    {
        chunk_pool<2, 16, 64> chunks{falling_back, upstream};
        std::vector<void*> all;
        for (int i = 0; i < 6; ++i) all.push_back(chunks.allocate(16));
        EXPECT_EQ(upstream.live_blocks(), 3u);
        EXPECT_EQ(chunks.live(), 6u);
        EXPECT_EQ(chunks.used(), chunks.capacity());
        EXPECT_EQ(chunks.fallen_back_bytes() + chunks.required_bytes(), upstream.live_bytes());
        for (void* each : all) EXPECT_TRUE(chunks.owns(each));
        EXPECT_EQ(chunks.class_of(all[4]), chunks.classes.size());
        void* large = chunks.try_allocate(10'000);
        ASSERT_NE(large, nullptr);
        for (void* each : all) chunks.deallocate(each, 16);
        EXPECT_FALSE(chunks.owns(all[4]));
        chunks.deallocate(large, 10'000);
        EXPECT_EQ(upstream.live_blocks(), 1u);
        EXPECT_EQ(chunks.fallen_back_bytes(), 0u);
        // Also with constant sizes: objects.
        std::vector<point*> points;
        for (int i = 0; i < 6; ++i) points.push_back(new (chunks) point);
        for (point* each : points) chunks.destroy(each);
        EXPECT_EQ(upstream.live_blocks(), 1u);
        for (int i = 0; i < 7; ++i) (void)chunks.allocate(16);
        chunks.deallocate_all();
        EXPECT_EQ(upstream.live_blocks(), 1u);
        EXPECT_EQ(chunks.live(), 0u);
        for (int i = 0; i < 7; ++i) (void)chunks.allocate(16);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

// Hazard B9.
TEST(chunk_pool, an_upstream_that_fails_changes_nothing) {
    checking_upstream upstream;
    chunk_pool<1, 16> chunks{falling_back, upstream};
    void* p = chunks.allocate(16);
    upstream.fail_from(1);
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(16); }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(outcome_of([&] { return chunks.allocate(SIZE_MAX - 5); }), refused_as(outcome::request_too_large));
    EXPECT_EQ(chunks.try_allocate(100), nullptr);
    EXPECT_EQ(chunks.live(), 1u);
    chunks.deallocate(p, 16);
    EXPECT_EQ(chunks.allocate(16), p);
    upstream.recover();
    void* elsewhere = chunks.allocate(16);
    EXPECT_NE(elsewhere, nullptr);
    chunks.deallocate(elsewhere, 16);
}

// Hazard B9.
TEST(chunk_pool, construction_without_memory) {
    checking_upstream upstream;
    upstream.fail_from(1);
#if defined(__cpp_exceptions)
    EXPECT_THROW((chunk_pool<100, 16, 32>{upstream}), acre::out_of_memory);
#else
    chunk_pool<100, 16, 32> chunks{upstream};
    EXPECT_EQ(chunks.allocate(16), nullptr);
    EXPECT_EQ(chunks.try_allocate(16), nullptr);
    EXPECT_EQ(new (chunks) point, nullptr);
    EXPECT_FALSE(chunks.owns(nullptr));
    EXPECT_EQ(chunks.live(), 0u);
    chunks.deallocate_all();
#endif
    EXPECT_EQ(upstream.live_blocks(), 0u);
}

#if defined(__cpp_exceptions)
TEST(chunk_pool, exhaustion_null_is_no_way_to_serve_new) {
    EXPECT_THROW((chunk_pool<1, 16>{{.when_full = exhaustion::null}}), acre::bad_option);
}

// Hazard M10, promise 7: whatever form of new, wherever its storage came from.
TEST(chunk_pool, a_constructor_that_throws_keeps_nothing) {
    checking_upstream upstream;
    chunk_pool<1, 16, 64, 256> chunks{falling_back, upstream};
    const auto expect_nothing_kept = [&](auto construct) {
        counted::start(1);
        EXPECT_THROW(construct(), int);
        counted::start(3);
        EXPECT_NO_THROW(construct());
        EXPECT_NO_THROW(construct());
        EXPECT_THROW(construct(), int);
        EXPECT_EQ(counted::live, 2);
        EXPECT_EQ(chunks.live(), 2u);
        chunks.deallocate_all();
        EXPECT_EQ(upstream.live_blocks(), 1u);
    };
    expect_nothing_kept([&] { return new (chunks) counted; });
    expect_nothing_kept([&] { return new (chunks) wide_counted; });
    expect_nothing_kept([&] { return chunks.create<counted>(); });
    expect_nothing_kept([&] { return chunks.create<larger_counted>(); });
    counted::start(4);
    EXPECT_THROW(new (chunks) counted[5], int);
    EXPECT_EQ(counted::destroyed, 3);
    counted::start(2);
    EXPECT_THROW(new (chunks) wide_counted[20], int);
    EXPECT_EQ(counted::destroyed, 1);
    EXPECT_EQ(chunks.live(), 0u);
    EXPECT_EQ(upstream.live_blocks(), 1u);
}
#endif

// Hazard B5.
TEST(chunk_pool, zero_bytes_are_nobody_elses) {
    chunk_pool<4, 16, 32> chunks;
    void* first = chunks.allocate(0);
    void* second = chunks.allocate(0);
    EXPECT_NE(first, second);
    auto* object = new (chunks) point;
    EXPECT_NE(second, static_cast<void*>(object));
    auto* none = new (chunks) point[0];
    EXPECT_NE(static_cast<void*>(none), static_cast<void*>(object));
    chunks.deallocate(first, 0);
    chunks.deallocate(second, 0);
    chunks.destroy_array(none);
    EXPECT_EQ(chunks.live(), 1u);
}

// Hazard B6.
TEST(chunk_pool, counts_that_wrap_are_refused) {
    chunk_pool<4, 16, 32> chunks;
    chunk_pool<4, 16, 32> open{falling_back};
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(outcome_of([&] { return chunks.allocate(bytes); }), refused_as(outcome::request_too_large));
        EXPECT_EQ(outcome_of([&] { return open.allocate(bytes); }), refused_as(outcome::request_too_large));
    }
#if defined(__cpp_exceptions)
    const volatile std::size_t many = SIZE_MAX / sizeof(point) + 2;
    EXPECT_THROW(new (chunks) point[many], std::bad_alloc);
#endif
    EXPECT_EQ(chunks.live(), 0u);
}

// Hazard P4.
TEST(chunk_pool, null_is_a_no_op) {
    chunk_pool<2, 16> chunks;
    chunks.deallocate(nullptr, 16);
    chunks.deallocate_unsized(nullptr);
    chunks.destroy(static_cast<counted*>(nullptr));
    chunks.destroy(nullptr);
    chunks.destroy_array(static_cast<counted*>(nullptr));
    EXPECT_NE(chunks.allocate(16), nullptr);
    EXPECT_FALSE(chunks.owns(nullptr));
}

// Hazard P3.
TEST(chunk_pool, giving_back_never_asks_upstream) {
    checking_upstream upstream;
    chunk_pool<100, 16, 32> chunks{upstream};
    std::vector<void*> all;
    for (int i = 0; i < 200; ++i) all.push_back(chunks.allocate(16));
    upstream.fail_from(1);
    for (void* each : all) chunks.deallocate(each, 16);
    EXPECT_EQ(upstream.requests(), 1u);
    static_assert(noexcept(chunks.destroy(std::declval<point*>())) && noexcept(chunks.destroy_array<point>(nullptr)));
}

// Hazard X13: what it says that it takes is what it takes, and it lives in a buffer of just that size.
TEST(chunk_pool, required_bytes_are_exact) {
    checking_upstream upstream;
    {
        three chunks{upstream};
        EXPECT_EQ(upstream.sizes(), std::vector<std::size_t>{three::required_bytes()});
        for (int i = 0; i < 100; ++i) {
            for (const std::size_t bytes : {32u, 62u, 128u}) (void)chunks.allocate(bytes);
        }
        EXPECT_EQ(upstream.requests(), 1u);
    }
    EXPECT_EQ(upstream.live_blocks(), 0u);

    acre::inline_buffer<three::required_bytes(), three::max_alignment> storage;
    three here{storage};
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(storage.owns(here.allocate(1)));
    EXPECT_EQ(here.try_allocate(1), nullptr);
#if defined(__cpp_exceptions)
    acre::inline_buffer<three::required_bytes() - 1, three::max_alignment> too_small;
    EXPECT_THROW(three{too_small}, acre::request_too_large);
#endif
}

TEST(chunk_pool, deallocate_all_takes_everything_back) {
    chunk_pool<10, 16, 64> chunks;
    void* first = chunks.allocate(16);
    chunks.deallocate(first, 16);
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 20; ++i) ASSERT_NE(chunks.try_allocate(16), nullptr);
        EXPECT_EQ(chunks.try_allocate(1), nullptr);
        chunks.deallocate_all();
        EXPECT_EQ(chunks.used(), 0u);
        EXPECT_EQ(chunks.live(), 0u);
    }
    EXPECT_EQ(chunks.allocate(16), first);
}

// With prefault, pages are resident from construction on; without, only once they are written.
TEST(chunk_pool, prefault_touches_every_page) {
    constexpr std::size_t page = 4096;
    using pool = chunk_pool<1000, 100, 1000>;
    constexpr std::size_t bytes = (pool::required_bytes() + page - 1) / page * page;
    const auto resident_pages = [](const chunk_pool_options& options) {
        void* fresh = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(fresh, bytes, MADV_NOHUGEPAGE);
        std::vector<unsigned char> states(bytes / page);
        {
            acre::buffer storage{{static_cast<std::byte*>(fresh), bytes}};
            pool chunks{options, storage};
            mincore(fresh, bytes, states.data());
        }
        munmap(fresh, bytes);
        return static_cast<std::size_t>(
            std::count_if(states.begin(), states.end(), [](int state) { return state & 1; }));
    };
    EXPECT_EQ(resident_pages({}), bytes / page);
    EXPECT_LE(resident_pages({.prefault = false}), 2u);
}

// Random work against a model: live storage is intact and disjoint, and every slot is reachable.
// Hazard X4.
TEST(chunk_pool, matches_a_model) {
    std::size_t refused = 0;
    for (std::uint32_t seed = 1; seed <= 5 && !HasFailure(); ++seed) {
        std::mt19937 random{seed};
        chunk_pool<70, 10, 20, 64, 200> chunks;
        acre_test::live_model model;
        for (int i = 0; i < 6000 && !HasFailure(); ++i) {
            const bool grows = i / 500 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0;
            if (grows) {
                const std::size_t bytes = random() % 201;
                const std::size_t alignment = std::size_t{1} << random() % 5;
                void* p = chunks.try_allocate(bytes, alignment);
                std::size_t home = 0;
                while (chunks.classes[home].slot_bytes < bytes) ++home;
                bool full = true;
                for (std::size_t each = home; each < 4; ++each) full = full && chunks.live_of(each) == 70;
                if (p != nullptr) {
                    model.add(p, bytes, alignment);
                    EXPECT_GE(chunks.class_of(p), home);
                } else {
                    ++refused;
                    EXPECT_TRUE(full);
                }
            } else if (!model.empty()) {
                const auto block = model.any(random());
                model.remove(block.p);
                chunks.deallocate(block.p, block.bytes, block.alignment);
            }
            ASSERT_EQ(chunks.live(), model.size());
        }
        while (!model.empty()) {
            const auto block = model.newest();
            model.remove(block.p);
            chunks.deallocate_unsized(block.p);
        }
        EXPECT_EQ(chunks.used(), 0u);
        for (int i = 0; i < 4 * 70; ++i) ASSERT_NE(chunks.try_allocate(1), nullptr);
        EXPECT_EQ(chunks.try_allocate(1), nullptr);
    }
    EXPECT_GT(refused, 0u) << "it was never full";
}

// Together with other parts of acre.
TEST(chunk_pool, serves_containers_and_pointers) {
    chunk_pool<200, 32, 64, 1024> chunks;
    {
        std::list<int, acre::allocator<int, decltype(chunks)>> numbers{chunks};
        for (int i = 0; i < 100; ++i) numbers.push_back(i);
        EXPECT_EQ(chunks.live(), 100u);
        counted::start();
        const auto owned = acre::make_unique<counted>(chunks);
        const auto row = acre::make_unique<counted[]>(chunks, 5);
        const auto shared = acre::make_shared<counted>(chunks);
        EXPECT_EQ(counted::live, 7);
        EXPECT_EQ(chunks.live(), 103u);
    }
    EXPECT_EQ(counted::live, 0);
    EXPECT_EQ(chunks.live(), 0u);
    acre::pmr<chunk_pool<50, 64>> face;
    std::pmr::vector<int> numbers({1, 2, 3}, &face);
    EXPECT_EQ(face->live(), 1u);
}

TEST(chunk_pool, a_unique_ptr_gives_back_what_upstream_served) {
    chunk_pool<1, 16> chunks{falling_back};
    const auto one = acre::make_unique<point>(chunks);
    const auto two = acre::make_unique<point>(chunks);
    EXPECT_EQ(chunks.class_of(two.get()), chunks.classes.size());
}

TEST(chunk_pool, is_counted_by_statistics) {
    acre::statistics<chunk_pool<10, 16, 128>> chunks;
    counted::start();
    auto* one = chunks.create<small_counted>();
    auto* two = chunks.create<larger_counted>();
    EXPECT_EQ(chunks.counts().bytes.value, sizeof(small_counted) + sizeof(larger_counted));
    chunks.destroy(one);
    chunks.destroy(two);
    EXPECT_EQ(chunks.counts().allocations.value, 0u);
    EXPECT_EQ(chunks.counts().bytes.value, 0u);
    EXPECT_EQ(chunks.counts().allocations.total, 2u);

    acre::synchronized<chunk_pool<10, 16, 64>> shared;
    shared.destroy(shared.create<counted>());
    EXPECT_EQ(counted::live, 0);
}

// An upstream of a program that returns null where it should throw.
struct upstream_without_memory {
    std::size_t asked = 0;
    void* allocate(std::size_t bytes, std::size_t) { return asked += bytes, nullptr; }
    void* try_allocate(std::size_t, std::size_t) noexcept { return nullptr; }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

TEST(chunk_pool, over_an_upstream_that_returns_null_it_has_no_memory) {
    upstream_without_memory below;
#if defined(__cpp_exceptions)
    EXPECT_THROW((acre::chunk_pool<10, 32>{below}), acre::out_of_memory);
#else
    acre::chunk_pool<10, 32> refuses{below};
    EXPECT_EQ(refuses.try_allocate(32), nullptr);
#endif
}

}  // namespace

// Hazard N0: every member compiles.
template class acre::chunk_pool<3, 10, 20, 40>;
template class acre::chunk_pool<1, 1>;
template class acre::chunk_pool<100, 32U, 62U, 128U>;
