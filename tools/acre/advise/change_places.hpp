// The places of a program where a person changes how memory is allocated: one change serves all allocations of a place,
// so they get one verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "group.hpp"
#include "history.hpp"
#include "library_memory.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

enum class place_kind : std::uint8_t {
    site,       // a call in the source
    container,  // all that one container allocates, however it grows
    type,       // all objects of a class
    hook,       // all that goes through one function, which also frees it or whose objects are freed in one place
    library,    // what a library allocates for itself in a function of the program: no code of the program changes it
    several     // sites that are worth a change only together
};

const char* name_of(place_kind kind);

struct change_place {
    place_kind kind = place_kind::site;
    std::string name{};           // of the container, class or hook
    std::string within{};         // of a container: the class that has it as a member; else empty
    std::uint32_t function = 0;   // the hook, or the function that owns several sites' objects; else 0
    bool by_new = false;          // of a site: operator new allocates there; of a class: a new expression does
    bool all_by_new = false;      // of a hook: operator new allocates all
    bool by_make_unique = false;  // of a class: std::make_unique makes objects
    bool by_own_new = false;      // of a class: its own operator new allocates them
    std::string shared{};         // of a site: T of the std::make_shared<T> that allocates there; else empty
    const library_memory* library = nullptr;  // of the library's memory; else null
};

/// Whether a class is a base by its operator new alone, as `counted<orc>` of `orc`: no object is one of just this
/// class.
inline bool is_base_by_operator(const change_place& place) {
    return place.by_own_new && place.name.find('<') != std::string::npos;
}

/// Before the name of the coroutine, in that of a place whose objects are its frames.
inline constexpr std::string_view coroutine_frame = "coroutine frame of ";

/// The frames of a coroutine: only an operator new of its promise_type can allocate them elsewhere.
inline bool is_coroutine_frame(const change_place& place) {
    return place.kind == place_kind::type && place.name.starts_with(coroutine_frame);
}

/// The name of a place whose objects are the characters of strings.
inline constexpr std::string_view string_name = "std::string";

/// Memory of a library that acre has a hook for (include/acre/adapt/hooks), by which all of it is put elsewhere.
bool has_hook_of_acre(const change_place& place);

class change_places {
public:
    change_places(const history& run, const call_paths& paths);

    const change_place& of(std::uint32_t context) const noexcept { return places_[number_of_context_[context]]; }
    const change_place& numbered(std::uint32_t number) const noexcept { return places_[number]; }
    std::uint32_t number_of(std::uint32_t context) const noexcept { return number_of_context_[context]; }

    /// Contexts with the same unit are of one container, which can be passed another allocator only as a whole: one
    /// that a class's constructor fills, or one on one path of calls.
    std::uint32_t unit_of(std::uint32_t context) const noexcept { return unit_of_context_[context]; }
    /// The contexts of a unit.
    const context_set& unit(std::uint32_t number) const noexcept { return units_[number]; }

    /// Whether the uses of a place may be told apart by their callers.
    static bool is_split_by_callers(const change_place& place) noexcept {
        return place.kind == place_kind::site || (place.kind == place_kind::container && place.within.empty());
    }

private:
    class finder;

    std::vector<change_place> places_;
    std::vector<std::uint32_t> number_of_context_;
    std::vector<std::uint32_t> unit_of_context_;
    std::vector<context_set> units_;
};

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
