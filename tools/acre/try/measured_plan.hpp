// Measures a plan by runs of the recorded program, and keeps the groups that save CPU time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "contest.hpp"
#include "plan/site_plan.hpp"

namespace acre::tool {

struct plan_run_options {
    std::string name;                            // of the plan, for sentences about it
    std::string trace;                           // that it was made of, likewise
    std::uint64_t allocations = 0;               // in the recording
    std::uint64_t recorded_cpu_nanoseconds = 0;  // 0: not known
    double seconds = 60;                         // for all runs
    std::string input;                           // a file for standard input; empty: nothing
    std::string check;                           // a shell command that reads the output of a run
    same_result required = same_result::output_and_status;
    std::function<void(double)> progress{};
};

/// Runs the recorded command on acre's heap without a plan, with each group alone, and with all; then, in rounds of
/// their own, the groups that saved something, in a few combinations. Leaves the best of these in the plan, if it saves
/// beyond the noise, else no group, and says in `plan.measured` what was found. Groups with few allocations are run
/// together. Where the plan leaves the rest to the malloc below, the program as it is takes the place of acre's heap.
/// Returns sentences about files whose sites are lost. Throws tool_error if the recorded command cannot be run again.
std::vector<std::string> keep_what_saves(site_plan& plan, const plan_run_options& options);

/// The groups with their figures, and a sentence that says what was kept, and why the others were left.
std::string measured_text(const plan_measurement& measured);

}  // namespace acre::tool
