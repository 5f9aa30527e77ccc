// The number of arenas from the model suffices for acre::concurrent_multi_arena, whose mechanism is run in the recorded
// order of the threads.
#include "fit/concurrent_multi_arena_model.hpp"

#include <gtest/gtest.h>

#include "fit/deterministic_threads.hpp"
#include "random_requests.hpp"

namespace {

using namespace acre::tool;
using acre::test::random_requests;
using acre::test::request;

std::uint64_t modelled_arenas(const std::vector<request>& requests, std::size_t bytes) {
    concurrent_multi_arena_model model{granules_of(bytes)};
    std::vector<concurrent_multi_arena_model::position> positions(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            positions[each.object] = model.allocate(granules_of(each.bytes), granules_of(each.alignment), each.thread);
        } else {
            model.release(positions[each.object], granules_of(each.bytes), each.thread);
        }
    }
    EXPECT_FALSE(model.gave_up());
    return model.arenas();
}

bool serves(const std::vector<request>& requests, std::size_t arenas, std::size_t bytes) {
    deterministic_threads tried{{.arenas = arenas, .bytes = bytes}};
    std::vector<void*> addresses(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            addresses[each.object] = tried.try_allocate(each.bytes, each.alignment, each.thread);
            if (addresses[each.object] == nullptr) return false;
        } else {
            tried.deallocate(addresses[each.object], each.bytes, each.thread);
        }
    }
    return true;
}

TEST(concurrent_multi_arena_model, says_how_many_arenas_suffice) {
    std::uint64_t too_many = 0;
    std::uint64_t tried = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const std::uint32_t threads = 1 + seed % 5;
        const std::size_t alignment = seed % 3 == 0 ? 128 : 16;
        const auto requests = random_requests(
            seed, {.max_bytes = seed % 2 == 0 ? 100U : 600U, .max_alignment = alignment, .threads = threads});
        for (const std::size_t bytes : {640U, 1024U, 4224U}) {
            const std::uint64_t needed = modelled_arenas(requests, bytes);
            EXPECT_TRUE(serves(requests, needed, bytes)) << seed << ", " << needed << " x " << bytes;
            std::uint64_t fewest = needed;
            while (fewest > 1 && serves(requests, fewest - 1, bytes)) --fewest;
            too_many += needed - fewest;
            tried += needed;
        }
    }
    // The shared arena serves instead of the missing ones.
    EXPECT_LT(too_many, tried / 3);
}

}  // namespace
