// Finds the candidate for each scope and site of a run, by the lives of the objects alone.
#pragma once

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Scopes come before sites, and the first rule that holds decides (docs/advise_rules.md). Nothing is measured yet:
/// each decision is the candidate. Most allocations first. A sampling period above 1 leaves out the rules that need
/// all allocations.
advice_list find_candidates(const history& run, const call_paths& paths, std::uint64_t sampling_period = 1);

}  // namespace acre::tool
