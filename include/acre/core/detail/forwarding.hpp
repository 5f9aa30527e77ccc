// What a resource's type says about itself beyond the concept (its options, its slots, its objects), for types that
// wrap a resource and keep its interface. Used by them, not directly.
#pragma once

#include <acre/core/resource.hpp>

namespace acre::detail {

/// Nothing can be converted to it: stands for the options of a resource that has none.
struct no_options {
    no_options() = delete;
};

template <class R>
struct options_of_impl {
    using type = no_options;
};
template <class R>
    requires requires { typename R::options_type; }
struct options_of_impl<R> {
    using type = typename R::options_type;
};

/// The options that R is constructed with, so that they can be written as {.name = value}.
template <class R>
using options_of = typename options_of_impl<R>::type;

/// Base with R's options_type, if there is one.
template <class R>
struct has_options {};
template <class R>
    requires requires { typename R::options_type; }
struct has_options<R> {
    using options_type = typename R::options_type;
};

/// Base with R's value_type: the objects of an object pool.
template <class R>
struct has_values {};
template <class R>
    requires requires { typename R::value_type; }
struct has_values<R> {
    using value_type = typename R::value_type;
};

/// Base with R's geometry: the slots of a pool.
template <class R>
struct has_slots {};
template <class R>
    requires requires { R::geometry; }
struct has_slots<R> {
    static constexpr auto geometry = R::geometry;
};

/// True when R creates objects of one type, which it names.
template <class R>
concept of_one_type = requires { typename R::value_type; };

}  // namespace acre::detail
