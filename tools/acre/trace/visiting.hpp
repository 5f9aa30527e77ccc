// What the functions named for_each ask a visitor for: one that returns bool ends the visit by false.
#pragma once

#include <concepts>
#include <type_traits>

namespace acre::tool {

template <typename Visit, typename Element>
bool visit_goes_on(Visit& visit, const Element& element) {
    if constexpr (std::same_as<std::invoke_result_t<Visit&, const Element&>, bool>) {
        return visit(element);
    } else {
        visit(element);
        return true;
    }
}

}  // namespace acre::tool
