// What a change in C may miss: functions that call free or realloc, but were not seen to free what changes.
#pragma once

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Fills in `unseen_frees` of the advices in C: the other functions that free or reallocate, of the files of the
/// program that allocate these objects, those of the sources to change first. They did not run, or they were inlined
/// and left by a jump, so that no stack has them. Reads the files where they are those of the recording.
void find_unseen_frees(advice_list& list, const history& run, const call_paths& paths);

}  // namespace acre::tool
