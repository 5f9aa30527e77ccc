// Matches the sites of two runs, also when the program was changed and rebuilt in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace acre::tool {

/// A site, described by what survives a rebuild, and what the run allocated there.
struct site_position {
    std::string function;
    std::string file;               // without its directory
    std::uint64_t position = 0;     // the line, or the offset in the module if the line is not known
    std::uint64_t allocations = 0;  // 0: not known
    std::uint64_t bytes = 0;        // of all of them
};

/// Positions in the two lists; `no_site` where the other run lacks the site.
struct site_pair {
    std::size_t before = 0;
    std::size_t after = 0;
};
inline constexpr std::size_t no_site = ~std::size_t{0};

/// Matches the sites of each function in order. Where positions differ, the match with the most pairs wins: a pair must
/// have the same position, be shifted like another pair, or allocate objects of the same size. Among equally many
/// pairs, equal figures decide. Sites between two pairs match if there are equally many.
std::vector<site_pair> match_sites(const std::vector<site_position>& before, const std::vector<site_position>& after);

}  // namespace acre::tool
