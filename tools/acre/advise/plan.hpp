// Finds, from the lives of the objects alone, what suits each scope and each site of a run.
#pragma once

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Scopes come before sites, and the first rule that holds decides; docs/advise.md says them in words. Nothing is
/// measured yet: `says` is `suits`. Most allocations first.
advice_list plan_advices(const history& run, const call_paths& paths);

}  // namespace acre::tool
