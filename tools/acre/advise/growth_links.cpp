#include "growth_links.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "function_names.hpp"

namespace acre::tool {

namespace {

/// Of libstdc++ and libc++: these allocate a larger buffer, and free the old one.
constexpr std::array growing_functions{std::string_view{"_M_realloc_insert"},
                                       std::string_view{"_M_realloc_append"},
                                       std::string_view{"_M_default_append"},
                                       std::string_view{"_M_fill_insert"},
                                       std::string_view{"_M_fill_append"},
                                       std::string_view{"_M_range_insert"},
                                       std::string_view{"_M_append_range"},
                                       std::string_view{"_M_insert_aux"},
                                       std::string_view{"_M_mutate"},
                                       std::string_view{"_M_append"},
                                       std::string_view{"reserve"},
                                       std::string_view{"push_back"},
                                       std::string_view{"emplace_back"},
                                       std::string_view{"resize"},
                                       std::string_view{"insert"},
                                       std::string_view{"append"},
                                       std::string_view{"operator+="},
                                       std::string_view{"__append"},
                                       std::string_view{"__grow_by"},
                                       std::string_view{"__push_back_slow_path"},
                                       std::string_view{"__emplace_back_slow_path"}};

bool is_growing(std::string_view function) {
    const std::string_view name = without_arguments(function_in(function));
    return container_in(function) && std::ranges::find(growing_functions, name) != growing_functions.end();
}

bool is_buffer_of(const change_place& place) {
    return place.kind == place_kind::container &&
           (place.name == string_name || (place.name.starts_with("std::vector<") && place.name != "std::vector<bool>"));
}

}  // namespace

growing_contexts::growing_contexts(const history& run, const call_paths& paths, const change_places& places)
    : places_(run.contexts().size(), no_place), grows_(run.contexts().size()), is_vector_(run.contexts().size()) {
    std::vector<bool> is_growth(paths.functions().size());
    std::vector<bool> is_sum(paths.functions().size());
    for (std::size_t i = 0; i < is_growth.size(); ++i) {
        is_growth[i] = is_growing(paths.functions()[i].name);
        is_sum[i] = without_arguments(function_in(paths.functions()[i].name)) == "operator+";
    }
    for (std::uint32_t i = 0; i < run.contexts().size(); ++i) {
        if (!is_buffer_of(places.of(i))) continue;
        places_[i] = places.number_of(i);
        is_vector_[i] = places.of(i).name != string_name;
        const std::uint32_t own = paths.own_code(run.contexts()[i].node);
        // text = text + more makes another string each time, which reserve() does not change.
        bool is_another = false;
        for (std::uint32_t node = run.contexts()[i].node; node != own && node != 0; node = paths.nodes()[node].parent) {
            grows_[i] = grows_[i] || is_growth[paths.nodes()[node].function];
            is_another = is_another || is_sum[paths.nodes()[node].function];
        }
        grows_[i] = grows_[i] && !is_another;
        any_grows_ = any_grows_ || grows_[i];
    }
}

}  // namespace acre::tool
