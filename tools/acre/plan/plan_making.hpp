// Makes a plan from a trace: by the advice for its sites, or with one policy for all.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "advise/advice.hpp"
#include "site_plan.hpp"
#include "trace/call_paths.hpp"
#include "trace/reader.hpp"

namespace acre::tool {

/// How the policies of a plan are chosen.
enum class plan_choice : std::uint8_t {
    advice,    // what `acre advise` says of the sites, without measuring
    pool,      // a pool for each site
    counted,   // counted blocks for each site
    separate,  // all sites together
    leave,     // no site: a plan to change by hand
    inverted,  // for tests: for each site a policy that its objects do not suit
    shuffled   // for tests: the policies of the advice, each for another site
};

inline constexpr std::array<std::pair<std::string_view, plan_choice>, 7> plan_choices{
    {{"advice", plan_choice::advice},
     {"pool", plan_choice::pool},
     {"counted", plan_choice::counted},
     {"separate", plan_choice::separate},
     {"leave", plan_choice::leave},
     {"inverted", plan_choice::inverted},
     {"shuffled", plan_choice::shuffled}}};

struct made_plan {
    site_plan plan;
    std::uint64_t allocations = 0;       // in the recording
    std::uint64_t without_build_id = 0;  // allocations of files that have none, which cannot be planned
    // What a plan has no room for.
    std::size_t files_beyond = 0;
    std::uint64_t allocations_in_files_beyond = 0;
    std::size_t sites_beyond = 0;
    std::uint64_t allocations_of_sites_beyond = 0;
};

/// Reads the trace once, and for advice twice. Throws tool_error if it has no allocation that can be planned.
made_plan make_plan(trace_reader& reader, const call_paths& paths, plan_choice choice,
                    bool leaves_to_malloc_below = false);

/// The plan of an advice that is at hand: reads the trace once.
made_plan make_plan(trace_reader& reader, const call_paths& paths, const advice_list& list,
                    bool leaves_to_malloc_below = false);

/// The group that an advice's sites are in, in the plan of its list. Those without reset or frees share one.
std::string group_name_of(std::size_t number, const advice& each, const call_paths& paths);

}  // namespace acre::tool
