// Says by a sentence which header a template needs that acre.hpp leaves out.
//
// The templates themselves are partial specialisations that fit all their arguments (`requires true`), so they are
// chosen over these wherever their header is included, before or after.
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <type_traits>

namespace acre {

namespace detail {
template <class>
inline constexpr bool has_its_header = false;
}  // namespace detail

template <resource R>
struct containers_in {
    static_assert(detail::has_its_header<R>,
                  "acre.hpp leaves acre::containers_in out: write #include <acre/adapt/containers.hpp>");
};

template <class R>
class checked {
    static_assert(detail::has_its_header<R>,
                  "acre.hpp leaves acre::checked out: write #include <acre/observe/checked.hpp>");
};

template <std::size_t Slot, std::size_t Align>
class hardened_pool {
    static_assert(Slot > 0 && Slot < 1,
                  "acre.hpp leaves acre::hardened_pool out: write #include <acre/pools/hardened_pool.hpp>");
};

template <class T>
class hardened_object_pool {
    static_assert(
        detail::has_its_header<T>,
        "acre.hpp leaves acre::hardened_object_pool out: write #include <acre/pools/hardened_object_pool.hpp>");
};

template <class Classes>
class basic_hardened_multi_pool {
    static_assert(detail::has_its_header<Classes>,
                  "acre.hpp leaves acre::hardened_multi_pool out: write #include <acre/pools/hardened_multi_pool.hpp>");
};

// Where the header is included, its own match better: these convert each argument.
namespace detail {
struct any_resource {
    template <class R>
        requires resource<std::remove_pointer_t<std::remove_reference_t<R>>>
    any_resource(R&&);
};
struct anything {
    anything() = default;
    template <class From>
        requires(!std::is_same_v<std::remove_cvref_t<From>, anything>)
    anything(From&&);
};
}  // namespace detail
namespace smart_pointers {
template <class T>
T* make_unique(detail::any_resource, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(detail::has_its_header<T>,
                  "acre.hpp leaves acre::make_unique out: write #include <acre/adapt/smart_ptr.hpp>");
    return nullptr;
}
template <class T>
T* make_shared(detail::any_resource, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
    static_assert(detail::has_its_header<T>,
                  "acre.hpp leaves acre::make_shared out: write #include <acre/adapt/smart_ptr.hpp>");
    return nullptr;
}
}  // namespace smart_pointers
using namespace smart_pointers;

}  // namespace acre
