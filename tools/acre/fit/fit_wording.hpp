// The sentences and the C++ code that `acre fit` prints for what it has found.
#pragma once

#include <string>
#include <vector>

#include "fit.hpp"
#include "size_check.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Notes about the selection: threads, objects that are never freed, a few large objects.
std::vector<std::string> selection_notes(const census& of, const call_paths& paths);

/// Why no size of arenas works, with the site responsible; empty if some size does.
std::string impossible_text(const multi_arena_front& front, const call_paths& paths);

/// Which sites keep arenas busy; empty if none does.
std::string blockers_text(const blocker_figures& of, const call_paths& paths);

/// The result of the check; `one_less`: the next smaller size in words.
std::string check_text(const size_check& of, const std::string& size, const std::string& one_less);

/// Whether nearly all objects belong to generations, so that an arena can be reset between them.
bool dies_together(const census& of);

/// The first_block_bytes of an arena for the selection.
std::uint64_t arena_block_bytes(const census& of);

std::string multi_arena_code(const acre::multi_arena_fit& pair, bool several_threads);
std::string concurrent_multi_arena_code(const acre::multi_arena_fit& pair);
std::string arena_code(const census& of);

/// For the size that takes most memory.
std::string pool_code(const size_use& of);
std::string typed_arena_code(const size_use& of);
std::string realtime_heap_code(const realtime_fit& found, bool several_threads);

}  // namespace acre::tool
