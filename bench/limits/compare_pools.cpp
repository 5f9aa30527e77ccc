// Runs the workloads of pool_costs.cpp over the pools of several trees in turns, and prints their times as ratios to
// the first tree's. compare_pools.py builds it.
//
// Usage: compare_pools ROUNDS [workload [pool]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../harness.hpp"
#include "pool_costs.hpp"

// One function for each tree; compare_pools.py names them.
#define BENCH_TREE(name)           \
    namespace name {               \
    bench::pool_costs all_costs(); \
    }
BENCH_TREES_DECLARED
#undef BENCH_TREE

namespace {

struct sample {
    double processor;
    double wall;
};

sample measured(const std::function<void()>& round, std::size_t times) {
    const double wall = bench::wall_seconds();
    const double processor = bench::process_seconds();
    for (std::size_t i = 0; i < times; ++i) round();
    return {bench::process_seconds() - processor, bench::wall_seconds() - wall};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct column {
    std::function<void()> round;
    std::vector<double> processor, ratio, wall_ratio;
};

void compare(const std::vector<const bench::pool_cost*>& trees, std::size_t rounds) {
    std::vector<column> columns;
    for (const bench::pool_cost* each : trees) columns.push_back({each->prepare(), {}, {}, {}});
    // About 2 ms a sample.
    std::size_t times = 1;
    for (column& each : columns) (void)measured(each.round, 2);
    while (measured(columns[0].round, times).wall < 2e-3) times *= 2;
    bench::random_numbers random{5};
    std::vector<std::size_t> order(columns.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        std::vector<sample> samples(columns.size());
        for (const std::size_t i : order) samples[i] = measured(columns[i].round, times);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            columns[i].processor.push_back(samples[i].processor);
            columns[i].ratio.push_back(samples[i].processor / samples[0].processor);
            columns[i].wall_ratio.push_back(samples[i].wall / samples[0].wall);
        }
    }
    const double per_operation = 1e9 / static_cast<double>(times * trees[0]->operations);
    std::printf("| %s | %s | %.2f |", trees[0]->workload.c_str(), trees[0]->pool.c_str(),
                median(columns[0].processor) * per_operation);
    for (std::size_t i = 1; i < columns.size(); ++i) {
        std::printf(" %.2f | %.2f |", median(columns[i].processor) * per_operation, median(columns[i].ratio));
        if (trees[0]->in_threads) {
            std::printf(" %.2f |", median(columns[i].wall_ratio));
        } else {
            std::printf(" |");
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 101;
    const std::string workload = count > 2 ? arguments[2] : "";
    const std::string pool = count > 3 ? arguments[3] : "";
    std::vector<bench::pool_costs> trees;
    for (const auto& all : {BENCH_TREES_LISTED}) trees.push_back(all());
    for (std::size_t i = 0; i < trees[0].size(); ++i) {
        if (trees[0][i].workload.rfind(workload, 0) != 0) continue;
        if (!pool.empty() && trees[0][i].pool != pool) continue;
        std::vector<const bench::pool_cost*> same;
        for (const auto& each : trees) same.push_back(&each[i]);
        compare(same, rounds);
    }
}
