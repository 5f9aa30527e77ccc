// Double frees in pools that threads share, which mark the slots in their magazines: slots of each size, slots that
// were never handed out, and a mark that the program wrote over.
#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr const char* double_free = "acre::[a-z_]+: double free";

template <std::size_t Bytes, std::size_t Align = 1>
struct slots {
    static constexpr std::size_t bytes = Bytes;
    using pool_type = acre::concurrent_pool<Bytes, Align>;
};

template <class Slots>
class free_mark : public testing::Test {
protected:
    typename Slots::pool_type pool;
};
using slots_of_each_size = testing::Types<slots<1>, slots<8, 8>, slots<9>, slots<15>, slots<16>, slots<17>,
                                          slots<24, 8>, slots<100, 4>, slots<5000>>;
TYPED_TEST_SUITE(free_mark, slots_of_each_size);

TYPED_TEST(free_mark, finds_double_frees_in_slots_of_each_size) {
    void* a = this->pool.allocate();
    void* b = this->pool.allocate();
    this->pool.deallocate(a);
    this->pool.deallocate(b);
    EXPECT_DEATH(this->pool.deallocate(a), double_free);
    EXPECT_DEATH(this->pool.deallocate(b), double_free);
}

// Of 8 bytes the mark is all.
TYPED_TEST(free_mark, leaves_what_the_program_writes_alone) {
    constexpr std::size_t bytes = std::min<std::size_t>(TypeParam::bytes, 24);
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> all(300);
        for (void*& each : all) {
            each = this->pool.allocate();
            std::memset(each, static_cast<int>(&each - all.data()), bytes);
        }
        for (void*& each : all) {
            const auto* stored = static_cast<const unsigned char*>(each);
            const auto written = static_cast<unsigned char>(&each - all.data());
            EXPECT_TRUE(std::all_of(stored, stored + bytes, [=](unsigned char byte) { return byte == written; }));
            this->pool.deallocate(each);
        }
    }
}

// The first byte that a free compares is that of a mark.
TYPED_TEST(free_mark, each_byte_may_be_any) {
    void* p = this->pool.allocate();
    constexpr std::size_t bytes = std::min<std::size_t>(TypeParam::bytes, 16);
    for (int value = 0; value < 256; ++value) {
        std::memset(p, value, bytes);
        this->pool.deallocate(p);
        if (value % 64 == 0) {
            EXPECT_DEATH(this->pool.deallocate(p), double_free);
        }
        p = this->pool.allocate();
    }
    this->pool.deallocate(p);
}

// It lies in a magazine with the slots that were handed out.
TYPED_TEST(free_mark, finds_frees_of_slots_that_were_never_handed_out) {
    auto* first = static_cast<std::byte*>(this->pool.allocate());
    auto* second = static_cast<std::byte*>(this->pool.allocate());
    const std::ptrdiff_t stride = second - first;
    // Or it lies under the slab's header, whose place depends on the slab's address.
    EXPECT_DEATH(this->pool.deallocate(second + stride), "acre::[a-z_]+: (double free|.* never handed out)");
    this->pool.deallocate(first);
    this->pool.deallocate(second);
}

// The first slot of a slab begins where the slot of the pool below does.
TEST(free_mark_of_two_pools, at_one_address_differ) {
    acre::concurrent_pool<16384, 16384> below;
    for (int round = 0; round < 20; ++round) {
        acre::concurrent_pool<64> above{acre::resource_ref{below}};
        std::vector<void*> all(1000);
        for (void*& each : all) each = above.allocate();
        for (void* each : all) above.deallocate(each);
    }
    EXPECT_EQ(below.live(), 0U);
}

TEST(free_mark_of_sizes, finds_double_frees_in_each_class) {
    acre::concurrent_multi_pool pool;
    for (const std::size_t bytes : {1u, 8u, 9u, 16u, 17u, 40u, 100u, 257u, 1000u, 8000u}) {
        void* a = pool.allocate(bytes, 1);
        void* b = pool.allocate(bytes, 1);
        pool.deallocate(a, bytes, 1);
        pool.deallocate(b, bytes, 1);
        EXPECT_DEATH(pool.deallocate(a, bytes, 1), double_free) << bytes;
    }
}

#if !defined(ACRE_HAS_ADDRESS_SANITIZER) && !defined(ACRE_VALGRIND)  // which report the write

TEST(free_mark_written_over, is_noticed_when_the_slot_goes_back) {
    acre::concurrent_pool<64> pool;
    void* a = pool.allocate();
    void* b = pool.allocate();
    pool.deallocate(a);
    pool.deallocate(b);
    std::memset(a, 1, 64);
    EXPECT_DEATH(pool.release_unused(), "acre::concurrent_pool: double free, or a write to a free slot");
    const auto freed_again = [&] {
        pool.deallocate(a);
        pool.release_unused();
    };
    EXPECT_DEATH(freed_again(), double_free);
    const auto by_a_thread_that_ends = [] {
        acre::concurrent_pool<64> shared;
        std::thread{[&] {
            void* p = shared.allocate();
            shared.deallocate(p);
            std::memset(p, 1, 64);
        }}.join();
    };
    EXPECT_DEATH(by_a_thread_that_ends(), "acre::concurrent_pool: double free, or a write to a free slot");
    EXPECT_EQ(pool.allocate(), b);
    EXPECT_EQ(pool.allocate(), a);  // clears what was written
}

// Y23. The report waited for the depot's lock, which the thread held.
TEST(free_mark_written_over, a_handler_may_allocate_from_the_pool) {
    static acre::concurrent_pool<64> pool;
    void* a = pool.allocate();
    void* b = pool.allocate();
    pool.deallocate(a);
    pool.deallocate(b);
    std::memset(a, 1, 64);
    const auto reported = [] {
        acre::set_misuse_handler([](const acre::misuse&) {
            for (int i = 0; i < 1000; ++i) (void)pool.allocate();
            std::_Exit(42);
        });
        pool.release_unused();
    };
    EXPECT_EXIT(reported(), testing::ExitedWithCode(42), "");
    pool.allocate();
    pool.allocate();  // clears what was written
}

template <class Pool>
void write_to_a_free_slot(Pool& pool) {
    void* p = pool.allocate(64, 8);
    pool.deallocate(p, 64, 8);
    std::memset(p, 1, 64);
}

template <class Pool>
void notices_a_write_when_all_slots_go_back(const char* what) {
    EXPECT_DEATH(
        {
            Pool pool;
            write_to_a_free_slot(pool);
        },
        what);
    Pool pool;
    EXPECT_DEATH((write_to_a_free_slot(pool), pool.release()), what);
    EXPECT_DEATH((write_to_a_free_slot(pool), pool.reset()), what);
}

TEST(free_mark_written_over, is_noticed_at_the_end_at_a_release_and_at_a_reset) {
    struct object {
        std::uint64_t words[8];
    };
    notices_a_write_when_all_slots_go_back<acre::concurrent_pool<64>>("acre::concurrent_pool: double free, or a write");
    notices_a_write_when_all_slots_go_back<acre::concurrent_multi_pool>(
        "acre::concurrent_multi_pool: double free, or a write");
    const auto by_an_object = [] {
        acre::concurrent_object_pool<object> pool;
        object* p = pool.create();
        pool.destroy(p);
        std::memset(static_cast<void*>(p), 1, sizeof(object));
    };
    EXPECT_DEATH(by_an_object(), "acre::concurrent_object_pool: double free, or a write");
}

TEST(free_mark_written_over, a_constructor_that_frees_its_object_and_goes_on_is_noticed) {
    struct writes_on {
        acre::concurrent_object_pool<writes_on>* home;
        std::uint64_t words[7] = {};
        explicit writes_on(acre::concurrent_object_pool<writes_on>* pool) : home(pool) {
            pool->deallocate(this);
            for (volatile std::uint64_t& each : words) each = 1;
        }
    };
    acre::concurrent_object_pool<writes_on> pool;
    EXPECT_DEATH(pool.create(&pool), "an object was freed by its own constructor");
}

#endif

}  // namespace
