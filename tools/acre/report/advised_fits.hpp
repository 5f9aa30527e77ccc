// The sizes that a report shows without being asked: how large the arenas and pools of its advices must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "advise/advice.hpp"
#include "advise/history.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// What the fits of a report may take; counted in events, so that the same trace gives the same page.
struct fit_limits {
    std::size_t max_fits = 5;
    std::uint64_t max_events = 8'000'000;  // of all fits together; the first one may have more
};

/// Positions of the advices whose sizes are worth a look: those that say to write something; where none does, the first
/// that would suit; where nothing suits, the place of the most allocations. Those beyond the limits are left out.
std::vector<std::size_t> advices_to_fit(const std::vector<advice>& advices, const fit_limits& limits = {});

/// A list of what `acre fit --json` says of each of them, with `advice`, its number from 1, and `thread`, which is null
/// when the fit is of all threads; of one that cannot be fitted `refused`, a sentence, instead.
nlohmann::json fit_advices(const history& run, const std::vector<advice>& advices, const call_paths& paths,
                           const trace_header& header, const fit_limits& limits = {});

}  // namespace acre::tool
