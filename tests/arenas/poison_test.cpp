// Hazard X11: AddressSanitizer reports use of freed and unused arena storage. In other builds this file is empty.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/memory/no_memory.hpp>
#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>

namespace {

constexpr const char* report = "use-after-poison";

void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TEST(arena_poison, after_a_reset) {
    acre::arena tested;
    char* p = static_cast<char*>(tested.allocate(64));
    touch(p);
    tested.reset();
    EXPECT_DEATH(touch(p), report);
}

// Hazard X11.
TEST(arena_poison, after_a_reset_in_an_older_block) {
    acre::arena tested{{.first_block_bytes = 64, .max_block_bytes = 128}};
    char* old = static_cast<char*>(tested.allocate(16));
    char* oversize = static_cast<char*>(tested.allocate(1000));
    for (int i = 0; i < 20; ++i) (void)tested.allocate(16);
    tested.reset();
    EXPECT_DEATH(touch(old), report);
    EXPECT_DEATH(touch(oversize), report);
}

// Hazard X11.
TEST(arena_poison, after_a_rewind) {
    acre::arena tested;
    char* before = static_cast<char*>(tested.allocate(16));
    const auto where = tested.mark();
    char* after = static_cast<char*>(tested.allocate(16));
    char* far = static_cast<char*>(tested.allocate(10'000));
    tested.rewind(where);
    touch(before);
    EXPECT_DEATH(touch(after), report);
    EXPECT_DEATH(touch(far), report);
}

// Hazard X11.
TEST(arena_poison, after_a_scratch) {
    acre::arena tested;
    char* kept = nullptr;
    {
        acre::scratch temp{tested};
        kept = temp.allocate<char>(16).data();
        touch(kept);
    }
    EXPECT_DEATH(touch(kept), report);
}

// Hazard X11.
TEST(arena_poison, past_the_end_of_an_allocation) {
    acre::arena tested;
    char* p = static_cast<char*>(tested.allocate(13, 1));
    touch(p + 12);
    EXPECT_DEATH(touch(p + 13), report);
    (void)tested.allocate(100);
    EXPECT_DEATH(touch(p + 13), report);
    char* zero = static_cast<char*>(tested.allocate(0));
    EXPECT_DEATH(touch(zero), report);
}

// Hazard X11.
TEST(arena_poison, freed_and_shrunk) {
    acre::arena tested;
    char* p = static_cast<char*>(tested.allocate(64));
    EXPECT_TRUE(tested.try_resize(p, 64, 20));
    touch(p + 19);
    EXPECT_DEATH(touch(p + 20), report);
    char* next = static_cast<char*>(tested.allocate(64));
    tested.deallocate(p, 20);
    EXPECT_DEATH(touch(p), report);
    touch(next);
    tested.deallocate(next, 64);
    EXPECT_DEATH(touch(next), report);
}

// Hazard X11.
TEST(arena_poison, in_the_storage_of_an_inline_arena) {
    acre::inline_arena<512> tested;
    char* p = static_cast<char*>(tested.allocate(16));
    EXPECT_DEATH(touch(p + 16), report);
    tested.reset();
    EXPECT_DEATH(touch(p), report);
}

// Hazard Y5: the byte behind an allocation that fills its storage, where the next one follows at once.
template <class Resource>
void expect_overflow_is_reported(Resource& tested) {
    for (const std::size_t bytes : {1u, 8u, 13u, 16u, 60u, 64u, 200u}) {
        auto* first = static_cast<char*>(tested.allocate(bytes));
        auto* next = static_cast<char*>(tested.allocate(bytes));
        for (std::size_t i = 0; i < bytes; ++i) {
            touch(first + i);
            touch(next + i);
        }
        EXPECT_TRUE(acre::is_poisoned(first + bytes)) << bytes;
        EXPECT_TRUE(acre::is_poisoned(next + bytes)) << bytes;
    }
}

// A report takes long to print, so there is one for each room.
// Hazard Y5.
TEST(overflow_by_one, in_arenas) {
    acre::arena level;
    auto* first = static_cast<char*>(level.allocate(64));
    (void)level.allocate(64);
    EXPECT_DEATH(first[64] = 1, report);
    expect_overflow_is_reported(level);
    acre::inline_arena<4096> inline_level;
    expect_overflow_is_reported(inline_level);
    acre::scratch temp{level};
    expect_overflow_is_reported(temp);
    acre::cursor building{level};
    expect_overflow_is_reported(building);
    acre::concurrent_arena shared;
    expect_overflow_is_reported(shared);
    acre::recycling<acre::arena> recycled;
    expect_overflow_is_reported(recycled);
}

// Where the record of a destructor, and the header of a block, lie in front.
TEST(underflow_by_one, in_arenas) {
    struct counted {
        int value = 0;
        ~counted() { value = 1; }
    };
    acre::arena level;
    EXPECT_TRUE(acre::is_poisoned(static_cast<char*>(level.allocate(10, 1)) - 1)) << "a block";
    auto* first = reinterpret_cast<char*>(level.create<counted>());
    EXPECT_DEATH(touch(first - 1), report);
    EXPECT_TRUE(acre::is_poisoned(reinterpret_cast<char*>(level.create_array<counted>(3).data()) - 1));
    EXPECT_TRUE(acre::is_poisoned(static_cast<char*>(level.allocate(3'000'001, 1)) - 1)) << "a block of its own";
    acre::inline_arena<256> inline_level;
    EXPECT_TRUE(acre::is_poisoned(static_cast<char*>(inline_level.allocate(10, 1)) - 1));
    acre::arena fixed{{.fixed_bytes = 100}};
    EXPECT_TRUE(acre::is_poisoned(static_cast<char*>(fixed.allocate(10, 1)) - 1));
    level.reset();
    level.create<counted>();
}

// Hazard Y5.
TEST(overflow_by_one, in_multi_arenas) {
    acre::multi_arena arenas{{.arenas = 16, .bytes = 256}};
    expect_overflow_is_reported(arenas);
    const auto inline_arenas = std::make_unique<acre::inline_multi_arena<16, 256>>();
    expect_overflow_is_reported(*inline_arenas);
    acre::concurrent_multi_arena shared{{.arenas = 16, .bytes = 256}};
    expect_overflow_is_reported(shared);
    std::thread{[&] { expect_overflow_is_reported(shared); }}.join();
    const auto inline_shared = std::make_unique<acre::inline_concurrent_multi_arena<16, 256>>();
    expect_overflow_is_reported(*inline_shared);
    char* whole = static_cast<char*>(arenas.allocate(256));
    touch(whole + 255);
    EXPECT_DEATH(touch(whole + 256), report) << "the end of an arena";
}

// Hazard Y5.
TEST(overflow_by_one, behind_what_grows_where_it_is) {
    acre::arena level;
    acre::arena_vector<char> values{level};
    for (int i = 0; i < 1000; ++i) values.push_back('x');
    touch(values.data() + values.capacity() - 1);
    EXPECT_TRUE(acre::is_poisoned(values.data() + values.capacity()));
    acre::arena_string text{"0123456", level};
    values.shrink_to_fit();
    touch(text.c_str() + 7);
    EXPECT_TRUE(acre::is_poisoned(text.data() + text.capacity() + 1));
    char* p = static_cast<char*>(level.allocate(8));
    EXPECT_TRUE(level.try_resize(p, 8, 64));
    touch(p + 63);
    EXPECT_TRUE(acre::is_poisoned(p + 64));
}

// Whatever fits where the bytes are counted out fits in this build, too.
TEST(redzones, leave_the_room_that_was_asked_for) {
    acre::inline_arena<1024> inline_level{acre::no_memory{}};
    for (std::size_t i = 0; i < acre::inline_arena<1024>::inline_bytes() / 8; ++i) {
        ASSERT_NE(inline_level.try_allocate(8, 8), nullptr) << i;
    }
    for (const std::size_t bytes : {8u, 16u, 40u, 64u, 1000u}) {
        acre::arena fixed{{.fixed_bytes = 2000}};
        for (std::size_t i = 0; i < 2000 / bytes; ++i) ASSERT_NE(fixed.try_allocate(bytes, 8), nullptr) << i;
    }
}

// Hazard X11.
TEST(arena_poison, storage_of_a_concurrent_arena_after_a_reset) {
    acre::concurrent_arena tested;
    char* p = static_cast<char*>(tested.allocate(64));
    char* large = static_cast<char*>(tested.allocate(100'000));
    touch(large);
    tested.deallocate(p, 64);
    EXPECT_DEATH(touch(p), report);
    tested.reset();
    EXPECT_DEATH(touch(large), report);
}

// Hazard X11.
TEST(arena_poison, storage_of_multi_arenas_after_a_free_and_a_reset) {
    acre::multi_arena tested{{.arenas = 4, .bytes = 1024}};
    acre::concurrent_multi_arena shared{{.arenas = 4, .bytes = 1024}};
    const auto expect_reports = [](auto& arenas) {
        char* p = static_cast<char*>(arenas.allocate(64));
        char* q = static_cast<char*>(arenas.allocate(64));
        arenas.deallocate(p, 64);
        EXPECT_DEATH(touch(p), report);
        touch(q);
        arenas.reset();
        EXPECT_DEATH(touch(q), report);
    };
    expect_reports(tested);
    expect_reports(shared);
}

// Frees that a resource without records can notice only by what is poisoned.
TEST(arena_misuse_under_address_sanitizer, double_free_and_a_larger_size) {
    acre::arena tested;
    void* p = tested.allocate(64);
    void* q = tested.allocate(64);
    EXPECT_DEATH(tested.deallocate(p, 128), "acre::arena: freed with another size");
    EXPECT_DEATH((void)tested.try_resize(p, 128, 64), "acre::arena: resized with another size");
    tested.deallocate(p, 64);
    EXPECT_DEATH(tested.deallocate(p, 64), "acre::arena: double free");
    EXPECT_DEATH((void)tested.try_resize(p, 64, 32), "acre::arena: used after it was freed");
    tested.deallocate(q, 64);
}

// Containers annotate what they have not filled. That is reported, and disturbs no later allocation there.
TEST(container_annotations, do_not_misfire) {
    acre::arena level;
    acre::multi_arena arenas{{.arenas = 4, .bytes = 1024}};
    const auto annotate = [](auto& tested) {
        auto* p = static_cast<char*>(tested.allocate(60));
        __sanitizer_annotate_contiguous_container(p, p + 60, p + 60, p + 10);
        touch(p + 9);
        EXPECT_TRUE(acre::is_poisoned(p + 10));
        __sanitizer_annotate_contiguous_container(p, p + 60, p + 10, p + 60);
        touch(p + 59);
        EXPECT_TRUE(acre::is_poisoned(p + 60)) << "the redzone stays";
        tested.deallocate(p, 60);
        auto* q = static_cast<char*>(tested.allocate(60));
        __sanitizer_annotate_contiguous_container(q, q + 60, q + 60, q + 10);
        tested.reset();
        q = static_cast<char*>(tested.allocate(60));
        for (int i = 0; i < 60; ++i) touch(q + i);
        std::vector<int, acre::allocator<int, std::remove_reference_t<decltype(tested)>>> values{tested};
        for (int i = 0; i < 100; ++i) values.push_back(i);
        values.resize(10);
        values.shrink_to_fit();
        values.assign(20, 1);
    };
    annotate(level);
    annotate(arenas);
}

}  // namespace

#endif
