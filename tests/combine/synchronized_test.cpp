// acre::synchronized has the members of its resource, each under the lock. Tests with threads are in threads_test.cpp.
#include <acre/combine/synchronized.hpp>

#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "conformance/checking_upstream.hpp"
#include "conformance/refusal.hpp"

namespace {

using acre::synchronized;
using acre_test::checking_upstream;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

struct Bullet {
    float position = 0;
    float speed = 0;
    void step() { position += speed; }
};

// A lock that counts how often it is locked.
class counting_lock {
public:
    void lock() {
        EXPECT_FALSE(held_) << "locked twice";
        held_ = true;
        ++times;
    }
    bool try_lock() {
        if (held_) return false;
        lock();
        return true;
    }
    void unlock() {
        EXPECT_TRUE(held_);
        held_ = false;
    }
    static inline int times = 0;

private:
    bool held_ = false;
};

int locked_by(auto call) {
    counting_lock::times = 0;
    call();
    return counting_lock::times;
}

constinit synchronized<acre::multi_pool> ready_at_once;
constinit synchronized<acre::multi_pool, acre::spin_lock> ready_at_once_too;
static_assert(sizeof(synchronized<acre::pool<64>, acre::no_lock>) == sizeof(acre::pool<64>), "no_lock takes no space");

// It meets the same concepts as the resource.
static_assert(acre::owning_resource<synchronized<acre::pool<64>>>);
static_assert(acre::resettable_resource<synchronized<acre::multi_pool>>);
static_assert(acre::resizable_resource<synchronized<acre::arena>>);
static_assert(!acre::owning_resource<synchronized<acre::heap>>);
static_assert(!acre::resizable_resource<synchronized<acre::multi_pool>>);

// Hazards M7, X16.
static_assert(!std::is_copy_constructible_v<synchronized<acre::pool<64>>>);
static_assert(!std::is_copy_constructible_v<synchronized<acre::resource_ref>>);
static_assert(std::is_nothrow_move_constructible_v<synchronized<acre::pool<64>>>);
static_assert(!std::is_move_constructible_v<synchronized<acre::arena>>);

// The resource cannot be reached without the lock.
static_assert(!std::is_convertible_v<synchronized<acre::pool<64>>&, acre::pool<64>&>);
template <class R>
concept walkable = requires(R& r) { r.begin(); };
static_assert(!walkable<synchronized<acre::object_pool<Bullet>>>);

TEST(synchronized, example) {
    acre::synchronized<acre::pool<64>> slots;
    slots.deallocate(slots.allocate());
    acre::synchronized<acre::object_pool<Bullet>, acre::spin_lock> bullets{{.limit_bytes = 1 << 20}};
    Bullet* one = bullets.create(1.0f, 2.0f);
    bullets.with([](acre::object_pool<Bullet>& all) {
        for (Bullet& each : all) each.step();
    });
    EXPECT_EQ(one->position, 3.0f);
    bullets.destroy(one);
}

// Hazard M19.
TEST(synchronized, is_constructed_from_what_the_resource_is) {
    checking_upstream below;
    acre::synchronized<acre::pool<64>> plain;
    acre::synchronized<acre::pool<64>> over{below};
    acre::synchronized<acre::pool<64>> limited{{.limit_bytes = 16'384}};
    acre::synchronized<acre::pool<64>> both{{.limit_bytes = 16'384}, below};
    acre::synchronized<acre::resource_ref> handle{below};
    acre::pmr<acre::synchronized<acre::multi_pool>> face{{.limit_bytes = 1 << 20}};
    std::pmr::list<int> numbers{{1, 2, 3}, &face};
    EXPECT_EQ(face->live(), 3u);
    over.deallocate(over.allocate());
    both.deallocate(both.allocate());
    handle.deallocate(handle.allocate(8), 8);
    EXPECT_EQ(below.requests(), 3u);
    EXPECT_EQ(outcome_of([&] { return limited.allocate(100'000, 8); }), refused_as(outcome::limit_exceeded));
}

TEST(synchronized, has_the_members_of_a_pool_each_under_the_lock) {
    synchronized<acre::pool<64>, counting_lock> tested;
    void* p = nullptr;
    EXPECT_EQ(locked_by([&] { p = tested.allocate(); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_TRUE(tested.owns(p)); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.live(), 1u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_GE(tested.used(), 64u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_GT(tested.capacity(), 0u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_GE(tested.slots(), 1u); }), 1);
    EXPECT_EQ(locked_by([&] { tested.deallocate(p); }), 1);
    EXPECT_EQ(locked_by([&] { p = tested.try_allocate(); }), 1);
    EXPECT_EQ(locked_by([&] { tested.deallocate(p, 64, 16); }), 1);
    EXPECT_EQ(locked_by([&] { p = tested.allocate(40, 8); }), 1);
    EXPECT_EQ(locked_by([&] { tested.deallocate(p, 40, 8); }), 1);
    EXPECT_EQ(locked_by([&] { p = tested.try_allocate(40, 8); }), 1);
    EXPECT_EQ(locked_by([&] { tested.reset(); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_GT(tested.release_unused(), 0u); }), 1);
    EXPECT_EQ(locked_by([&] { tested.release(); }), 1);
    EXPECT_EQ(tested.capacity(), 0u);
    static_assert(decltype(tested)::required_bytes(100) == acre::pool<64>::required_bytes(100));
    static_assert(decltype(tested)::geometry.slot_bytes == 64);
}

TEST(synchronized, has_the_members_of_an_object_pool_each_under_the_lock) {
    synchronized<acre::object_pool<std::string>, counting_lock> tested;
    std::string* text = nullptr;
    EXPECT_EQ(locked_by([&] { text = tested.create("a text that does not lie in the string itself"); }), 1);
    EXPECT_EQ(locked_by([&] { tested.try_create("another"); }), 1);
    EXPECT_EQ(locked_by([&] { tested.destroy(text); }), 1);
    EXPECT_EQ(tested.live(), 1u);
    EXPECT_EQ(locked_by([&] { tested.reset(); }), 1);
    EXPECT_EQ(tested.live(), 0u);
    static_assert(std::is_same_v<decltype(tested)::value_type, std::string>);
}

TEST(synchronized, has_the_members_of_an_arena_each_under_the_lock) {
    synchronized<acre::arena, counting_lock> tested;
    const auto begin = tested.mark();
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(*tested.create<int>(7), 7); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(*tested.try_create<int>(8), 8); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.create_array<std::string>(3).size(), 3u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.try_create_array<int>(3).size(), 3u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.allocate<float>(5).size(), 5u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.try_allocate<float>(5).size(), 5u); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.copy("four"), "four"); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.try_copy("five!"), "five!"); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_EQ(tested.format("%d", 123), "123"); }), 1);
    void* p = tested.allocate(100);
    EXPECT_EQ(locked_by([&] { EXPECT_TRUE(tested.try_resize(p, 100, 200)); }), 1);
    EXPECT_EQ(locked_by([&] { EXPECT_GT(tested.remaining(), 0u); }), 1);
    EXPECT_EQ(locked_by([&] { tested.rewind(begin); }), 1);
    EXPECT_EQ(tested.used(), 0u);
    EXPECT_EQ(locked_by([&] { tested.reset(acre::release); }), 1);
    EXPECT_EQ(tested.capacity(), 0u);
}

TEST(synchronized, with_runs_a_function_under_the_lock) {
    synchronized<acre::object_pool<Bullet>, counting_lock> tested;
    tested.create(1.0f, 2.0f);
    const std::size_t count = [&] {
        std::size_t result = 0;
        EXPECT_EQ(locked_by([&] {
                      result = tested.with([](acre::object_pool<Bullet>& all) {
                          all.create();
                          return all.live();
                      });
                  }),
                  1);
        return result;
    }();
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(std::as_const(tested).with([](const acre::object_pool<Bullet>& all) { return all.live(); }), 2u);
    EXPECT_EQ(locked_by([&] { tested.release(); }), 1) << "the lock was left";
}

TEST(synchronized, with_gives_a_copy_of_what_the_function_refers_to) {
    synchronized<acre::statistics<acre::heap>> tested;
    auto counts =
        tested.with([](acre::statistics<acre::heap>& r) -> const acre::statistics_counts& { return r.counts(); });
    static_assert(std::is_same_v<decltype(counts), acre::statistics_counts>);
    void* p = tested.allocate(10);
    EXPECT_EQ(counts.allocations.value, 0u);
    tested.deallocate(p, 10);
}

TEST(synchronized, a_recursive_mutex_lets_constructors_use_the_same_resource) {
    using shared_arena = synchronized<acre::arena, std::recursive_mutex>;
    struct node {
        explicit node(shared_arena& from) : text(from.copy("of the node")) {}
        std::string_view text;
    };
    shared_arena level;
    EXPECT_EQ(level.create<node>(level)->text, "of the node");
}

// Hazards P5, X16.
TEST(synchronized, moves_what_it_guards) {
    checking_upstream below;
    synchronized<acre::pool<64>> first{below};
    void* p = first.allocate();
    synchronized<acre::pool<64>> second{std::move(first)};
    EXPECT_TRUE(second.owns(p));
    EXPECT_EQ(first.live(), 0u);
    synchronized<acre::pool<64>> third{below};
    third = std::move(second);
    EXPECT_EQ(third.live(), 1u);
    third.deallocate(p);
    first.deallocate(first.allocate());
}

// Hazard N8: a static lock is initialised before any code runs.
TEST(synchronized, a_static_one_is_ready_at_once) {
    ready_at_once.deallocate(ready_at_once.allocate(10), 10);
    ready_at_once_too.deallocate(ready_at_once_too.allocate(10), 10);
    EXPECT_EQ(ready_at_once.live() + ready_at_once_too.live(), 0u);
}

TEST(synchronized, failures_leave_the_lock_free) {
    checking_upstream below;
    synchronized<acre::multi_pool, counting_lock> tested{below};
    below.fail_from(1);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(10); }), refused_as(outcome::out_of_memory));
    EXPECT_EQ(tested.try_allocate(10), nullptr);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(10, 3); }), refused_as(outcome::bad_alignment));
    below.recover();
    tested.deallocate(tested.allocate(10), 10);
}

TEST(synchronized, serves_containers_and_smart_pointers) {
    synchronized<acre::multi_pool> tested;
    {
        std::list<int, acre::allocator<int, synchronized<acre::multi_pool>>> numbers{{1, 2, 3}, tested};
        auto owned = acre::make_unique<std::string>(tested, "text");
        EXPECT_EQ(tested.live(), 4u);
    }
    EXPECT_EQ(tested.live(), 0u);
}

}  // namespace
