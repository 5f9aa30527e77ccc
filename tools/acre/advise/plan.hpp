// Finds, from the lives of the objects alone, what suits each scope and each site of a run.
#pragma once

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Scopes come before sites, and the first rule that holds decides; docs/advise.md says them in words. Nothing is
/// measured yet: `says` is `suits`. Most allocations first. Where only one allocation in `sampling_period` was
/// recorded, rules that need all of them are left out.
advice_list plan_advices(const history& run, const call_paths& paths, std::uint64_t sampling_period = 1);

}  // namespace acre::tool
