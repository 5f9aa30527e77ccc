// acre::virtual_memory.
#include <gtest/gtest.h>

#include <acre/arenas/arena.hpp>
#include <acre/core/literals.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "conformance/live_model.hpp"
#include "conformance/refusal.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#endif

#include "memory/limits.hpp"

namespace {

using namespace acre::literals;
using acre_test::outcome;
using acre_test::outcome_of;
using acre_test::refused_as;

#if defined(ACRE_TEST_EMULATED)
constexpr bool is_emulated = true;
#else
constexpr bool is_emulated = false;
#endif
constexpr const char* no_access = "";  // a death by a signal; a sanitizer prints more

TEST(virtual_memory, example) {
    acre::virtual_memory pages{{.reserve_bytes = 256_MiB, .guard_pages = 1}};
    acre::arena frame{{.first_block_bytes = 64_MiB}, pages};
    EXPECT_TRUE(pages.owns(frame.allocate(1000)));
}

TEST(virtual_memory, takes_no_memory_before_the_first_allocation) {
    acre::virtual_memory tested;
    EXPECT_EQ(tested.capacity(), 0u);
    EXPECT_GE(tested.reserved(), 16_MiB);
    void* p = tested.allocate(1);
    EXPECT_EQ(tested.used(), tested.page_bytes());
    tested.deallocate(p, 1);
    EXPECT_EQ(tested.used(), 0u);
    tested.release();
    EXPECT_EQ(tested.capacity(), 0u);
}

TEST(virtual_memory, fresh_pages_are_zero) {
    acre::virtual_memory tested{{.keep_bytes = 0}};
    for (int round = 0; round < 2; ++round) {
        auto* p = static_cast<unsigned char*>(tested.allocate(10'000));
        EXPECT_EQ(p[0] + p[9'999], 0);
        std::memset(p, 1, 10'000);
        tested.deallocate(p, 10'000);
    }
}

TEST(virtual_memory, guard_pages_end_the_program) {
    acre::virtual_memory tested{{.reserve_bytes = 16_MiB, .guard_pages = 1}};
    const std::size_t page = tested.page_bytes();
    for (const std::size_t alignment : {std::size_t{16}, 4 * page}) {
        auto* p = static_cast<volatile char*>(tested.allocate(2 * page, alignment));
        p[0] = 1;
        p[2 * page - 1] = 1;
        EXPECT_DEATH(p[2 * page] = 1, no_access);
        EXPECT_DEATH(p[-1] = 1, no_access);
    }
}

// Pages that were in use become guards; a guard becomes usable.
TEST(virtual_memory, guard_pages_stay_where_pages_are_used_again) {
    acre::virtual_memory tested{{.reserve_bytes = 16_MiB, .guard_pages = 1}};
    const std::size_t page = tested.page_bytes();
    void* large = tested.allocate(9 * page);
    std::memset(large, 1, 9 * page);
    tested.deallocate(large, 9 * page);
    std::vector<volatile char*> small;
    for (int i = 0; i < 3; ++i) small.push_back(static_cast<volatile char*>(tested.allocate(page)));
    for (volatile char* p : small) {
        EXPECT_DEATH(p[page] = 1, no_access);
        EXPECT_DEATH(p[-1] = 1, no_access);
    }
    EXPECT_TRUE(tested.try_resize(const_cast<char*>(small.back()), page, 3 * page));
    small.back()[3 * page - 1] = 1;
    EXPECT_DEATH(small.back()[3 * page] = 1, no_access);
    EXPECT_TRUE(tested.try_resize(const_cast<char*>(small.back()), 3 * page, page));
    EXPECT_DEATH(small.back()[page] = 1, no_access);
}

TEST(virtual_memory, freed_pages_above_the_mark_are_out_of_reach) {
    acre::virtual_memory tested{{.keep_bytes = 0}};
    auto* p = static_cast<volatile char*>(tested.allocate(100));
    p[0] = 1;
    tested.deallocate(const_cast<char*>(p), 100);
    EXPECT_DEATH(p[0] = 1, no_access);
}

TEST(virtual_memory, what_is_out_of_the_range_is_out_of_reach) {
    acre::virtual_memory tested{{.reserve_bytes = 1_MiB}};
    auto* p = static_cast<volatile char*>(tested.allocate(tested.reserved()));
    p[tested.reserved() - 1] = 1;
    EXPECT_DEATH(p[tested.reserved()] = 1, no_access);
    EXPECT_DEATH(p[-1] = 1, no_access);
}

TEST(virtual_memory, grows_in_place_up_to_the_whole_range) {
    acre::virtual_memory tested{{.reserve_bytes = 64_MiB}};
    std::size_t bytes = 100;
    auto* p = static_cast<char*>(tested.allocate(bytes));
    p[0] = 7;
    for (; bytes < 32_MiB; bytes *= 2) {
        ASSERT_TRUE(tested.try_resize(p, bytes, 2 * bytes));
        p[2 * bytes - 1] = 1;
    }
    EXPECT_EQ(p[0], 7);
    EXPECT_FALSE(tested.try_resize(p, bytes, 65_MiB));
    EXPECT_TRUE(tested.try_resize(p, bytes, tested.reserved()));
    EXPECT_EQ(tested.try_allocate(1), nullptr);
    EXPECT_EQ(outcome_of([&] { return tested.allocate(1); }), refused_as(outcome::limit_exceeded));
    EXPECT_TRUE(tested.try_resize(p, tested.reserved(), 100));
    EXPECT_NE(tested.try_allocate(1), nullptr);
    EXPECT_FALSE(tested.try_resize(p, 100, 100'000'000));
}

TEST(virtual_memory, pages_of_any_order_become_one_run_again) {
    acre::virtual_memory tested{{.reserve_bytes = 8_MiB, .keep_bytes = 1_MiB}};
    std::mt19937 random{1};
    for (int round = 0; round < 20; ++round) {
        acre_test::live_model model;
        std::vector<std::pair<void*, std::size_t>> live;
        for (int i = 0; i < 300; ++i) {
            if (random() % 3 != 0 || live.empty()) {
                const std::size_t bytes = random() % 60'000;
                const std::size_t alignment = std::size_t{1} << random() % 17;
                void* p = tested.try_allocate(bytes, alignment);
                if (p == nullptr) continue;
                EXPECT_TRUE(acre::is_aligned(p, alignment));
                std::memset(p, static_cast<int>(live.size()), bytes);
                live.emplace_back(p, bytes);
            } else {
                const std::size_t at = random() % live.size();
                std::swap(live[at], live.back());
                tested.deallocate(live.back().first, live.back().second);
                live.pop_back();
            }
        }
        for (const auto& [p, bytes] : live) tested.deallocate(p, bytes);
        EXPECT_EQ(tested.used(), 0u);
        // Records aside, no more than the mark is kept.
        EXPECT_LE(tested.capacity(), 1_MiB + 256_KiB);
        void* all = tested.try_allocate(tested.reserved());
        EXPECT_NE(all, nullptr);
        tested.deallocate(all, tested.reserved());
    }
}

TEST(virtual_memory, misuse_is_reported) {
    acre::virtual_memory tested{{.reserve_bytes = 16_MiB}};
    const std::size_t page = tested.page_bytes();
    auto* first = static_cast<char*>(tested.allocate(3 * page));
    auto* freed = static_cast<char*>(tested.allocate(page));
    (void)tested.allocate(page);
    tested.deallocate(freed, page);
    int elsewhere = 0;
    EXPECT_DEATH(tested.deallocate(freed, page), "acre::virtual_memory: double free");
    EXPECT_DEATH(tested.deallocate(&elsewhere, 4), "acre::virtual_memory: a pointer of another resource");
    EXPECT_DEATH(tested.deallocate(first + 8, page), "acre::virtual_memory: a pointer into the middle");
    EXPECT_DEATH(tested.deallocate(first + page, page), "acre::virtual_memory: a pointer into the middle");
    EXPECT_DEATH(tested.deallocate(first, page), "acre::virtual_memory: freed with another size");
    EXPECT_DEATH(tested.deallocate(first, SIZE_MAX), "acre::virtual_memory: freed with another size");
    EXPECT_DEATH(tested.discard(first, tested.reserved() + 1), "acre::virtual_memory: a range was discarded");
    EXPECT_DEATH((void)tested.discard(&elsewhere, 1), "acre::virtual_memory: a range was discarded");
    const char* beyond = "acre::virtual_memory: a range was discarded that is not in one allocation";
    EXPECT_DEATH((void)tested.discard(first + page, 4 * page), beyond) << "into the next one";
    EXPECT_DEATH((void)tested.discard(first + 2 * page, page + 1), beyond) << "into free pages";
    EXPECT_DEATH((void)tested.discard(freed, page), beyond);
    EXPECT_DEATH((void)tested.discard(freed + 2 * page, page), beyond) << "behind all";
    EXPECT_TRUE(tested.discard(first + page, 2 * page));
    EXPECT_DEATH((void)tested.try_resize(freed, page, 1), "acre::virtual_memory: used after it was freed");
    EXPECT_DEATH((void)tested.try_resize(first, page, 1), "acre::virtual_memory: resized with another size");
    EXPECT_DEATH((void)tested.try_resize(first + 8, page, 1),
                 "acre::virtual_memory: a pointer into the middle.*resized");
    EXPECT_DEATH((void)tested.try_resize(&elsewhere, page, 1), "acre::virtual_memory: a pointer of another.*resized");
    tested.reset();
    EXPECT_DEATH(tested.deallocate(first, 3 * page), "acre::virtual_memory: double free");
}

TEST(virtual_memory, options_out_of_range_are_refused) {
#if defined(__cpp_exceptions)
    EXPECT_THROW(acre::virtual_memory({.reserve_bytes = SIZE_MAX}), acre::bad_option);
    EXPECT_THROW(acre::virtual_memory({.guard_pages = 1'000'000}), acre::bad_option);
    EXPECT_THROW(acre::virtual_memory({.guard_pages = 1, .huge = acre::huge_pages::transparent}), acre::bad_option);
#else
    EXPECT_DEATH(acre::virtual_memory({.guard_pages = 1'000'000}), "bad option: .guard_pages");
#endif
}

#if defined(__cpp_exceptions)
TEST(virtual_memory, says_what_an_alignment_takes) {
    acre::virtual_memory tested{{.reserve_bytes = 1_MiB}};
    std::string sentence;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(10, 2_MiB); }, &sentence), outcome::request_too_large);
    EXPECT_EQ(sentence.find("acre::virtual_memory: request too large: 10 bytes aligned to 2097152 were asked for"), 0u)
        << sentence;
    EXPECT_EQ(outcome_of([&] { return tested.allocate(2_MiB, 16); }, &sentence), outcome::request_too_large);
    EXPECT_EQ(sentence,
              "acre::virtual_memory: request too large: 2097152 bytes were asked for, at most 1048576 can be served");
}
#endif

TEST(virtual_memory, is_an_upstream_of_arenas_and_pools) {
    acre::virtual_memory pages{{.keep_bytes = 0, .guard_pages = 1}};
    {
        acre::arena frame{pages};
        acre::pool<64> slots{pages};
        acre::multi_pool sizes{pages};
        for (int i = 0; i < 5'000; ++i) {
            std::memset(frame.allocate(100), 1, 100);
            std::memset(slots.allocate(), 2, 64);
            std::memset(sizes.allocate(static_cast<std::size_t>(i) * 3), 3, static_cast<std::size_t>(i) * 3);
        }
        EXPECT_GT(pages.used(), 5'000u * 7'500);
    }
    EXPECT_EQ(pages.used(), 0u);
}

#if defined(__linux__)

std::size_t resident_pages(const void* p, std::size_t bytes) {
    std::vector<unsigned char> states(bytes / 4096 + 2);
    if (::mincore(const_cast<void*>(p), bytes, states.data()) != 0) return 0;
    std::size_t count = 0;
    for (const unsigned char each : states) count += each & 1;
    return count;
}

std::size_t address_space_pages() {
    std::size_t pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) return 0;
    std::fclose(file);
    return pages;
}

TEST(virtual_memory, pages_are_backed_as_they_are_used) {
    acre::virtual_memory tested;
    auto* p = static_cast<volatile char*>(tested.allocate(64_MiB));
    EXPECT_LE(resident_pages(const_cast<char*>(p), 64_MiB), 512u);  // a huge page at most
    p[0] = 1;
    p[32_MiB] = 1;
    EXPECT_LE(resident_pages(const_cast<char*>(p), 64_MiB), 1024u);
}

TEST(virtual_memory, prefaulted_pages_are_backed_at_once) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    acre::virtual_memory tested{{.prefault = true}};
    void* p = tested.allocate(4_MiB);
    EXPECT_EQ(resident_pages(p, 4_MiB), 4_MiB / tested.page_bytes());
    EXPECT_TRUE(tested.obtained().prefaulted);
    tested.deallocate(p, 4_MiB);
}

TEST(virtual_memory, discarded_pages_stay_usable_and_are_zero) {
    acre::virtual_memory tested;
    auto* p = static_cast<unsigned char*>(tested.allocate(4_MiB));
    std::memset(p, 1, 4_MiB);
    EXPECT_TRUE(tested.discard(p + 1_MiB, 3_MiB));
    EXPECT_EQ(resident_pages(p + 1_MiB, 3_MiB), 0u);
    EXPECT_EQ(p[1_MiB - 1], 1);
    EXPECT_EQ(p[1_MiB] + p[4_MiB - 1], 0);
}

TEST(virtual_memory, the_mark_decides_what_goes_back_to_the_system) {
    acre::virtual_memory tested{{.keep_bytes = 1_MiB}};
    void* small = tested.allocate(512_KiB);
    void* large = tested.allocate(8_MiB);
    std::memset(small, 1, 512_KiB);
    std::memset(large, 1, 8_MiB);
    tested.deallocate(small, 512_KiB);
    EXPECT_EQ(resident_pages(small, 512_KiB), 128u);
    tested.deallocate(large, 8_MiB);
    EXPECT_EQ(resident_pages(large, 8_MiB), 0u);
    // It was joined with the large run, and went back with it, or was kept.
    EXPECT_LE(tested.capacity(), 1_MiB + 256_KiB);
    void* again = tested.allocate(512_KiB);
    std::memset(again, 1, 512_KiB);
    tested.deallocate(again, 512_KiB);
    EXPECT_GT(tested.release_unused(), 0u);
    EXPECT_EQ(resident_pages(again, 512_KiB), 0u);
}

TEST(virtual_memory, its_end_gives_all_addresses_back) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    const std::size_t before = address_space_pages();
    for (int i = 0; i < 3; ++i) {
        acre::virtual_memory tested{
            {.reserve_bytes = 256_MiB, .huge = acre::huge_pages::transparent, .if_possible = true}};
        (void)tested.allocate(1_MiB);
        EXPECT_GE(address_space_pages(), before + 256_MiB / 4096);
    }
    EXPECT_LT(address_space_pages(), before + 64_MiB / 4096);
}

#if defined(__linux__) && !defined(ACRE_HAS_THREAD_SANITIZER)  // which maps memory of its own beside each mapping
// Of the mappings that a debugger writes to a core file: those without the flag dd.
std::size_t bytes_for_a_core_file() {
    std::ifstream file{"/proc/self/smaps"};
    std::size_t sum = 0;
    std::size_t kibibytes = 0;
    for (std::string line; std::getline(file, line);) {
        std::sscanf(line.c_str(), "Size: %zu", &kibibytes);
        if (line.starts_with("VmFlags:") && line.find(" dd") == std::string::npos) sum += kibibytes * 1024;
    }
    return sum;
}

// Y22. What is only reserved was written, too.
TEST(virtual_memory, a_core_file_has_what_is_in_use) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    const std::size_t before = bytes_for_a_core_file();
    acre::virtual_memory tested{{.reserve_bytes = 1_GiB, .keep_bytes = 0}};
    void* p = tested.allocate(8_MiB);
    const std::size_t in_use = bytes_for_a_core_file();
    EXPECT_GE(in_use, before + 8_MiB);
    EXPECT_LT(in_use, before + 64_MiB);
    tested.deallocate(p, 8_MiB);
    EXPECT_LT(bytes_for_a_core_file(), before + 8_MiB);
}
#endif

std::size_t huge_bytes_in_use() {
    std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
    if (file == nullptr) return 0;
    char line[128];
    std::size_t kibibytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
        if (std::sscanf(line, "AnonHugePages: %zu", &kibibytes) == 1) break;
    }
    std::fclose(file);
    return kibibytes * 1024;
}

// Also where the pages went back to the system meanwhile.
TEST(virtual_memory, transparent_huge_pages_are_used_where_the_system_has_them) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    acre::virtual_memory tested{{.keep_bytes = 0, .huge = acre::huge_pages::transparent, .if_possible = true}};
    if (tested.obtained().huge == acre::huge_pages::none) GTEST_SKIP() << tested.last_refusal().meaning;
    for (int round = 0; round < 2; ++round) {
        const std::size_t before = huge_bytes_in_use();
        void* p = tested.allocate(16_MiB);
        std::memset(p, 1, 16_MiB);
        const std::size_t in_use = huge_bytes_in_use();
        tested.deallocate(p, 16_MiB);
        if (in_use == 0) GTEST_SKIP() << "the system has no huge page free";
        EXPECT_GT(in_use, before);
    }
}

TEST(virtual_memory, preallocated_huge_pages_are_used_where_they_were_set_aside) {
    acre::virtual_memory tested{{.keep_bytes = 0, .huge = acre::huge_pages::preallocated, .if_possible = true}};
    for (int round = 0; round < 2; ++round) {
        void* p = tested.allocate(1_MiB);
        if (tested.obtained().huge == acre::huge_pages::none) GTEST_SKIP() << tested.last_refusal().meaning;
        EXPECT_EQ(static_cast<unsigned char*>(p)[100], 0);
        std::memset(p, 1, 1_MiB);
        tested.deallocate(p, 1_MiB);
    }
}

TEST(virtual_memory, huge_pages_that_are_not_set_aside_are_refused_or_left_out) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    acre::virtual_memory strict{{.reserve_bytes = 256_MiB, .huge = acre::huge_pages::preallocated}};
    acre::virtual_memory lenient{
        {.reserve_bytes = 256_MiB, .huge = acre::huge_pages::preallocated, .if_possible = true}};
    const std::size_t bytes = 200_MiB;
    std::string sentence;
    if (strict.try_allocate(bytes) != nullptr) GTEST_SKIP() << "this system has so many huge pages set aside";
    const outcome refused = outcome_of([&] { return strict.allocate(bytes); }, &sentence);
    EXPECT_EQ(refused, refused_as(outcome::out_of_memory));
    EXPECT_STREQ(strict.last_refusal().operation, "put into huge pages");
    EXPECT_NE(std::string{strict.last_refusal().meaning}.find("vm.nr_hugepages"), std::string::npos);
    if (acre::exceptions_enabled) {
        EXPECT_NE(sentence.find("vm.nr_hugepages"), std::string::npos) << sentence;
    }
    auto* p = static_cast<volatile char*>(lenient.try_allocate(bytes));
    ASSERT_NE(p, nullptr);
    p[bytes - 1] = 1;
    EXPECT_EQ(lenient.obtained().huge, acre::huge_pages::none);
    EXPECT_STREQ(lenient.last_refusal().operation, "put into huge pages");
}

using acre_test::in_a_child;
using acre_test::limit;

bool says(const acre::virtual_memory& tested, const char* operation, const char* advice) {
    const acre::system_refusal& refusal = tested.last_refusal();
    return refusal.operation != nullptr && std::strcmp(refusal.operation, operation) == 0 && refusal.code != 0 &&
           std::strstr(refusal.meaning, advice) != nullptr;
}

TEST(virtual_memory, transparent_huge_pages_that_are_off_are_refused_or_left_out) {
    EXPECT_EQ(in_a_child([] {
                  if (::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) return 0;
                  acre::virtual_memory lenient{{.huge = acre::huge_pages::transparent, .if_possible = true}};
                  if (!says(lenient, "put into huge pages", "transparent_hugepage/enabled")) return 1;
                  if (lenient.obtained().huge != acre::huge_pages::none) return 2;
#if defined(__cpp_exceptions)
                  try {
                      acre::virtual_memory strict{{.huge = acre::huge_pages::transparent}};
                      return 3;
                  } catch (const acre::system_refused& error) {
                      if (std::strstr(error.what(), "transparent_hugepage/enabled") == nullptr) return 4;
                  }
#endif
                  return 0;
              }),
              0);
}

TEST(virtual_memory, more_than_may_be_locked_is_refused_or_left_out) {
    if (acre_test::sanitized) GTEST_SKIP() << "sanitizers lock nothing";
    EXPECT_EQ(in_a_child([] {
                  limit(RLIMIT_MEMLOCK, 64_KiB);
                  // Root may lock what it wants.
                  if (::geteuid() == 0 && ::setuid(65534) != 0) return 0;
                  acre::virtual_memory strict{{.lock = true}};
                  if (strict.try_allocate(10_MiB) != nullptr) return 1;
                  if (!says(strict, "locked", "ulimit -l")) return 2;
                  if (strict.used() != 0 || strict.try_allocate(16_KiB) == nullptr) return 3;
                  acre::virtual_memory lenient{{.lock = true, .if_possible = true}};
                  if (!lenient.obtained().locked) return 4;
                  if (lenient.try_allocate(10_MiB) == nullptr || lenient.obtained().locked) return 5;
                  return says(lenient, "locked", "ulimit -l") ? 0 : 6;
              }),
              0);
}

TEST(virtual_memory, more_addresses_than_allowed_are_refused) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer reserves more addresses itself";
    EXPECT_EQ(in_a_child([] {
                  limit(RLIMIT_AS, address_space_pages() * 4096 + 2_GiB);
                  // Without a wish the range is as large as the limit allows.
                  acre::virtual_memory usual;
                  if (usual.reserved() < 256_MiB || usual.reserved() > 2_GiB) return 1;
#if defined(__cpp_exceptions)
                  try {
                      acre::virtual_memory large{{.reserve_bytes = std::size_t{3} << 30}};
                      return 2;
                  } catch (const acre::system_refused& error) {
                      if (std::strstr(error.what(), "ulimit -v") == nullptr) return 3;
                      if (std::strstr(error.what(), "3221225472 bytes could not be reserved") == nullptr) return 4;
                  }
#endif
                  return 0;
              }),
              0);
}

TEST(virtual_memory, what_the_system_does_not_back_is_refused) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer's own memory counts against the limit";
    EXPECT_EQ(in_a_child([] {
                  acre::virtual_memory tested{{.keep_bytes = 0}};
                  limit(RLIMIT_DATA, 64_MiB);
                  if (tested.try_allocate(200_MiB) != nullptr) return 1;
                  if (!says(tested, "made usable", "ulimit -d")) return 2;
                  if (tested.used() != 0) return 3;
                  // Pages that went back to the system no longer count.
                  for (int i = 0; i < 20; ++i) {
                      void* p = tested.try_allocate(20_MiB);
                      if (p == nullptr) return 4;
                      std::memset(p, 1, 20_MiB);
                      tested.deallocate(p, 20_MiB);
                  }
                  return 0;
              }),
              0);
}

// Each page that it asks for is refused once: nothing changed, and it works afterwards.
TEST(virtual_memory, every_request_of_the_system_may_fail) {
    if (is_emulated) GTEST_SKIP() << "an emulator does not pass on what is asked of the system";
    if (acre_test::sanitized) GTEST_SKIP() << "a sanitizer's own memory counts against the limit";
    const auto use = [](acre::virtual_memory& tested) {
        void* blocks[12] = {};
        bool served = true;
        for (std::size_t i = 0; i < 12 && served; ++i) {
            blocks[i] = tested.try_allocate(i * 9'000, std::size_t{1} << i);
            served = blocks[i] != nullptr;
            if (served) std::memset(blocks[i], 1, i * 9'000);
        }
        const bool grown = served && tested.try_resize(blocks[11], 99'000, 400'000);
        for (std::size_t i = 0; i < 12 && blocks[i] != nullptr; ++i) {
            tested.deallocate(blocks[i], i == 11 && grown ? 400'000 : i * 9'000);
        }
        return grown;
    };
    using acre::virtual_memory_options;
    for (const std::size_t guard_pages : {0u, 2u}) {
        for (const std::size_t keep_bytes : {0u, 1u << 20}) {
            EXPECT_EQ(acre_test::with_more_pages_each_time<acre::virtual_memory>(
                          virtual_memory_options{.keep_bytes = keep_bytes, .guard_pages = guard_pages}, use),
                      0);
        }
    }
}

#endif

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
// Hazard X11.
TEST(virtual_memory, freed_storage_and_tails_are_reported) {
    acre::virtual_memory tested;
    auto* p = static_cast<volatile char*>(tested.allocate(100));
    p[99] = 1;
    EXPECT_DEATH(p[104] = 1, "use-after-poison");
    tested.deallocate(const_cast<char*>(p), 100);
    EXPECT_DEATH(p[0] = 1, "use-after-poison");
}

// A pointer that lies in these pages only is no leak. At the program's end, after static destructors, LeakSanitizer
// looks: so the resource never ends.
TEST(virtual_memory, pointers_in_pages_are_no_leaks) {
    static acre::virtual_memory& kept = *new acre::virtual_memory;
    auto** holder = static_cast<int**>(kept.allocate(sizeof(int*)));
    *holder = new int{42};
    EXPECT_EQ(**holder, 42);
}
#endif

}  // namespace
