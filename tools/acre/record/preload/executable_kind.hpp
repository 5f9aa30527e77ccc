// Whether a program that is about to be executed can be recorded.
#pragma once

#include "../raw_memory.hpp"

namespace acre::recorder {

/// `executes` if the recorder can be preloaded into the program, or if that is not known; otherwise the kind that says
/// why not. A script counts as its interpreter. Allocates nothing, so a vfork child can call it.
raw::report_kind kind_of_execution(const char* path);

/// The same for a name that is searched in PATH, as execvp does.
raw::report_kind kind_of_search(const char* name, char* const* environment);

}  // namespace acre::recorder
