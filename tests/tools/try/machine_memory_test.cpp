// Memory that is made ready for a program.
#include "try/machine_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>

namespace {

using acre::tool::touch_free_memory;

std::uint64_t resident_bytes() {
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> all >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

long page_faults() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

TEST(machine_memory, is_touched_and_freed) {
    constexpr std::uint64_t bytes = std::uint64_t{64} << 20;
    const std::uint64_t resident = resident_bytes();
    const long faults = page_faults();
    EXPECT_EQ(touch_free_memory(bytes), bytes);
    EXPECT_GE(page_faults(), faults + 32) << "one for each huge page at least";
    // What a process has when it starts a program counts as the program's.
    EXPECT_LT(resident_bytes(), resident + bytes / 2);
    EXPECT_EQ(touch_free_memory(0), 0U);
}

// Where a process may not have so much, nothing happens.
TEST(machine_memory, is_left_where_there_is_too_little) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    rlimit little = before;
    little.rlim_cur = std::uint64_t{64} << 20;
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
    EXPECT_EQ(touch_free_memory(std::uint64_t{128} << 20), 0U);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

TEST(machine_memory, huge_pages_come_unasked_where_the_system_is_set_so) {
    EXPECT_TRUE(acre::tool::are_huge_pages_unasked("[always] madvise never"));
    EXPECT_FALSE(acre::tool::are_huge_pages_unasked("always [madvise] never"));
    EXPECT_FALSE(acre::tool::are_huge_pages_unasked(""));
}

}  // namespace
