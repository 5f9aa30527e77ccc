// Allocations and frees in a random valid order, for the models and the types that they model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace acre::test {

struct request {
    std::size_t bytes = 0;
    std::size_t alignment = 16;
    std::size_t object = 0;
    std::uint32_t thread = 0;
    bool allocates = false;
};

struct request_kinds {
    std::size_t max_bytes = 100;
    std::size_t max_alignment = 16;
    std::uint32_t threads = 1;
};

/// Lifetimes of all lengths; any thread frees.
inline std::vector<request> random_requests(unsigned seed, const request_kinds& kinds) {
    std::mt19937 random{seed};
    std::vector<request> all;
    std::vector<request> live;
    std::size_t objects = 0;
    const std::size_t wanted = 2 + random() % 60;
    for (int i = 0; i < 2000; ++i) {
        const auto thread = static_cast<std::uint32_t>(random() % kinds.threads);
        if (live.empty() || (live.size() < wanted && random() % 3 != 0)) {
            const std::size_t alignment = random() % 5 == 0 ? std::size_t{1} << random() % 8 : 16;
            const std::size_t bytes = random() % (kinds.max_bytes + 1);
            live.push_back({bytes, std::min(alignment, kinds.max_alignment), objects++, thread, true});
            all.push_back(live.back());
        } else {
            // The oldest, the newest or any object.
            const std::size_t kind = random() % 3;
            const std::size_t which = kind == 0 ? 0 : kind == 1 ? live.size() - 1 : random() % live.size();
            all.push_back(live[which]);
            all.back().thread = thread;
            all.back().allocates = false;
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        }
    }
    return all;
}

}  // namespace acre::test
