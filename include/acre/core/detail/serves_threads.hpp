// Which resources several threads may use.
//
// Used by what hands resources to threads, not directly.
#pragma once

#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>

namespace acre::detail {

/// True when threads may share an R: by its own design, under its lock, or because it has no state.
template <class R>
inline constexpr bool serves_threads =
    shared_resource<R> || stateless_resource<R> || requires { typename R::lock_type; };

}  // namespace acre::detail
