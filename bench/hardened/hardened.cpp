// What hardening costs: the hardened pools beside the ordinary ones, and mimalloc and snmalloc with and without their
// checks. The contestants take turns; ratios are taken within a round, and their median counts.
//
//     bench/hardened/run [ROUNDS]      builds the peers and this, and prints the table
#include <dlfcn.h>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::size_t bytes = 64;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void touch(void* p) {
    *static_cast<char*>(p) = 1;
    asm volatile("" : : "r"(p) : "memory");
}

/// A workload: how many live, and in which order they are freed.
struct workload {
    const char* name;
    std::size_t live;
    bool shuffled;
};
constexpr workload workloads[] = {
    {"LIFO, 1,000", 1'000, false}, {"shuffled, 1,000", 1'000, true}, {"shuffled, 100,000", 100'000, true}};

std::vector<std::uint32_t> order_of(const workload& work) {
    std::vector<std::uint32_t> order(work.live);
    std::iota(order.rbegin(), order.rend(), 0u);
    std::mt19937 random{42};
    if (work.shuffled) std::shuffle(order.begin(), order.end(), random);
    return order;
}

/// Nanoseconds of one allocation and its free.
template <class Allocate, class Deallocate>
double measure(const workload& work, Allocate allocate, Deallocate deallocate) {
    static std::vector<void*> slots;
    slots.resize(work.live);
    static std::vector<std::uint32_t> order;
    order = order_of(work);
    const std::size_t rounds = 400'000 / work.live;
    const double start = cpu_seconds();
    for (std::size_t round = 0; round < rounds; ++round) {
        for (void*& each : slots) touch(each = allocate());
        for (const std::uint32_t each : order) deallocate(slots[each]);
    }
    return (cpu_seconds() - start) * 1e9 / static_cast<double>(rounds * work.live);
}

struct contestant {
    std::string name;
    std::function<double(const workload&)> run;
};

template <class Pool, class... Options>
contestant pool_of_slots(std::string name, Options... options) {
    auto tested = std::make_shared<Pool>(options...);
    return {std::move(name), [tested](const workload& work) {
                return measure(work, [&] { return tested->allocate(); }, [&](void* p) { tested->deallocate(p); });
            }};
}

template <class Pool>
contestant pool_of_sizes(std::string name) {
    auto tested = std::make_shared<Pool>();
    return {std::move(name), [tested](const workload& work) {
                std::size_t size = bytes;
                asm volatile("" : "+r"(size));  // known at run time only
                return measure(
                    work, [&] { return tested->allocate(size); }, [&](void* p) { tested->deallocate(p, size); });
            }};
}

void add_library(std::vector<contestant>& all, const char* path, const char* library, const std::string& name) {
    void* opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
        std::fprintf(stderr, "left out: %s: %s\n", name.c_str(), dlerror());
        return;
    }
    const std::string prefix = std::string{"acre_peer_"} + library;
    auto allocate = reinterpret_cast<void* (*)(std::size_t)>(dlsym(opened, (prefix + "_allocate").c_str()));
    auto deallocate = reinterpret_cast<void (*)(void*)>(dlsym(opened, (prefix + "_deallocate").c_str()));
    if (allocate == nullptr || deallocate == nullptr) return;
    all.push_back({name, [=](const workload& work) {
                       return measure(work, [=] { return allocate(bytes); }, [=](void* p) { deallocate(p); });
                   }});
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print_table(const std::vector<contestant>& all, std::size_t rounds) {
    std::mt19937 random{1};
    std::vector<std::vector<std::vector<double>>> took(all.size(), std::vector<std::vector<double>>(3));
    std::vector<std::size_t> turns(all.size());
    std::iota(turns.begin(), turns.end(), 0u);
    for (std::size_t round = 0; round <= rounds; ++round) {
        std::shuffle(turns.begin(), turns.end(), random);
        for (const std::size_t each : turns) {
            for (std::size_t work = 0; work < 3; ++work) {
                const double nanoseconds = all[each].run(workloads[work]);
                if (round > 0) took[each][work].push_back(nanoseconds);  // the first warms up
            }
        }
    }
    std::printf("| |");
    for (const workload& each : workloads) std::printf(" %s live | x |", each.name);
    std::printf("\n|---|%s\n", "--:|--:|--:|--:|--:|--:|");
    for (std::size_t each = 0; each < all.size(); ++each) {
        std::printf("| %s |", all[each].name.c_str());
        for (std::size_t work = 0; work < 3; ++work) {
            std::vector<double> ratios;
            for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(took[each][work][i] / took[0][work][i]);
            std::printf(" %.1f | %.2f |", median(took[each][work]), median(ratios));
        }
        std::printf("\n");
    }
}

}  // namespace

// Arguments: the peers' library as usual, the one with checks, and the number of rounds.
int main(int count, char** arguments) {
    const char* usual = count > 1 ? arguments[1] : "";
    const char* checking = count > 2 ? arguments[2] : "";
    const std::size_t rounds = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 101;
    using acre::hardened_options;
    using hardened = acre::hardened_pool<bytes>;
    std::vector<contestant> all;
    all.push_back(pool_of_slots<acre::pool<bytes>>("`pool`"));
    all.push_back(pool_of_slots<hardened>("`hardened_pool`"));
    all.push_back(
        pool_of_slots<hardened>("`hardened_pool`, writes not checked", hardened_options{.check_writes = false}));
    all.push_back(pool_of_slots<hardened>("`hardened_pool`, no quarantine, writes not checked",
                                          hardened_options{.quarantine_slots = 0, .check_writes = false}));
    all.push_back(pool_of_sizes<acre::multi_pool>("`multi_pool`"));
    all.push_back(pool_of_sizes<acre::hardened_multi_pool>("`hardened_multi_pool`"));
    all.push_back({"glibc malloc", [](const workload& work) {
                       return measure(work, [] { return std::malloc(bytes); }, [](void* p) { std::free(p); });
                   }});
    add_library(all, usual, "mimalloc", "mimalloc");
    add_library(all, checking, "mimalloc", "mimalloc secure");
    add_library(all, usual, "snmalloc", "snmalloc");
    add_library(all, checking, "snmalloc", "snmalloc with checks");
    print_table(all, rounds);
}
