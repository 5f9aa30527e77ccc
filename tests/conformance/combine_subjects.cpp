// Combined resources, and statistics that record everything.
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>

#include <acre/arenas/arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/core/locks.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/statistics.hpp>
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

constexpr acre::statistics_options everything{.live_map = true, .histogram = true, .scopes = true};

/// Two parts over one checking upstream.
template <class R, auto FirstOptions, auto SecondOptions, subject_traits Traits = {}>
struct parts_over_checking {
    static constexpr subject_traits traits = Traits;
    checking_upstream below;
    R tested{std::piecewise_construct, std::forward_as_tuple(FirstOptions, below),
             std::forward_as_tuple(SecondOptions, below)};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

struct limited_share_of_arena {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    acre::arena level{below};
    acre::limited<acre::resource_ref> tested{acre::limited_options{.limit_bytes = 65536}, level};
    auto& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

struct fallback_to_arena {
    static constexpr subject_traits traits{.shrinks = false};
    checking_upstream below;
    acre::fallback<acre::inline_buffer<5000>, acre::arena> tested{std::piecewise_construct, std::forward_as_tuple(),
                                                                  std::forward_as_tuple(below)};
    auto& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

struct synchronized_multi_arena {
    static constexpr subject_traits traits{.bounded = true};
    acre::synchronized<acre::multi_arena> tested{acre::multi_arena_options{.arenas = 64, .bytes = 65536}};
    acre::synchronized<acre::multi_arena>& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> combine_subjects() {
    using acre::arena;
    using acre::arena_options;
    using acre::fallback;
    using acre::heap;
    using acre::limited;
    using acre::limited_options;
    using acre::multi_pool;
    using acre::pool;
    using acre::pool_options;
    using acre::segregate;
    using acre::statistics;
    using acre::synchronized;
    constexpr limited_options little{.limit_bytes = 65536};
    constexpr limited_options plenty{.limit_bytes = SIZE_MAX / 4};
    // Four requests of one size reach the limit, so storage kept for the next round fits within it.
    constexpr arena_options few_blocks{.first_block_bytes = 2048, .max_block_bytes = 2048, .limit_bytes = 8192};
    constexpr subject_traits direct{.direct = true};
    constexpr subject_traits bounded{.bounded = true};
    constexpr subject_traits not_shrinking{.shrinks = false};
    constexpr subject_traits direct_not_shrinking{.direct = true, .shrinks = false};
    return {
        make_case<over_checking_with<acre::recycling<arena>, arena_options{}, direct_not_shrinking>>("recycling_arena"),
        make_case<alone<synchronized<heap>>>("synchronized_heap"),
        make_case<synchronized_multi_arena>("synchronized_multi_arena"),
        make_case<alone<synchronized<acre::inline_multi_arena<32, 8192>, acre::spin_lock>, bounded>>(
            "synchronized_inline_multi_arena"),
        make_case<over_checking<synchronized<arena>>>("synchronized_arena"),
        make_case<over_checking<synchronized<pool<64>, acre::spin_lock>>>("synchronized_pool_spin"),
        make_case<over_checking<synchronized<multi_pool, acre::no_lock>>>("synchronized_multi_pool_none"),
        make_case<over_checking<synchronized<acre::object_pool<node>>>>("synchronized_object_pool"),
        make_case<over_checking_with<synchronized<multi_pool>, pool_options{.limit_bytes = 90'000},
                                     subject_traits{.bounded = true, .direct = true}>>(
            "synchronized_multi_pool_limited"),
        make_case<over_checking<statistics<arena, everything>>>("statistics_of_all_arena"),
        make_case<over_checking<statistics<multi_pool, everything>>>("statistics_of_all_multi_pool"),
        make_case<over_checking<synchronized<statistics<pool<32>, everything>>>>("synchronized_statistics_pool"),
        make_case<over_checking<synchronized<statistics<multi_pool>>>>("synchronized_statistics_multi_pool"),
        make_case<alone<fallback<acre::inline_buffer<4096>, heap>>>("fallback_inline_buffer_heap"),
        make_case<fallback_to_arena>("fallback_inline_buffer_arena"),
        make_case<parts_over_checking<fallback<pool<64>, multi_pool>, pool_options{.limit_bytes = 8192}, pool_options{},
                                      subject_traits{.direct = true, .falls_back = true}>>("fallback_pool_multi_pool"),
        make_case<parts_over_checking<fallback<arena, multi_pool>, few_blocks, pool_options{},
                                      subject_traits{.shrinks = false, .falls_back = true}>>(
            "fallback_arena_multi_pool"),
        make_case<alone<segregate<128, pool<128>, heap>>>("segregate_pool_heap"),
        make_case<parts_over_checking<segregate<100, pool<100>, multi_pool>, pool_options{}, pool_options{}, direct>>(
            "segregate_pool_multi_pool"),
        make_case<
            parts_over_checking<segregate<50, arena, multi_pool>, arena_options{}, pool_options{}, not_shrinking>>(
            "segregate_arena_multi_pool"),
        make_case<over_checking_with<limited<arena>, little, bounded>>("limited_arena"),
        make_case<over_checking_with<limited<pool<64>>, little, bounded>>("limited_pool"),
        make_case<over_checking_with<limited<multi_pool>, plenty, direct>>("limited_multi_pool_plenty"),
        make_case<limited_share_of_arena>("limited_resource_ref_arena"),
        make_case<over_checking_with<synchronized<limited<multi_pool>>, little, bounded>>(
            "synchronized_limited_multi_pool"),
    };
}

}  // namespace acre_test
