// The model agrees with acre::multi_arena: the computed number of arenas serves a random order of events, one less does
// not.
#include "fit/multi_arena_model.hpp"

#include <gtest/gtest.h>
#include <acre/arenas/fit_multi_arena.hpp>

#include "random_requests.hpp"

namespace {

using namespace acre::tool;
using acre::test::random_requests;
using acre::test::request;

std::uint64_t modelled_arenas(const std::vector<request>& requests, std::size_t bytes, std::size_t open) {
    multi_arena_model model{granules_of(bytes), open};
    std::vector<multi_arena_model::position> positions(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            positions[each.object] = model.allocate(granules_of(each.bytes), granules_of(each.alignment));
        } else {
            model.release(positions[each.object], granules_of(each.bytes));
        }
    }
    EXPECT_FALSE(model.gave_up());
    return model.arenas();
}

bool serves(const std::vector<request>& requests, const acre::multi_arena_options& options) {
    acre::multi_arena arenas{options};
    std::vector<void*> addresses(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            addresses[each.object] = arenas.try_allocate(each.bytes, each.alignment);
            if (addresses[each.object] == nullptr) return false;
        } else {
            arenas.deallocate(addresses[each.object], each.bytes, each.alignment);
        }
    }
    return true;
}

TEST(multi_arena_model, says_exactly_how_many_arenas_are_needed) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const std::size_t alignment = seed % 3 == 0 ? 128 : 16;
        const auto requests =
            random_requests(seed, {.max_bytes = seed % 2 == 0 ? 100U : 600U, .max_alignment = alignment});
        for (const std::size_t bytes : {640U, 768U, 1024U, 4224U}) {
            for (const std::size_t open : {0U, 1U, 3U, 8U}) {
                const std::uint64_t needed = modelled_arenas(requests, bytes, open);
                EXPECT_TRUE(serves(requests, {.arenas = needed, .bytes = bytes, .open = open}))
                    << "seed " << seed << ", " << needed << " x " << bytes << ", open " << open;
                if (needed > 1) {
                    EXPECT_FALSE(serves(requests, {.arenas = needed - 1, .bytes = bytes, .open = open}))
                        << "seed " << seed << ", " << needed - 1 << " x " << bytes << ", open " << open;
                }
            }
        }
    }
}

// Brute force: no smaller number suffices, and every larger one does.
TEST(multi_arena_model, more_arenas_always_suffice) {
    for (unsigned seed = 100; seed < 110; ++seed) {
        const auto requests = random_requests(seed, {.max_bytes = 300});
        const std::uint64_t needed = modelled_arenas(requests, 320, 0);
        for (std::size_t arenas = 1; arenas <= needed + 10; ++arenas) {
            EXPECT_EQ(serves(requests, {.arenas = arenas, .bytes = 320}), arenas >= needed) << seed;
        }
    }
}

TEST(multi_arena_model, agrees_with_the_search_of_the_library) {
    const auto requests = random_requests(7, {.max_bytes = 200});
    const auto workload = [&](acre::multi_arena& arenas) {
        std::vector<void*> addresses(requests.size());
        for (const request& each : requests) {
            if (each.allocates) {
                addresses[each.object] = arenas.allocate(each.bytes);
            } else {
                arenas.deallocate(addresses[each.object], each.bytes);
            }
        }
    };
    for (const acre::multi_arena_fit& each : acre::fit_multi_arena(workload, {.first_bytes = 256})) {
        EXPECT_EQ(modelled_arenas(requests, each.bytes, 0), each.arenas) << each.bytes;
    }
}

TEST(multi_arena_model, gives_up_beyond_its_limit) {
    multi_arena_model model{max_granules / 2};
    std::vector<multi_arena_model::position> positions;
    for (int i = 0; i < 3; ++i) positions.push_back(model.allocate(max_granules / 2, 1));
    EXPECT_TRUE(model.gave_up());
    for (const auto position : positions) model.release(position, max_granules / 2);
}

TEST(multi_arena_model, counts_sizes_in_granules) {
    EXPECT_EQ(granules_of(0), 1U);
    EXPECT_EQ(granules_of(16), 1U);
    EXPECT_EQ(granules_of(17), 2U);
    EXPECT_EQ(granules_of(~std::uint64_t{0}), max_granules);
}

TEST(quick_divisor, divides_as_the_operator_does) {
    constexpr std::uint32_t largest = 0xffff'ffff;
    for (const std::uint32_t divisor : {1U, 2U, 3U, 7U, 27U, 4096U, 65'537U, 1U << 31, largest - 1, largest}) {
        const quick_divisor quick{divisor};
        for (const std::uint32_t number : {0U, 1U, divisor - 1, divisor, largest / 2, largest - 1, largest}) {
            EXPECT_EQ(quick(number), number / divisor) << number << " / " << divisor;
        }
        // Around multiples, where rounding errors would show.
        for (std::uint64_t multiple = divisor; multiple <= largest;
             multiple += divisor * (1 + multiple / divisor / 3)) {
            const auto number = static_cast<std::uint32_t>(multiple);
            EXPECT_EQ(quick(number), number / divisor);
            EXPECT_EQ(quick(number - 1), (number - 1) / divisor);
        }
    }
}

}  // namespace
