// Arenas and scratches.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/memory/no_memory.hpp>

#include "conformance/worlds.hpp"

namespace acre_test {
namespace {

struct scratch_in_arena {
    static constexpr subject_traits traits{};
    checking_upstream below;
    acre::arena around{below};
    acre::scratch tested{around};
    acre::scratch& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

struct inline_arena_alone {
    static constexpr subject_traits traits{.bounded = true};
    acre::inline_arena<65536> tested{acre::no_memory{}};
    acre::inline_arena<65536>& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

struct reference_to_arena {
    static constexpr subject_traits traits{};
    checking_upstream below;
    acre::arena referred{below};
    acre::resource_ref tested{referred};
    acre::resource_ref& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return &below; }
};

// Takes all its memory at construction, so the tests do not check its upstream calls.
template <class Arenas, typename Arenas::options_type Options>
struct reserved {
    static constexpr subject_traits traits{.bounded = true};
    checking_upstream below;
    Arenas tested{Options, below};
    Arenas& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

template <acre::multi_arena_options Options>
using multi_arena_reserved = reserved<acre::multi_arena, Options>;
template <acre::concurrent_multi_arena_options Options>
using concurrent_multi_arena_reserved = reserved<acre::concurrent_multi_arena, Options>;

struct typed_item {
    std::uint64_t words[3];
};
struct alignas(64) wide_item {
    std::uint64_t words[10];
};

// A typed_arena has no upstream and is bounded.
template <class T, std::size_t N, acre::typed_arena_options Options>
using typed = alone<acre::typed_arena<T, N, Options>, subject_traits{.bounded = true}>;

// Behind a resource_ref, since it does not own storage of its fallback.
struct typed_arena_falling_back {
    static constexpr subject_traits traits{};
    acre::typed_arena<typed_item, 500,
                      acre::typed_arena_options{.when_full = acre::exhaustion::fall_back, .reuse = true}>
        referred;
    acre::resource_ref tested{referred};
    acre::resource_ref& resource() noexcept { return tested; }
    checking_upstream* upstream() noexcept { return nullptr; }
};

}  // namespace

std::vector<subject_case> arena_subjects() {
    using acre::arena;
    using acre::arena_options;
    using acre::typed_arena_options;
    return {
        make_case<alone<arena>>("arena_heap"),
        make_case<over_checking<arena>>("arena"),
        make_case<reserved<arena, arena_options{.fixed_bytes = 65536}>>("arena_fixed"),
        make_case<over_checking<acre::concurrent_arena>>("concurrent_arena"),
        make_case<over_pmr<acre::concurrent_arena>>("concurrent_arena_pmr"),
        make_case<over_checking_with<arena, arena_options{.first_block_bytes = 64, .max_block_bytes = 256}>>(
            "arena_small_blocks"),
        make_case<over_checking_with<arena, arena_options{.limit_bytes = 65536},
                                     subject_traits{.bounded = true, .direct = true}>>("arena_limited"),
        make_case<over_pmr<arena>>("arena_pmr"),
        make_case<over_buffer<arena, 100'000>>("arena_buffer"),
        make_case<over_resource<arena, arena>>("arena_arena"),
        make_case<over_checking<acre::inline_arena<1024>>>("inline_arena"),
        make_case<inline_arena_alone>("inline_arena_alone"),
        make_case<scratch_in_arena>("scratch"),
        make_case<multi_arena_reserved<{.arenas = 64, .bytes = 65536}>>("multi_arena"),
        make_case<multi_arena_reserved<{.arenas = 100, .bytes = 1000, .open = 3}>>("multi_arena_open"),
        make_case<multi_arena_reserved<{.arenas = 500, .bytes = 512, .large = acre::large_requests::take_run}>>(
            "multi_arena_runs"),
        make_case<alone<acre::inline_multi_arena<32, 8192>, subject_traits{.bounded = true}>>("inline_multi_arena"),
        make_case<concurrent_multi_arena_reserved<{.arenas = 64, .bytes = 65536}>>("concurrent_multi_arena"),
        make_case<concurrent_multi_arena_reserved<{.arenas = 1, .bytes = 65536}>>("concurrent_multi_arena_shared"),
        make_case<alone<acre::inline_concurrent_multi_arena<32, 8192>, subject_traits{.bounded = true}>>(
            "inline_concurrent_multi_arena"),
        make_case<reference_to_arena>("resource_ref_arena"),
        make_case<typed<typed_item, 20'000, typed_arena_options{}>>("typed_arena"),
        make_case<typed<typed_item, 5'000, typed_arena_options{.reuse = true}>>("typed_arena_reuse"),
        make_case<typed<wide_item, 1'000, typed_arena_options{.synchronized = true}>>("typed_arena_synchronized"),
        make_case<typed<wide_item, 300, typed_arena_options{.reuse = true, .synchronized = true}>>(
            "typed_arena_reuse_synchronized"),
        make_case<typed_arena_falling_back>("typed_arena_fall_back"),
    };
}

}  // namespace acre_test
