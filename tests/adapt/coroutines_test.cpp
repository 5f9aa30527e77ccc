// Frames of coroutines: whose promise is an acre::pooled_frames or an acre::pooled, from the pools of the program and
// from each resource that is handed to the coroutine.
#include <acre/adapt/pooled.hpp>
#include <acre/adapt/pooled_frames.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/pmr.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <utility>

namespace {

/// Owns a coroutine that is suspended at its beginning. `Base` is the base of its promise.
template <template <class> class Base>
class task {
public:
    struct promise_type : Base<promise_type> {
        task get_return_object() { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };

    explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    ~task() {
        if (handle_) handle_.destroy();
    }
    void resume() const { handle_.resume(); }
    const void* frame() const noexcept { return handle_.address(); }

private:
    std::coroutine_handle<promise_type> handle_;
};

template <class T>
using with_pooled = acre::pooled<T>;

template <class T>
class frames : public testing::Test {};
using bases = testing::Types<task<acre::pooled_frames>, task<with_pooled>>;
TYPED_TEST_SUITE(frames, bases);

std::size_t live_in_the_program() {
    return acre::program_pools::get().live();
}

template <class Task>
[[gnu::noinline]] Task add(int& to, int what) {
    to += what;
    co_return;
}
template <class Task>
[[gnu::noinline]] Task add_many(int& to) {
    std::array<int, 200> many{};
    many.back() = 1;
    co_await std::suspend_always{};
    for (const int each : many) to += each;
}

// Hazard Y18.
TYPED_TEST(frames, come_from_the_pools_of_the_program) {
    const std::size_t before = live_in_the_program();
    int sum = 0;
    {
        const TypeParam one = add<TypeParam>(sum, 1);
        const TypeParam other = add_many<TypeParam>(sum);
        EXPECT_EQ(live_in_the_program(), before + 2);
        EXPECT_TRUE(acre::program_pools::get().owns(one.frame()));
        EXPECT_TRUE(acre::program_pools::get().owns(other.frame()));
        one.resume();
        other.resume();
        other.resume();
    }
    EXPECT_EQ(sum, 2);
    EXPECT_EQ(live_in_the_program(), before);
}

// These parameters are no place for the frame, and no request for null.
template <class Task>
[[gnu::noinline]] Task write_to(char* at) {
    *at = 1;
    co_return;
}
template <class Task>
[[gnu::noinline]] Task write_to(void* at) {
    *static_cast<char*>(at) = 2;
    co_return;
}
template <class Task>
[[gnu::noinline]] Task given(const std::nothrow_t&) {
    co_return;
}
template <class Task>
[[gnu::noinline]] Task given(std::align_val_t) {
    co_return;
}

TYPED_TEST(frames, do_not_lie_in_what_a_parameter_points_to) {
    const std::size_t before = live_in_the_program();
    char here = 0;
    void* const there = &here;
    {
        const TypeParam one = write_to<TypeParam>(&here);
        const TypeParam other = write_to<TypeParam>(there);
        const TypeParam third = given<TypeParam>(std::nothrow);
        const TypeParam fourth = given<TypeParam>(std::align_val_t{8});
        EXPECT_EQ(live_in_the_program(), before + 4);
        one.resume();
        EXPECT_EQ(here, 1);
        other.resume();
        EXPECT_EQ(here, 2);
    }
    EXPECT_EQ(live_in_the_program(), before);
}

template <class Task, class From>
[[gnu::noinline]] Task add_in(std::allocator_arg_t, From from, int& to, int what) {
    (void)from;
    to += what;
    co_return;
}
template <class Task>
struct adder {
    [[gnu::noinline]] Task add_in(std::allocator_arg_t, acre::statistics<acre::multi_pool>&, int what) {
        sum += what;
        co_return;
    }
    int sum = 0;
};

// clang leaves out the frame of a coroutine that it inlines and whose end it sees.
template <class Coroutine, class... Arguments>
[[gnu::noinline]] auto not_inlined(const Coroutine& coroutine, Arguments&&... arguments) {
    return coroutine(std::forward<Arguments>(arguments)...);
}

TYPED_TEST(frames, come_from_the_resource_behind_allocator_arg) {
    using pool = acre::statistics<acre::multi_pool>;
    const std::size_t before = live_in_the_program();
    pool from;
    int sum = 0;
    auto expect_in_pool = [&, made = std::size_t{0}](const TypeParam& made_in) mutable {
        EXPECT_TRUE(from.owns(made_in.frame()));
        EXPECT_EQ(from.counts().allocations.total, ++made);
        EXPECT_EQ(from.counts().allocations.value, 1u);
        made_in.resume();
    };
    expect_in_pool(add_in<TypeParam, pool&>(std::allocator_arg, from, sum, 1));
    expect_in_pool(add_in<TypeParam, pool*>(std::allocator_arg, &from, sum, 1));
    expect_in_pool(add_in<TypeParam>(std::allocator_arg, acre::resource_ref{from}, sum, 1));
    expect_in_pool(add_in<TypeParam>(std::allocator_arg, acre::allocator<int, pool>{from}, sum, 1));
    acre::pmr<pool&> face{from};
    expect_in_pool(add_in<TypeParam, acre::pmr<pool&>&>(std::allocator_arg, face, sum, 1));
    expect_in_pool(add_in<TypeParam, std::pmr::memory_resource*>(std::allocator_arg, &face, sum, 1));
    expect_in_pool(add_in<TypeParam>(std::allocator_arg, std::pmr::polymorphic_allocator<>{&face}, sum, 1));
    EXPECT_EQ(sum, 7);

    adder<TypeParam> object;
    expect_in_pool(object.add_in(std::allocator_arg, from, 1));
    EXPECT_EQ(object.sum, 1);
    const auto lambda = [](std::allocator_arg_t, pool&, int& to) -> TypeParam {
        ++to;
        co_return;
    };
    expect_in_pool(not_inlined(lambda, std::allocator_arg, from, sum));
    EXPECT_EQ(sum, 8);
    EXPECT_EQ(from.used(), 0u);
    EXPECT_EQ(live_in_the_program(), before);

    acre::unique_resource<acre::arena> level;
    const TypeParam in_arena =
        add_in<TypeParam, acre::unique_resource<acre::arena>&>(std::allocator_arg, level, sum, 1);
    EXPECT_TRUE(level->owns(in_arena.frame()));
    const TypeParam in_heap = add_in<TypeParam>(std::allocator_arg, acre::heap{}, sum, 1);
    EXPECT_EQ(live_in_the_program(), before);
}

/// A parameter whose copy into the frame throws.
struct uncopyable_parameter {
    uncopyable_parameter() = default;
    uncopyable_parameter(const uncopyable_parameter&) { throw std::runtime_error{"not copied"}; }
};
template <class Task>
[[gnu::noinline]] Task throwing(std::allocator_arg_t, acre::multi_pool&, uncopyable_parameter) {
    co_return;
}

TYPED_TEST(frames, go_back_when_the_coroutine_cannot_begin) {
    acre::multi_pool pool;
    const uncopyable_parameter given{};
    EXPECT_THROW(throwing<TypeParam>(std::allocator_arg, pool, given), std::runtime_error);
    EXPECT_EQ(pool.live(), 0u);
    int sum = 0;
    EXPECT_THROW(add_in<TypeParam>(std::allocator_arg, acre::no_memory{}, sum, 1), std::bad_alloc);
}

/// A task that is empty where there was no memory.
template <template <class> class Base>
struct task_or_none {
    struct promise_type : Base<promise_type> {
        static task_or_none get_return_object_on_allocation_failure() noexcept { return {nullptr}; }
        task_or_none get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};

template <class T>
using with_nothrow_pooled = acre::nothrow_pooled<T>;

template <class T>
class frames_or_none : public testing::Test {};
using bases_or_none =
    testing::Types<task_or_none<acre::pooled_frames>, task_or_none<with_pooled>, task_or_none<with_nothrow_pooled>>;
TYPED_TEST_SUITE(frames_or_none, bases_or_none);

TYPED_TEST(frames_or_none, that_are_refused_give_the_promises_own_object) {
    int sum = 0;
    EXPECT_EQ(add_in<TypeParam>(std::allocator_arg, acre::no_memory{}, sum, 1).handle, nullptr);
    acre::multi_pool pool;
    for (const TypeParam& each :
         {add<TypeParam>(sum, 1), add_in<TypeParam, acre::multi_pool&>(std::allocator_arg, pool, sum, 1)}) {
        ASSERT_NE(each.handle, nullptr);
        each.handle.resume();
        each.handle.destroy();
    }
    EXPECT_EQ(sum, 2);
    EXPECT_EQ(pool.live(), 0u);
}

/// The promise derives from what is pooled, as in libraries whose promises share a base.
struct job {
    struct pooled_base : acre::pooled<pooled_base> {
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
    };
    struct promise_type final : pooled_base {
        job get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept {}
    };
    std::coroutine_handle<promise_type> handle;
};

TEST(frames_of_a_base, of_a_promise_that_derives_from_a_pooled_base) {
    const std::size_t before = live_in_the_program();
    int sum = 0;
    const job made = add<job>(sum, 1);
    EXPECT_EQ(live_in_the_program(), before + 1);
    made.handle.destroy();
    EXPECT_EQ(live_in_the_program(), before);
}

}  // namespace
