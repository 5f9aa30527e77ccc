// The head chooses a pool of objects or an arena; each record creates, destroys or changes objects in it. Upstream
// refuses requests and constructors throw.
#include <gtest/gtest.h>

#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <iterator>

#include "fuzz/arena_run.hpp"
#include "fuzz/object_pool_run.hpp"

namespace {

using namespace acre_test;

const bool failures_end_the_program = [] {
    GTEST_FLAG_SET(break_on_failure, true);
    return true;
}();

constexpr std::size_t max_steps = 500;
constexpr acre::statistics_options everything{.live_map = true, .histogram = true, .scopes = true};

using input = std::span<const std::uint8_t>;

template <class Run>
void play_all(Run& run, input bytes) {
    for_each_record(bytes, max_steps, [&](record_choices& choose) { run.step(choose); });
    run.finish();
}

/// A pool that grows from upstream. It may have options in front of that.
template <class Pool, auto... Options>
void play_growing(input bytes) {
    checking_upstream below;
    Pool tested{Options..., below};
    object_pool_run<Pool> run{tested, &below};
    play_all(run, bytes);
}

/// A pool with all its storage from the start.
template <class Pool, auto... Options>
void play_fixed(input bytes) {
    Pool tested{Options...};
    object_pool_run<Pool> run{tested, nullptr};
    play_all(run, bytes);
}

template <acre::arena_options Options>
void play_arena(input bytes) {
    checking_upstream below;
    acre::arena tested{Options, below};
    arena_run run{tested, below};
    play_all(run, bytes);
}

void play_inline_arena(input bytes) {
    checking_upstream below;
    acre::inline_arena<600> tested{below};
    arena_run run{tested, below};
    play_all(run, bytes);
}

constexpr void (*worlds[])(input) = {
    play_growing<acre::object_pool<probe>>,
    play_growing<acre::object_pool<probe>, acre::pool_options{.limit_bytes = 8192}>,
    play_growing<acre::concurrent_object_pool<probe>>,
    play_growing<acre::synchronized<acre::object_pool<probe>>>,
    play_growing<acre::statistics<acre::object_pool<probe>, everything>>,
    play_growing<acre::limited<acre::object_pool<probe>>, acre::limited_options{.limit_bytes = 4000}>,
    play_fixed<acre::wait_free_object_pool<probe>, acre::wait_free_pool_options{.slots = 70}>,
    play_fixed<acre::typed_arena<probe, 100, acre::typed_arena_options{.reuse = true}>>,
    play_fixed<acre::typed_arena<probe, 100, acre::typed_arena_options{.reuse = true, .synchronized = true}>>,
    play_fixed<acre::typed_arena<probe, 100, acre::typed_arena_options{.report_live = true}>>,
    play_growing<acre::chunk_pool<40, 8, 24, 100>>,
    play_growing<acre::chunk_pool<10, 24>, acre::chunk_pool_options{.when_full = acre::exhaustion::fall_back}>,
    play_arena<acre::arena_options{}>,
    play_arena<acre::arena_options{.first_block_bytes = 64, .max_block_bytes = 512}>,
    play_arena<acre::arena_options{.fixed_bytes = 3000}>,
    play_arena<acre::arena_options{.first_block_bytes = 256, .limit_bytes = 5000}>,
    play_inline_arena,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const input all{data, bytes};
    worlds[record_head(all) % std::size(worlds)](all);
    return 0;
}
