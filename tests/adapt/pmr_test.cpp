// A resource as a std::pmr::memory_resource, and std::pmr containers over it.
#include <acre/adapt/pmr.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"

namespace {

using acre_test::checking_upstream;

TEST(pmr, example) {
    acre::pmr<acre::multi_pool> nodes;
    {
        std::pmr::list<int> numbers{&nodes};
        numbers.push_back(1);
        EXPECT_EQ(nodes->live(), 1u);
    }
    EXPECT_EQ(nodes->live(), 0u);
}

TEST(pmr, holds_a_resource_with_its_options_and_upstream) {
    checking_upstream below;
    acre::pmr<acre::arena> tested{{.first_block_bytes = 1024}, below};
    (void)tested.allocate(8, 8);
    EXPECT_EQ(below.live_bytes(), 1024u);
    acre::pmr<acre::arena> plain{below};
    (void)plain.allocate(8, 8);
    EXPECT_EQ(plain->capacity() + tested->capacity(), below.live_bytes());
}

TEST(pmr, refers_to_a_resource) {
    acre::arena arena;
    acre::pmr<acre::arena&> tested{arena};
    EXPECT_EQ(&tested.get(), &arena);
    EXPECT_EQ(&*tested, &arena);
    EXPECT_EQ(&*std::as_const(tested), &arena);
    acre::pmr deduced{arena};
    static_assert(std::is_same_v<decltype(deduced), acre::pmr<acre::arena&>>);
    EXPECT_TRUE(arena.owns(deduced.allocate(10, 1)));
}

TEST(pmr, equal_to_itself_only) {
    acre::arena arena;
    acre::pmr<acre::arena&> one{arena};
    acre::pmr<acre::arena&> other{arena};
    EXPECT_TRUE(one == one);
    EXPECT_FALSE(one == other);
    EXPECT_FALSE(one == *std::pmr::new_delete_resource());
}

TEST(pmr, passes_sizes_and_alignments_on) {
    checking_upstream below;
    acre::pmr<checking_upstream&> tested{below};
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* p = tested.allocate(100, alignment);
        EXPECT_TRUE(acre::is_aligned(p, alignment));
        tested.deallocate(p, 100, alignment);
    }
    EXPECT_EQ(below.live_blocks(), 0u);
}

TEST(pmr, errors_of_the_resource_come_through) {
    checking_upstream below;
    acre::pmr<acre::multi_pool> tested{below};
    below.fail_from(1);
    EXPECT_THROW((void)tested.allocate(10, 8), acre::out_of_memory);
    EXPECT_THROW((void)tested.allocate(10, 8), std::bad_alloc);
    // Hidden from the compiler, which knows that no object is so large.
    volatile std::size_t everything = SIZE_MAX;
    EXPECT_THROW((void)tested.allocate(everything, 8), acre::request_too_large);
}

TEST(pmr, serves_containers_as_the_default_resource) {
    checking_upstream below;
    acre::pmr<acre::multi_pool> tested{below};
    std::pmr::memory_resource* const before = std::pmr::set_default_resource(&tested);
    {
        std::pmr::map<std::pmr::string, std::pmr::vector<int>> words;
        for (int i = 0; i < 500; ++i) {
            words[std::pmr::string(static_cast<std::size_t>(i % 50), 'x') + std::to_string(i).c_str()].push_back(i);
        }
        EXPECT_EQ(words.size(), 500u);
        EXPECT_GT(tested->live(), 500u);
    }
    std::pmr::set_default_resource(before);
    EXPECT_EQ(tested->live(), 0u);
}

// Hazard X18: the pmr containers' nodes of any size, and their arrays, come from one pool.
TEST(pmr, both_ways_at_once) {
    checking_upstream below;
    acre::pmr<checking_upstream&> face{below};
    std::pmr::monotonic_buffer_resource middle{&face};
    acre::arena top{&middle};
    acre::pmr<acre::arena&> top_face{top};
    std::pmr::vector<std::pmr::string> words{&top_face};
    for (int i = 0; i < 200; ++i) words.emplace_back("a word that is too long to lie in the string itself");
    for (const auto& each : words)
        ASSERT_EQ(each.size(), std::strlen("a word that is too long to lie in the string itself"));
}

// Objects constructed in storage of any std::pmr resource: what they contain lies there, too.
TEST(pmr, a_polymorphic_allocator_takes_raw_storage) {
    acre::pmr<acre::multi_arena> frames{{.arenas = 16, .bytes = 512}};
    std::pmr::polymorphic_allocator<long> raw{&frames};
    const std::size_t all = 512 / sizeof(long);
    long* chunk = raw.allocate(all);
    chunk[all - 1] = 1;
    EXPECT_EQ(frames->busy_arenas(), 1u);
    raw.deallocate(chunk, all);
    EXPECT_EQ(frames->busy_arenas(), 0u);
}

TEST(pmr, unique_and_shared_objects_in_any_memory_resource) {
    const char* const words = "a text too long for the small buffer inside a string";
    acre::pmr<acre::multi_arena> frames{{.arenas = 16, .bytes = 1024}};
    {
        auto pair = acre::make_unique<std::pair<int, double>>(&frames, 10, 3.14);
        EXPECT_EQ(pair->first, 10);
        EXPECT_EQ(frames->allocations(), 1u);
        auto text = acre::make_unique<std::pmr::string>(&frames, words);
        EXPECT_TRUE(frames->owns(text->data()));
        auto shared = acre::make_shared<std::pmr::string>(&frames, words);
        EXPECT_TRUE(frames->owns(shared->data()));
        auto nested = acre::make_shared<const std::pair<int, std::pmr::vector<std::pmr::string>>>(
            &frames, std::piecewise_construct, std::tuple{1}, std::tuple{2u});
        EXPECT_TRUE(frames->owns(nested->second.data()));
        EXPECT_EQ(nested->second[1].get_allocator().resource(), &frames);
        // Of the class std::pmr::memory_resource itself, and moved.
        std::pmr::memory_resource* const any = &frames;
        auto moved = acre::make_unique<int>(any, 1);
        acre::unique_ptr<int, acre::resource_ref> empty;
        empty = std::move(moved);
        EXPECT_EQ(*empty, 1);
    }
    EXPECT_EQ(frames->allocations(), 0u);
}

// The published helper in one type: arenas and records in memory of others, counted, under a lock.
TEST(pmr, counted_arenas_under_a_lock) {
    constexpr acre::statistics_options options{.live_map = true, .peak_busy_arenas = true};
    std::pmr::monotonic_buffer_resource data, records;
    acre::pmr<acre::synchronized<acre::statistics<acre::multi_arena, options>>> counted{
        acre::records_in{&records}, acre::multi_arena_options{.arenas = 16, .bytes = 1024}, &data};
    {
        std::pmr::vector<int> numbers(8, &counted);
        EXPECT_EQ(counted->live_bytes_at(numbers.data()), 32u);
        EXPECT_EQ(counted->live_sizes().by_size().at(32), 1u);
        EXPECT_EQ(counted->busy_arenas(), 1u);
    }
    EXPECT_EQ(counted->allocations(), 0u);
    EXPECT_EQ(counted->peak_busy_arenas(), 1u);
}

// Hazard M10.
TEST(pmr, a_constructor_that_throws_leaves_nothing_in_a_memory_resource) {
    struct throwing {
        throwing() { throw 1; }
    };
    acre::pmr<acre::multi_arena> frames{{.arenas = 16, .bytes = 1024}};
    EXPECT_THROW((void)acre::make_unique<throwing>(&frames), int);
    EXPECT_EQ(frames->allocations(), 0u);
    EXPECT_THROW((void)acre::make_unique<int>(static_cast<std::pmr::memory_resource*>(nullptr)), acre::bad_option);
}

TEST(pmr, unique_arrays_in_any_memory_resource) {
    acre::pmr<acre::multi_arena> frames{{.arenas = 16, .bytes = 1024}};
    {
        auto numbers = acre::make_unique<int[]>(&frames, 3);
        static_assert(std::is_same_v<decltype(numbers), acre::unique_ptr<int[], acre::resource_ref>>);
        EXPECT_EQ(numbers[2], 0);
        EXPECT_EQ(numbers.get_deleter().size(), 3u);
        auto texts = acre::make_unique<std::pmr::string[]>(&frames, 3);
        texts[2] = "a text too long for the small buffer inside a string";
        EXPECT_TRUE(frames->owns(texts[2].data()));
        acre::unique_ptr<const int[], acre::resource_ref> read_only = std::move(numbers);
        EXPECT_EQ(frames->allocations(), 3u);
        auto none = acre::make_unique<int[]>(&frames, 0);
        EXPECT_EQ(none.get_deleter().size(), 0u);
    }
    EXPECT_EQ(frames->allocations(), 0u);
    EXPECT_THROW((void)acre::make_unique<int[]>(&frames, SIZE_MAX), acre::request_too_large);
    EXPECT_THROW((void)acre::make_unique<int[]>(static_cast<std::pmr::memory_resource*>(nullptr), 1), acre::bad_option);
}

// The third constructor throws.
struct third_throws {
    third_throws() : number(++made) {
        if (made == 3) throw 1;
    }
    third_throws(const third_throws&) = delete;
    ~third_throws() { destroyed.push_back(number); }

    int number;
    static inline int made = 0;
    static inline std::vector<int> destroyed;
};

TEST(pmr, unique_arrays_die_backwards_and_leave_nothing_when_one_throws) {
    acre::pmr<acre::multi_arena> frames{{.arenas = 16, .bytes = 1024}};
    EXPECT_THROW((void)acre::make_unique<third_throws[]>(&frames, 5), int);
    EXPECT_EQ(frames->allocations(), 0u);
    EXPECT_EQ(third_throws::destroyed, (std::vector<int>{2, 1}));
    third_throws::destroyed.clear();
    (void)acre::make_unique<third_throws[]>(&frames, 2);
    EXPECT_EQ(frames->allocations(), 0u);
    EXPECT_EQ(third_throws::destroyed, (std::vector<int>{5, 4}));
}

}  // namespace
