// The code of an advice, to paste.
#pragma once

#include <string>
#include <vector>

#include "advice.hpp"
#include "code_places.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Of the code in a text.
inline constexpr std::size_t code_indent = 6;

/// What holds the advice's objects where a std::unique_ptr did: "{}*", or "acre::unique_ptr<{}, acre::multi_pool>",
/// with the object's type, or its base, in place of "{}". Empty where it makes no objects, and for an object pool.
std::string owner_of_objects(const advice& each, const call_paths& paths);

/// The first line of C++ code for such files.
std::string header_text(const std::vector<std::string>& files);

/// C code for such files: declarations for a header, and the code for the first of the files that is none. For one
/// file: that code, static.
std::string c_code_for(const std::string& code, const std::vector<std::string>& files);

/// The classes of which declarations in the code name members.
std::vector<std::string> classes_named_in(const std::string& code, const call_paths& paths);

/// Gives each advice the name that its code's variables begin with: that of its function, and a number where an earlier
/// advice has that name.
void name_variables(advice_list& list, const call_paths& paths);

/// The candidate's code; empty for `leave`. It has the lines for the places where the objects are allocated: a
/// container with its type, a new expression with the class, std::make_shared, or malloc. What the trace does not tell
/// is T.
std::string code_of(const advice& each, const call_paths& paths);

}  // namespace acre::tool
