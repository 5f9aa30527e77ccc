// Which sites keep pages that are otherwise free, and how much memory the program would have with these sites
// separated.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Plays the run with the malloc that the program used. `allocator`: its name in the trace's header. Nothing for runs
/// with little live memory, for those that are too long or too large to be played, and for unknown mallocs.
std::optional<pinned_memory> study_pinned_pages(const history& run, const call_paths& paths,
                                                const std::string& allocator);

/// A few lines; empty if it is worth no word.
std::string pinned_text(const pinned_memory& of, const call_paths& paths);

nlohmann::json pinned_json(const std::optional<pinned_memory>& of, const call_paths& paths);

}  // namespace acre::tool
