// The compile-time errors of pooled classes: one case each, compiled with ACRE_TEST_CASE set to its number by the tests
// in CMakeLists.txt. Case 0 has no error and must compile.
#include <acre/adapt/pooled.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <coroutine>

namespace {

#if ACRE_TEST_CASE == 1
struct orc : acre::pooled<orc, acre::only_final<>> {
#else
struct orc final : acre::pooled<orc, acre::only_final<>> {
#endif
    int strength = 100;
};

#if ACRE_TEST_CASE == 2
struct troll {
#else
struct troll final {
#endif
    int strength = 100;
    ACRE_POOLED_IN(troll, acre::only_final<acre::own_pool>);
};

// As from acre/fwd.hpp.
struct pool_of_elves;
#if ACRE_TEST_CASE != 3
struct pool_of_elves : acre::static_pool<16> {};
#endif
struct elf : acre::pooled<elf, pool_of_elves> {};

struct message;
#if ACRE_TEST_CASE == 4
using pool_of_messages = acre::concurrent_object_pool<message>;
#else
using pool_of_messages = acre::static_pool<16, acre::shared_group<message>>;
#endif
struct message : acre::pooled<message, pool_of_messages> {};

// The sizes of a pool for threads.
struct sizes;
#if ACRE_TEST_CASE != 5
struct sizes : acre::size_class_list<16, 64> {};
#endif
using pool_of_sizes = acre::basic_concurrent_multi_pool<sizes>;

/// What a promise needs, above the base.
template <class Promise>
struct task_of {
    struct promise_type : Promise {
        task_of get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
struct frame_base : acre::pooled_frames<frame_base> {};
using task = task_of<frame_base>;

#if ACRE_TEST_CASE == 6
struct listed_promise : acre::pooled<listed_promise, acre::own_pool> {
#else
struct listed_promise : acre::pooled<listed_promise> {
#endif
    std::suspend_never initial_suspend() noexcept { return {}; }
};
task_of<listed_promise> with_a_pool() {
    co_return;
}

#if ACRE_TEST_CASE == 7
struct promise_by_macro {
    ACRE_POOLED(promise_by_macro);
    std::suspend_never initial_suspend() noexcept { return {}; }
};
#endif

#if ACRE_TEST_CASE == 8
struct promise_or_none : acre::nothrow_pooled<promise_or_none> {
    std::suspend_never initial_suspend() noexcept { return {}; }
};
task_of<promise_or_none> without_null() {
    co_return;
}
#endif

#if ACRE_TEST_CASE == 9
task in(std::allocator_arg_t, int) {
#else
task in(std::allocator_arg_t, acre::heap) {
#endif
    co_return;
}

}  // namespace

void use();
void use() {
    delete new orc;
    delete new troll;
    delete new elf;
    delete new message;
    pool_of_sizes pool;
    with_a_pool();
    in(std::allocator_arg, {});
}
