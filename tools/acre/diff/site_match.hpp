// Finds the sites of one run again in another, also when the program was changed and built again in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace acre::tool {

/// A site, by what a build of the program elsewhere or later does not change, and what the run allocated there.
struct site_place {
    std::string function;
    std::string file;               // without its directory
    std::uint64_t where = 0;        // the line, or the offset in the module where lines are not known
    std::uint64_t allocations = 0;  // 0: not known
    std::uint64_t bytes = 0;        // of all of them
};

/// Positions in the two lists; a site without its like in the other run has `no_site` there.
struct site_pair {
    std::size_t before = 0;
    std::size_t after = 0;
};
inline constexpr std::size_t no_site = ~std::size_t{0};

/// The sites of a function are found again in their order. When their places are not all as they were, some have moved:
/// so that most of them stay where they were, moved by a distance that others moved by, or allocate as large objects;
/// of equally many, those that allocate the same. What lies between two that are found is the same when it is as many.
std::vector<site_pair> match_sites(const std::vector<site_place>& before, const std::vector<site_place>& after);

}  // namespace acre::tool
