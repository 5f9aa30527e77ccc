// Y23: no lock of synchronized is held while a misuse is reported. The handler, or a thread that it waits for, may use
// the resource that noticed the misuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using arenas = acre::inline_multi_arena<8, 1024>;

template <class Resource>
void free_twice(Resource& shared) {
    void* p = shared.allocate(64);
    void* kept = shared.allocate(64);
    shared.deallocate(p, 64);
    shared.deallocate(p, 64);
    shared.deallocate(kept, 64);
}

// A death test ends after a while where the handler waits for ever.
void report_to(acre::misuse_handler handler) {
    alarm(10);
    acre::set_misuse_handler(handler);
}

template <class Lock>
class misuse_handler_under : public testing::Test {
public:
    static inline acre::synchronized<arenas, Lock> shared;
};
using all_locks = testing::Types<std::mutex, std::recursive_mutex, acre::spin_lock, acre::priority_inheritance_mutex>;
TYPED_TEST_SUITE(misuse_handler_under, all_locks);

TYPED_TEST(misuse_handler_under, may_use_the_resource) {
    const auto freed_twice = [] {
        report_to([](const acre::misuse&) { std::_Exit(TestFixture::shared.allocate(64) != nullptr ? 42 : 1); });
        free_twice(TestFixture::shared);
    };
    EXPECT_EXIT(freed_twice(), testing::ExitedWithCode(42), "");
}

TYPED_TEST(misuse_handler_under, may_wait_for_a_thread_that_uses_the_resource) {
    const auto freed_twice = [] {
        report_to([](const acre::misuse&) {
            std::thread{[] { TestFixture::shared.deallocate(TestFixture::shared.allocate(64), 64); }}.join();
            std::_Exit(42);
        });
        TestFixture::shared.with([](arenas& r) { free_twice(r); });
    };
    EXPECT_EXIT(freed_twice(), testing::ExitedWithCode(42), "");
}

TEST(misuse_handler_under_several_locks, may_use_each_resource) {
    static acre::synchronized<arenas> outer;
    static acre::synchronized<arenas, acre::spin_lock> inner;
    static acre::synchronized<arenas, std::recursive_mutex> again;
    const auto freed_twice = [] {
        report_to([](const acre::misuse&) {
            std::thread{[] {
                for (int i = 0; i < 2; ++i) {
                    outer.deallocate(outer.allocate(64), 64);
                    inner.deallocate(inner.allocate(64), 64);
                    again.deallocate(again.allocate(64), 64);
                }
            }}.join();
            std::_Exit(42);
        });
        outer.with([](arenas&) {
            again.with([](arenas&) { again.with([](arenas&) { inner.with([](arenas& r) { free_twice(r); }); }); });
        });
    };
    EXPECT_EXIT(freed_twice(), testing::ExitedWithCode(42), "");
}

TEST(misuse_handler_under_a_lock, may_fork) {
    static acre::synchronized<arenas> shared;
    const auto freed_twice = [] {
        report_to([](const acre::misuse&) {
            if (fork() == 0) std::_Exit(0);
            std::_Exit(42);
        });
        shared.with([](arenas& r) { free_twice(r); });
    };
    EXPECT_EXIT(freed_twice(), testing::ExitedWithCode(42), "");
}

#if defined(__cpp_exceptions)
struct gives_up {};

// The misuse is not that of a member that is noexcept.
TEST(misuse_handler_under_a_lock, that_throws_gets_the_lock_back_first) {
    static acre::synchronized<arenas> outer;
    static acre::synchronized<arenas, acre::spin_lock> inner;
    acre::set_misuse_handler([](const acre::misuse&) {
        inner.deallocate(inner.allocate(64), 64);
        throw gives_up{};
    });
    const auto reports = [](arenas& r) { acre::abort_on_misuse("a test", "nothing", &r); };
    EXPECT_THROW(outer.with([&](arenas&) { inner.with(reports); }), gives_up);
    acre::set_misuse_handler(nullptr);
    // Neither lock is held, or was released twice.
    std::thread{[] {
        outer.deallocate(outer.allocate(64), 64);
        inner.with([](arenas& r) { r.deallocate(r.allocate(64), 64); });
    }}.join();
}
#endif

}  // namespace
