// One advice made of several.
#pragma once

#include <cstdint>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The sites of an advice's contexts, and a stack of the busiest.
void fill_sites(advice& each, const history& run);

/// One advice about the allocations of all these: a pool for several sites.
advice joined_advice(const std::vector<const advice*>& members, const history& run, const call_paths& paths,
                     std::uint64_t objects_of_run);

}  // namespace acre::tool
