// Every build reports misuse of pools; AddressSanitizer also reports use after free.
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace {

// Hazards M8, N3, P2.
// Hazards M8, P2, N3.
TEST(pool_misuse, double_free_in_the_current_word) {
    acre::pool<64> tested;
    void* p = tested.allocate();
    tested.deallocate(p);
    EXPECT_DEATH(tested.deallocate(p), "acre::pool: double free");
}

// Hazard M8.
TEST(pool_misuse, double_free_anywhere) {
    acre::pool<64> tested;
    std::vector<void*> slots(2000);
    for (auto& each : slots) each = tested.allocate();
    for (const std::size_t each : {0u, 1u, 63u, 64u, 500u, 1999u}) {
        tested.deallocate(slots[each]);
        EXPECT_DEATH(tested.deallocate(slots[each]), "double free") << each;
    }
}

// Hazard M8.
TEST(pool_misuse, double_destroy) {
    acre::object_pool<int> tested;
    int* p = tested.create(1);
    tested.destroy(p);
    EXPECT_DEATH(tested.destroy(p), "double free");
}

// Misuse must be reported before the destructor runs: it would free the string's storage a second time.
// Hazard M8.
TEST(pool_misuse, double_destroy_runs_no_destructor) {
    acre::object_pool<std::string> tested;
    std::string* p = tested.create("a text that is too long to lie in the string itself");
    tested.destroy(p);
    EXPECT_DEATH(tested.destroy(p), "acre::object_pool: double free");
    acre::object_pool<std::string> other;
    std::string* q = other.create("another text that is too long to lie in the string itself");
    EXPECT_DEATH(tested.destroy(q), "acre::object_pool: a pointer of another resource");
}

// Hazards M8, C6.
TEST(pool_misuse, of_large_blocks) {
    acre::multi_pool tested;
    acre::multi_pool other;
    void* large = tested.allocate(100'000);
    void* next = tested.allocate(200'000);
    EXPECT_DEATH(tested.deallocate(large, 90'000), "freed with another size");
    EXPECT_DEATH(other.deallocate(large, 100'000), "another resource");
    void* small = tested.allocate(100);
    // The bytes in front of a slot may be poisoned; then AddressSanitizer reports first.
    EXPECT_DEATH(tested.deallocate(small, 100'000), "acre::multi_pool: freed with another size");
    tested.deallocate(large, 100'000);
    tested.deallocate(next, 200'000);
    EXPECT_EQ(tested.live(), 1u);
}

// Hazards P2, C6, M16.
TEST(pool_misuse, a_pointer_of_another_pool) {
    acre::pool<64> one;
    acre::pool<64> other;
    void* p = one.allocate();
    (void)other.allocate();
    EXPECT_DEATH(other.deallocate(p), "acre::pool: a pointer of another resource was freed");
}

// Hazard P2.
TEST(pool_misuse, a_pointer_given_to_the_pool_that_was_moved_from) {
    acre::pool<64> one;
    void* p = one.allocate();
    acre::pool<64> other{std::move(one)};
    EXPECT_DEATH(one.deallocate(p), "another resource");
    other.deallocate(p);
}

// Hazards M8, C6.
TEST(pool_misuse, of_a_multi_pool) {
    acre::multi_pool one;
    acre::multi_pool other;
    void* p = one.allocate(100);
    (void)other.allocate(100);
    EXPECT_DEATH(other.deallocate(p, 100), "acre::multi_pool: a pointer of another resource");
    one.deallocate(p, 100);
    EXPECT_DEATH(one.deallocate(p, 100), "acre::multi_pool: double free");
}

// Hazards B4, N2, M15: a size that is not the one allocated finds no slab of its class there.
// Hazards B4, M15, N2.
TEST(pool_misuse, another_size_of_a_multi_pool) {
    acre::multi_pool tested;
    void* p = tested.allocate(100);
    (void)tested.allocate(24);
    EXPECT_DEATH(tested.deallocate(p, 24), "acre::multi_pool");
}

#if defined(ACRE_HAS_ADDRESS_SANITIZER)

constexpr const char* report = "use-after-poison";

void touch(const void* p) {
    (void)*static_cast<const volatile char*>(p);
}

// Hazard X11.
TEST(pool_poison, freed_slots) {
    acre::pool<64> slots;
    void* p = slots.allocate();
    touch(p);
    slots.deallocate(p);
    EXPECT_DEATH(touch(p), report);

    acre::object_pool<std::vector<int>> objects;
    auto* object = objects.create(10u);
    objects.destroy(object);
    EXPECT_DEATH(touch(object), report);

    acre::multi_pool sizes;
    void* q = sizes.allocate(100);
    sizes.deallocate(q, 100);
    EXPECT_DEATH(touch(q), report);
}

// Hazard X11.
TEST(pool_poison, slots_never_handed_out) {
    acre::pool<64> slots;
    void* p = slots.allocate();
    // The header may lie anywhere but there.
    constexpr auto geometry = acre::pool<64>::geometry;
    const std::uintptr_t end = geometry.slab_start(reinterpret_cast<std::uintptr_t>(p)) + geometry.first_slab_bytes;
    EXPECT_DEATH(touch(reinterpret_cast<char*>(end - 1)), report);
}

// Hazard X11.
TEST(pool_poison, after_reset) {
    acre::pool<64> slots;
    void* p = slots.allocate();
    slots.reset();
    EXPECT_DEATH(touch(p), report);
    acre::object_pool<int> objects;
    int* object = objects.create(1);
    objects.reset();
    EXPECT_DEATH(touch(object), report);
}

// Hazard X11.
TEST(pool_poison, small_slots_of_one_granule) {
    acre::pool<1> slots;
    auto* p = static_cast<char*>(slots.allocate());
    auto* q = static_cast<char*>(slots.allocate());
    slots.deallocate(p);
    touch(q);
    EXPECT_DEATH(touch(p), report);
}

#endif

}  // namespace
