// Threads, child processes, mailboxes and blocks with a pattern, for tests of concurrent resources.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <latch>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace acre_test {

/// Runs `work(number)` in `count` parallel threads and joins them.
template <class Work>
void in_threads(std::size_t count, Work work) {
    std::barrier start{static_cast<std::ptrdiff_t>(count)};
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            start.arrive_and_wait();
            work(number);
        });
    }
    for (std::thread& each : threads) each.join();
}

/// Threads that repeat a step until this object is destroyed.
class busy_threads {
public:
    template <class Step>
    busy_threads(std::size_t count, Step step) : started_(static_cast<std::ptrdiff_t>(count)) {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([this, step] {
                step();
                started_.count_down();
                while (!over_) step();
            });
        }
        started_.wait();
    }
    ~busy_threads() {
        over_ = true;
        for (std::thread& each : threads_) each.join();
    }

private:
    std::atomic<bool> over_{false};
    std::latch started_;
    std::vector<std::thread> threads_;
};

/// Exit status of a child process that runs `work()` and exits with its result; -1 when it ended otherwise, for example
/// after a timeout of half a minute.
template <class Work>
int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        _exit(work());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// False where the heap does not survive a fork while other threads allocate: g++ 12's AddressSanitizer does not hold
/// its locks around a fork, so a child that allocates may deadlock.
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
inline constexpr bool heap_survives_forks = false;
#else
inline constexpr bool heap_survives_forks = true;
#endif

/// A block filled with a unique pattern.
struct patterned_block {
    void* p;
    std::size_t bytes;
    std::uint64_t pattern;

    void fill() const noexcept {
        for (std::size_t at = 0; at < bytes; at += sizeof pattern) {
            std::memcpy(static_cast<std::byte*>(p) + at, &pattern, std::min(sizeof pattern, bytes - at));
        }
    }
    bool is_whole() const noexcept {
        for (std::size_t at = 0; at < bytes; at += sizeof pattern) {
            const std::size_t length = std::min(sizeof pattern, bytes - at);
            if (std::memcmp(static_cast<const std::byte*>(p) + at, &pattern, length) != 0) return false;
        }
        return true;
    }
};

/// Blocks that any thread sends to one thread.
class mailbox {
public:
    void put(const patterned_block& sent) {
        const std::lock_guard lock{lock_};
        blocks_.push_back(sent);
    }
    std::vector<patterned_block> take_all() {
        const std::lock_guard lock{lock_};
        return std::exchange(blocks_, {});
    }

private:
    std::mutex lock_;
    std::vector<patterned_block> blocks_;
};

/// Threads that begin and end allocate, send blocks to each other, and free their own and received blocks in random
/// order. `allocate()` may return null; `deallocate(p)`.
template <class Allocate, class Deallocate>
void allocate_here_free_there(std::size_t threads, std::size_t bytes, int rounds, Allocate allocate,
                              Deallocate deallocate) {
    std::vector<mailbox> mail(threads);
    const auto give_back = [&](const patterned_block& block) {
        EXPECT_TRUE(block.is_whole()) << "another thread wrote here";
        deallocate(block.p);
    };
    const auto empty = [&](mailbox& box) {
        for (const patterned_block& each : box.take_all()) give_back(each);
    };
    constexpr int generations = 4;
    for (int generation = 0; generation < generations && !testing::Test::HasFailure(); ++generation) {
        in_threads(threads, [&](std::size_t self) {
            std::minstd_rand random{static_cast<unsigned>(self * 100 + static_cast<unsigned>(generation) + 1)};
            std::vector<patterned_block> mine;
            for (int round = 0; round < rounds; ++round) {
                if (void* p = allocate()) {
                    const std::uint64_t number = static_cast<std::uint64_t>(generation * rounds + round);
                    mine.push_back({p, bytes, std::uint64_t{self + 1} << 48 | number});
                    mine.back().fill();
                }
                // In waves of allocations and frees, so that magazines become full and empty.
                const bool ebb = round / 700 % 2 == 1;
                for (int frees = ebb ? 3 : static_cast<int>(random() % 2); frees > 0 && !mine.empty(); --frees) {
                    std::swap(mine[random() % mine.size()], mine.back());
                    if (random() % 2 == 0) {
                        give_back(mine.back());
                    } else {
                        mail[random() % threads].put(mine.back());
                    }
                    mine.pop_back();
                }
                if (round % 64 == 0) empty(mail[self]);
            }
            // The next generation inherits the remaining blocks.
            for (const patterned_block& each : mine) mail[self].put(each);
        });
    }
    for (mailbox& each : mail) empty(each);
}

}  // namespace acre_test
