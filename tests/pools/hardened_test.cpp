// acre::hardened_pool, acre::hardened_object_pool and acre::hardened_multi_pool.
#include <gtest/gtest.h>

#include <acre/adapt/allocator.hpp>
#include <acre/core/error.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/refusal.hpp"
#include "memory/limits.hpp"

namespace {

using namespace acre::literals;

constexpr const char* no_access = "";  // a death by a signal; a sanitizer prints more

struct session {
    int key;
    std::string user;
};

TEST(hardened_pool, example) {
    acre::hardened_pool<64> slots;
    void* p = slots.allocate();
    EXPECT_TRUE(acre::is_aligned(p, 16));
    slots.deallocate(p);
}

TEST(hardened_object_pool, example) {
    acre::hardened_object_pool<session> sessions;
    session* made = sessions.create(1, "a user whose name is too long to lie in the string");
    sessions.destroy(made);
    sessions.create(2, "another one, destroyed by the end of the pool, which no leak shows");
}

TEST(hardened_multi_pool, example) {
    acre::hardened_multi_pool texts;
    std::vector<char, acre::allocator<char, acre::hardened_multi_pool>> key{texts};
    for (int i = 0; i < 20'000; ++i) key.push_back('k');
    EXPECT_EQ(std::count(key.begin(), key.end(), 'k'), 20'000);
}

// The offsets from the first of the next 64 slots.
std::vector<std::ptrdiff_t> order(acre::hardened_pool<64>& tested) {
    std::vector<std::ptrdiff_t> offsets;
    auto* first = static_cast<char*>(tested.allocate());
    for (int i = 0; i < 63; ++i) offsets.push_back(static_cast<char*>(tested.allocate()) - first);
    return offsets;
}

TEST(hardened_pool, another_order_each_time) {
    acre::hardened_pool<64> one;
    acre::hardened_pool<64> other;
    const auto of_one = order(one);
    EXPECT_NE(of_one, order(other));
    EXPECT_FALSE(std::is_sorted(of_one.begin(), of_one.end()));
    EXPECT_EQ(std::set<std::ptrdiff_t>(of_one.begin(), of_one.end()).size(), 63u);
}

TEST(hardened_pool, the_same_order_with_the_same_seed) {
    acre::hardened_pool<64> one{{.seed = 7}};
    acre::hardened_pool<64> same{{.seed = 7}};
    acre::hardened_pool<64> other{{.seed = 8}};
    const auto expected = order(one);
    EXPECT_EQ(order(same), expected);
    EXPECT_NE(order(other), expected);
}

// Slots freed are handed out again in an order of their own, too.
TEST(hardened_pool, freed_slots_come_back_in_random_order) {
    acre::hardened_pool<64> tested{{.quarantine_slots = 0}};
    std::vector<void*> slots(acre::poisoning ? 51 : 64);  // all of the first slab
    for (void*& each : slots) each = tested.allocate();
    const std::set<void*> all(slots.begin(), slots.end());
    for (void* each : slots) tested.deallocate(each);
    std::vector<void*> again(slots.size());
    for (void*& each : again) each = tested.allocate();
    EXPECT_EQ(std::set<void*>(again.begin(), again.end()), all);
    EXPECT_NE(again, slots);
    std::reverse(again.begin(), again.end());
    EXPECT_NE(again, slots);
}

TEST(hardened_pool, an_overflow_out_of_a_slab_ends_the_program) {
    acre::hardened_pool<96> tested;  // sizes that do not divide a page
    std::vector<char*> slots(3000);
    for (char*& each : slots) std::memset(each = static_cast<char*>(tested.allocate()), 1, 96);
    std::sort(slots.begin(), slots.end());
    int ends = 0;
    const int expected = acre::poisoning ? 1 : 3;  // a sanitized process is slow to fork
    for (std::size_t i = 0; i + 1 < slots.size() && ends < expected; ++i) {
        if (slots[i + 1] - slots[i] < 4096) continue;
        ++ends;
        volatile char* last = slots[i];
        EXPECT_DEATH(last[96] = 1, no_access) << "the last slot ends where the guard page begins";
        volatile char* next = slots[i + 1];
        EXPECT_DEATH(next[-4096] = 1, no_access);
    }
    EXPECT_EQ(ends, expected);
}

TEST(hardened_pool, a_freed_slot_waits_for_its_turn) {
    constexpr std::size_t turns = 100;
    acre::hardened_pool<32> tested{{.quarantine_slots = turns}};
    void* freed = tested.allocate();
    std::vector<void*> others(1000);
    for (void*& each : others) each = tested.allocate();
    tested.deallocate(freed);
    for (std::size_t i = 0; i + 1 < turns; ++i) {
        tested.deallocate(others.back());
        others.pop_back();
        for (int k = 0; k < 50; ++k) EXPECT_NE(tested.allocate(), freed);
    }
}

TEST(hardened_pool, misuse_is_reported) {
    acre::hardened_pool<64> tested;
    acre::hardened_pool<64> other;
    auto* p = static_cast<char*>(tested.allocate());
    auto* q = static_cast<char*>(tested.allocate());
    void* foreign = other.allocate();
    int elsewhere = 0;
    EXPECT_DEATH(tested.deallocate(p + 8), "acre::hardened_pool: a pointer into the middle of a slot");
    EXPECT_DEATH(tested.deallocate(p + 1), "acre::hardened_pool: a pointer into the middle of a slot");
    EXPECT_DEATH(tested.deallocate(foreign), "acre::hardened_pool: a pointer of another resource");
    EXPECT_DEATH(tested.deallocate(&elsewhere), "acre::hardened_pool: a pointer of another resource");
    EXPECT_DEATH(tested.deallocate(reinterpret_cast<void*>(8)), "acre::hardened_pool: a pointer of another resource");
    EXPECT_DEATH(tested.deallocate(p, 100'000), "freed with another size");
    tested.deallocate(p);
    EXPECT_DEATH(tested.deallocate(p), "acre::hardened_pool: double free");
    tested.deallocate(q);
    EXPECT_DEATH(tested.deallocate(p), "acre::hardened_pool: double free");
    tested.release();
    EXPECT_DEATH(tested.deallocate(p), "acre::hardened_pool: a pointer was freed that is no slot of this pool");
}

// Hazard Y1: with frees of others between.
TEST(hardened_pool, a_double_free_is_reported_after_the_quarantine) {
    acre::hardened_pool<64> tested{{.quarantine_slots = 2}};
    std::vector<void*> slots(20);
    for (void*& each : slots) each = tested.allocate();
    for (void* each : slots) tested.deallocate(each);
    EXPECT_DEATH(tested.deallocate(slots[0]), "acre::hardened_pool: double free");
    EXPECT_DEATH(tested.deallocate(slots[19]), "acre::hardened_pool: double free");
}

// A slab is looked up in a table, which begins with a page.
TEST(hardened_pool, the_table_of_slabs_grows) {
    if (sizeof(void*) < 8) GTEST_SKIP() << "too few addresses";
    acre::hardened_pool<32_KiB> tested{{.quarantine_slots = 0, .check_writes = false}};
    std::vector<void*> slots(6000);
    for (void*& each : slots) each = tested.allocate();
    for (void* each : slots) tested.deallocate(each);
    EXPECT_EQ(tested.live(), 0u);
    EXPECT_DEATH(tested.deallocate(slots[0]), "acre::hardened_pool: double free");
    EXPECT_DEATH(tested.deallocate(slots.back()), "acre::hardened_pool: double free");
}

TEST(hardened_multi_pool, misuse_is_reported) {
    acre::hardened_multi_pool tested;
    auto* p = static_cast<char*>(tested.allocate(100));
    void* large = tested.allocate(20'000);
    EXPECT_DEATH(tested.deallocate(p, 24), "acre::hardened_multi_pool: freed with another size");
    EXPECT_DEATH(tested.deallocate(p, 20'000), "acre::hardened_multi_pool: freed with another size");
    EXPECT_DEATH(tested.deallocate(large, 100), "acre::hardened_multi_pool: a pointer was freed that is no slot");
    EXPECT_DEATH(tested.deallocate(large, 100'000), "freed with another size");
    EXPECT_DEATH(tested.deallocate(p + 16, 100), "acre::hardened_multi_pool: a pointer into the middle");
    tested.deallocate(large, 20'000);
    EXPECT_DEATH(tested.deallocate(large, 20'000), "acre::hardened_multi_pool: double free");
    tested.deallocate(p, 100);
    EXPECT_DEATH(tested.deallocate(p, 100), "acre::hardened_multi_pool: double free");
}

TEST(hardened_multi_pool, large_requests_lie_between_guard_pages) {
    acre::hardened_multi_pool tested;
    auto* p = static_cast<volatile char*>(tested.allocate(16'384));
    p[16'383] = 1;
    EXPECT_DEATH(p[16'384] = 1, no_access);
    EXPECT_DEATH(p[-1] = 1, no_access);
}

TEST(hardened_slabs, an_overwritten_header_is_reported) {
    acre::detail::hardened_slabs<1> tested{"tested", {.quarantine_slots = 1}};
    void* p = tested.take(0, 64, 64, "tested");
    void* q = tested.take(0, 64, 64, "tested");
    auto* header = static_cast<std::uint64_t*>(tested.header_of(p));
    ASSERT_EQ(tested.header_of(q), header);
    EXPECT_GT(std::abs(reinterpret_cast<char*>(header) - static_cast<char*>(p)), 4096) << "it lies apart";
    tested.give_back(0, 64, "tested", p);
    ++*header;
    EXPECT_DEATH(tested.give_back(0, 64, "tested", q), "tested: the header of a slab was overwritten");
    --*header;
    tested.give_back(0, 64, "tested", q);
}

// A header copied from another slab, or from another run, does not fit its address.
TEST(hardened_slabs, a_copied_header_is_reported) {
    acre::detail::hardened_slabs<1> one{"one", {}};
    acre::detail::hardened_slabs<1> other{"other", {}};
    void* p = one.take(0, 64, 64, "one");
    void* q = other.take(0, 64, 64, "other");
    EXPECT_DEATH(
        {
            std::memcpy(one.header_of(p), other.header_of(q), 64);
            one.give_back(0, 64, "one", p);
        },
        "one: the header of a slab was overwritten");
    one.give_back(0, 64, "one", p);
    other.give_back(0, 64, "other", q);
}

TEST(hardened_slabs, headers_lie_between_guard_pages) {
    acre::detail::hardened_slabs<1> tested{"tested", {}};
    void* p = tested.take(0, 64, 64, "tested");
    auto* header = static_cast<volatile char*>(tested.header_of(p));
    EXPECT_DEATH(header[-1] = 1, no_access);
    tested.give_back(0, 64, "tested", p);
}

const char* const written_after_free = acre::poisoning ? "use-after-poison" : "a free slot was written to";

TEST(hardened_pool, a_write_to_a_freed_slot_is_reported_when_it_leaves_the_quarantine) {
    acre::hardened_pool<64> tested{{.quarantine_slots = 4}};
    std::vector<char*> slots(5);
    for (char*& each : slots) each = static_cast<char*>(tested.allocate());
    tested.deallocate(slots[0]);
    EXPECT_DEATH(
        {
            static_cast<volatile char*>(slots[0])[63] = 1;
            for (int i = 1; i < 5; ++i) tested.deallocate(slots[static_cast<std::size_t>(i)]);
        },
        written_after_free);
}

TEST(hardened_pool, a_write_to_a_freed_slot_is_reported_when_it_is_handed_out_again) {
    acre::hardened_pool<4096> tested{{.quarantine_slots = 0}};
    void* p = tested.allocate();
    tested.deallocate(p);
    EXPECT_DEATH(
        {
            static_cast<volatile char*>(p)[2000] = 1;
            for (int i = 0; i < 4; ++i) (void)tested.allocate();
        },
        written_after_free);
}

TEST(hardened_pool, a_write_to_a_freed_slot_is_reported_at_the_end) {
    EXPECT_DEATH(
        {
            acre::hardened_pool<64> tested;
            void* p = tested.allocate();
            tested.deallocate(p);
            static_cast<volatile char*>(p)[0] = 1;
        },
        written_after_free);
}

TEST(hardened_pool, a_write_to_a_freed_slot_is_reported_where_the_pool_takes_all_back) {
    const auto write_before = [](auto take_back) {
        acre::hardened_pool<64> tested;
        void* p = tested.allocate();
        tested.deallocate(p);
        static_cast<volatile char*>(p)[63] = 1;
        take_back(tested);
        std::exit(0);
    };
    EXPECT_DEATH(write_before([](auto& tested) { tested.reset(); }), written_after_free);
    EXPECT_DEATH(write_before([](auto& tested) { tested.release(); }), written_after_free);
    EXPECT_DEATH(write_before([](auto& tested) { tested.release_unused(); }), written_after_free);
}

// The slot has left the quarantine, and its slab goes back to the system.
TEST(hardened_multi_pool, a_write_to_a_freed_slot_is_reported_where_its_slab_is_given_back) {
    const auto write_before = [](auto take_back) {
        acre::hardened_multi_pool tested{{.quarantine_slots = 0}};
        void* p = tested.allocate(64);
        tested.deallocate(p, 64);
        static_cast<volatile char*>(p)[0] = 1;
        take_back(tested);
        std::exit(0);
    };
    EXPECT_DEATH(write_before([](auto& tested) { tested.reset(); }), written_after_free);
    EXPECT_DEATH(write_before([](auto& tested) { tested.release(); }), written_after_free);
    EXPECT_DEATH(write_before([](auto& tested) { tested.release_unused(); }), written_after_free);
}

// An overflow or underflow by one from the only slot that was handed out.
TEST(hardened_pool, a_write_to_a_slot_that_was_never_handed_out_is_reported) {
    const auto write_beside = [](acre::hardened_pool<64>& tested) {
        auto* const p = static_cast<volatile char*>(tested.allocate());
        const bool first_of_the_slab = reinterpret_cast<std::uintptr_t>(p) % 4096 == 0;
        p[first_of_the_slab ? 64 : -1] = 1;
    };
    const auto until_it_is_handed_out = [&] {
        acre::hardened_pool<64> tested;
        write_beside(tested);
        for (int i = 0; i < 64; ++i) (void)tested.allocate();
        std::exit(0);
    };
    EXPECT_DEATH(until_it_is_handed_out(), written_after_free);
    const auto until_the_end = [&] {
        acre::hardened_pool<64> tested;
        write_beside(tested);
    };
    EXPECT_DEATH(until_the_end(), written_after_free);
}

TEST(hardened_pool, freed_slots_are_not_filled_where_that_is_switched_off) {
    if (acre::poisoning) GTEST_SKIP() << "freed storage must not be read";
    acre::hardened_pool<64> tested{{.check_writes = false}};
    auto* p = static_cast<volatile char*>(tested.allocate());
    p[0] = 7;
    tested.deallocate(const_cast<char*>(p));
    EXPECT_EQ(p[0], 7);
    p[0] = 8;
}

TEST(hardened_pool, options_out_of_range_are_refused) {
#if defined(__cpp_exceptions)
    EXPECT_THROW(acre::hardened_pool<64>({.quarantine_slots = 2'000'000}), acre::bad_option);
#endif
}

#if defined(__cpp_exceptions)
TEST(hardened_pool, says_what_an_alignment_takes) {
    acre::hardened_multi_pool tested{{.reserve_bytes = 16_MiB}};
    std::string sentence;
    EXPECT_EQ(acre_test::outcome_of([&] { return tested.allocate(10, 32_MiB); }, &sentence),
              acre_test::outcome::request_too_large);
    EXPECT_NE(
        sentence.find("acre::hardened_multi_pool: request too large: 10 bytes aligned to 33554432 were asked for"),
        std::string::npos)
        << sentence;
}

// The range of addresses is what refuses.
TEST(hardened_pool, errors_of_construction_have_its_name) {
    const auto name_of_error = [](std::size_t reserve_bytes) -> std::string {
        try {
            acre::hardened_multi_pool tested{{.reserve_bytes = reserve_bytes}};
        } catch (const acre::allocation_error& error) {
            return error.resource();
        }
        return "no error";
    };
    EXPECT_EQ(name_of_error(SIZE_MAX), acre::hardened_multi_pool::name) << "bad_option";
    if (sizeof(void*) < 8) GTEST_SKIP() << "a system of 32 bits may have so many addresses";
    EXPECT_EQ(name_of_error(SIZE_MAX / 16), acre::hardened_multi_pool::name) << "system_refused";
}
#endif

TEST(hardened_pool, takes_no_memory_before_the_first_allocation_and_gives_all_back) {
    acre::hardened_pool<64> tested;
    EXPECT_EQ(tested.capacity(), 0u);
    std::vector<void*> slots(10'000);
    for (void*& each : slots) each = tested.allocate();
    EXPECT_EQ(tested.live(), 10'000u);
    EXPECT_GE(tested.used(), 640'000u);
    const std::size_t full = tested.capacity();
    void* kept = slots.back();
    slots.pop_back();
    for (void* each : slots) tested.deallocate(each);
    EXPECT_GT(tested.release_unused(), 256_KiB);
    EXPECT_LT(tested.capacity(), full);
    EXPECT_EQ(tested.live(), 1u);
    tested.deallocate(kept);
    for (void*& each : slots) each = tested.allocate();
    EXPECT_EQ(std::set<void*>(slots.begin(), slots.end()).size(), slots.size());
    tested.release();
    EXPECT_EQ(tested.capacity(), 0u);
    EXPECT_EQ(tested.live(), 0u);
}

#if defined(__linux__)
// Each page that it asks for is refused once: nothing changed, and it works afterwards.
TEST(hardened_multi_pool, every_request_of_the_system_may_fail) {
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer's own memory counts against the limit";
    const auto use = [](acre::hardened_multi_pool& tested) {
        constexpr std::size_t sizes[] = {8, 64, 1000, 8192, 20'000};
        void* slots[200] = {};
        std::size_t count = 0;
        for (; count < 200; ++count) {
            const std::size_t bytes = sizes[count % 5];
            slots[count] = tested.try_allocate(bytes);
            if (slots[count] == nullptr) break;
            std::memset(slots[count], 1, bytes);
        }
        const bool served = count == 200 && tested.live() == 200;
        while (count > 0) {
            --count;
            tested.deallocate(slots[count], sizes[count % 5]);
        }
        return served;
    };
    EXPECT_EQ(acre_test::with_more_pages_each_time<acre::hardened_multi_pool>(acre::hardened_options{}, use), 0);
}
#endif

TEST(hardened_object_pool, objects_destroy_each_other_at_the_end) {
    static int destroyed;
    destroyed = 0;
    struct node {
        acre::hardened_object_pool<node>* home;
        node* next;
        ~node() {
            ++destroyed;
            if (next != nullptr) home->destroy(next);
        }
    };
    {
        acre::hardened_object_pool<node> tested;
        node* last = tested.create(&tested, nullptr);
        node* first = tested.create(&tested, last);
        EXPECT_DEATH(
            {
                tested.destroy(last);
                tested.destroy(first);
            },
            "acre::hardened_object_pool: double free");
    }
    EXPECT_EQ(destroyed, 2);
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
// Hazard Y5.
TEST(hardened_pool, overflow_by_one_is_reported) {
    acre::hardened_pool<64> slots;
    acre::hardened_multi_pool sizes;
    auto* p = static_cast<volatile char*>(slots.allocate());
    EXPECT_DEATH(p[64] = 1, "use-after-poison");
    for (const std::size_t bytes : {8u, 60u, 64u, 1000u, 20'000u}) {
        auto* q = static_cast<volatile char*>(sizes.allocate(bytes));
        EXPECT_DEATH(q[bytes] = 1, "use-after-poison");
    }
}
#endif

}  // namespace
