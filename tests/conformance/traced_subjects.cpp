// Traced resources without a recorder.
#include <acre/observe/traced.hpp>

#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

struct node {
    node* next;
    int value;
};

struct traced_pmr {
    static constexpr subject_traits traits{.std_pmr = true};
    acre::traced<acre::pmr_upstream> tested{std::pmr::new_delete_resource()};
    acre::traced<acre::pmr_upstream>& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct traced_multi_arena {
    static constexpr subject_traits traits{.bounded = true};
    acre::traced<acre::multi_arena> tested{acre::multi_arena_options{.arenas = 64, .bytes = 65536}};
    acre::traced<acre::multi_arena>& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> traced_subjects() {
    using acre::arena;
    using acre::multi_pool;
    using acre::statistics;
    using acre::synchronized;
    using acre::traced;
    return {
        make_case<alone<traced<acre::heap>>>("traced_heap"),
        make_case<traced_pmr>("traced_pmr_upstream"),
        make_case<traced_multi_arena>("traced_multi_arena"),
        make_case<over_checking<traced<arena>>>("traced_arena"),
        make_case<over_checking<traced<acre::inline_arena<512>>>>("traced_inline_arena"),
        make_case<over_checking<traced<acre::pool<32>>>>("traced_pool"),
        make_case<over_checking<traced<acre::object_pool<node>>>>("traced_object_pool"),
        make_case<over_checking<traced<multi_pool>>>("traced_multi_pool"),
        make_case<over_checking<synchronized<traced<multi_pool>>>>("synchronized_traced_multi_pool"),
        make_case<over_checking<statistics<traced<arena>>>>("statistics_traced_arena"),
        make_case<over_checking<traced<statistics<multi_pool>>>>("traced_statistics_multi_pool"),
        make_case<over_resource<traced<multi_pool>, traced<arena>>>("traced_multi_pool_traced_arena"),
    };
}

}  // namespace acre_test
