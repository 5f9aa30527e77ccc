// Finds the sites of one run again in another, also when the program was changed and built again in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace acre::tool {

/// A site, by what a build of the program elsewhere or later does not change.
struct site_place {
    std::string function;
    std::string file;         // without its directory
    std::uint64_t where = 0;  // the line, or the offset in the module where lines are not known

    friend auto operator<=>(const site_place&, const site_place&) = default;
};

/// Positions in the two lists; a site without its like in the other run has `no_site` there.
struct site_pair {
    std::size_t before = 0;
    std::size_t after = 0;
};
inline constexpr std::size_t no_site = ~std::size_t{0};

/// A site is found again at the same place of the same function. Those of a function that are left over have moved: most of
/// them by the same distance; and as many as are left then on both sides are the same ones in their order.
std::vector<site_pair> match_sites(const std::vector<site_place>& before, const std::vector<site_place>& after);

}  // namespace acre::tool
