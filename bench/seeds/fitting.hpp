// W5: how many arenas of what size W3 needs, found by running it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "../harness.hpp"

namespace bench {

inline std::string arenas_text(std::size_t arenas, std::size_t bytes) {
    return std::to_string(arenas) + " x " + std::to_string(bytes);
}

inline figure fitted(std::size_t arenas, std::size_t bytes, std::string detail) {
    return {static_cast<double>(arenas * bytes), arenas_text(arenas, bytes), std::move(detail)};
}

inline void add_fit(suite& entries, const std::string& name, std::function<figure()> run) {
    entries.add_figure({.id = "W5",
                        .title = "arenas that the camera of W3 needs; each workload is run until nothing is refused",
                        .unit = "arenas x bytes",
                        .variants = {}},
                       name, std::move(run));
}

}  // namespace bench
