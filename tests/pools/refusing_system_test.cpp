// Pools where the system refuses what it hardly ever refuses: this program defines the system's functions.
#include <gtest/gtest.h>

#include <acre/core/error.hpp>
#include <acre/memory/system_refused.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#if defined(__linux__) && defined(__GLIBC__)
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace {

int error_of_random = 0;  // 0: the system's own answer
int interruptions = 0;    // answers of random numbers that a signal interrupts first
int error_of_advice = 0;
int refused_advice = 0;

}  // namespace

extern "C" ssize_t getrandom(void* into, std::size_t bytes, unsigned flags) {
    if (interruptions > 0 || error_of_random != 0) {
        errno = interruptions > 0 ? EINTR : error_of_random;
        if (interruptions > 0) --interruptions;
        return -1;
    }
    return syscall(SYS_getrandom, into, bytes, flags);
}
extern "C" int madvise(void* start, std::size_t bytes, int advice) noexcept {
    if (error_of_advice != 0 && advice == MADV_DONTNEED) {
        ++refused_advice;
        errno = error_of_advice;
        return -1;
    }
    return static_cast<int>(syscall(SYS_madvise, start, bytes, advice));
}

namespace {

TEST(a_refusing_system, without_random_numbers_there_is_no_hardened_pool) {
    error_of_random = ENOSYS;
#if defined(__cpp_exceptions)
    try {
        const acre::hardened_pool<64> slots;
        ADD_FAILURE() << "it has a secret that anyone can guess";
    } catch (const acre::system_refused& refused) {
        EXPECT_NE(std::string{refused.what()}.find("this system has no source of random numbers"), std::string::npos)
            << refused.what();
    }
#else
    EXPECT_DEATH(acre::hardened_pool<64>{}, "this system has no source of random numbers");
#endif
    error_of_random = 0;
    interruptions = 3;
    acre::hardened_pool<64> slots;
    EXPECT_EQ(interruptions, 0) << "a signal is no refusal";
    slots.deallocate(slots.allocate());
}

TEST(a_refusing_system, memory_that_is_not_given_back_is_said_and_stays_usable) {
    acre::virtual_memory pages{{.reserve_bytes = 1 << 20}};
    auto* p = static_cast<unsigned char*>(pages.allocate(1 << 16));
    std::memset(p, 0xAB, 1 << 16);
    error_of_advice = EINVAL;
    EXPECT_FALSE(pages.discard(p, 1 << 16));
    EXPECT_STREQ(pages.last_refusal().operation, "given back");
    EXPECT_EQ(p[0], 0xAB) << "nothing changed";
    error_of_advice = 0;
    EXPECT_TRUE(pages.discard(p, 1 << 16));
    EXPECT_EQ(p[0], 0);
    pages.deallocate(p, 1 << 16);
}

// The quarantine and the table of slabs begin as zeros: they are written when the system does not give such pages.
TEST(a_refusing_system, a_hardened_pool_writes_the_zeros_that_it_does_not_get) {
    error_of_advice = EINVAL;
    refused_advice = 0;
    {
        acre::hardened_pool<64> slots{{.quarantine_slots = 8}};
        std::vector<void*> live;
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 2000; ++i) live.push_back(slots.allocate());
            for (void* each : live) slots.deallocate(each);
            live.clear();
            slots.release_unused();
        }
        EXPECT_EQ(slots.live(), 0u);
    }
    EXPECT_GT(refused_advice, 0);
    error_of_advice = 0;
}

}  // namespace

#endif

namespace {

// A double free by two threads at the same moment, each of which finds the slot live, leaves the slot in two magazines.
// When one of the two goes back to its slab the slot may be live again: the sentence is still that of a double free.
TEST(a_double_free_at_the_same_moment, is_named_when_the_slot_has_been_handed_out_again) {
    if (acre::poisoning) GTEST_SKIP() << "AddressSanitizer's marks tell the second free";
    using pool = acre::concurrent_pool<64>;
    pool slots;
    void* p = slots.allocate();
    slots.deallocate(p);
    static_cast<volatile std::uint64_t*>(p)[1] = 0;  // without the mark, as the other thread has seen it
    slots.deallocate(p);
    EXPECT_EQ(slots.allocate(), p);
    EXPECT_DEATH(slots.release_unused(), "acre::concurrent_pool: double free");
    // Nothing is live twice at the end.
    EXPECT_EQ(slots.allocate(), p) << "two owners, as docs/misuse.md says";
    slots.deallocate(p);
    EXPECT_DEATH(slots.deallocate(p), "acre::concurrent_pool: double free");
    slots.release();
}

}  // namespace
