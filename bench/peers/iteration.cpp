// P6: visits objects of 48 bytes in an object_pool, by its iterators and by for_each, and in a plf::hive, after a part
// of them was erased in a shuffled order. A visit adds two floats to two others.
//
// Needs plf_hive.h (github.com/mattreecebentley/plf_hive) in an include folder:
//     g++ -std=c++20 -O2 -DNDEBUG -Iinclude -IHIVE bench/peers/iteration.cpp bench/harness.cpp -o iteration
#include <plf_hive.h>
#include <acre/pools/object_pool.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../harness.hpp"

namespace {

struct particle {
    explicit particle(float at) noexcept : x(at), y(at), dx(1), dy(2), rest{} {}
    void step() noexcept {
        x += dx;
        y += dy;
    }
    float x, y, dx, dy;
    float rest[8];
};
static_assert(sizeof(particle) == 48);

constexpr double visits_a_round = 400'000;
constexpr int rounds = 41;

template <class Visit>
[[gnu::noinline]] double nanoseconds_a_visit(std::size_t live, Visit visit) {
    const auto times = static_cast<std::size_t>(visits_a_round / static_cast<double>(live)) + 1;
    const double before = bench::cpu_seconds();
    for (std::size_t i = 0; i < times; ++i) visit();
    return (bench::cpu_seconds() - before) * 1e9 / static_cast<double>(times * live);
}

double median(std::vector<double> of) {
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
    return of[of.size() / 2];
}

void compare(std::size_t count, std::size_t percent) {
    acre::object_pool<particle> pool;
    plf::hive<particle> hive;
    std::vector<particle*> in_pool;
    std::vector<plf::hive<particle>::iterator> in_hive;
    for (std::size_t i = 0; i < count; ++i) {
        in_pool.push_back(pool.create(static_cast<float>(i)));
        in_hive.push_back(hive.emplace(static_cast<float>(i)));
    }
    const auto order = bench::shuffled(count, 7);
    const std::size_t live = count * percent / 100;
    for (std::size_t i = live; i < count; ++i) {
        pool.destroy(in_pool[order[i]]);
        hive.erase(in_hive[order[i]]);
    }
    std::vector<double> iterators;
    std::vector<double> calls;
    std::vector<double> hives;
    std::vector<double> ratio;
    std::vector<double> call_ratio;
    for (int round = 0; round < rounds; ++round) {
        hives.push_back(nanoseconds_a_visit(live, [&]() __attribute__((noinline)) {
            for (particle& each : hive) each.step();
            bench::escape(&hive);
        }));
        iterators.push_back(nanoseconds_a_visit(live, [&]() __attribute__((noinline)) {
            for (particle& each : pool) each.step();
            bench::escape(&pool);
        }));
        calls.push_back(nanoseconds_a_visit(live, [&]() __attribute__((noinline)) {
#ifndef BENCH_NO_FOR_EACH
            pool.for_each([](particle& each) { each.step(); });
#endif
            bench::escape(&pool);
        }));
        ratio.push_back(iterators.back() / hives.back());
        call_ratio.push_back(calls.back() / hives.back());
    }
    std::printf("| %zu, %zu %% live | %.2f | %.2f | %.2f | %.2f | %.2f |\n", count, percent, median(hives),
                median(iterators), median(ratio), median(calls), median(call_ratio));
}

}  // namespace

int main() {
    std::puts("| objects | plf::hive, ns | iterators, ns | of hive | for_each, ns | of hive |");
    std::puts("|---|--:|--:|--:|--:|--:|");
    for (const std::size_t count : {1000, 100'000}) {
        for (const std::size_t percent : {25, 50, 75, 100}) compare(count, percent);
    }
}
