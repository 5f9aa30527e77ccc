// malloc and its family by libacre-malloc: alignment, errno, overflow, growth, usable sizes, threads, forks, modules,
// the program's begin and end, misuse.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern "C" {
void free_sized(void* p, std::size_t bytes);
void free_aligned_sized(void* p, std::size_t alignment, std::size_t bytes);
[[gnu::weak]] void free_sized(void* p, std::size_t) {
    std::free(p);
}
[[gnu::weak]] void free_aligned_sized(void* p, std::size_t, std::size_t) {
    std::free(p);
}
}

namespace {

// Not constant, so that the compiler does not refuse what is meant to fail.
volatile std::size_t too_much = PTRDIFF_MAX;
void* (*volatile hidden_realloc)(void*, std::size_t) = std::realloc;
void* (*volatile hidden_reallocarray)(void*, std::size_t, std::size_t) = reallocarray;
void (*volatile hidden_free)(void*) = std::free;

bool is_aligned(const void* p, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

struct used_early_and_late {
    used_early_and_late() : text(1000, 'e') {
        std::atexit([] { std::free(std::malloc(100'000)); });
    }
    ~used_early_and_late() {
        if (text != std::string(1000, 'e')) _exit(3);
        text = std::string(5000, 'l');
    }
    std::string text;
};
used_early_and_late before_and_after_main;

// What the C library's heap never gives: 16 bytes of use.
TEST(malloc_family, is_acres) {
    void* p = std::malloc(1);
    EXPECT_EQ(malloc_usable_size(p), 16u);
    std::free(p);
    EXPECT_EQ(malloc_usable_size(nullptr), 0u);
}

TEST(malloc_family, every_size_is_aligned_and_usable) {
    std::vector<void*> blocks;
    for (std::size_t bytes = 0; bytes < 200'000; bytes += 1 + bytes / 9) {
        void* p = std::malloc(bytes);
        ASSERT_NE(p, nullptr);
        ASSERT_TRUE(is_aligned(p, 16));
        ASSERT_GE(malloc_usable_size(p), bytes);
        std::memset(p, 1, malloc_usable_size(p));
        blocks.push_back(p);
    }
    std::sort(blocks.begin(), blocks.end());
    EXPECT_EQ(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (void* each : blocks) std::free(each);
}

TEST(malloc_family, refuses_with_errno) {
    errno = 0;
    EXPECT_EQ(std::malloc(too_much + 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(std::calloc(too_much / 2, 4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(std::calloc(too_much / 8, 4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    void* p = std::malloc(10);
    std::memset(p, 5, 10);
    errno = 0;
    EXPECT_EQ(hidden_realloc(p, too_much), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(hidden_reallocarray(p, too_much / 2, 4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(static_cast<char*>(p)[9], 5);
    std::free(p);
    errno = 0;
    EXPECT_EQ(aligned_alloc(64, too_much), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(pvalloc(too_much), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST(malloc_family, frees_leave_errno) {
    errno = 77;
    void* p = std::malloc(100);
    void* large = std::malloc(50 << 20);
    std::memset(large, 1, 50 << 20);
    errno = 77;
    std::free(p);
    std::free(large);
    std::free(nullptr);
    EXPECT_EQ(errno, 77);
}

// Preloaded, in a program of its own: half of the limit is all that the heap can reserve.
TEST(malloc_family, programs_start_with_little_address_space) {
    EXPECT_EQ(std::system("ulimit -v 40000 && ls / > /dev/null"), 0);
}

TEST(malloc_family, calloc_gives_zeroes) {
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t bytes : {1U, 24U, 1000U, 30'000U, 100'000U, 5'000'000U}) {
            auto* p = static_cast<unsigned char*>(std::calloc(bytes, 1));
            for (std::size_t at = 0; at < bytes; ++at) ASSERT_EQ(p[at], 0);
            std::memset(p, 0xee, bytes);
            std::free(p);
        }
    }
    void* none = std::calloc(0, 8);
    EXPECT_NE(none, nullptr);
    std::free(none);
}

// Pages of these bytes from p on that have memory.
std::size_t resident_pages(void* p, std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    auto* const begin = reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(p) / page * page);
    std::vector<unsigned char> pages(bytes / page);
    EXPECT_EQ(mincore(begin, bytes, pages.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(pages.begin(), pages.end(), [](unsigned char each) { return each & 1; }));
}

TEST(malloc_family, a_large_calloc_of_addresses_that_were_used_touches_few_pages) {
    constexpr std::size_t bytes = std::size_t{64} << 20;
    for (const bool touched : {false, true}) {
        void* p = std::malloc(bytes);
        ASSERT_NE(p, nullptr);
        if (touched) std::memset(p, 0xee, bytes);
        std::free(p);
        auto* q = static_cast<unsigned char*>(std::calloc(1, bytes));
        ASSERT_NE(q, nullptr);
        // Writing zeroes would touch all. A huge page of a neighbour may reach into the block.
        EXPECT_LT(resident_pages(q, bytes), bytes / 4096 / 8) << touched;
        for (std::size_t at = 0; at < bytes; at += 1000) ASSERT_EQ(q[at], 0);
        std::free(q);
    }
}

// A table that is used again and touched in few places had huge pages for all of it.
TEST(malloc_family, a_sparse_calloc_of_addresses_that_were_used_has_few_huge_pages) {
    constexpr std::size_t bytes = std::size_t{256} << 20;
    void* p = std::malloc(bytes);
    ASSERT_NE(p, nullptr);
    std::memset(p, 0xee, bytes / 16);
    std::free(p);
    auto* q = static_cast<unsigned char*>(std::calloc(1, bytes));
    ASSERT_NE(q, nullptr);
    for (std::size_t at = 0; at < bytes; at += std::size_t{2} << 20) q[at] = 1;
    EXPECT_LT(resident_pages(q, bytes), (std::size_t{40} << 20) / 4096);
    std::free(q);
}

TEST(malloc_family, realloc_keeps_the_contents) {
    std::minstd_rand random{3};
    auto* p = static_cast<unsigned char*>(std::realloc(nullptr, 1));
    std::size_t bytes = 1;
    p[0] = 0;
    for (int step = 0; step < 3000; ++step) {
        const std::size_t wanted = 1 + random() % (step % 50 == 0 ? 6'000'000 : 20'000);
        p = static_cast<unsigned char*>(std::realloc(p, wanted));
        ASSERT_NE(p, nullptr);
        for (std::size_t at = 0; at < std::min(bytes, wanted); at += 97) {
            ASSERT_EQ(p[at], static_cast<unsigned char>(at / 97)) << bytes << " to " << wanted;
        }
        for (std::size_t at = 0; at < wanted; at += 97) p[at] = static_cast<unsigned char>(at / 97);
        bytes = wanted;
    }
    EXPECT_EQ(std::realloc(p, 0), nullptr);
    p = static_cast<unsigned char*>(reallocarray(nullptr, 100, 10));
    EXPECT_GE(malloc_usable_size(p), 1000u);
    free_sized(p, 1000);
}

TEST(malloc_family, alignments) {
    for (std::size_t alignment = sizeof(void*); alignment <= 4 << 20; alignment *= 2) {
        for (const std::size_t bytes : {0U, 1U, 100U, 4096U, 70'000U}) {
            void* p = nullptr;
            ASSERT_EQ(posix_memalign(&p, alignment, bytes), 0);
            EXPECT_TRUE(is_aligned(p, alignment));
            std::memset(p, 1, bytes);
            void* q = aligned_alloc(alignment, bytes);
            EXPECT_TRUE(is_aligned(q, alignment));
            void* r = memalign(alignment, bytes);
            EXPECT_TRUE(is_aligned(r, alignment));
            std::free(p);
            free_aligned_sized(q, alignment, bytes);
            r = std::realloc(r, bytes + 1);
            std::free(r);
        }
    }
    void* untouched = &untouched;
    EXPECT_EQ(posix_memalign(&untouched, 24, 8), EINVAL);
    EXPECT_EQ(posix_memalign(&untouched, 4, 8), EINVAL);
    EXPECT_EQ(posix_memalign(&untouched, 64, too_much), ENOMEM);
    EXPECT_EQ(untouched, &untouched);
    const volatile std::size_t largest_power = ~(~std::size_t{0} >> 1);  // compilers refuse a constant
    errno = 0;
    EXPECT_EQ(memalign(largest_power, 10), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(memalign(largest_power + 1, 10), nullptr);
    EXPECT_EQ(errno, EINVAL);
    errno = 0;
    EXPECT_EQ(aligned_alloc(too_much % 100 * 3, 8), nullptr);
    EXPECT_EQ(errno, EINVAL);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* p = valloc(10);
    EXPECT_TRUE(is_aligned(p, page));
    void* q = pvalloc(10);
    EXPECT_TRUE(is_aligned(q, page) && malloc_usable_size(q) >= page);
    std::free(p);
    std::free(q);
}

TEST(malloc_family, memory_goes_back) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(std::memset(std::malloc(300'000), 1, 300'000));
    const std::size_t in_use = mallinfo2().hblkhd;
    for (void* each : blocks) std::free(each);
    EXPECT_LE(mallinfo2().hblkhd, in_use - 100 * 300'000);
    EXPECT_EQ(malloc_trim(0), 1);
    EXPECT_EQ(malloc_trim(0), 0);
    EXPECT_EQ(mallinfo2().keepcost, 0u);
}

// As in the C library's figures: what is mapped for one block is not in the arena. Programs add uordblks and hblkhd.
TEST(malloc_family, large_blocks_are_counted_once) {
    const struct mallinfo2 before = mallinfo2();
    void* volatile large = std::malloc(100 << 20);
    const struct mallinfo2 with = mallinfo2();
    EXPECT_GE(with.hblkhd, before.hblkhd + (100 << 20));
    EXPECT_LT(with.uordblks, before.uordblks + (1 << 20));
    EXPECT_EQ(with.arena, with.uordblks + with.fordblks);
    std::free(large);
}

TEST(malloc_family, tells_its_figures_in_each_form) {
    void* large = std::memset(std::malloc(3'000'000), 1, 3'000'000);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EXPECT_GE(mallinfo().hblkhd, 3'000'000);
#pragma GCC diagnostic pop
    char text[1000] = {};
    std::FILE* const to = fmemopen(text, sizeof text - 1, "w");
    EXPECT_EQ(malloc_info(1, to), EINVAL);
    EXPECT_EQ(malloc_info(0, to), 0);
    std::fclose(to);
    EXPECT_NE(std::strstr(text, "<malloc version=\"acre\">"), nullptr) << text;
    testing::internal::CaptureStderr();
    malloc_stats();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("large blocks in use"), std::string::npos);
    std::free(large);
}

// Makes the system refuse a system call to this process.
bool refuse_system_call(unsigned number) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{std::size(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A filter that knows the C library's malloc allows brk, mmap, munmap and mremap.
TEST(malloc_family, grows_where_mprotect_is_refused) {
    constexpr int no_filter = 77;
    const pid_t child = fork();
    if (child == 0) {
        if (!refuse_system_call(SYS_mprotect)) _exit(no_filter);
        constexpr std::size_t bytes = std::size_t{1} << 28;  // more than this program has had
        auto* p = static_cast<char*>(std::malloc(bytes));
        if (p == nullptr) _exit(1);
        for (std::size_t at = 0; at < bytes; at += bytes / 64) p[at] = 1;
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    if (WEXITSTATUS(status) == no_filter) GTEST_SKIP() << "the system takes no filter";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(malloc_family, threads_and_forks) {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            while (!over) {
                std::vector<std::string> texts(200, std::string(100, 't'));
                std::thread{[moved = std::move(texts)] {}}.join();
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            std::vector<std::string> texts(5000, std::string(100, 'c'));
            std::thread{[&] { texts.clear(); }}.join();
            _exit(texts.empty() ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    over = true;
    for (std::thread& each : threads) each.join();
}

// Destructors of other libraries' thread-specific data run after the heap's.
TEST(malloc_family, works_while_a_thread_ends) {
    static pthread_key_t key;
    static std::atomic<int> rounds{0};
    pthread_key_create(&key, [](void* p) {
        std::free(p);
        if (++rounds % 4 != 0) pthread_setspecific(key, std::malloc(200));
    });
    for (int i = 0; i < 8; ++i) {
        std::thread{[] {
            std::free(std::malloc(300));
            pthread_setspecific(key, std::malloc(100));
        }}.join();
    }
    EXPECT_GE(rounds, 8 * 4);
    pthread_key_delete(key);
}

TEST(malloc_family, blocks_outlive_the_module_that_made_them) {
    for (int i = 0; i < 5; ++i) {
        void* module = dlopen(ACRE_TEST_MODULE, RTLD_NOW);
        ASSERT_NE(module, nullptr) << dlerror();
        const auto make = reinterpret_cast<void* (*)(std::size_t)>(dlsym(module, "acre_test_module_block"));
        void* here = make(1000);
        void* there = nullptr;
        std::thread{[&] { there = make(2000); }}.join();
        EXPECT_EQ(malloc_usable_size(here), malloc_usable_size(there) / 2);
        dlclose(module);
        EXPECT_EQ(static_cast<unsigned char*>(here)[999], static_cast<unsigned char*>(there)[1999]);
        std::free(here);
        std::free(there);
    }
}

TEST(malloc_family_death, misuse_is_told) {
    alignas(16) static char elsewhere[64];
    void* const foreign = elsewhere;
    EXPECT_DEATH(hidden_free(foreign), "a pointer of another resource was freed");
    EXPECT_DEATH(hidden_realloc(foreign, 100), "a pointer of another resource was resized");
    void* large = std::malloc(1 << 20);
    EXPECT_DEATH((hidden_free(large), hidden_free(large)), "double free");
    std::free(large);
    void* small = std::malloc(100);
    EXPECT_DEATH((hidden_free(small), hidden_free(small), malloc_trim(0)), "double free");
    std::free(small);
}

TEST(malloc_family_death, the_end_of_the_program_may_use_it) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");
}

}  // namespace
