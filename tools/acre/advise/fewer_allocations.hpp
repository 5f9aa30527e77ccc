// Finds allocations that the program need not make: of containers that grow, and of containers that are made anew in
// each turn of a loop.
#pragma once

#include <vector>

#include "change_places.hpp"
#include "group.hpp"
#include "growth_figures.hpp"
#include "growth_links.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The containers of one type that get their buffers in one line, or in lines that fill the same container.
struct buffer_group {
    context_set contexts;
    growth_figures figures;
};

/// The groups whose buffers are a part of the run's allocations that is worth a look.
std::vector<buffer_group> find_buffer_groups(const history& run, const change_places& places,
                                             const growing_contexts& growing);

/// Whether the containers are variables of the program, or what std::to_string and the like return: not parts of other
/// types of the standard library, as std::function.
bool are_variables(const context_set& contexts, const history& run, const call_paths& paths);

}  // namespace acre::tool
