// What the names of functions tell: classes, containers, and the types that they make.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "trace/call_paths.hpp"

namespace acre::tool {

/// "std::vector" of "std::vector<int>".
std::string_view without_arguments(std::string_view name);

/// "push_back" of "std::vector<int>::push_back".
std::string_view last_part(std::string_view name);

/// A type as a person writes it.
std::string written(std::string_view name);

/// The classes of the program's functions: one is told from a namespace by its constructors and destructors.
std::set<std::string, std::less<>> classes_in(const call_paths& paths);

/// The class in a function's name, "std::vector<int, std::allocator<int> >" of its members' names; empty if there is
/// none.
std::string_view class_in(std::string_view function);

/// The last part of a function's name, without its parameters: "push_back" of "std::vector<int>::push_back(int&&)".
std::string_view function_in(std::string_view function);

/// A container of a standard library by the name of one of its member functions, as a person writes it:
/// "std::vector<int>". Nothing if the function is not a container's.
struct named_container {
    std::string_view family;  // the same for "std::map" and "std::_Rb_tree"
    std::string name;
};
std::optional<named_container> container_in(std::string_view function);

/// T of "std::make_unique<T>(...)", of "T::operator new(unsigned long)", and of "operator new<T>", which stands for a
/// `new` expression; empty for other functions.
std::string_view type_made_in(std::string_view function);

/// Whether a function for which type_made_in has a type is std::make_unique.
bool is_make_unique(std::string_view function);

/// T of "std::make_shared<T>(...)"; empty for other functions.
std::string_view type_shared_in(std::string_view function);

}  // namespace acre::tool
