// This thread's resource: scopes, blocks that go back where they came from, and what is refused.
#include <gtest/gtest.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;
template <class T>
using ambient_vector = std::vector<T, acre::ambient_allocator<T>>;

static_assert(acre::stateless_resource<acre::ambient>);
static_assert(acre::ambient_allocator<int>::is_always_equal::value);
static_assert(!std::is_copy_constructible_v<acre::use_resource>);
static_assert(!std::is_constructible_v<acre::use_resource, acre::ambient&>, "it would call itself");

TEST(ambient, is_the_heap_outside_of_scopes) {
    ambient_vector<int> numbers(1000, 7);
    EXPECT_EQ(numbers.back(), 7);
}

TEST(ambient, scopes_nest) {
    acre::arena outer;
    acre::arena inner;
    const acre::use_resource use_outer{outer};
    const ambient_vector<int> first(10);
    EXPECT_TRUE(outer.owns(first.data()));
    {
        const acre::use_resource use_inner{inner};
        const ambient_vector<int> second(10);
        EXPECT_TRUE(inner.owns(second.data()));
    }
    const ambient_vector<int> third(10);
    EXPECT_TRUE(outer.owns(third.data()));
}

TEST(ambient, a_block_goes_back_to_where_it_came_from) {
    checking_upstream first;
    checking_upstream second;
    ambient_vector<int> numbers;
    {
        const acre::use_resource use{first};
        numbers.resize(100);
    }
    {
        const acre::use_resource use{second};
        numbers.resize(1000);  // moves: the old array goes back to `first`, as checking_upstream checks
        std::list<int, acre::ambient_allocator<int>> others(50);
        numbers.push_back(others.front());
    }
}

TEST(ambient, containers_move_between_scopes) {
    checking_upstream below;
    ambient_vector<int> outside(10, 1);
    {
        const acre::use_resource use{below};
        ambient_vector<int> inside(10, 2);
        swap(inside, outside);
        EXPECT_EQ(inside[0], 1);
    }
    EXPECT_EQ(outside[0], 2);
    outside = {};
}

// Hazard Y21: the matcher makes an allocator of its own.
TEST(ambient, serves_a_library_that_makes_its_allocator) {
    acre::arena request;
    const acre::use_resource use{request};
    std::match_results<const char*, acre::ambient_allocator<std::sub_match<const char*>>> found;
    ASSERT_TRUE(std::regex_match("ab12", found, std::regex{"([a-z]+)([0-9]+)"}));
    EXPECT_EQ(found.str(2), "12");
    EXPECT_TRUE(request.owns(&found[0]));
}

TEST(ambient, every_alignment) {
    checking_upstream below;
    const acre::use_resource use{below};
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* p = acre::ambient{}.allocate(100, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
        acre::ambient{}.deallocate(p, 100, alignment);
    }
}

TEST(ambient, blocks_know_their_size_and_alignment) {
    checking_upstream below;
    const acre::use_resource use{below};
    for (const std::size_t alignment : {1u, 16u, 32u, 4096u}) {
        void* p = acre::ambient{}.allocate(100, alignment);
        EXPECT_EQ(acre::ambient{}.usable_size(p), 100u);
        EXPECT_EQ(acre::ambient{}.alignment_of(p), alignment < 16 ? 16 : alignment);
        acre::ambient{}.deallocate_unsized(p);
    }
}

TEST(ambient, malloc_needs_no_second_header) {
    static_assert(acre::malloc_face<acre::ambient>::header_bytes == 0);
    checking_upstream below;
    const acre::use_resource use{below};
    acre::malloc_face<acre::ambient> memory;
    void* p = memory.aligned_alloc(64, 100);
    p = memory.realloc(p, 5000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
    memory.free(p);
    memory.free(memory.malloc(100));
    EXPECT_EQ(below.sizes().back(), 116u);
}

TEST(ambient, grows_where_it_is_when_the_resource_can) {
    acre::arena below;
    acre::multi_pool other;
    void* p = nullptr;
    {
        const acre::use_resource use{below};
        p = acre::ambient{}.allocate(100);
    }
    const acre::use_resource use_other{other};
    EXPECT_TRUE(acre::ambient{}.try_resize(p, 100, 1000)) << "the resource that it came from decides";
    EXPECT_EQ(acre::ambient{}.usable_size(p), 1000u);
    if constexpr (sizeof(std::size_t) > 4) {
        EXPECT_FALSE(acre::ambient{}.try_resize(p, 1000, std::size_t{UINT32_MAX} + 1));
    }
    acre::ambient{}.deallocate(p, 1000);
}

TEST(ambient, numbers_of_threads_wrap) {
    using tag = acre::detail::ambient_tag;
    EXPECT_FALSE((tag{3, 0}.is_of_one_thread()));
    for (const std::uint32_t thread : {1u, 2u, (1u << 20) - 1, 1u << 20, UINT32_MAX}) {
        EXPECT_TRUE((tag{3, thread}.is_of_one_thread()));
        EXPECT_TRUE((tag{3, thread}.is_of_thread_of(tag{0, thread})));
        EXPECT_FALSE((tag{3, thread}.is_of_thread_of(tag{0, thread == 1 ? 2 : thread - 1})));
        EXPECT_EQ((tag{0, thread}.with_kind(3).extended().kind()), 3u);
    }
}

TEST(ambient, errors_are_those_of_the_resource) {
    checking_upstream below;
    const acre::use_resource use{below};
    EXPECT_EQ(acre::ambient{}.try_allocate(100, 48), nullptr);
    EXPECT_EQ(acre::ambient{}.try_allocate(SIZE_MAX, 16), nullptr);
    EXPECT_EQ(acre::ambient{}.try_allocate(acre::max_request, 16), nullptr);
    EXPECT_THROW((void)acre::ambient{}.allocate(100, 48), acre::bad_alignment);
    EXPECT_THROW((void)acre::ambient{}.allocate(SIZE_MAX, 16), acre::request_too_large);
    EXPECT_THROW((void)acre::ambient{}.allocate(acre::max_request, 16), acre::request_too_large);
    below.fail_from(1);
    EXPECT_EQ(acre::ambient{}.try_allocate(100, 8), nullptr);
    EXPECT_THROW((void)acre::ambient{}.allocate(100, 8), acre::out_of_memory);
}

TEST(ambient, each_thread_has_its_own) {
    acre::arena here;
    const acre::use_resource use{here};
    std::thread{[&] {
        const ambient_vector<int> there(10);
        EXPECT_FALSE(here.owns(there.data()));
    }}.join();
}

TEST(ambient, a_shared_resource_is_freed_to_from_any_thread) {
    acre::concurrent_multi_pool shared;
    ambient_vector<int> numbers;
    {
        const acre::use_resource use{shared};
        numbers.resize(100);
    }
    std::thread{[taken = std::move(numbers)]() mutable { taken = {}; }}.join();
    EXPECT_EQ(shared.live(), 0u);
}

TEST(ambient, a_locked_resource_is_freed_to_from_any_thread) {
    acre::synchronized<acre::multi_pool> locked;
    ambient_vector<int> numbers;
    {
        const acre::use_resource use{locked};
        numbers.resize(100);
    }
    std::thread{[taken = std::move(numbers)]() mutable { taken = {}; }}.join();
    EXPECT_EQ(locked.live(), 0u);
}

TEST(ambient, the_heap_is_freed_to_from_any_thread) {
    ambient_vector<int> numbers(100);
    std::thread{[taken = std::move(numbers)]() mutable { taken = {}; }}.join();
}

TEST(ambient_misuse, a_resource_of_one_thread_freed_to_in_another) {
    EXPECT_DEATH(
        {
            acre::multi_pool mine;
            const acre::use_resource use{mine};
            ambient_vector<int> numbers(100);
            std::thread{[taken = std::move(numbers)]() mutable { taken = {}; }}.join();
        },
        "acre::ambient: freed in another thread than it was allocated in");
}

TEST(ambient_misuse, a_double_free) {
    acre::multi_pool below;
    const acre::use_resource use{below};
    void* p = acre::ambient{}.allocate(10);
    acre::ambient{}.deallocate(p, 10);
    EXPECT_DEATH(acre::ambient{}.deallocate(p, 10), acre::poisoning ? "use-after-poison|double free" : "double free");
}

TEST(ambient_misuse, a_scope_that_ends_before_an_inner_one) {
    acre::multi_pool below, inside;
    std::optional<acre::use_resource> outer{below};
    const char* sentence = "acre::use_resource: a scope ended before an inner one, or in another thread";
    EXPECT_DEATH(std::thread{[&] { outer.reset(); }}.join(), sentence);
    {
        const acre::use_resource inner{inside};
        EXPECT_DEATH(outer.reset(), sentence);
    }
    const auto ends_the_scope_of_another_thread = [&] {
        acre::multi_pool own;
        const acre::use_resource use{own};
        outer.reset();
        std::_Exit(0);  // before this scope ends, which notices it, too
    };
    EXPECT_DEATH(std::thread{ends_the_scope_of_another_thread}.join(), sentence);
    outer.reset();
}

TEST(ambient_misuse, a_pointer_of_another_resource) {
    const std::vector<unsigned char> zeros(100);
    EXPECT_DEATH(acre::ambient{}.deallocate(const_cast<unsigned char*>(zeros.data() + 48), 10, 1),
                 "acre::ambient: a pointer of another resource was freed");
    const std::vector<unsigned char> foreign(100, 0xee);
    EXPECT_DEATH(acre::ambient{}.deallocate(const_cast<unsigned char*>(foreign.data() + 48), 10, 1),
                 "acre::ambient: a pointer of another resource was freed");
    if (acre::poisoning) return;  // what a sanitizer's malloc has in front of its blocks is its own
    void* of_malloc = std::malloc(100);
    EXPECT_DEATH(acre::ambient{}.deallocate(of_malloc, 100), "acre::ambient: a pointer of another resource was freed");
    std::free(of_malloc);
}

}  // namespace
