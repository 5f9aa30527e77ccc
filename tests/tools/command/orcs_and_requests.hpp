// A trace of orcs that are made and removed, where a pool is advised, and of requests, where an arena is.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/support/made_trace.hpp"

namespace acre::test {

/// Without the allocations of requests: the program after the advice about the arena was followed.
inline made_trace orcs_and_requests(bool requests_allocate = true) {
    made_trace made;
    const auto spawns = made.stack({"main", "spawn:3", "operator new(unsigned long)"});
    const auto ends = made.stack({"main", "request:9"});
    const auto works = made.stack({"main", "request:8", "copy:1"});
    std::vector<std::uint64_t> orcs;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        orcs.push_back(made.allocate(spawns, 64));
        std::vector<std::uint64_t> texts;
        for (std::uint64_t n = 0; requests_allocate && n < 5; ++n) texts.push_back(made.allocate(works, 20 + n * 30));
        for (const std::uint64_t text : texts) made.release(text, ends);
        if (orcs.size() < 50) continue;
        made.release(orcs[i % 40], ends);
        orcs.erase(orcs.begin() + static_cast<std::ptrdiff_t>(i % 40));
    }
    made.header.user_time = 1000;
    return made;
}

}  // namespace acre::test
