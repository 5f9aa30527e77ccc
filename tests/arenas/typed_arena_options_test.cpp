// What can be chosen of a typed_arena: exhaustion, the end, the capacity at run time, operators delete without a size.
#include <gtest/gtest.h>

#include <acre/arenas/typed_arena.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "conformance/refusal.hpp"

namespace {

using acre::exhaustion;
using acre::typed_arena;
using acre::typed_arena_options;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

template <class Arena, class Use>
std::string said_at_the_end(Use use) {
    testing::internal::CaptureStderr();
    {
        Arena arena;
        use(arena);
    }
    return testing::internal::GetCapturedStderr();
}

// Hazard B9: the book's assert, as a policy that release builds have too.
TEST(typed_arena_options, abort_when_full) {
    typed_arena<int, 2, typed_arena_options{.when_full = exhaustion::abort}> two;
    static_assert(noexcept(two.allocate_one()));
    two.create(1);
    EXPECT_DEATH(two.allocate_n(3), "acre::typed_arena: request too large: 12 bytes were asked for");
    two.create(2);
    EXPECT_DEATH(two.create(3), "acre::typed_arena: limit exceeded: 4 bytes more were needed");
    EXPECT_EQ(two.try_create(3), nullptr) << "the try_ forms do not abort";
    EXPECT_DEATH(two.class_new(SIZE_MAX), "acre::typed_arena: out of memory");
}

template <bool Reuse, bool Synchronized>
void expect_a_report() {
    using tested =
        typed_arena<int, 8, typed_arena_options{.reuse = Reuse, .synchronized = Synchronized, .report_live = true}>;
    EXPECT_EQ(said_at_the_end<tested>([](tested& arena) {
                  arena.destroy(arena.create(1));
                  arena.create(2);
                  arena.allocate_n(3);
                  arena.deallocate_n(arena.allocate_n(2), 2);
                  EXPECT_EQ(arena.live(), 4u);
              }),
              "acre::typed_arena: 4 still live when it ended\n");
    EXPECT_EQ(said_at_the_end<tested>([](tested& arena) { arena.destroy(arena.create(1)); }), "");
    EXPECT_EQ(said_at_the_end<tested>([](tested& arena) {
                  arena.create(1);
                  arena.reset();
                  EXPECT_EQ(arena.live(), 0u);
              }),
              "");
}

TEST(typed_arena_options, reports_what_is_live_at_its_end) {
    expect_a_report<false, false>();
    expect_a_report<false, true>();
    expect_a_report<true, false>();
    expect_a_report<true, true>();
}

// Hazard P11.
TEST(typed_arena_options, a_static_one_reports_at_the_end_of_the_program) {
    const auto leak_and_exit = [] {
        static constinit typed_arena<int, 8, typed_arena_options{.report_live = true}> arena;
        arena.create(1);
        arena.destroy(arena.create(2));
        std::exit(0);
    };
    EXPECT_EXIT(leak_and_exit(), testing::ExitedWithCode(0), "acre::typed_arena: 1 still live when it ended");
}

// Hazard N3: without reuse a double free is found by the count.
TEST(typed_arena_options, a_report_counts_what_is_freed_too_often) {
    typed_arena<int, 8, typed_arena_options{.report_live = true}> arena;
    int* one = arena.create(1);
    arena.destroy(one);
    EXPECT_DEATH(arena.destroy(one), "acre::typed_arena: more was freed than was handed out");
}

TEST(typed_arena_options, the_count_is_that_of_all_threads) {
    typed_arena<int, 4000, typed_arena_options{.synchronized = true, .report_live = true}> arena;
    const auto half_of_them = [&arena] {
        for (int i = 0; i < 1000; ++i) {
            arena.create(i);
            arena.destroy(arena.create(i));
        }
    };
    std::thread other{half_of_them};
    half_of_them();
    other.join();
    EXPECT_EQ(arena.live(), 2000u);
    arena.reset();
}

template <bool Reuse, bool Synchronized>
void expect_a_limit() {
    static typed_arena<int, 100, typed_arena_options{.reuse = Reuse, .synchronized = Synchronized}> arena;
    arena.limit_slots(3);
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(arena.used(), 0u);
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(arena.owns(arena.create(i)));
        EXPECT_EQ(arena.used(), 3 * sizeof(int));
        std::string sentence;
        EXPECT_EQ(outcome_of([] { return arena.create(4); }, &sentence), refused_as(outcome::limit_exceeded));
        if (acre::exceptions_enabled) {
            EXPECT_NE(sentence.find("12 of the limit of 12 bytes are held"), std::string::npos) << sentence;
        }
        arena.reset();
    }
    EXPECT_EQ(outcome_of([] { return arena.allocate_n(4); }), refused_as(outcome::request_too_large));
    EXPECT_EQ(arena.slots(), 100u);
    arena.limit_slots(100);
    EXPECT_NE(arena.allocate_n(100), nullptr);
    arena.reset();
}

TEST(typed_arena_options, a_capacity_chosen_at_run_time) {
    expect_a_limit<false, false>();
    expect_a_limit<false, true>();
    expect_a_limit<true, false>();
    expect_a_limit<true, true>();
}

#if defined(__cpp_exceptions)
TEST(typed_arena_options, a_capacity_that_cannot_be) {
    typed_arena<int, 4> arena;
    EXPECT_THROW(arena.limit_slots(0), acre::bad_option);
    EXPECT_THROW(arena.limit_slots(5), acre::bad_option);
    arena.create(1);
    EXPECT_THROW(arena.limit_slots(2), acre::bad_option);
}
#endif

constinit typed_arena<int, 2, typed_arena_options{.reuse = true}> asked;
int* spared = nullptr;
int calls = 0;
bool free_the_spared() {
    ++calls;
    if (spared == nullptr) return false;
    asked.destroy(std::exchange(spared, nullptr));
    return true;
}

TEST(typed_arena_options, a_handler_is_asked_before_a_failure) {
    asked.set_full_handler(&free_the_spared);
    spared = asked.create(1);
    int* kept = asked.create(2);
    int* third = asked.create(3);
    EXPECT_NE(third, nullptr);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(outcome_of([] { return asked.create(4); }), refused_as(outcome::limit_exceeded));
    EXPECT_EQ(calls, 2);
    spared = third;
    EXPECT_NE(asked.try_create(5), nullptr) << "the try_ forms ask, too";
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(asked.try_allocate_n(3), nullptr);
    EXPECT_EQ(calls, 3) << "there can never be room for three";
    asked.set_full_handler(nullptr);
    EXPECT_EQ(asked.try_allocate_one(), nullptr);
    asked.destroy(kept);
    asked.reset();
}

struct counted final {
    counted() { ++alive; }
    ~counted() { --alive; }
    int value = 5;
    static inline int alive = 0;

    static void* operator new(std::size_t bytes);
    static void operator delete(void* p) noexcept;
    static void* operator new[](std::size_t bytes);
    static void operator delete[](void* p) noexcept;
};
constinit typed_arena<counted, 20, typed_arena_options{.require_final = true}> all_counted;
void* counted::operator new(std::size_t bytes) {
    return all_counted.class_new(bytes);
}
void counted::operator delete(void* p) noexcept {
    all_counted.class_delete(p);
}
void* counted::operator new[](std::size_t bytes) {
    return all_counted.class_new_array(bytes);
}
void counted::operator delete[](void* p) noexcept {
    all_counted.class_delete_array(p);
}

TEST(typed_arena_options, operators_delete_without_a_size) {
    const counted* one = new counted;
    const counted* row = new counted[3];
    EXPECT_TRUE(all_counted.owns(one) && all_counted.owns(row));
    EXPECT_EQ(counted::alive, 4);
    delete one;
    delete[] row;
    EXPECT_EQ(counted::alive, 0);
    EXPECT_GT(all_counted.used(), 0u) << "nothing is reused";
    all_counted.deallocate_all();
    EXPECT_EQ(all_counted.used(), 0u);

    static constinit typed_arena<counted, 2, typed_arena_options{.reuse = true}> reused;
    void* p = reused.class_new(sizeof(counted));
    reused.class_delete(p);
    EXPECT_EQ(reused.used(), 0u);
}

}  // namespace
