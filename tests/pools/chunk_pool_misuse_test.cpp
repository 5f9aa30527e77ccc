// Every build reports misuse of a chunk_pool; AddressSanitizer also reports use after free.
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using acre::chunk_pool;
constexpr acre::chunk_pool_options falling_back{.when_full = acre::exhaustion::fall_back};

struct six_longs {
    long values[6] = {};
};

// Hazard M8.
TEST(chunk_pool_misuse, double_free) {
    chunk_pool<100, 16, 48> chunks;
    std::vector<void*> all;
    for (int i = 0; i < 100; ++i) all.push_back(chunks.allocate(48));
    for (const std::size_t each : {0u, 63u, 64u, 99u}) {
        chunks.deallocate(all[each], 48);
        EXPECT_DEATH(chunks.deallocate(all[each], 48), "acre::chunk_pool: double free") << each;
        EXPECT_DEATH(chunks.deallocate_unsized(all[each]), "acre::chunk_pool: double free") << each;
    }
    auto* object = new (chunks) six_longs;
    chunks.destroy(object);
    EXPECT_DEATH(chunks.destroy(object), "double free");
    EXPECT_DEATH(operator delete(object, chunks), "double free");
}

// A destructor that ran would free the string's storage a second time.
// Hazards M8, C6.
TEST(chunk_pool_misuse, no_destructor_runs_before_misuse_is_noticed) {
    const char* const text = "a text that is too long to lie in the string itself";
    for (const auto& options : {acre::chunk_pool_options{}, falling_back}) {
        chunk_pool<1, 32, 256> chunks{options};
        chunk_pool<1, 32, 256> other{options};
        auto* one = new (chunks) std::string{text};
        auto* foreign = new (other) std::string{text};
        auto* row = new (chunks) std::string[4];
        chunks.destroy_array(row);
        chunks.destroy(one);
        EXPECT_DEATH(chunks.destroy(one), "acre::chunk_pool: double free");
        EXPECT_DEATH(chunks.destroy_array(row), "acre::chunk_pool: double free");
        EXPECT_DEATH(chunks.destroy(foreign), "acre::chunk_pool: a pointer of another resource was freed");
        other.destroy(foreign);
    }
}

// What an object's own destructor or constructor does to it, or to its pool.
struct ends_itself {
    using pool_type = acre::chunk_pool<4, 64>;
    enum action { nothing, destroys, frees, takes_all_back };
    pool_type* pool;
    action when_made, when_ended;
    ends_itself(pool_type* home, action made, action ended) : pool(home), when_made(made), when_ended(ended) {
        act(made);
    }
    ~ends_itself() { act(when_made == nothing ? when_ended : nothing); }
    void act(action what) {
        if (what == destroys) pool->destroy(this);
        if (what == frees) pool->deallocate(this, sizeof *this);
        if (what == takes_all_back) pool->deallocate_all();
    }
};
TEST(chunk_pool_misuse, by_an_objects_own_destructor) {
    ends_itself::pool_type tested;
    using done = ends_itself::action;
    ends_itself* object = tested.create<ends_itself>(&tested, done::nothing, done::destroys);
    EXPECT_DEATH(tested.destroy(object), "acre::chunk_pool: an object was freed by its own destructor");
    object->when_ended = done::frees;
    EXPECT_DEATH(tested.destroy(object), "acre::chunk_pool: double free");
    object->when_ended = done::takes_all_back;
    EXPECT_DEATH(tested.destroy(object), "acre::chunk_pool: slots were freed that were never handed out");
    object->when_ended = done::nothing;
    tested.destroy(object);
    EXPECT_EQ(tested.live(), 0u);
}
TEST(chunk_pool_misuse, by_an_objects_own_constructor) {
    ends_itself::pool_type tested;
    using done = ends_itself::action;
    const auto make = [&](done made) { return tested.create<ends_itself>(&tested, made, done::nothing); };
    EXPECT_DEATH(make(done::destroys), "acre::chunk_pool: an object was freed by its own constructor");
    EXPECT_DEATH(make(done::frees), "acre::chunk_pool: an object was freed by its own constructor");
    EXPECT_DEATH(make(done::takes_all_back), "acre::chunk_pool: reset or released by a constructor that it is running");
    tested.destroy(make(done::nothing));
}

// Hazard C6.
TEST(chunk_pool_misuse, a_pointer_of_another_pool) {
    chunk_pool<4, 16, 32> chunks;
    chunk_pool<4, 16, 32> other;
    chunk_pool<4, 16, 32> open{falling_back};
    void* p = chunks.allocate(16);
    int elsewhere = 0;
    EXPECT_DEATH(other.deallocate(p, 16), "acre::chunk_pool: a pointer of another resource was freed");
    EXPECT_DEATH(other.deallocate_unsized(p), "another resource");
    EXPECT_DEATH(other.deallocate(&elsewhere, sizeof elsewhere), "another resource");
    EXPECT_DEATH(open.deallocate(p, 16), "another resource");
    // Also beside a block that upstream served; there AddressSanitizer may report first.
    void* block = open.allocate(100);
    EXPECT_DEATH(open.deallocate_unsized(chunks.allocate(16)), "another resource|use-after-poison");
    open.deallocate(block, 100);
    EXPECT_DEATH(open.deallocate(block, 100), "double free");
}

// Hazard M8.
TEST(chunk_pool_misuse, of_blocks_that_upstream_served) {
    chunk_pool<1, 16> chunks{falling_back};
    void* large = chunks.allocate(1000);
    void* next = chunks.allocate(2000);
    EXPECT_DEATH(chunks.deallocate(large, 900), "acre::chunk_pool: freed with another size");
    chunks.deallocate(large, 1000);
    chunks.deallocate_unsized(next);
    EXPECT_EQ(chunks.live(), 0u);
}

// Hazards B4, M15, N2.
TEST(chunk_pool_misuse, another_size) {
    chunk_pool<4, 16, 32> chunks;
    void* p = chunks.allocate(16);
    volatile std::size_t other_size = 20;
    EXPECT_DEATH(chunks.deallocate(p, other_size), "acre::chunk_pool: freed with another size or alignment");
    EXPECT_DEATH(chunks.deallocate(p, 20), "acre::chunk_pool: freed with another size or alignment");
}

TEST(chunk_pool_misuse, a_pointer_that_was_never_handed_out) {
    chunk_pool<10, 16, 48> chunks;
    auto* p = static_cast<std::byte*>(chunks.allocate(48));
    EXPECT_DEATH(chunks.deallocate(p + 16, 32), "acre::chunk_pool: a pointer into the middle of a slot was freed");
    EXPECT_DEATH(chunks.deallocate_unsized(p + 8), "acre::chunk_pool: a pointer into the middle of a slot was freed");
    EXPECT_DEATH(chunks.deallocate(p + decltype(chunks)::classes[1].stride, 48),
                 "acre::chunk_pool: slots were freed that were never handed out");
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TEST(chunk_pool_misuse, freed_and_unused_storage_is_reported) {
    chunk_pool<4, 16, 64> chunks;
    auto* p = static_cast<char*>(chunks.allocate(50));
    touch(p + 49);
    EXPECT_DEATH(touch(p + 50), "use-after-poison");
    EXPECT_DEATH(touch(p + 64), "use-after-poison");
    chunks.deallocate(p, 50);
    EXPECT_DEATH(touch(p), "use-after-poison");
    auto* q = static_cast<char*>(chunks.allocate(64));
    touch(q + 63);
    chunks.deallocate_all();
    EXPECT_DEATH(touch(q), "use-after-poison");
}
#endif

}  // namespace
