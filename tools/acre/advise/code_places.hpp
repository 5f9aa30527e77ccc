// Where the code of an advice goes, and what it may name there.
#pragma once

#include <string>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Whether a file is included by others, by its name.
bool is_header(const std::string& file);

/// Whether a site is in a C file, or in a header that one includes; of an advice, that where most of the objects are
/// allocated.
bool is_in_c(const site_info& site, const call_paths& paths);
bool is_in_c(const advice& each, const call_paths& paths);

/// Whether a line that frees the objects of an advice frees others, too.
bool frees_others(const advice& each);

/// The classes that can be given operators new and delete of their own.
std::vector<std::string> pooled_classes_of(const advice& each, const call_paths& paths);

/// The names of the files that have to see one and the same pool or arena: those of the sites, the reset, and the frees
/// that use it. Empty where one file does that is not a header, or the code has no such variable.
std::vector<std::string> files_to_share_among(const advice& each, const call_paths& paths);
std::vector<std::string> files_to_share_among(const std::vector<std::string>& paths);

/// Stands in C code before the functions that a program calls.
inline constexpr char to_declare[] = "@";

/// A variable name made of a function's: "server::handle_request" gives "handle_request".
std::string variable_name(const std::string& function);

}  // namespace acre::tool
