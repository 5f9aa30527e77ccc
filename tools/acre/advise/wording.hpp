// The sentences of an advice; they stand in the text and in the JSON alike.
#pragma once

#include <string>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// What to do, as a heading: "an arena, reset in request".
std::string title_of(const advice& each, const call_paths& paths);

/// Where in the source, a sentence or two.
std::string place_of(const advice& each, const call_paths& paths);

/// The figures that led to it.
std::string evidence_of(const advice& each, const call_paths& paths);

/// What it gains, as measured; empty when nothing was.
std::string saving_of(const advice& each);

/// What must be so for it to be right, and what stays as it is.
std::vector<std::string> cautions_of(const advice& each, const call_paths& paths);

}  // namespace acre::tool
