// malloc, calloc, realloc and free over resources: sizes, alignment, contents, refusals, misuse.
#include <gtest/gtest.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/multi_pool.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "conformance/checking_upstream.hpp"
#if ACRE_HAS_GENERAL_HEAP
#include <acre/heaps/general_heap.hpp>
#endif

namespace {

using acre_test::checking_upstream;

bool is_aligned(const void* p, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

TEST(malloc_face, blocks_are_aligned_and_know_their_size) {
    checking_upstream below;
    acre::malloc_face memory{below};
    for (const std::size_t bytes : {0u, 1u, 15u, 16u, 17u, 100u, 5000u}) {
        void* p = memory.malloc(bytes);
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(is_aligned(p, 16));
        EXPECT_EQ(memory.usable_size(p), bytes);
        std::memset(p, 0x5a, bytes);
        memory.free(p);
    }
    void* first = memory.malloc(0);
    void* second = memory.malloc(0);
    EXPECT_NE(first, second);
    memory.free(first);
    memory.free(second);
    memory.free(nullptr);
    EXPECT_EQ(memory.usable_size(nullptr), 0u);
}

TEST(malloc_face, other_alignments) {
    checking_upstream below;
    acre::malloc_face memory{below};
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void* p = memory.aligned_alloc(alignment, 100);
        ASSERT_NE(p, nullptr);
        EXPECT_TRUE(is_aligned(p, alignment));
        p = memory.realloc(p, 10'000);
        EXPECT_TRUE(is_aligned(p, alignment)) << "after realloc";
        EXPECT_EQ(memory.usable_size(p), 10'000u);
        memory.free(p);
    }
    EXPECT_EQ(memory.aligned_alloc(48, 100), nullptr);
    EXPECT_EQ(memory.aligned_alloc(0, 100), nullptr);
}

TEST(malloc_face, calloc_is_zero_and_does_not_wrap) {
    checking_upstream below;  // fills fresh memory with garbage
    acre::malloc_face memory{below};
    auto* p = static_cast<unsigned char*>(memory.calloc(10, 30));
    ASSERT_NE(p, nullptr);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(p[i], 0);
    memory.free(p);
    EXPECT_EQ(memory.calloc(SIZE_MAX / 2, 3), nullptr);
    EXPECT_EQ(memory.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(memory.malloc(SIZE_MAX - 8), nullptr);
    EXPECT_EQ(memory.aligned_alloc(std::size_t{1} << (sizeof(std::size_t) * 8 - 1), 1), nullptr);
}

template <class R>
class malloc_face_over : public testing::Test {};
#if ACRE_HAS_GENERAL_HEAP
using resources =
    testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream, acre::ambient, acre::general_heap>;
#else
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream, acre::ambient>;
#endif
TYPED_TEST_SUITE(malloc_face_over, resources);

// realloc beside a model, in a resource that resizes in place, in one with other size classes, and in others.
TYPED_TEST(malloc_face_over, realloc_keeps_the_contents) {
    TypeParam below;
    acre::malloc_face memory{below};
    struct block {
        unsigned char* p;
        std::vector<unsigned char> bytes;
    };
    std::vector<block> live;
    std::mt19937 random{7};
    const auto fill = [&](block& each, std::size_t from) {
        for (std::size_t i = from; i < each.bytes.size(); ++i) {
            each.p[i] = each.bytes[i] = static_cast<unsigned char>(random());
        }
    };
    for (int step = 0; step < 2000; ++step) {
        const std::size_t bytes = 1 + random() % (random() % 10 == 0 ? 20'000 : 200);
        if (live.size() < 20) {
            block added{static_cast<unsigned char*>(memory.malloc(bytes)), std::vector<unsigned char>(bytes)};
            ASSERT_NE(added.p, nullptr);
            fill(added, 0);
            live.push_back(added);
            continue;
        }
        block& chosen = live[random() % live.size()];
        ASSERT_EQ(std::memcmp(chosen.p, chosen.bytes.data(), chosen.bytes.size()), 0);
        if (random() % 3 == 0) {
            memory.free(chosen.p);
            chosen = live.back();
            live.pop_back();
        } else {
            const std::size_t before = chosen.bytes.size();
            chosen.p = static_cast<unsigned char*>(memory.realloc(chosen.p, bytes));
            ASSERT_NE(chosen.p, nullptr);
            ASSERT_GE(memory.usable_size(chosen.p), bytes);
            chosen.bytes.resize(bytes);
            ASSERT_EQ(std::memcmp(chosen.p, chosen.bytes.data(), std::min(before, bytes)), 0);
            fill(chosen, before);
        }
    }
    for (const block& each : live) memory.free(each.p);
}

TEST(malloc_face, realloc_of_null_and_to_nothing) {
    checking_upstream below;
    acre::malloc_face memory{below};
    void* p = memory.realloc(nullptr, 10);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(memory.realloc(p, 0), nullptr);  // freed: checking_upstream reports a leak
}

TEST(malloc_face, growing_in_place) {
    acre::arena level;
    acre::malloc_face memory{level};
    void* p = memory.malloc(100);
    EXPECT_EQ(memory.realloc(p, 1000), p) << "the arena's last allocation grows where it is";
}

TEST(malloc_face, a_refused_request_changes_nothing) {
    checking_upstream below;
    acre::malloc_face memory{below};
    auto* p = static_cast<char*>(memory.malloc(100));
    std::memcpy(p, "unchanged", 10);
    below.fail_from(1);
    EXPECT_EQ(memory.malloc(100), nullptr);
    EXPECT_EQ(memory.calloc(1, 100), nullptr);
    EXPECT_EQ(memory.realloc(p, 1000), nullptr);
    EXPECT_EQ(memory.realloc(p, SIZE_MAX), nullptr);
    EXPECT_EQ(memory.realloc(p, 10), p) << "a smaller block needs no memory";
    EXPECT_STREQ(p, "unchanged");
    memory.free(p);
}

TEST(malloc_face, takes_no_room_over_a_resource_without_state) {
    static_assert(std::is_empty_v<acre::malloc_face<acre::heap>>);
    acre::malloc_face<acre::heap> memory;
    memory.free(memory.malloc(10));
}

// A pool that knows the size of a slot by its address.
class sized_slots {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) { return try_allocate(bytes, alignment); }
    void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= 64 && alignment <= 64 && next_ < 4 ? slots_[next_++] : nullptr;
    }
    void deallocate(void*, std::size_t, std::size_t) noexcept { ADD_FAILURE() << "a size was made up"; }
    void deallocate_unsized(void* p) noexcept { freed.push_back(p); }
    std::size_t usable_size(const void*) const noexcept { return 64; }
    const void* slot(std::size_t index) const { return slots_[index]; }

    std::vector<void*> freed;

private:
    alignas(64) unsigned char slots_[4][64];
    std::size_t next_ = 0;
};

TEST(malloc_face, a_resource_that_knows_sizes_serves_blocks_without_a_header) {
    sized_slots below;
    acre::malloc_face memory{below};
    EXPECT_EQ(memory.header_bytes, 0u);
    void* p = memory.malloc(50);
    EXPECT_EQ(p, below.slot(0));
    EXPECT_EQ(memory.usable_size(p), 64u);
    EXPECT_EQ(memory.realloc(p, 64), p);
    EXPECT_EQ(memory.realloc(p, 65), nullptr);
    EXPECT_EQ(memory.realloc(p, 8), below.slot(1));
    EXPECT_EQ(below.freed, std::vector<void*>{p});
}

#if ACRE_HAS_GENERAL_HEAP
TEST(malloc_face, blocks_of_the_general_heap_have_no_header) {
    acre::malloc_face<acre::general_heap> memory;
    EXPECT_EQ(memory.header_bytes, 0u);
    void* p = memory.malloc(100);
    EXPECT_TRUE(acre::general_heap{}.owns(p));
    acre::general_heap{}.deallocate(p);
    p = acre::general_heap{}.allocate(100);
    memory.free(p);
    // Of a size whose blocks move by their pages, and back to a slot.
    auto* large = static_cast<unsigned char*>(memory.malloc(2 << 20));
    large[(2 << 20) - 1] = 7;
    large = static_cast<unsigned char*>(memory.realloc(large, 3 << 20));
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(large[(2 << 20) - 1], 7);
    large[9] = 8;
    large = static_cast<unsigned char*>(memory.realloc(large, 10));
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(large[9], 8);
    EXPECT_EQ(memory.realloc(large, acre::max_request), nullptr);
    EXPECT_EQ(large[9], 8);
    memory.free(large);
}
#endif

TEST(malloc_face_misuse, a_pointer_of_another_face) {
    acre::multi_pool here;
    acre::multi_pool there;
    acre::malloc_face memory{here};
    acre::malloc_face other{there};
    void* p = other.malloc(10);
    EXPECT_DEATH(memory.free(p), "acre::malloc_face: a pointer was freed that was never handed out");
    EXPECT_DEATH(memory.realloc(p, 20), "acre::malloc_face: a pointer was freed that was never handed out");
    other.free(p);
}

// As the functions of the C interface, which make a face for each call.
TEST(malloc_face, faces_over_one_resource_free_each_others_blocks) {
    acre::multi_pool below;
    acre::malloc_face memory{below};
    acre::malloc_face same{below};
    same.free(memory.malloc(10));
    EXPECT_EQ(below.live(), 0u);
}

TEST(malloc_face_misuse, a_double_free) {
    acre::multi_pool below;
    acre::malloc_face memory{below};
    void* p = memory.malloc(10);
    memory.free(p);
    EXPECT_DEATH(memory.free(p), acre::poisoning ? "use-after-poison|double free" : "double free");
}

// Nothing is freed twice there.
TEST(malloc_face_misuse, a_use_after_the_free) {
    acre::multi_pool below;
    acre::malloc_face memory{below};
    void* p = memory.malloc(10);
    memory.free(p);
    const char* sentence = acre::poisoning ? "use-after-poison|used after it was freed" : "used after it was freed";
    EXPECT_DEATH((void)memory.usable_size(p), sentence);
    EXPECT_DEATH((void)memory.realloc(p, 100), sentence);
    EXPECT_DEATH((void)memory.realloc(p, 5), sentence);
}

TEST(malloc_face_misuse, an_address_inside_a_block) {
    acre::multi_pool below;
    acre::malloc_face memory{below};
    auto* p = static_cast<char*>(memory.calloc(10, 10));
    EXPECT_DEATH(memory.free(p + 32), "acre::malloc_face: a pointer was freed that was never handed out");
    memory.free(p);
}

}  // namespace
