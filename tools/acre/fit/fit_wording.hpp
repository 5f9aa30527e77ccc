// The sentences of a fit: what should be known beside the figures.
#pragma once

#include <string>
#include <vector>

#include "fit.hpp"
#include "fit_check.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// About the selection: threads, what is never freed, few that are large.
std::vector<std::string> selection_notes(const census& of, const call_paths& paths);

/// Why there is no front, with the site that is to blame; empty when there is one.
std::string impossible_text(const multi_arena_front& front, const call_paths& paths);

/// Which sites keep arenas busy; empty when none is to blame.
std::string blockers_text(const blocker_figures& of, const call_paths& paths);

/// What the replay showed, with what "one less" is: "23 do not".
std::string check_text(const size_check& of, const std::string& size, const std::string& one_less);

}  // namespace acre::tool
