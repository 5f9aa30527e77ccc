// The fits that a report shows: of its advices, and from files that `acre fit --json` wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "advise/advice.hpp"
#include "advise/history.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// Reads an output of `acre fit --json`. Throws tool_error where a value that the page shows is missing or of another
/// type.
nlohmann::json read_fit(const std::string& path);

/// Throws tool_error if the fit, which was read from `path`, says that it is of another recording than this header's.
void require_same_recording(const nlohmann::json& fit, const std::string& path, const trace_header& header);

/// Limits for the fits of a report; counted in events, so that the same trace gives the same page.
struct fit_limits {
    static constexpr std::uint64_t max_events_of_one = 32'000'000;  // of one fit
    static constexpr std::uint64_t max_events_left = 1'000'000;     // likewise, where the decision is to leave it
    static constexpr std::uint32_t max_live = 2'000'000;            // objects of the trace

    std::size_t max_fits = 5;
    std::uint64_t max_events = 8'000'000;  // of all fits together; the first may have more, up to max_events_of_one
};

/// Positions of the advices to fit: those with a decision to change something; if there are none, the first candidate
/// that was left; without any candidate, the site with the most allocations. Stops at the limits.
std::vector<std::size_t> advices_to_fit(const std::vector<advice>& advices, const fit_limits& limits = {});

/// A list of objects like those of `acre fit --json`, with `advice` (its number from 1) and `thread` (null: all
/// threads); or with `refused`, a sentence, where the fit is not possible.
nlohmann::json fit_advices(const history& run, const std::vector<advice>& advices, const call_paths& paths,
                           const trace_header& header, const fit_limits& limits = {});

}  // namespace acre::tool
