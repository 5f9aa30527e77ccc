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

#include "function_names.hpp"
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

}  // namespace acre::tool
