// Pools of several slot sizes and alignments.
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

struct alignas(32) wide_object {
    double values[12];
};

}  // namespace

std::vector<subject_case> pool_subjects() {
    using acre::multi_pool;
    using acre::pool;
    using acre::pool_options;
    return {
        make_case<over_checking<pool<1>>>("pool_1"),
        make_case<over_checking<pool<8>>>("pool_8"),
        make_case<over_checking<pool<24, 4>>>("pool_24_4"),
        make_case<over_checking<pool<64, 64>>>("pool_64_64"),
        make_case<over_checking<pool<1000>>>("pool_1000"),
        make_case<over_checking<pool<4096, 4096>>>("pool_4096_4096"),
        make_case<over_checking<pool<20000>>>("pool_20000"),
        make_case<over_checking_with<pool<64>, pool_options{.limit_bytes = 50'000},
                                     subject_traits{.bounded = true, .direct = true}>>("pool_limited"),
        make_case<over_pmr<pool<48>>>("pool_48_pmr"),
        make_case<over_buffer<pool<64>, 200'000>>("pool_64_buffer"),
        make_case<over_checking<acre::object_pool<wide_object>>>("object_pool"),
        make_case<alone<multi_pool>>("multi_pool_heap"),
        make_case<over_checking<multi_pool>>("multi_pool"),
        make_case<over_checking_with<multi_pool, pool_options{.limit_bytes = 100'000},
                                     subject_traits{.bounded = true, .direct = true}>>("multi_pool_limited"),
        make_case<over_pmr<multi_pool>>("multi_pool_pmr"),
        make_case<over_buffer<multi_pool, 500'000>>("multi_pool_buffer"),
    };
}

}  // namespace acre_test
