// A thread's first use of a resource while the C heap is exhausted: null, or std::bad_alloc, and never the end of the
// process. A program of its own, because it replaces the functions of the C heap. Hazard B9.
#include <gtest/gtest.h>

#include <acre/arenas/thread_scratch.hpp>
#include <acre/memory/buffer.hpp>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <new>
#include <thread>

#include "conformance/refusal.hpp"
#include "threads/subjects.hpp"

namespace {
/// The C heap has no memory for this thread.
constinit thread_local bool exhausted = false;
}  // namespace

// A sanitizer's own functions have other names than those of glibc.
#if defined(ACRE_TEST_SANITIZED)
#define ACRE_TEST_REAL(function) __interceptor_##function
#else
#define ACRE_TEST_REAL(function) __libc_##function
#endif

// The dynamic linker calls these before a sanitizer is ready for checks.
#define ACRE_TEST_EARLY __attribute__((no_sanitize("address", "thread", "undefined")))

extern "C" {
void* ACRE_TEST_REAL(malloc)(std::size_t bytes) noexcept;
void* ACRE_TEST_REAL(calloc)(std::size_t count, std::size_t bytes) noexcept;
void* ACRE_TEST_REAL(realloc)(void* p, std::size_t bytes) noexcept;
void* ACRE_TEST_REAL(memalign)(std::size_t alignment, std::size_t bytes) noexcept;

ACRE_TEST_EARLY void* malloc(std::size_t bytes) noexcept {
    return exhausted ? nullptr : ACRE_TEST_REAL(malloc)(bytes);
}
ACRE_TEST_EARLY void* calloc(std::size_t count, std::size_t bytes) noexcept {
    return exhausted ? nullptr : ACRE_TEST_REAL(calloc)(count, bytes);
}
ACRE_TEST_EARLY void* realloc(void* p, std::size_t bytes) noexcept {
    return exhausted ? nullptr : ACRE_TEST_REAL(realloc)(p, bytes);
}
ACRE_TEST_EARLY void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    return exhausted ? nullptr : ACRE_TEST_REAL(memalign)(alignment, bytes);
}
ACRE_TEST_EARLY int posix_memalign(void** p, std::size_t alignment, std::size_t bytes) noexcept {
    if (exhausted) return ENOMEM;
    *p = ACRE_TEST_REAL(memalign)(alignment, bytes);
    return *p == nullptr ? ENOMEM : 0;
}
}

namespace acre_test {
namespace {

/// Runs `function` in a new thread.
template <class Function>
void in_new_thread(Function function) {
    std::thread{function}.join();
}

/// Runs `function` while this thread's C heap is exhausted.
template <class Function>
auto without_heap(Function function) {
    exhausted = true;
    const auto result = function();
    exhausted = false;
    return result;
}

template <class Subject>
class exhausted_heap : public testing::Test {};
TYPED_TEST_SUITE(exhausted_heap, shared_subjects);

// The first use by a thread is refused; later the thread uses the resource as any other does.
// Hazard B9.
TYPED_TEST(exhausted_heap, first_use_of_a_thread_is_refused) {
    const auto tested = std::make_unique<TypeParam>();
    in_new_thread([&] {
        void* p = without_heap([&]() -> void* {
            try {
                return tested->allocate(64);
            } catch (const std::bad_alloc&) {
                return nullptr;  // a std::pmr resource has no other form
            }
        });
        const outcome thrown = without_heap([&] {
            return outcome_of([&] {
                void* served = tested->allocate_throwing(64);
                if (served != nullptr) tested->deallocate(served, 64);
                return served;
            });
        });
        // A resource that reserved its memory serves the request. A sanitizer's operator new does not call malloc.
        const bool may_serve = TypeParam::traits.rest != 0 || sanitized;
        EXPECT_TRUE(p == nullptr || may_serve);
        EXPECT_TRUE(thrown == outcome::out_of_memory || thrown == outcome::other_bad_alloc ||
                    (may_serve && thrown == outcome::served))
            << static_cast<int>(thrown);
        if (p != nullptr) without_heap([&] { return tested->deallocate(p, 64), true; });
        for (int i = 0; i < 3; ++i) {
            void* later = tested->allocate(64);
            EXPECT_NE(later, nullptr);
            tested->deallocate(later, 64);
        }
    });
    tested->expect_rest_after(1);
}

// A thread may free before it allocates.
// Hazard B9.
TYPED_TEST(exhausted_heap, first_free_of_a_thread_succeeds) {
    const auto tested = std::make_unique<TypeParam>();
    void* p = tested->allocate(64);
    ASSERT_NE(p, nullptr);
    in_new_thread([&] { without_heap([&] { return tested->deallocate(p, 64), true; }); });
    tested->expect_rest_after(1);
}

// Upstream has memory although the C heap has none.
TEST(exhausted_heap_over_a_buffer, serves_a_new_thread) {
    static std::array<std::byte, 1 << 20> storage;
    acre::buffer below{storage};
    acre::concurrent_pool<64> tested{acre::resource_ref{below}};
    in_new_thread([&] {
        void* p = without_heap([&] { return tested.try_allocate(); });
        EXPECT_NE(p, nullptr);
        without_heap([&] { return tested.deallocate(p), true; });
    });
    EXPECT_EQ(tested.live(), 0u);
}

TEST(exhausted_heap_of_thread_scratch, refuses_the_first_request) {
    in_new_thread([] {
        void* p = without_heap([] { return acre::thread_scratch().try_allocate(64, 8); });
        EXPECT_TRUE(p == nullptr || sanitized);
        const outcome thrown =
            without_heap([] { return outcome_of([] { return acre::thread_scratch().allocate(64, 8); }); });
        EXPECT_TRUE(thrown == outcome::out_of_memory || sanitized);
        EXPECT_NE(acre::thread_scratch().try_allocate(64, 8), nullptr);
        EXPECT_NE(acre::thread_scratch_capacity(), 0u);
    });
}

/// Throws what is not a std::bad_alloc.
struct throwing_resource : std::pmr::memory_resource {
    void* do_allocate(std::size_t, std::size_t) override { throw 5; }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

// A pool resource throws what its upstream threw, which takes no memory of the heap to remember.
TEST(exhausted_heap_of_a_pool_resource, throws_what_upstream_throws) {
    throwing_resource upstream;
    acre::synchronized_pool_resource tested{&upstream};
    in_new_thread([&] {
        const int thrown = without_heap([&] {
            try {
                tested.deallocate(tested.allocate(64), 64);
                return 0;
            } catch (int number) {
                return number;
            }
        });
        EXPECT_EQ(thrown, 5);
    });
}

}  // namespace
}  // namespace acre_test
