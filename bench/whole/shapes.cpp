// Shapes of allocation with threads, after those of mimalloc-bench, as a program that calls malloc.
//
// Usage: shapes larson|xmalloc|scratch|mixed|large THREADS
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class numbers {
public:
    explicit numbers(std::uint64_t seed) : state_(seed) {}
    std::size_t below(std::size_t end) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>(state_ >> 33) % end;
    }

private:
    std::uint64_t state_;
};

// Touches the first and the last byte.
char* request(std::size_t bytes) {
    auto* p = static_cast<char*>(std::malloc(bytes));
    p[0] = p[bytes - 1] = 1;
    return p;
}

template <class Work>
void in_threads(std::size_t count, Work work) {
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < count; ++number) threads.emplace_back(work, number);
    for (std::thread& each : threads) each.join();
}

// Replaces random ones of `live` blocks.
void churn(std::vector<char*>& live, numbers& random, std::size_t steps, std::size_t fewest, std::size_t most) {
    for (std::size_t step = 0; step < steps; ++step) {
        char*& chosen = live[random.below(live.size())];
        std::free(chosen);
        chosen = request(fewest + random.below(most - fewest));
    }
}

// A server whose threads end and leave their blocks to the next.
void larson(std::size_t threads) {
    in_threads(threads, [](std::size_t number) {
        std::vector<char*> live(1000);
        for (std::size_t generation = 0; generation < 20; ++generation) {
            std::thread{[&] {
                numbers random{number * 100 + generation};
                churn(live, random, 200'000, 16, 516);
            }}.join();
        }
    });
}

// Half of the threads allocate, the others free.
void xmalloc(std::size_t threads) {
    using batch = std::vector<char*>;
    std::mutex lock;
    std::condition_variable changed;
    std::deque<batch> sent;
    std::size_t producers = threads / 2;
    in_threads(threads, [&, half = threads / 2](std::size_t number) {
        if (number < half) {
            numbers random{number};
            for (std::size_t step = 0; step < 10'000; ++step) {
                batch made(256);
                for (char*& each : made) each = request(8 + random.below(400));
                std::unique_lock hold{lock};
                changed.wait(hold, [&] { return sent.size() < 64; });
                sent.push_back(std::move(made));
                changed.notify_all();
            }
            const std::lock_guard hold{lock};
            --producers;
            changed.notify_all();
            return;
        }
        for (;;) {
            std::unique_lock hold{lock};
            changed.wait(hold, [&] { return !sent.empty() || producers == 0; });
            if (sent.empty()) return;
            const batch received = std::move(sent.front());
            sent.pop_front();
            changed.notify_all();
            hold.unlock();
            for (char* each : received) std::free(each);
        }
    });
}

// Each thread writes its own small block, which replaces one that another thread made: do they share a cache line?
void scratch(std::size_t threads) {
    std::vector<char*> first;
    for (std::size_t number = 0; number < threads; ++number) first.push_back(request(8));
    in_threads(threads, [&](std::size_t number) {
        std::free(first[number]);
        for (int round = 0; round < 2000; ++round) {
            volatile char* p = request(8);
            for (int step = 0; step < 100'000; ++step) p[step % 8] = static_cast<char>(step);
            std::free(const_cast<char*>(p));
        }
    });
}

void mixed(std::size_t threads) {
    in_threads(threads, [](std::size_t number) {
        numbers random{number};
        std::vector<char*> live(100'000);
        for (int round = 0; round < 8; ++round) {
            churn(live, random, 1'000'000, 8, 136);
            churn(live, random, 100'000, 8, 2056);
        }
    });
}

void large(std::size_t threads) {
    in_threads(threads, [](std::size_t number) {
        numbers random{number};
        std::vector<char*> live(64);
        churn(live, random, 300'000, 30'000, 330'000);
    });
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const std::string shape = arguments[1];
    const auto threads = static_cast<std::size_t>(std::atoi(arguments[2]));
    if (shape == "larson") larson(threads);
    if (shape == "xmalloc") xmalloc(threads);
    if (shape == "scratch") scratch(threads);
    if (shape == "mixed") mixed(threads);
    if (shape == "large") large(threads);
    return 0;
}
