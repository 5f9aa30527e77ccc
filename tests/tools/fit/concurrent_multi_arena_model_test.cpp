// What the model says suffices for acre::concurrent_multi_arena: its own mechanism, with a part for each thread of the
// recorded order, is run in that order.
#include "fit/concurrent_multi_arena_model.hpp"

#include <gtest/gtest.h>

#include "random_requests.hpp"

namespace {

using namespace acre::tool;
using acre::test::random_requests;
using acre::test::request;

/// The mechanism with the thread as a parameter.
class arenas_in_turn : public acre::shared_counted_arenas<acre::detail::upstream_shared_arenas> {
    using base = acre::shared_counted_arenas<acre::detail::upstream_shared_arenas>;

public:
    arenas_in_turn(const acre::concurrent_multi_arena_options& options, std::uint32_t threads)
        : base{options, acre::resource_ref{heap_}} {
        for (std::uint32_t i = 0; i < threads; ++i) parts_of_threads_.push_back(join());
    }

    void* allocate(const request& wanted) {
        part* mine = parts_of_threads_[wanted.thread];
        void* p = nullptr;
        if (mine != nullptr && is_ordinary(wanted.alignment) && place_in_open(*mine, wanted.bytes, p)) return p;
        return place_rarely(mine, wanted.bytes, wanted.alignment);
    }
    void deallocate(const request& wanted, void* p) { give_back(parts_of_threads_[wanted.thread], p, wanted.bytes); }

private:
    static inline acre::heap heap_;
    std::vector<part*> parts_of_threads_;
};

std::uint64_t modelled_arenas(const std::vector<request>& requests, std::size_t bytes) {
    concurrent_multi_arena_model model{granules_of(bytes)};
    std::vector<concurrent_multi_arena_model::place> places(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            places[each.object] = model.allocate(granules_of(each.bytes), granules_of(each.alignment), each.thread);
        } else {
            model.release(places[each.object], granules_of(each.bytes), each.thread);
        }
    }
    EXPECT_FALSE(model.gave_up());
    return model.arenas();
}

bool serves(const std::vector<request>& requests, std::size_t arenas, std::size_t bytes, std::uint32_t threads) {
    arenas_in_turn tried{{.arenas = arenas, .bytes = bytes}, threads};
    std::vector<void*> places(requests.size());
    for (const request& each : requests) {
        if (each.allocates) {
            places[each.object] = tried.allocate(each);
            if (places[each.object] == nullptr) return false;
        } else {
            tried.deallocate(each, places[each.object]);
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
            seed, {.most_bytes = seed % 2 == 0 ? 100U : 600U, .most_alignment = alignment, .threads = threads});
        for (const std::size_t bytes : {640U, 1024U, 4224U}) {
            const std::uint64_t needed = modelled_arenas(requests, bytes);
            EXPECT_TRUE(serves(requests, needed, bytes, threads)) << seed << ", " << needed << " x " << bytes;
            std::uint64_t fewest = needed;
            while (fewest > 1 && serves(requests, fewest - 1, bytes, threads)) --fewest;
            too_many += needed - fewest;
            tried += needed;
        }
    }
    // The shared arena serves in place of those that are not there.
    EXPECT_LT(too_many, tried / 3);
}

}  // namespace
