// Checked resources: all promises hold, and no report is made of what is right. Leaks are ignored, because the suite
// also tests what the end of a resource takes back.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/wait_free_pool.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

using acre::checked;

struct node {
    node* next;
    int value;
};

const acre::checked_options rules{.leaks = acre::leak_rule::ignore};

/// A checked resource over the checking upstream.
template <class R>
struct checked_over {
    static constexpr subject_traits traits{.direct = true};
    checking_upstream below;
    R tested{rules, below};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

/// One that takes its storage at construction.
template <class R, auto Options>
struct checked_bounded {
    static constexpr subject_traits traits{.bounded = true};
    R tested{rules, Options};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

template <class R, subject_traits Traits>
struct checked_alone {
    static constexpr subject_traits traits = Traits;
    R tested{rules};
    R& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> checked_subjects() {
    using acre::arena;
    using acre::multi_pool;
    using acre::synchronized;
    return {
        make_case<checked_alone<checked<acre::heap>, {}>>("checked_heap"),
        make_case<checked_over<checked<arena>>>("checked_arena"),
        make_case<checked_over<checked<acre::inline_arena<512>>>>("checked_inline_arena"),
        make_case<checked_over<checked<acre::concurrent_arena>>>("checked_concurrent_arena"),
        make_case<checked_bounded<checked<acre::multi_arena>, acre::multi_arena_options{.arenas = 64, .bytes = 65536}>>(
            "checked_multi_arena"),
        make_case<checked_bounded<checked<acre::concurrent_multi_arena>,
                                  acre::concurrent_multi_arena_options{.arenas = 64, .bytes = 65536}>>(
            "checked_concurrent_multi_arena"),
        make_case<checked_alone<checked<acre::typed_arena<node, 5'000, acre::typed_arena_options{.reuse = true}>>,
                                {.bounded = true}>>("checked_typed_arena"),
        make_case<checked_over<checked<acre::pool<32>>>>("checked_pool"),
        make_case<checked_over<checked<acre::pool<64, 64>>>>("checked_pool_64_64"),
        make_case<checked_over<checked<acre::object_pool<node>>>>("checked_object_pool"),
        make_case<checked_over<checked<multi_pool>>>("checked_multi_pool"),
        make_case<checked_bounded<checked<acre::chunk_pool<500, 16, 64, 256, 1024, 8192>>, acre::chunk_pool_options{}>>(
            "checked_chunk_pool"),
        make_case<checked_over<checked<acre::concurrent_pool<32>>>>("checked_concurrent_pool"),
        make_case<checked_over<checked<acre::concurrent_object_pool<node>>>>("checked_concurrent_object_pool"),
        make_case<checked_over<checked<acre::concurrent_multi_pool>>>("checked_concurrent_multi_pool"),
        make_case<checked_bounded<checked<acre::wait_free_pool<64>>, acre::wait_free_pool_options{.slots = 5000}>>(
            "checked_wait_free_pool"),
        make_case<checked_over<synchronized<checked<multi_pool>>>>("synchronized_checked_multi_pool"),
        make_case<checked_over<acre::statistics<checked<arena>>>>("statistics_checked_arena"),
    };
}

}  // namespace acre_test
