// The code of an advice, to paste.
#pragma once

#include <string>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Of the code in a text.
inline constexpr std::size_t code_indent = 6;

/// Whether a site is in a C file, or in a header that one includes; of an advice, that where most of the objects are
/// allocated.
bool is_in_c(const site_info& site, const call_paths& paths);
bool is_in_c(const advice& each, const call_paths& paths);

/// Whether a line that frees the objects of an advice frees others, too.
bool frees_others(const advice& each);

/// The classes that can be given operators new and delete of their own.
std::vector<std::string> pooled_classes_of(const advice& each, const call_paths& paths);

/// What holds the advice's objects where a std::unique_ptr did: "{}*", or "acre::unique_ptr<{}, acre::multi_pool>",
/// with the object's type, or its base, in place of "{}". Empty where it makes no objects, and for an object pool.
std::string owner_of_objects(const advice& each, const call_paths& paths);

/// The names of the files that have to see one and the same pool or arena: those of the sites, the reset, and the frees
/// that use it. Empty where one file does that is not a header, or the code has no such variable.
std::vector<std::string> files_to_share_among(const advice& each, const call_paths& paths);
std::vector<std::string> files_to_share_among(const std::vector<std::string>& paths);

/// The first line of C++ code for such files.
std::string header_text(const std::vector<std::string>& files);

/// Stands in C code before the functions that a program calls.
inline constexpr char to_declare[] = "@";

/// C code for such files: declarations for a header, and the code for the first of the files that is none. For one
/// file: that code, static.
std::string c_code_for(const std::string& code, const std::vector<std::string>& files);

/// The classes of which declarations in the code name members.
std::vector<std::string> classes_named_in(const std::string& code, const call_paths& paths);

/// A variable name made of a function's: "server::handle_request" gives "handle_request".
std::string variable_name(const std::string& function);

/// Gives each advice the name that its code's variables begin with: that of its function, and a number where an earlier
/// advice has that name.
void name_variables(advice_list& list, const call_paths& paths);

/// The candidate's code; empty for `leave`. It has the lines for the places where the objects are allocated: a
/// container with its type, a new expression with the class, std::make_shared, or malloc. What the trace does not tell
/// is T.
std::string code_of(const advice& each, const call_paths& paths);

}  // namespace acre::tool
