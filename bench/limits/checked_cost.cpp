// What acre::checked costs: allocations and frees of 64 bytes from an acre::pool, a checked one, and malloc, in turns.
// checked_cost.py builds this program with and without AddressSanitizer and prints a table.
//
// Usage: checked_cost ROUNDS     prints a line for each workload and contestant: its median nanoseconds
//        checked_cost run WORKLOAD CONTESTANT ROUNDS     runs one, by their numbers, for callgrind; each round is
//        100,000
//                                                        allocations and frees
#include <acre/observe/checked.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t bytes = 64;

struct by_malloc {
    void* allocate() { return std::malloc(bytes); }
    void deallocate(void* p) { std::free(p); }
};
struct by_multi_pool {
    acre::checked<acre::multi_pool> pool;
    void* allocate() { return pool.allocate(bytes); }
    void deallocate(void* p) { pool.deallocate(p, bytes); }
};

void touch(void* p) {
    *static_cast<char*>(p) = 1;
    asm volatile("" : : "r"(p) : "memory");
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<std::uint32_t> choices(std::size_t live, std::size_t count) {
    std::mt19937 random{1};
    std::vector<std::uint32_t> chosen(count);
    for (auto& each : chosen) each = static_cast<std::uint32_t>(random() % live);
    return chosen;
}

// Nanoseconds for an allocation and a free.

template <class Pool>
double in_pairs(Pool& pool) {
    constexpr int count = 100'000;
    const double begin = cpu_seconds();
    for (int i = 0; i < count; ++i) {
        void* p = pool.allocate();
        touch(p);
        pool.deallocate(p);
    }
    return (cpu_seconds() - begin) / count * 1e9;
}

template <class Pool>
double newest_first(Pool& pool) {
    constexpr std::size_t live = 1000;
    constexpr int rounds = 100;
    static void* blocks[live];
    const double begin = cpu_seconds();
    for (int i = 0; i < rounds; ++i) {
        for (void*& each : blocks) touch(each = pool.allocate());
        for (std::size_t at = live; at > 0; --at) pool.deallocate(blocks[at - 1]);
    }
    return (cpu_seconds() - begin) / (live * rounds) * 1e9;
}

template <class Pool>
double at_random(Pool& pool, std::size_t live) {
    constexpr std::size_t count = 100'000;
    const auto chosen = choices(live, count);
    std::vector<void*> blocks(live);
    for (void*& each : blocks) touch(each = pool.allocate());
    const double begin = cpu_seconds();
    for (const std::uint32_t each : chosen) {
        pool.deallocate(blocks[each]);
        touch(blocks[each] = pool.allocate());
    }
    const double taken = cpu_seconds() - begin;
    for (void* each : blocks) pool.deallocate(each);
    return taken / count * 1e9;
}

using workload = double (*)(int contestant);
constexpr const char* contestants[] = {"pool", "checked<pool>", "checked<multi_pool>", "malloc"};

template <class Work>
double measure(int contestant, Work work) {
    static acre::pool<bytes> plain;
    static acre::checked<acre::pool<bytes>> checked;
    static by_multi_pool multi;
    static by_malloc general;
    switch (contestant) {
        case 0:
            return work(plain);
        case 1:
            return work(checked);
        case 2:
            return work(multi);
        default:
            return work(general);
    }
}

struct named_workload {
    const char* name;
    workload run;
};
const named_workload workloads[] = {
    {"pairs", [](int c) { return measure(c, [](auto& pool) { return in_pairs(pool); }); }},
    {"1,000 live, newest first", [](int c) { return measure(c, [](auto& pool) { return newest_first(pool); }); }},
    {"1,000 live, at random", [](int c) { return measure(c, [](auto& pool) { return at_random(pool, 1'000); }); }},
    {"100,000 live, at random", [](int c) { return measure(c, [](auto& pool) { return at_random(pool, 100'000); }); }},
};

}  // namespace

int main(int argc, char** argv) {
    if (argc == 5 && std::string_view{argv[1]} == "run") {
        for (int round = 0; round < std::atoi(argv[4]); ++round) workloads[std::atoi(argv[2])].run(std::atoi(argv[3]));
        return 0;
    }
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    for (const named_workload& each : workloads) {
        std::vector<double> taken[std::size(contestants)];
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < std::size(contestants); ++i) {
                const std::size_t c = (i + static_cast<std::size_t>(round)) % std::size(contestants);
                taken[c].push_back(each.run(static_cast<int>(c)));
            }
        }
        for (std::size_t c = 0; c < std::size(contestants); ++c) {
            std::sort(taken[c].begin(), taken[c].end());
            std::printf("%s\t%s\t%.2f\n", each.name, contestants[c], taken[c][taken[c].size() / 2]);
        }
    }
}
