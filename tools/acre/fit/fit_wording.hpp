// The sentences and the C++ code that `acre fit` prints for what it has found.
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

/// Whether an arena that is reset whenever nothing is left in it serves nearly all; if not, it is never reset.
bool dies_together(const census& of);

/// `first_block_bytes` of the arena that suits.
std::uint64_t arena_block_bytes(const census& of);

std::string multi_arena_code(const acre::multi_arena_fit& pair, bool several_threads);
std::string concurrent_multi_arena_code(const acre::multi_arena_fit& pair);
std::string arena_code(const census& of);

/// Of the size that takes most.
std::string pool_code(const size_use& of);
std::string typed_arena_code(const size_use& of);

}  // namespace acre::tool
