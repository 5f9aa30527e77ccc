// What a change in C may miss: what the program's code does with malloc and free that no stack of the recording shows.
#pragma once

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Fills in `unseen` of the advices in C, by the code of the program's files that allocate these objects: functions
/// that free or reallocate and are not named otherwise, those of the sources to change first; those left by a jump to
/// malloc, which are in no stack; and what is set to one of these functions. They did not run, or were inlined. Reads
/// the files where they are those of the recording.
void find_unseen_uses(advice_list& list, const history& run, const call_paths& paths);

}  // namespace acre::tool
