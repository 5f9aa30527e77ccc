// Threads that are started once and wait at a gate between a benchmark's rounds.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

/// Threads that do their work once in each round.
class threads_in_rounds {
public:
    explicit threads_in_rounds(std::vector<std::function<void()>> works)
        : begin_{static_cast<std::ptrdiff_t>(works.size()) + 1}, end_{static_cast<std::ptrdiff_t>(works.size()) + 1} {
        for (auto& each : works) {
            threads_.emplace_back([this, work = std::move(each)] { run(work); });
        }
    }
    threads_in_rounds(const threads_in_rounds&) = delete;
    threads_in_rounds& operator=(const threads_in_rounds&) = delete;
    ~threads_in_rounds() {
        ending_ = true;
        begin_.arrive_and_wait();
        for (std::thread& each : threads_) each.join();
    }

    void operator()() {
        begin_.arrive_and_wait();
        end_.arrive_and_wait();
    }

private:
    void run(const std::function<void()>& work) {
        for (begin_.arrive_and_wait(); !ending_; begin_.arrive_and_wait()) {
            work();
            end_.arrive_and_wait();
        }
    }

    std::barrier<> begin_;
    std::barrier<> end_;
    std::atomic<bool> ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace bench
