// acre::checked: each class of misuse ends the program with its sentence, and what is right beside it does not.
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_scratch.hpp>

#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/observe/checked_ptr.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <list>
#include <memory_resource>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/checking_upstream.hpp"
#include "threads/in_threads.hpp"

namespace acre_test {
namespace {

using acre::checked;
using acre::checked_options;
using acre::checked_ptr;
using acre::checked_scratch;

// Volatile: the compiler sees the mistakes, too.
void write(void* p, std::ptrdiff_t offset) {
    static_cast<volatile char*>(p)[offset] = 'x';
}

// AddressSanitizer sees the write itself, before the fences are checked.
std::string found_by(const char* sentence) {
    return acre::poisoning ? std::string{"AddressSanitizer|"} + sentence : std::string{sentence};
}

// What a handler that returns was told.
struct told {
    std::string resource;
    std::string what;
    const void* pointer;
    std::string details;
};
std::vector<told> all_told;

void remember(const acre::misuse& noticed) {
    all_told.push_back({noticed.resource, noticed.what, noticed.pointer, noticed.details});
}

class checked_reports : public testing::Test {
protected:
    void SetUp() override { all_told.clear(); }

    static checked_options told_of() { return {.handler = remember}; }
    static const told& last() { return all_told.back(); }
};

// Overflow and underflow.

TEST(checked_death, a_write_behind_is_found_when_freed) {
    for (const std::size_t bytes : {0u, 13u, 64u, 1000u}) {
        for (const std::ptrdiff_t behind : {0, 15}) {
            checked<acre::multi_pool> pool;
            void* p = pool.allocate(bytes);
            EXPECT_DEATH(
                {
                    write(p, static_cast<std::ptrdiff_t>(bytes) + behind);
                    pool.deallocate(p, bytes);
                },
                found_by("acre::multi_pool: written past the end of an allocation"))
                << bytes;
            if (bytes != 0) write(p, static_cast<std::ptrdiff_t>(bytes) - 1);
            pool.deallocate(p, bytes);
        }
    }
}

TEST(checked_death, a_write_behind_a_slot_is_found) {
    checked<acre::pool<64>> slots;
    void* p = slots.allocate();
    write(p, 63);
    EXPECT_DEATH((write(p, 64), slots.deallocate(p)), found_by("acre::pool: written past the end of an allocation"));
    slots.deallocate(p);
}

TEST(checked_death, a_write_behind_an_object_is_found) {
    struct thing {
        char text[20];
    };
    checked<acre::object_pool<thing>> things;
    thing* one = things.create();
    EXPECT_DEATH((write(one, 20), things.destroy(one)), found_by("acre::object_pool: written past the end"));
    things.destroy(one);
    checked<acre::typed_arena<thing, 10>> few;
    one = few.create();
    EXPECT_DEATH((write(one, 20), few.destroy(one)), found_by("acre::typed_arena: written past the end"));
    few.destroy(one);
    checked<acre::chunk_pool<10, 20, 64>> chunks;
    one = chunks.create<thing>();
    EXPECT_DEATH((write(one, 20), chunks.destroy(one)), found_by("acre::chunk_pool: written past the end"));
    chunks.destroy(one);
}

TEST(checked_death, a_write_in_front_is_found_when_freed) {
    checked<acre::multi_pool> pool;
    for (const std::size_t alignment : {1u, 16u, 256u}) {
        void* p = pool.allocate(32, alignment);
        EXPECT_DEATH((write(p, -1), pool.deallocate(p, 32, alignment)),
                     found_by("acre::multi_pool: written in front of an allocation"));
        EXPECT_DEATH((write(p, -16), pool.deallocate(p, 32, alignment)), found_by("written in front"));
        write(p, 0);
        pool.deallocate(p, 32, alignment);
    }
}

TEST(checked_death, fences_are_checked_on_demand_at_a_reset_and_at_the_end) {
    checked<acre::arena> level;
    void* p = level.allocate(100);
    EXPECT_TRUE(level.check(p));
    EXPECT_EQ(level.check_all(), 0u);
    EXPECT_DEATH((write(p, 100), level.check(p)), found_by("written past the end"));
    EXPECT_DEATH((write(p, 100), level.check_all()), found_by("written past the end"));
    EXPECT_DEATH((write(p, 100), level.reset()), found_by("written past the end"));
    const auto here = level.mark();
    void* later = level.allocate(10);
    EXPECT_DEATH((write(later, 10), level.rewind(here)), found_by("written past the end"));
    EXPECT_DEATH(
        {
            checked<acre::arena> ends;
            write(ends.allocate(100), 100);
        },
        found_by("written past the end"));
}

TEST(checked_death, fences_follow_a_resize) {
    checked<acre::arena> level;
    void* p = level.allocate(100);
    ASSERT_TRUE(level.try_resize(p, 100, 200));
    write(p, 199);
    EXPECT_DEATH((write(p, 200), level.deallocate(p, 200)), found_by("written past the end"));
    ASSERT_TRUE(level.try_resize(p, 200, 50));
    EXPECT_DEATH((write(p, 50), level.deallocate(p, 50)), found_by("written past the end"));
    EXPECT_DEATH(level.try_resize(p, 60, 70), "resized with another size");
    level.deallocate(p, 50);
}

// Fill patterns.

TEST(checked, fresh_and_freed_storage_have_patterns) {
    if (acre::poisoning) GTEST_SKIP() << "freed storage must not be read";
    checked<acre::multi_pool> pool;
    auto* p = static_cast<unsigned char*>(pool.allocate(100));
    EXPECT_TRUE(std::all_of(p, p + 100, [](unsigned char each) { return each == 0xCD; }));
    pool.deallocate(p, 100);
    EXPECT_TRUE(std::all_of(p, p + 100, [](unsigned char each) { return each == 0xDD; }));
    checked<acre::arena> level;
    p = static_cast<unsigned char*>(level.allocate(100));
    level.reset();
    EXPECT_TRUE(std::all_of(p, p + 100, [](unsigned char each) { return each == 0xDD; }));
}

TEST(checked_death, a_write_to_what_was_freed_is_found) {
    const auto misuse = [](auto then) {
        checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = 2}};
        void* p = slots.allocate();
        slots.deallocate(p);
        write(p, 5);
        then(slots);
    };
    const auto sentence = found_by("acre::pool: an allocation was written to after it was freed");
    EXPECT_DEATH(misuse([](auto& slots) { slots.check_all(); }), sentence);
    EXPECT_DEATH(misuse([](auto& slots) { slots.release_quarantine(); }), sentence);
    EXPECT_DEATH(misuse([](auto&) {}), sentence) << "at the end";
    // It leaves the quarantine when others take its place.
    EXPECT_DEATH(misuse([](auto& slots) {
                     void* others[] = {slots.allocate(), slots.allocate(), slots.allocate()};
                     for (void* each : others) slots.deallocate(each);
                 }),
                 sentence);
    checked<acre::pool<64>> slots;
    void* p = slots.allocate();
    write(p, 5);
    slots.deallocate(p);
    EXPECT_EQ(slots.check_all(), 0u);
}

TEST(checked, what_leaves_the_quarantine_serves_the_next_request) {
    if (acre::poisoning) GTEST_SKIP() << "there, all goes through the pool";
    checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = 3}};
    void* freed[4];
    for (void*& each : freed) each = slots.allocate();
    for (int i = 0; i < 3; ++i) slots.deallocate(freed[i]);
    EXPECT_EQ(slots.quarantined(), 3u);
    EXPECT_EQ(slots.live(), 1u);
    auto* again = static_cast<unsigned char*>(slots.allocate());
    EXPECT_EQ(again, freed[0]) << "the longest held";
    EXPECT_TRUE(std::all_of(again, again + 64, [](unsigned char each) { return each == 0xCD; }));
    EXPECT_EQ(slots.quarantined(), 2u);
    EXPECT_EQ(slots.live(), 2u);
    // Two are held, which is less than may be.
    void* fresh = slots.allocate();
    for (void* each : freed) EXPECT_NE(fresh, each);
    slots.deallocate(again);
    slots.deallocate(freed[3]);
    EXPECT_EQ(slots.quarantined(), 3u) << "one went to the pool";
    slots.deallocate(fresh);
    slots.release_quarantine();
    EXPECT_EQ(slots.quarantined(), 0u);
    EXPECT_EQ(slots.check_all(), 0u);
    EXPECT_EQ(slots.live(), 0u);
}

TEST(checked_death, a_damaged_slot_is_not_handed_out_again) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer sees the write itself";
    checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = 1}};
    void* damaged = slots.allocate();
    void* other = slots.allocate();
    slots.deallocate(damaged);
    write(damaged, 66);
    void* again = slots.allocate();
    EXPECT_NE(again, damaged);
    EXPECT_DEATH(slots.deallocate(other), "acre::pool: an allocation was written to after it was freed");
    write(damaged, 66);
    static_cast<unsigned char*>(damaged)[66] = 0xFB;
    slots.deallocate(again);
    slots.deallocate(other);
}

TEST(checked, the_bytes_of_a_quarantine_are_limited) {
    checked<acre::multi_pool> pool{checked_options{.quarantine_allocations = 100, .quarantine_bytes = 1000}};
    for (int i = 0; i < 300; ++i) {
        const std::size_t bytes = static_cast<std::size_t>(i) * 7 % 400;
        pool.deallocate(pool.allocate(bytes), bytes);
    }
    EXPECT_LT(pool.quarantined(), 50u);
    checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = 100, .quarantine_bytes = 640}};
    std::vector<void*> live;
    for (int i = 0; i < 50; ++i) live.push_back(slots.allocate());
    for (void* each : live) slots.deallocate(each);
    EXPECT_EQ(slots.quarantined(), 10u);
    pool.deallocate(pool.allocate(5000), 5000);
    EXPECT_EQ(pool.quarantined(), 0u) << "what is larger than the limit leaves with all before it";
}

// Random work with a quarantine of each small size, pools of each kind, and resets: nothing is reported.
template <class Pool>
void works_at_random(std::size_t quarantine, Pool& pool) {
    std::vector<void*> live;
    std::uint32_t random = 1;
    for (int i = 0; i < 3000; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        if (live.empty() || random >> 30 != 0) {
            void* p = pool.allocate();
            std::memset(p, i, 64);
            live.push_back(p);
        }
        if (live.size() > 40 || random >> 31 != 0) {
            std::swap(live[(random >> 8) % live.size()], live.back());
            pool.deallocate(live.back());
            live.pop_back();
        }
        if (random % 1000 == 0) {
            pool.reset();
            live.clear();
        }
        ASSERT_EQ(pool.live(), live.size());
        ASSERT_LE(pool.quarantined(), quarantine);
    }
    EXPECT_EQ(pool.check_all(), 0u);
    for (void* each : live) pool.deallocate(each);
}
TEST_F(checked_reports, nothing_is_reported_of_random_work) {
    for (const std::size_t quarantine : {0u, 1u, 2u, 7u, 64u}) {
        checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = quarantine, .handler = remember}};
        works_at_random(quarantine, slots);
    }
    EXPECT_TRUE(all_told.empty());
}

// Frees that are wrong.

TEST(checked_death, a_double_free_is_named) {
    checked<acre::pool<64>> slots;
    void* a = slots.allocate();
    void* b = slots.allocate();
    EXPECT_DEATH((slots.deallocate(a), slots.deallocate(a)), "acre::pool: double free");
    EXPECT_DEATH((slots.deallocate(a), slots.deallocate(b), slots.deallocate(a)), "acre::pool: double free");
    slots.deallocate(a);
    slots.deallocate(b);
    slots.deallocate(nullptr);
    checked<acre::multi_arena> frames{{.arenas = 4, .bytes = 4096}};
    EXPECT_DEATH(
        {
            void* p = frames.allocate(100);
            frames.deallocate(p, 100);
            frames.deallocate(p, 100);
        },
        "acre::multi_arena: double free");
}

TEST(checked_death, a_double_free_is_named_after_the_quarantine) {
    checked<acre::heap> heap{checked_options{.quarantine_allocations = 0}};
    void* p = heap.allocate(1'000'000);
    heap.deallocate(p, 1'000'000);
    EXPECT_EQ(heap.quarantined(), 0u);
    EXPECT_DEATH(heap.deallocate(p, 1'000'000), "acre::heap: double free");
}

// An arena hands nothing out again, so what was freed there stays known.
TEST_F(checked_reports, a_double_free_in_an_arena_is_named_however_late) {
    checked<acre::arena> level{{.quarantine_allocations = 4, .handler = remember}};
    void* early = level.allocate(16);
    level.deallocate(early, 16);
    (void)level.allocate(16);
    for (int i = 0; i < 200; ++i) {
        void* p = level.allocate(16);
        (void)level.allocate(16);
        level.deallocate(p, 16);
    }
    level.deallocate(early, 16);
    ASSERT_EQ(all_told.size(), 1u);
    EXPECT_EQ(last().what, "double free");
}

// Not "freed": the program resized.
TEST_F(checked_reports, a_wrong_resize_is_named_as_one) {
    checked<acre::arena> level{told_of()};
    auto* p = static_cast<char*>(level.allocate(32));
    EXPECT_FALSE(level.try_resize(p, 16, 8));
    EXPECT_EQ(last().what, "resized with another size than it was allocated with");
    EXPECT_NE(last().details.find("resized as 16 bytes"), std::string::npos);
    EXPECT_FALSE(level.try_resize(p + 16, 16, 8));
    EXPECT_EQ(last().what, "a pointer into the middle of an allocation was resized");
    int elsewhere = 0;
    EXPECT_FALSE(level.try_resize(&elsewhere, 16, 8));
    EXPECT_EQ(last().what, "a pointer of another resource was resized");
    level.deallocate(p, 32);
    EXPECT_FALSE(level.try_resize(p, 32, 8));
    EXPECT_EQ(last().what, "used after it was freed");
}

checked<acre::concurrent_pool<64>>* used_by_a_handler = nullptr;

// The records are locked while a handler runs, for other threads.
TEST(checked, a_handler_may_use_the_resource_that_threads_share) {
    checked<acre::concurrent_pool<64>> slots{checked_options{
        .handler = [](const acre::misuse&) { used_by_a_handler->deallocate(used_by_a_handler->allocate()); }}};
    used_by_a_handler = &slots;
    void* p = slots.allocate();
    slots.deallocate(p);
    slots.deallocate(p);
    EXPECT_EQ(slots.live(), 0u);
}

TEST_F(checked_reports, a_double_free_of_an_object_or_a_slot_is_named_in_the_quarantine_and_after_it) {
    for (const std::size_t quarantine : {0u, 1u, 20u}) {
        checked<acre::object_pool<std::string>> names{
            checked_options{.quarantine_allocations = quarantine, .handler = remember}};
        checked<acre::pool<64>> slots{checked_options{.quarantine_allocations = quarantine, .handler = remember}};
        std::string* one = names.create("URG");
        void* slot = slots.allocate();
        names.destroy(one);
        slots.deallocate(slot);
        std::vector<std::string*> more;
        for (int i = 0; i < 10; ++i) more.push_back(names.create("Ugluk"));
        for (std::string* each : more) names.destroy(each);
        if (std::find(more.begin(), more.end(), one) == more.end()) names.destroy(one);
        slots.deallocate(slot);
        EXPECT_EQ(last().what, "double free");
        EXPECT_EQ(last().resource, "acre::pool");
        EXPECT_NE(last().details.find("allocation number 1\n"), std::string::npos);
        EXPECT_EQ(names.live() + slots.live(), 0u);
    }
}

TEST(checked_death, a_pointer_of_another_resource_is_named) {
    checked<acre::pool<64>> slots;
    checked<acre::pool<64>> others;
    int local = 0;
    void* foreign = others.allocate();
    EXPECT_DEATH(slots.deallocate(&local), "acre::pool: a pointer of another resource was freed");
    EXPECT_DEATH(slots.deallocate(foreign), "acre::pool: a pointer of another resource was freed");
    // Where nothing may be read.
    EXPECT_DEATH(slots.deallocate(reinterpret_cast<void*>(16)), "a pointer of another resource was freed");
    others.deallocate(foreign);
}

TEST(checked_death, a_pointer_into_the_middle_is_named) {
    checked<acre::pool<64>> slots;
    auto* p = static_cast<std::byte*>(slots.allocate());
    for (const std::ptrdiff_t offset : {1, 8, 32, 63, -16})
        EXPECT_DEATH(slots.deallocate(p + offset), "a pointer into the middle of an allocation was freed");
    slots.deallocate(p);
}

TEST(checked_death, a_wrong_size_or_alignment_is_named) {
    checked<acre::multi_pool> pool;
    void* p = pool.allocate(100, 8);
    const char* sentence = "acre::multi_pool: freed with another size or alignment than it was allocated with";
    EXPECT_DEATH(pool.deallocate(p, 99, 8), sentence);
    EXPECT_DEATH(pool.deallocate(p, 300, 8), sentence);
    EXPECT_DEATH(pool.deallocate(p, 100, 16), sentence);
    EXPECT_DEATH(pool.deallocate(p, 99, 8), "100 bytes aligned to 8.*\n.*\n.*freed as 99 bytes aligned to 8");
    pool.deallocate(p, 100, 8);
}

TEST(checked, a_slot_may_be_freed_with_or_without_its_size) {
    checked<acre::pool<64>> slots;
    slots.deallocate(slots.allocate(), 40, 8);
    slots.deallocate(slots.allocate(40, 8));
    slots.deallocate(slots.allocate(40, 8), 40, 8);
    EXPECT_EQ(slots.live(), 0u);
    EXPECT_DEATH(slots.deallocate(slots.allocate(40, 8), 41, 8), "freed with another size");
}

TEST(checked_death, a_destructor_does_not_run_for_a_wrong_pointer) {
    struct loud {
        ~loud() { std::fputs("destroyed", stderr); }
    };
    checked<acre::object_pool<loud>> pool;
    loud* one = pool.create();
    EXPECT_DEATH((pool.destroy(one), pool.destroy(one)), "^destroyedacre::object_pool: double free");
    pool.destroy(one);
}

// Each class of misuse over each resource that hands out 64 bytes: what notices nothing by itself, and what is wrapped.
template <class R>
struct checked_resource {
    explicit checked_resource(const checked_options& options) : tested(options) {}
    checked<R> tested;
};
template <>
struct checked_resource<acre::buffer> {
    explicit checked_resource(const checked_options& options) : tested(options, storage) {}
    std::byte storage[4096];
    checked<acre::buffer> tested;
};
template <>
struct checked_resource<acre::limited<acre::multi_pool>> {
    explicit checked_resource(const checked_options& options)
        : tested(options, acre::limited_options{.limit_bytes = 1 << 20}) {}
    checked<acre::limited<acre::multi_pool>> tested;
};
template <>
struct checked_resource<acre::wait_free_pool<64>> {
    explicit checked_resource(const checked_options& options)
        : tested(options, acre::wait_free_pool_options{.slots = 8}) {}
    checked<acre::wait_free_pool<64>> tested;
};

struct sixty_four {
    char text[64];
};

template <class R>
class checked_over : public checked_reports {};
using checked_resources = testing::Types<
    acre::buffer, acre::inline_buffer<4096>, acre::virtual_memory, acre::heap, acre::general_heap,
    acre::typed_arena<sixty_four, 8>, acre::typed_arena<sixty_four, 8, acre::typed_arena_options{.reuse = true}>,
    acre::arena, acre::concurrent_pool<64, 16, acre::double_free_check::none>, acre::wait_free_pool<64>,
    acre::chunk_pool<8, 64>, acre::static_pool<64>, acre::limited<acre::multi_pool>, acre::statistics<acre::multi_pool>,
    acre::recycling<acre::arena>, acre::fallback<acre::inline_buffer<4096>, acre::heap>,
    acre::segregate<256, acre::multi_pool, acre::heap>>;
TYPED_TEST_SUITE(checked_over, checked_resources);

TYPED_TEST(checked_over, each_misuse_is_named) {
    checked_options options{.handler = remember};
    checked_resource<TypeParam> owner{options};
    auto& tested = owner.tested;
    // One was reported since the last call.
    const auto noticed = [](const char* sentence) {
        ASSERT_EQ(all_told.size(), 1u) << sentence;
        EXPECT_NE(all_told.front().what.find(sentence), std::string::npos) << all_told.front().what;
        EXPECT_EQ(all_told.front().resource, TypeParam::name);
        all_told.clear();
    };
    auto* a = static_cast<char*>(tested.allocate(64, 8));
    auto* b = static_cast<char*>(tested.allocate(64, 8));
    int local = 0;
    tested.deallocate(a, 48, 8);
    noticed("freed with another size");
    tested.deallocate(a, 64, 4);
    noticed("freed with another size");
    tested.deallocate(a + 16, 48, 8);
    noticed("a pointer into the middle of an allocation was freed");
    tested.deallocate(&local, 64, 8);
    noticed("a pointer of another resource was freed");
    // AddressSanitizer sees the writes themselves.
    if (!acre::poisoning) {
        write(a, 64);
        EXPECT_EQ(tested.check_all(), 1u);
        noticed("written past the end of an allocation");
        write(b, -1);
        tested.deallocate(b, 64, 8);
        noticed("written in front of an allocation");
        b = static_cast<char*>(tested.allocate(64, 8));
    }
    tested.deallocate(b, 64, 8);
    EXPECT_TRUE(all_told.empty());
    tested.deallocate(b, 64, 8);
    noticed("double free");
    tested.deallocate(a, 64, 8);
    tested.deallocate(b, 64, 8);
    noticed("double free");
    if (!acre::poisoning) {
        write(a, 5);
        EXPECT_EQ(tested.check_all(), 1u);
        noticed("an allocation was written to after it was freed");
    }
}

// What an object's own destructor or constructor does to it, or to its pool.
struct ends_itself {
    using pool_type = checked<acre::object_pool<ends_itself>>;
    enum action { nothing, destroys, frees, resets };
    pool_type* pool;
    action when_made, when_ended;
    ends_itself(pool_type* home, action made, action ended) : pool(home), when_made(made), when_ended(ended) {
        act(made);
    }
    ~ends_itself() { act(when_made == nothing ? when_ended : nothing); }
    void act(action what) {
        if (what == destroys) pool->destroy(this);
        if (what == frees) pool->deallocate(static_cast<void*>(this));
        if (what == resets) pool->reset();
    }
};
TEST(checked_death, an_object_that_frees_itself_or_resets_its_pool_is_named) {
    using done = ends_itself::action;
    ends_itself::pool_type pool;
    const auto make = [&](done made, done ended) { return pool.create(&pool, made, ended); };
    ends_itself* one = make(done::nothing, done::destroys);
    EXPECT_DEATH(pool.destroy(one), "acre::object_pool: an object was freed by its own destructor");
    EXPECT_DEATH(pool.reset(), "acre::object_pool: an object was freed by its own destructor");
    one->when_ended = done::frees;
    EXPECT_DEATH(pool.destroy(one), "double free");
    one->when_ended = done::resets;
    EXPECT_DEATH(pool.destroy(one), "reset or released by a destructor that it is running");
    one->when_ended = done::nothing;
    pool.destroy(one);
    EXPECT_DEATH(make(done::destroys, done::nothing), "an object was freed by its own constructor");
    EXPECT_DEATH(make(done::frees, done::nothing), "an object was freed by its own constructor");
    EXPECT_DEATH(make(done::resets, done::nothing), "reset or released by a constructor that it is running");
    pool.destroy(make(done::nothing, done::nothing));
}

// Of an arena that is not checked nobody notices: it has no record of the object that is being made.
struct takes_its_arena_back {
    using arena_type = acre::checked<acre::arena>;
    template <class Function>
    takes_its_arena_back(arena_type& arena, Function take_back) {
        take_back(arena);
    }
};
TEST(checked_death, a_constructor_that_takes_its_arena_back_is_named) {
    using arena_type = takes_its_arena_back::arena_type;
    arena_type arena;
    const auto before = arena.mark();
    const auto make = [&](auto take_back) { (void)arena.create<takes_its_arena_back>(arena, take_back); };
    EXPECT_DEATH(make([](arena_type& made) { made.reset(); }), "by a constructor that it is running");
    EXPECT_DEATH(make([](arena_type& made) { made.reset(acre::release); }), "by a constructor that it is running");
    EXPECT_DEATH(make([&](arena_type& made) { made.rewind(before); }), "an object was freed by its own constructor");
}

// The records have a lock, so one of the two is the second.
TEST_F(checked_reports, a_double_free_by_two_threads_at_the_same_moment_is_named) {
    checked<acre::concurrent_pool<64>> slots{told_of()};
    for (int i = 0; i < 50; ++i) {
        void* p = slots.allocate();
        std::thread other{[&] { slots.deallocate(p); }};
        slots.deallocate(p);
        other.join();
        ASSERT_EQ(all_told.size(), 1u);
        EXPECT_EQ(last().what, "double free");
        all_told.clear();
    }
}

// A face reads what lies in front of a block: where that was freed, it has the pattern of freed storage.
TEST(checked_death, misuse_of_a_malloc_face_over_it_is_named) {
    checked<acre::multi_pool> below;
    checked<acre::multi_pool> other;
    acre::malloc_face memory{below};
    acre::malloc_face others{other};
    auto* p = static_cast<char*>(memory.calloc(1, 100));
    EXPECT_DEATH((memory.free(p), memory.free(p)), found_by("acre::malloc_face: "));
    EXPECT_DEATH(memory.free(p + 32), "acre::malloc_face: a pointer was freed that was never handed out");
    EXPECT_DEATH(others.free(p), "acre::malloc_face: a pointer was freed that was never handed out");
    EXPECT_DEATH((write(p, 100), memory.free(p)), found_by("acre::multi_pool: written past the end"));
    memory.free(p);
}

TEST_F(checked_reports, misuse_behind_a_lock_is_named) {
    acre::synchronized<checked<acre::multi_pool>> tested{told_of()};
    void* p = tested.allocate(100);
    tested.deallocate(p, 99);
    EXPECT_NE(last().what.find("freed with another size"), std::string::npos);
    tested.deallocate(p, 100);
    tested.deallocate(p, 100);
    EXPECT_EQ(last().what, "double free");
    EXPECT_EQ(all_told.size(), 2u);
}

// Resets, rewinds and scratches.

TEST(checked_death, a_free_after_a_reset_or_a_rewind_is_named) {
    checked<acre::arena> level;
    void* old = level.allocate(100);
    level.reset();
    EXPECT_DEATH(level.deallocate(old, 100), "acre::arena: freed after a reset had taken it back");
    void* kept = level.allocate(50);
    const auto here = level.mark();
    void* later = level.allocate(100);
    level.rewind(here);
    EXPECT_DEATH(level.deallocate(later, 100), "acre::arena: freed after a rewind had taken it back");
    level.deallocate(kept, 50);
    checked<acre::multi_pool> pool;
    old = pool.allocate(10);
    pool.reset();
    EXPECT_DEATH(pool.deallocate(old, 10), "acre::multi_pool: freed after a reset had taken it back");
    old = pool.allocate(10);
    pool.release();
    EXPECT_DEATH(pool.deallocate(old, 10), "acre::multi_pool: freed after a reset had taken it back");
}

TEST(checked_death, a_rewind_to_a_mark_from_before_a_reset_is_named) {
    checked<acre::arena> level;
    const auto before = level.mark();
    level.rewind(before);
    level.reset();
    EXPECT_DEATH(level.rewind(before),
                 "acre::arena: rewound to a mark that a reset or an earlier rewind has made void");
}

TEST_F(checked_reports, every_void_mark_is_named) {
    const char* sentence = "rewound to a mark that a reset or an earlier rewind has made void";
    checked<acre::arena> level{told_of()};
    (void)level.allocate(10);
    const auto outer = level.mark();
    (void)level.allocate(10);
    const auto inner = level.mark();
    level.rewind(outer);
    // Rewinds past other marks, after which the arena itself has forgotten that it went below `inner`.
    for (int i = 0; i < 3; ++i) {
        (void)level.allocate(100);
        const auto later = level.mark();
        (void)level.allocate(100);
        const auto passed = level.mark();
        (void)level.allocate(100);
        level.rewind(later);
        EXPECT_TRUE(all_told.empty());
        level.rewind(passed);
        ASSERT_EQ(all_told.size(), 1u);
        EXPECT_EQ(last().what, sentence);
        level.rewind(inner);
        ASSERT_EQ(all_told.size(), 2u);
        EXPECT_EQ(last().what, sentence);
        all_told.clear();
    }
    void* kept = level.allocate(10);
    level.rewind(inner);
    EXPECT_TRUE(level.check(kept)) << "a rewind that was reported had no effect";
    checked<acre::arena> other{told_of()};
    const auto foreign = other.mark();
    level.rewind(foreign);
    EXPECT_EQ(last().what, "rewound to a mark of another arena");
    all_told.clear();
    level.rewind(outer);
    EXPECT_TRUE(all_told.empty());
}

TEST(checked_death, what_the_arena_gave_while_a_scratch_lived_ends_with_it) {
    checked<acre::arena> level;
    void* result = nullptr;
    {
        checked_scratch temp{level};
        temp.allocate(10);
        result = level.allocate(10);
    }
    EXPECT_DEATH(level.deallocate(result, 10),
                 "freed after a rewind.*\n.*\n.*\n.*taken back by a rewind or the end of a scratch");
}

TEST(checked_death, scratches_end_in_reverse_order) {
    checked<acre::arena> level;
    checked_scratch outer{level};
    outer.allocate(10);
    EXPECT_DEATH(
        {
            checked_scratch inner{level};
            outer.end();
        },
        "a scratch ended before one that began after it.*\n.*this scratch began at .*checked_test.cpp.*\n.*one within "
        "it "
        "began at .*checked_test.cpp");
    {
        checked_scratch inner{level};
        inner.allocate(10);
    }
    outer.end();
    EXPECT_FALSE(outer.active());
    EXPECT_DEATH(outer.allocate(10), "acre::arena: a scratch was used after it ended");
}

// While its arena lives, that one's handler is asked; the request is served by the arena.
TEST_F(checked_reports, a_use_of_a_scratch_that_ended_is_named) {
    checked<acre::arena> level{told_of()};
    checked_scratch first{level};
    checked_scratch temp{std::move(first)};
    temp.end();
    const auto here = std::source_location::current();
    void* p = temp.allocate(100);
    ASSERT_EQ(all_told.size(), 1u);
    EXPECT_EQ(last().resource, "acre::arena");
    EXPECT_EQ(last().what, "a scratch was used after it ended");
    EXPECT_NE(last().details.find("used at " + std::string{here.file_name()} + ":" + std::to_string(here.line() + 1)),
              std::string::npos)
        << last().details;
    EXPECT_TRUE(level.check(p));
    temp.create<int>(1);
    EXPECT_EQ(&first.parent(), &level);
    EXPECT_EQ(all_told.size(), 3u);
}

// The options of what has ended are gone.
TEST(checked_death, a_scratch_and_a_checked_ptr_that_outlive_their_arena_are_told_to_the_program) {
    std::optional<checked_scratch<acre::arena>> temp;
    checked_ptr<int> number;
    {
        checked<acre::arena> level{checked_options{.handler = [](const acre::misuse&) {}}};
        temp.emplace(level);
        number = {level, temp->create<int>(1)};
    }
    EXPECT_DEATH(temp->allocate(10), "acre::checked_scratch: used after it ended");
    EXPECT_DEATH((void)*number, "acre::checked_ptr: used after its resource had ended");
}

TEST(checked, a_scratch_moves_and_keeps) {
    checked<acre::arena> level;
    void* p = nullptr;
    {
        checked_scratch first{level};
        checked_scratch temp{std::move(first)};
        EXPECT_FALSE(first.active());
        p = temp.allocate(10);
        temp.keep();
    }
    EXPECT_TRUE(level.check(p));
    checked_scratch temp{level};
    level.reset();
    EXPECT_FALSE(temp.active());
}

// Leaks.

TEST(checked_death, leaks_are_reported_at_the_end) {
    EXPECT_DEATH(
        {
            checked<acre::multi_pool> pool;
            pool.deallocate(pool.allocate(10), 10);
            pool.allocate(100);
            pool.allocate(200);
        },
        "acre::multi_pool: allocations were not freed before their resource ended.*\n"
        "  2 allocations of 300 bytes in all, oldest first:\n"
        "  at 0x.*\n  100 bytes aligned to .*\n  allocated at .*checked_test.cpp:.*\n  at 0x.*\n  200 bytes");
    EXPECT_DEATH(
        {
            checked<acre::arena> level{checked_options{.leaks = acre::leak_rule::report}};
            level.allocate(10);
        },
        "not freed before");
    EXPECT_DEATH(
        {
            checked<acre::object_pool<std::string>> pool{checked_options{.leaks = acre::leak_rule::report}};
            pool.create("one");
        },
        "acre::object_pool: allocations were not freed before");
    EXPECT_DEATH(
        {
            checked<acre::concurrent_object_pool<std::string>> pool{checked_options{.leaks = acre::leak_rule::report}};
            pool.create("one");
        },
        "acre::concurrent_object_pool: allocations were not freed before");
}

TEST(checked, arenas_and_object_pools_free_at_their_end) {
    auto counted = std::make_shared<int>();
    {
        checked<acre::arena> level;
        level.allocate(10);
        level.create<std::shared_ptr<int>>(counted);
        checked<acre::object_pool<std::shared_ptr<int>>> pool;
        pool.create(counted);
        checked<acre::concurrent_object_pool<std::shared_ptr<int>>> shared;
        shared.create(counted);
        EXPECT_EQ(counted.use_count(), 4);
    }
    EXPECT_EQ(counted.use_count(), 1);
    checked<acre::pool<64>> slots{checked_options{.leaks = acre::leak_rule::ignore}};
    slots.allocate();
}

static_assert(acre::detail::ends_what_is_live<acre::limited<acre::arena>>);
static_assert(acre::detail::ends_what_is_live<acre::statistics<acre::object_pool<int>>>);

// Without checks it is no misuse either, and no destructor runs.
TEST_F(checked_reports, typed_and_recycling_arenas_free_at_their_end) {
    struct counts_ends {
        explicit counts_ends(int& count) : ends(&count) {}
        ~counts_ends() { ++*ends; }
        int* ends;
    };
    int ends = 0;
    {
        checked<acre::typed_arena<counts_ends, 8>> few{told_of()};
        few.create(ends);
        checked<acre::typed_arena<counts_ends, 8, acre::typed_arena_options{.reuse = true}>> reused{told_of()};
        reused.create(ends);
        checked<acre::typed_arena<counts_ends, 8, acre::typed_arena_options{.when_full = acre::exhaustion::fall_back}>>
            falls_back{told_of()};
        falls_back.create(ends);
        checked<acre::recycling<acre::arena>> recycled{told_of()};
        recycled.allocate(100);
        checked<acre::recycling<acre::multi_pool>> pooled{told_of()};
        pooled.deallocate(pooled.allocate(100), 100);
    }
    EXPECT_EQ(ends, 0);
    EXPECT_TRUE(all_told.empty()) << last().what;
    {
        checked<acre::recycling<acre::multi_pool>> pooled{told_of()};
        pooled.allocate(100);
    }
    EXPECT_EQ(all_told.size(), 1u) << "the leak of a pool";
}

// The report.

TEST_F(checked_reports, the_place_is_the_callers) {
    checked<acre::multi_pool> pool{told_of()};
    const auto first = std::source_location::current();
    void* p = pool.allocate(100);
    pool.deallocate(p, 100);
    pool.deallocate(p, 100);
    ASSERT_EQ(all_told.size(), 1u);
    EXPECT_EQ(last().resource, "acre::multi_pool");
    EXPECT_EQ(last().what, "double free");
    EXPECT_EQ(last().pointer, p);
    const auto at = [&](unsigned line) { return " at " + std::string{first.file_name()} + ":" + std::to_string(line); };
    EXPECT_NE(last().details.find("allocated" + at(first.line() + 1)), std::string::npos) << last().details;
    EXPECT_NE(last().details.find("freed" + at(first.line() + 2)), std::string::npos) << last().details;
    EXPECT_NE(last().details.find("freed again" + at(first.line() + 3)), std::string::npos) << last().details;
    EXPECT_NE(last().details.find("100 bytes aligned to 16, allocation number 1"), std::string::npos);
}

TEST_F(checked_reports, here_gives_the_place_of_an_object) {
    checked<acre::object_pool<int>> pool{told_of()};
    const auto before = std::source_location::current();
    int* one = pool.here().create(1);
    int* two = pool.create(2);
    pool.destroy(one);
    pool.destroy(one);
    EXPECT_NE(last().details.find(":" + std::to_string(before.line() + 1)), std::string::npos) << last().details;
    pool.destroy(two);
    pool.destroy(two);
    // The caller's address alone.
    if (ACRE_HAS_CALL_STACKS) {
        EXPECT_NE(last().details.find("allocated by the call\n    "), std::string::npos) << last().details;
    }
}

TEST_F(checked_reports, the_place_of_a_scratch_is_the_callers) {
    checked<acre::arena> level{told_of()};
    checked_scratch temp{level};
    const auto first = std::source_location::current();
    void* p = temp.allocate(10);
    temp.here().create<int>(1);
    temp.end();
    level.deallocate(p, 10);
    EXPECT_NE(last().details.find(":" + std::to_string(first.line() + 1)), std::string::npos) << last().details;
    EXPECT_NE(last().details.find(":" + std::to_string(first.line() + 3)), std::string::npos) << last().details;
}

TEST_F(checked_reports, stacks_are_kept_on_demand) {
    checked<acre::multi_pool> pool{checked_options{.stack_frames = 4, .handler = remember}};
    for (int i = 0; i < 3; ++i) {
        void* p = pool.allocate(100);
        pool.deallocate(p, 100);
        if (i == 2) pool.deallocate(p, 100);
    }
    const std::string& text = last().details;
    if (!ACRE_HAS_CALL_STACKS) GTEST_SKIP() << "this system has none";
    // Four frames for the allocation and four for the free.
    const std::string before = text.substr(0, text.find("freed again"));
    std::size_t frames = 0;
    for (std::size_t at = 0; (at = before.find("+0x", at)) != std::string::npos; ++at) ++frames;
    EXPECT_EQ(frames, 8u) << text;
}

TEST_F(checked_reports, after_a_handler_that_returns_the_wrong_call_had_no_effect) {
    checked<acre::multi_pool> pool{told_of()};
    auto* p = static_cast<char*>(pool.allocate(100));
    pool.deallocate(p, 99);
    pool.deallocate(p + 1, 100);
    pool.deallocate(&pool, 100);
    EXPECT_EQ(all_told.size(), 3u);
    EXPECT_EQ(pool.live(), 1u);
    EXPECT_TRUE(pool.check(p));
    pool.deallocate(p, 100);
    pool.deallocate(p, 100);
    EXPECT_EQ(all_told.size(), 4u);
    EXPECT_EQ(pool.live(), 0u);
    void* again = pool.allocate(100);
    EXPECT_NE(again, p) << "held back";
    pool.deallocate(again, 100);
}

// Forgetting what an earlier reset took back moves records within the table.
TEST_F(checked_reports, every_late_free_is_named) {
    checked<acre::multi_pool> pool{told_of()};
    for (std::size_t round = 0; round < 200; ++round) {
        std::vector<void*> old(1 + round * 7 % 46);
        const std::size_t bytes = 1 + round % 50 * 16;
        for (void*& each : old) each = pool.allocate(bytes);
        pool.reset();
        for (void* each : old) pool.deallocate(each, bytes);
        ASSERT_EQ(all_told.size(), old.size());
        for (const told& each : all_told) ASSERT_EQ(each.what, "freed after a reset had taken it back");
        all_told.clear();
    }
}

TEST_F(checked_reports, a_damaged_fence_is_reported_once) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer ends the program";
    checked<acre::multi_pool> pool{told_of()};
    void* p = pool.allocate(100);
    write(p, 102);
    EXPECT_EQ(pool.check_all(), 1u);
    EXPECT_NE(last().details.find("3 bytes behind its last byte"), std::string::npos) << last().details;
    EXPECT_EQ(pool.check_all(), 0u);
    pool.deallocate(p, 100);
    EXPECT_EQ(all_told.size(), 1u);
}

TEST_F(checked_reports, a_late_write_is_reported_once) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer ends the program";
    // Small ones are compared as words, large ones in a loop; of the last one a part is filled.
    for (const std::size_t bytes : {5u, 20u, 64u, 100u, 1000u}) {
        checked<acre::multi_pool> pool{
            checked_options{.quarantine_allocations = 1, .fill_bytes = 200, .handler = remember}};
        void* p = pool.allocate(bytes);
        pool.deallocate(p, bytes);
        write(p, 3);
        EXPECT_EQ(pool.check_all(), 1u) << bytes;
        EXPECT_EQ(last().what, "an allocation was written to after it was freed");
        EXPECT_NE(last().details.find("was written, 3 bytes from its first byte"), std::string::npos) << last().details;
        EXPECT_EQ(pool.check_all(), 0u);
        write(p, static_cast<std::ptrdiff_t>(bytes));
        pool.deallocate(pool.allocate(bytes), bytes);
        EXPECT_EQ(last().what, "an allocation was written to after it was freed");
        EXPECT_EQ(all_told.size(), 2u) << "it left the quarantine";
        all_told.clear();
    }
}

// checked_ptr.

struct animal {
    int legs = 4;
};

TEST(checked_death, a_checked_ptr_is_not_used_after_its_object) {
    checked<acre::object_pool<animal>> pool{checked_options{.quarantine_allocations = 0}};
    checked_ptr<animal> one{pool, pool.create()};
    checked_ptr<const animal> same = one;
    EXPECT_EQ(one->legs + (*same).legs, 8);
    pool.destroy(one.get());
    EXPECT_DEATH((void)one->legs, "acre::object_pool: used after it was freed");
    EXPECT_DEATH((void)same.get(),
                 "used after it was freed.*\n.*\n.*\n  freed at .*checked_test.cpp.*\n  used at .*checked_test");
    // The same address serves another object.
    animal* other = pool.create();
    for (int i = 0; i < 1000 && !(one == other); ++i) other = pool.create();
    EXPECT_TRUE(one == other);
    EXPECT_DEATH((void)one->legs, "used after it was freed.*\n  its storage has served other allocations since");
    checked_ptr<animal> fresh{pool, other};
    EXPECT_EQ(fresh->legs, 4);
}

TEST(checked_death, a_checked_ptr_is_not_used_after_a_reset_or_the_end) {
    checked<acre::arena> level;
    checked_ptr one{level, level.create<animal>()};
    const std::span<animal> herd = level.create_array<animal>(10);
    checked_ptr inside{level, &herd[3]};
    EXPECT_EQ(inside->legs, 4);
    const auto here = level.mark();
    checked_ptr later{level, level.create<animal>()};
    level.rewind(here);
    EXPECT_EQ(one->legs, 4);
    EXPECT_DEATH((void)later->legs, "acre::arena: used after a rewind had taken it back");
    level.reset();
    EXPECT_DEATH((void)one->legs, "acre::arena: used after a reset had taken it back");
    EXPECT_DEATH((void)inside->legs, "used after a reset had taken it back");
    checked_ptr<animal> survivor;
    {
        checked<acre::arena> brief;
        survivor = checked_ptr{brief, brief.create<animal>()};
        EXPECT_EQ(survivor->legs, 4);
    }
    EXPECT_DEATH((void)survivor->legs, "acre::checked_ptr: used after its resource had ended");
    EXPECT_DEATH((checked_ptr<animal>{level, herd.data()}), "made to what is not a live allocation");
}

TEST(checked, a_checked_ptr_over_another_resource_is_a_pointer) {
    acre::arena level;
    checked_ptr one{level, level.create<animal>()};
    EXPECT_EQ(one->legs, 4);
    checked_ptr<animal> none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get(), nullptr);
    none = one;
    EXPECT_TRUE(none == one);
}

TEST(checked_death, a_checked_ptr_over_a_wrapper_or_a_scratch_is_checked) {
    acre::statistics<checked<acre::object_pool<animal>>> counted;
    checked_ptr one{counted, counted.create()};
    EXPECT_EQ(one->legs, 4);
    counted.destroy(one.get());
    EXPECT_DEATH((void)one->legs, "acre::object_pool: used after it was freed");
    acre::limited<acre::statistics<checked<acre::arena>>> bounded{{.limit_bytes = 1000}};
    one = checked_ptr{bounded, bounded.create<animal>()};
    bounded.reset();
    EXPECT_DEATH((void)one->legs, "acre::arena: used after a reset");
    checked<acre::arena> level;
    checked_scratch temp{level};
    one = checked_ptr{temp, temp.create<animal>()};
    temp.end();
    EXPECT_DEATH((void)one->legs, "acre::arena: used after a rewind");
}

TEST(checked, a_checked_ptr_follows_a_resource_that_moves) {
    checked<acre::object_pool<animal>> first;
    checked_ptr one{first, first.create()};
    checked<acre::object_pool<animal>> second{std::move(first)};
    EXPECT_EQ(one->legs, 4);
    second.destroy(one.get());
    EXPECT_EQ(second.live(), 0u);
    first = std::move(second);
    first.create();
    EXPECT_EQ(first.live(), 1u);
}

// What it wraps keeps its interface and its promises.

TEST(checked, objects_of_an_arena_are_destroyed_newest_first) {
    static std::string order;
    struct letter {
        explicit letter(char shown) : c(shown) {}
        letter() = default;
        ~letter() { order += c; }
        char c = '.';
    };
    order.clear();
    checked<acre::arena> level;
    level.create<letter>('a');
    const auto here = level.mark();
    level.create<letter>('b');
    for (letter& each : level.create_array<letter>(2)) each.c = '#';
    level.rewind(here);
    EXPECT_EQ(order, "##b");
    {
        checked_scratch temp{level};
        temp.create<letter>('t');
    }
    EXPECT_EQ(order, "##bt");
    level.create<letter>('c');
    level.reset();
    EXPECT_EQ(order, "##btca");
}

TEST(checked, the_live_objects_of_a_pool_are_iterated) {
    checked<acre::object_pool<int>> pool;
    int* one = pool.create(1);
    int* two = pool.create(2);
    pool.create(4);
    pool.destroy(two);
    int sum = 0;
    for (int& each : pool) sum += each;
    EXPECT_EQ(sum, 5);
    EXPECT_TRUE(pool.owns(one));
    pool.reset();
    EXPECT_EQ(pool.begin(), pool.end());
}

struct paired {
    ~paired() {
        if (partner != nullptr) destroy(std::exchange(partner, nullptr));
    }
    void (*destroy)(paired*) = nullptr;
    paired* partner = nullptr;
};
checked<acre::object_pool<paired>>* pairs = nullptr;
void destroy_pair(paired* one) {
    pairs->destroy(one);
}

TEST(checked, destructors_may_destroy_other_objects_of_the_pool) {
    checked<acre::object_pool<paired>> pool;
    pairs = &pool;
    for (int i = 0; i < 1000; ++i) {
        // The second destroys one that was made before it, the third one that is made after it.
        paired* first = pool.create(destroy_pair);
        pool.create(destroy_pair, first);
        paired* third = pool.create(destroy_pair);
        third->partner = pool.create(destroy_pair);
    }
    pool.reset();
    EXPECT_EQ(pool.live(), 0u);
}

TEST(checked, containers_and_adapters_work_over_it) {
    checked<acre::arena> level;
    {
        std::vector<int, acre::allocator<int, checked<acre::arena>>> numbers{level};
        for (int i = 0; i < 1000; ++i) numbers.push_back(i);
        std::list<int, acre::allocator<int, checked<acre::arena>>> listed{numbers.begin(), numbers.end(), level};
        acre::arena_vector<int, checked<acre::arena>> own{level};
        for (int i = 0; i < 1000; ++i) own.push_back(i);
        EXPECT_EQ(own.back(), 999);
    }
    EXPECT_EQ(level.check_all(), 0u);
    EXPECT_EQ(level.copy("Ugluk"), "Ugluk");
    EXPECT_EQ(level.format("%d orcs", 12), "12 orcs");
    acre::pmr<checked<acre::multi_pool>> face;
    {
        std::pmr::vector<std::pmr::string> texts{&face};
        for (int i = 0; i < 100; ++i) texts.emplace_back("a text that is too long for the string itself");
    }
    EXPECT_EQ(face->live(), 0u);
    checked<acre::object_pool<std::string>> names;
    auto owned = acre::make_unique<std::string>(names, "URG");
    checked<acre::multi_pool> pool;
    auto shared = acre::make_shared<std::string>(pool, "URG");
    auto several = acre::make_unique<std::string[]>(pool, 12);
}

TEST(checked, what_is_held_back_serves_a_request_that_would_fail) {
    checked<acre::multi_arena> frames{{.arenas = 2, .bytes = 1024}};
    for (int i = 0; i < 100; ++i) frames.deallocate(frames.allocate(800), 800);
    EXPECT_LE(frames.quarantined(), 2u);
}

TEST(checked, records_forget_what_is_long_gone) {
    checking_upstream own;
    checked<acre::heap> heap{checked_options{.quarantine_allocations = 8, .records = own}};
    for (int i = 0; i < 5000; ++i)
        heap.deallocate(heap.allocate(static_cast<std::size_t>(i)), static_cast<std::size_t>(i));
    EXPECT_LT(own.peak_bytes(), 64'000u) << "5,000 records take five times that";
}

// Threads.

TEST(checked, threads_share_a_checked_concurrent_pool) {
    checked<acre::concurrent_pool<64>> slots{checked_options{.quarantine_allocations = 4}};
    const auto work = [&] {
        std::vector<void*> mine;
        for (int i = 0; i < 3000; ++i) {
            mine.push_back(slots.allocate());
            if (mine.size() < 20) continue;
            for (void* each : mine) slots.deallocate(each);
            mine.clear();
        }
        for (void* each : mine) slots.deallocate(each);
    };
    std::thread other{work};
    work();
    other.join();
    EXPECT_EQ(slots.live(), 0u);
    EXPECT_EQ(slots.check_all(), 0u);
    void* p = slots.allocate();
    EXPECT_DEATH((slots.deallocate(p), slots.deallocate(p)), "acre::concurrent_pool: double free");
    slots.deallocate(p);
}

// Each child would wait for the lock of the records, where another thread held it at the fork.
TEST(checked_fork, the_child_goes_on) {
    if (!heap_survives_forks) GTEST_SKIP() << "the sanitizer's heap does not survive a fork beside threads";
    checked<acre::concurrent_multi_pool> tested;
    const auto work = [&] { tested.deallocate(tested.allocate(30), 30); };
    const busy_threads others{2, work};
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(in_child([&] { return work(), tested.check_all() == 0 ? 0 : 1; }), 0) << i;
    }
}

checked<acre::concurrent_pool<64>>* forked_by_a_handler = nullptr;

// A handler runs under the lock of the records; a process that it starts may be a debugger.
TEST(checked_fork, a_handler_may_fork) {
    static int status = -1;
    checked<acre::concurrent_pool<64>> slots{checked_options{.handler = [](const acre::misuse&) {
        status = in_child([] { return forked_by_a_handler->deallocate(forked_by_a_handler->allocate()), 0; });
    }}};
    forked_by_a_handler = &slots;
    void* p = slots.allocate();
    slots.deallocate(p);
    slots.deallocate(p);
    EXPECT_EQ(status, 0);
    slots.deallocate(slots.allocate());
    EXPECT_EQ(slots.live(), 0u);
}

// Injected failures.

struct throws_at {
    explicit throws_at(int at) {
        if (at == 0) throw std::runtime_error{"as asked"};
    }
    ~throws_at() { text.clear(); }
    std::string text = "long enough to be allocated on the heap by a string";
};

TEST(checked, throwing_constructors_leak_nothing) {
    checking_upstream upstream;
    checking_upstream own;
    checked<acre::object_pool<throws_at>> pool{checked_options{.leaks = acre::leak_rule::report, .records = own},
                                               upstream};
    EXPECT_THROW(pool.create(0), std::runtime_error);
    pool.destroy(pool.create(1));
    EXPECT_EQ(pool.live(), 0u);
    checked<acre::arena> level{checked_options{.records = own}, upstream};
    EXPECT_THROW(level.create<throws_at>(0), std::runtime_error);
    level.create<throws_at>(1);
    static int made;
    made = 0;
    struct third_throws : throws_at {
        third_throws() : throws_at(++made == 3 ? 0 : 1) {}
    };
    EXPECT_THROW(level.create_array<third_throws>(5), std::runtime_error);
    EXPECT_EQ(level.create_array<third_throws>(5).size(), 5u);
}

throws_at* create_one(checked<acre::arena>& in) {
    return in.create<throws_at>(1);
}
throws_at* create_one(checked<acre::object_pool<throws_at>>& in) {
    return in.create(1);
}

// Each call of the upstream and of the records' upstream fails in turn.
template <class Make>
void expect_works_after_each_failure(Make make) {
    for (std::size_t n = 1;; ++n) {
        checking_upstream upstream;
        checking_upstream own;
        (n % 2 == 0 ? upstream : own).fail_at((n + 1) / 2);
        {
            auto tested = make(checked_options{.quarantine_allocations = 4, .records = own}, upstream);
            std::size_t refused = 0;
            for (int i = 0; i < 200; ++i) {
                try {
                    throws_at* one = create_one(*tested);
                    EXPECT_EQ(one->text.size(), 51u);
                } catch (const acre::allocation_error&) {
                    ++refused;
                }
                if (void* p = tested->try_allocate(50)) {
                    std::memset(p, 1, 50);
                    tested->deallocate(p, 50);
                } else {
                    ++refused;
                }
                if (i == 120) tested->reset();
            }
            EXPECT_EQ(tested->check_all(), 0u);
            EXPECT_LE(refused, 1u);
        }
        if (upstream.failures() + own.failures() == 0 && n > 2) break;
    }
}

TEST(checked, failing_upstreams_lose_nothing) {
    expect_works_after_each_failure([](const checked_options& options, checking_upstream& upstream) {
        return std::make_unique<checked<acre::arena>>(options, upstream);
    });
    expect_works_after_each_failure([](const checked_options& options, checking_upstream& upstream) {
        return std::make_unique<checked<acre::object_pool<throws_at>>>(options, upstream);
    });
}

TEST(checked, options_out_of_range_are_refused) {
    EXPECT_THROW((checked<acre::heap>{checked_options{.quarantine_allocations = 100'000}}), acre::bad_option);
    EXPECT_THROW((checked<acre::heap>{checked_options{.stack_frames = 17}}), acre::bad_option);
}

}  // namespace
}  // namespace acre_test
