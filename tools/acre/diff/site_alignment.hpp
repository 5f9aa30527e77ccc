// Which sites of a function are which ones of the same function in another run, when lines of it have moved.
#pragma once

#include <vector>

#include "site_match.hpp"

namespace acre::tool {

/// The sites of a function in one run, in the order of their places.
using function_sites = std::vector<const site_place*>;

/// Pairs of positions in the two lists, ascending in both: those for which something speaks. Time and memory in
/// proportion to the product of the lists' lengths.
std::vector<site_pair> align_sites(const function_sites& before, const function_sites& after);

}  // namespace acre::tool
