// W9: how much of counted arenas small survivors pin. Allocates alternately 16 bytes that stay and 4,080 that are freed
// at once, until there is no room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory_resource>
#include <new>
#include <string>

#include "../harness.hpp"
#include "camera.hpp"

namespace bench {

/// The `Home` of a resource of 64 arenas of 4,096 B: see camera.hpp.
template <class Home>
double live_share() {
    constexpr std::size_t kept_bytes = 16;
    constexpr std::size_t freed_bytes = camera_arena_bytes - kept_bytes;
    Home home;
    std::pmr::memory_resource& arenas = *home.get();
    std::size_t live = 0;
    try {
        for (;;) {
            touch(arenas.allocate(kept_bytes));
            live += kept_bytes;
            void* freed = arenas.allocate(freed_bytes);
            touch(freed);
            arenas.deallocate(freed, freed_bytes);
        }
    } catch (const std::bad_alloc&) {
        return static_cast<double>(live) / static_cast<double>(camera_arenas * camera_arena_bytes);
    }
}

template <class Home>
void add_pinning(suite& entries, const std::string& name) {
    entries.add_figure({.id = "W9",
                        .title = "pinning: 16 B kept and 4,080 B freed, in turns, until 64 arenas of 4,096 B are full",
                        .unit = "live / total",
                        .variants = {}},
                       name, [] {
                           const double share = live_share<Home>();
                           std::array<char, 32> text{};
                           std::snprintf(text.data(), text.size(), "%.4f", share);
                           return figure{share, text.data()};
                       });
}

}  // namespace bench
