// Runs a recorded program again for its advice: as it is, with each installed malloc, with the plan of the advice, and
// with each advice alone, so that the figures are the program's own and not a replay's.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "advise/advice.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

struct advised_run_options {
    double seconds = 30;  // for all runs
    std::string input;    // a file for standard input; empty: nothing
    std::function<void(double)> progress{};
};

/// Sets what runs tell: the CPU time, `runs` and `preloads` of the list, and `in_runs` of its advices with most
/// allocations. An advice is run by a plan in which only its sites get memory of their own and all others keep the
/// program's malloc; those that no plan can give what they ask for are left out. Throws tool_error if the recorded
/// command cannot be run or its result is not the same each time.
void run_for_advice(advice_list& list, trace_reader& reader, const call_paths& paths,
                    const advised_run_options& options);

/// A sentence where the program as it is took far longer in some rounds than in others, so that a median is of some of
/// them alone; else empty.
std::string variation_text(std::span<const double> cpu_seconds);

/// What a change of the code saves, in nanoseconds, by what the plan for its sites saves beside a plan for no site:
/// there the sites' requests are not passed on to the malloc below, which costs time that the program itself never
/// takes. `by_plan` is that ratio of CPU times, applied to the program's CPU time; `passing`: what a plan for no site
/// costs, as a share of it; `share_of_allocations`: those of the sites.
interval saved_by_code(const interval& by_plan, double passing, double share_of_allocations, double cpu_nanoseconds);

}  // namespace acre::tool
