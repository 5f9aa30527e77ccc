// A trace of random valid events: every operation, several threads, odd sizes, alignments and times.
#pragma once

#include <random>

#include "made_trace.hpp"

namespace acre::test {

inline made_trace random_trace(unsigned seed, std::size_t events) {
    std::mt19937_64 random{seed};
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    made_trace made;
    std::vector<std::uint32_t> stacks{no_stack};
    for (int i = 0; i < 40; ++i) {
        stacks.push_back(made.stack({"main", "f" + std::to_string(below(9)),
                                     "g" + std::to_string(below(9)) + ":" + std::to_string(1 + below(99))}));
    }
    std::vector<std::uint64_t> live;
    std::uint32_t threads = 1;
    for (std::size_t i = 0; i < events; ++i) {
        const auto thread = static_cast<std::uint32_t>(i == 0 ? 0 : below(threads));
        const std::uint32_t stack = stacks[below(stacks.size())];
        if (live.empty() || below(100) < 55) {
            constexpr operation kinds[] = {operation::malloc,        operation::calloc,     operation::realloc,
                                           operation::aligned_alloc, operation::new_single, operation::new_array};
            // Sizes of every magnitude, up to all 64 bits.
            const std::uint64_t size = random() >> (below(10) == 0 ? below(64) : 50 + below(14));
            live.push_back(made.allocate(stack, size, thread, kinds[below(6)]));
            if (below(20) == 0) made.events.back().alignment_log2 = static_cast<std::uint8_t>(below(64));
        } else {
            constexpr operation kinds[] = {operation::free, operation::realloc, operation::delete_single,
                                           operation::delete_array};
            const std::size_t which = below(live.size());
            made.release(live[which], stack, thread, kinds[below(4)]);
            live[which] = live.back();
            live.pop_back();
        }
        // Times may jump and go back a little, as with the clocks of several threads.
        made.events.back().time = 1000 * (i * 7 + below(50));
        if (i == threads * std::size_t{50} && threads < 5) {
            made.events.back().thread = threads++;
        }
    }
    return made;
}

}  // namespace acre::test
