// The sentences of an advice; its text, its JSON and the report's page show the same.
#pragma once

#include <string>
#include <vector>

#include "advice.hpp"
#include "filled_text.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// "parse (parse.c), drop (parse.c)": functions that call malloc and free, which change as a whole.
std::string callers_text(const std::vector<malloc_caller>& callers, const call_paths& paths);
/// What to do about those that call by a pointer; empty if there are none.
std::string pointers_text(const std::vector<malloc_caller>& callers, const call_paths& paths);

/// How a program gets another malloc, named as in preload_saving.
std::string way_text(const std::string& malloc_name);

/// That a replay says nothing of preloading these mallocs, without a full stop.
std::string untold_text(const std::vector<std::string>& mallocs);

/// The heading: "an arena, reset in request". Of the decision, or of another verdict.
std::string title_of(const advice& each, const call_paths& paths);
std::string title_of(verdict which, const advice& each, const call_paths& paths);

/// The position in the source, in a sentence or two.
std::string location_of(const advice& each, const call_paths& paths);

/// The figures that led to the candidate.
std::string evidence_of(const advice& each, const call_paths& paths);

/// "12.0 ms to 40.0 ms", or "12.0 ms or more" where nothing that was measured bounds it. Of what may be a loss: "costs
/// up to 1.0 ms or saves up to 40.0 ms".
std::string saved_text(const interval& saved, bool is_open);
/// The same ends of the CPU time: "1.2 to 4.0 %". Empty where that is not known.
std::string shares_text(const interval& saved, bool is_open, double cpu_nanoseconds);

/// The measured saving; empty when nothing was measured.
std::string saving_of(const advice& each);

/// Why the candidate is no advice: lines of the program free, or allocate, objects of others as well.
std::string freed_with_others_text(const advice& each, const call_paths& paths);
std::string allocated_with_others_text(const advice& each, const line_of_frees& line, const call_paths& paths);

/// The conditions under which the advice is right.
std::vector<std::string> cautions_of(const advice& each, const call_paths& paths);

}  // namespace acre::tool
