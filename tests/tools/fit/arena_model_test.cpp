// The model agrees with acre::arena: a block of the computed size serves everything, one smaller by a granule does not.
#include "fit/arena_model.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include "random_requests.hpp"

namespace {

using namespace acre::tool;
using acre::test::random_requests;
using acre::test::request;

std::uint64_t modelled_capacity(const std::vector<request>& requests) {
    arena_model model;
    std::vector<arena_model::offset> offsets(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            offsets[each.object] = model.allocate(each.bytes, each.alignment);
        } else {
            model.release(offsets[each.object], each.bytes);
        }
    }
    return model.capacity();
}

bool serves(const std::vector<request>& requests, std::size_t bytes) {
    acre::arena arena{{.first_block_bytes = bytes, .max_block_bytes = bytes, .limit_bytes = bytes}};
    std::vector<void*> addresses(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            addresses[each.object] = arena.try_allocate(each.bytes, each.alignment);
            if (addresses[each.object] == nullptr) return false;
        } else {
            arena.deallocate(addresses[each.object], each.bytes, each.alignment);
        }
    }
    return true;
}

TEST(arena_model, says_exactly_how_large_the_block_must_be) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const auto requests = random_requests(seed, {.max_bytes = seed % 2 == 0 ? 40U : 900U});
        const std::uint64_t needed = modelled_capacity(requests);
        EXPECT_TRUE(serves(requests, needed)) << seed;
        EXPECT_FALSE(serves(requests, needed - acre::arena::granule)) << seed;
    }
}

TEST(arena_model, says_enough_for_strict_alignments) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const auto requests = random_requests(seed, {.max_bytes = 300, .max_alignment = 128});
        EXPECT_TRUE(serves(requests, modelled_capacity(requests))) << seed;
    }
}

TEST(arena_model, starts_over_at_a_reset) {
    arena_model model;
    model.allocate(1000, 16);
    model.reset();
    EXPECT_EQ(model.capacity(), 32U);
    model.allocate(16, 8);
    EXPECT_EQ(model.capacity(), acre::arena::required_bytes(1, 16, 8));
}

}  // namespace
