// What pool_costs.cpp offers to compare_pools.cpp, once for each tree that it is compiled with.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// A workload over a pool.
struct pool_cost {
    std::string workload;
    std::string pool;
    std::size_t operations;
    bool in_threads;
    std::function<std::function<void()>()> prepare;  // builds the work, which is one round
};

using pool_costs = std::vector<pool_cost>;

}  // namespace bench
