// Hazard X11: AddressSanitizer reports use of freed and unused arena storage. In other builds this file is empty.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/scratch.hpp>

#if defined(ACRE_HAS_ADDRESS_SANITIZER)

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

}  // namespace

#endif
