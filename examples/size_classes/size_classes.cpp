// A multi-pool with size classes of its own, beside the default ones: what a workload of a few node sizes wastes in
// each.
//
// A size-class policy is a type with a constexpr array of slot sizes (acre/pools/size_classes.hpp). It shows a policy
// by a list, one by a rule, and how to measure the waste: used() is the bytes of the live slots, and the program knows
// the bytes that it asked for. Copy it where a histogram of your program's requests (acre::statistics with .histogram)
// shows a few sizes that the default classes round up.
#include <acre/adapt/allocator.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/size_classes.hpp>
#include <array>
#include <cstddef>
#include <cstdio>
#include <list>

namespace {

/// The sizes of this program's nodes, exactly.
using node_classes = acre::size_class_list<40, 152, 328, 1032>;

/// 16, 32, ..., 8192 bytes, by a rule.
struct powers_of_two {
    static constexpr auto bytes = [] {
        std::array<std::size_t, 10> sizes{};
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::size_t{16} << i;
        return sizes;
    }();
};
static_assert(acre::size_class_policy<powers_of_two>);

/// Nodes of one size and how many of them there are.
struct node_kind {
    std::size_t bytes;
    int count;
};
constexpr std::array<node_kind, 4> workload{{{40, 20'000}, {152, 10'000}, {328, 5'000}, {1032, 1'000}}};

/// Allocates the workload and prints what its slots take beyond the bytes asked for.
template <class Pool>
void print_waste(const char* classes) {
    Pool pool;
    std::size_t requested = 0;
    for (const node_kind& kind : workload) {
        for (int i = 0; i < kind.count; ++i) (void)pool.allocate(kind.bytes, 8);
        requested += kind.bytes * static_cast<std::size_t>(kind.count);
    }
    const std::size_t waste = pool.used() - requested;
    std::printf("%-14s %9zu bytes requested, %9zu wasted by rounding (%.1f %%)\n", classes, requested, waste,
                100.0 * static_cast<double>(waste) / static_cast<double>(requested));
}

}  // namespace

int main() {
    print_waste<acre::multi_pool>("default");
    print_waste<acre::basic_multi_pool<powers_of_two>>("powers of two");
    print_waste<acre::basic_multi_pool<node_classes>>("node sizes");
    print_waste<acre::basic_concurrent_multi_pool<node_classes>>("for threads");

    // Under a container as any resource; sizes beyond the last class come from upstream.
    using pool = acre::basic_multi_pool<node_classes>;
    pool nodes;
    std::list<long, acre::allocator<long, pool>> numbers{nodes};
    for (long i = 0; i < 1000; ++i) numbers.push_back(i);
    void* large = nodes.allocate(100'000);
    std::printf("a list of %zu numbers and one large block: %zu live allocations\n", numbers.size(), nodes.live());
    nodes.deallocate(large, 100'000);
}
