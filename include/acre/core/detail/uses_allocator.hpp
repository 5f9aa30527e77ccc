// Constructs objects with the allocator of their container, as std::pmr::polymorphic_allocator does: strings, pairs and
// tuples of strings, and all classes that say by allocator_type that they take one. The standard's functions for this
// are in <memory>, which takes a compiler as long as a seventh of acre.hpp.
//
// Used by acre::allocator and the smart pointers, not directly. Cost: that of the constructors; an element of a tuple
// that takes an allocator is moved once or twice, so it must be movable.
#pragma once

#include <acre/core/detail/lifetime.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace acre::detail {

template <class T>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;
template <class T>
inline constexpr bool is_tuple = false;
template <class... Elements>
inline constexpr bool is_tuple<std::tuple<Elements...>> = true;

/// True for one argument that is a pair or tuple of `Count` parts: a copy, or parts of other types to be converted.
template <std::size_t Count, class... Arguments>
inline constexpr bool is_one_of_parts = false;
template <std::size_t Count, class Argument>
    requires(is_pair<std::remove_cvref_t<Argument>> || is_tuple<std::remove_cvref_t<Argument>>)
inline constexpr bool is_one_of_parts<Count, Argument> = std::tuple_size_v<std::remove_cvref_t<Argument>> == Count;

/// True when a T, or a part of the pair or tuple T, is constructed with an `Allocator`. T is not const.
template <class T, class Allocator>
inline constexpr bool takes_allocator = std::uses_allocator_v<T, Allocator>;
template <class First, class Second, class Allocator>
inline constexpr bool takes_allocator<std::pair<First, Second>, Allocator> =
    takes_allocator<std::remove_cv_t<First>, Allocator> || takes_allocator<std::remove_cv_t<Second>, Allocator>;
template <class... Elements, class Allocator>
inline constexpr bool takes_allocator<std::tuple<Elements...>, Allocator> =
    (takes_allocator<std::remove_cv_t<Elements>, Allocator> || ...);

/// True when a T without arguments is made with the allocator by its own constructor, as a string is. Not for pairs:
/// they do not pass the allocator on, nor do tuples of them.
template <class T, class Allocator>
inline constexpr bool passes_allocator_on = !(is_pair<T> && takes_allocator<T, Allocator>);
template <class... Elements, class Allocator>
inline constexpr bool passes_allocator_on<std::tuple<Elements...>, Allocator> =
    (passes_allocator_on<std::remove_cv_t<Elements>, Allocator> && ...);

/// The arguments that construct a T, with the allocator added where T takes one. A tuple of references, or of parts
/// that are made already.
template <class T, class Allocator, class... Arguments>
constexpr auto construction_arguments(const Allocator& allocator, Arguments&&... arguments);

/// A T made of `arguments` and the allocator.
template <class T, class Allocator, class... Arguments>
constexpr T made_with_allocator(const Allocator& allocator, Arguments&&... arguments) {
    return std::make_from_tuple<T>(detail::construction_arguments<T>(allocator, std::forward<Arguments>(arguments)...));
}

/// The arguments of the pairs' constructors: each part's own, in a tuple.
template <class Pair, class Allocator>
struct pair_arguments {
    using first_type = typename Pair::first_type;
    using second_type = typename Pair::second_type;

    const Allocator& allocator;

    template <class First, class Second>
    constexpr auto operator()(std::piecewise_construct_t, First&& first, Second&& second) const {
        return std::make_tuple(std::piecewise_construct, part<first_type>(std::forward<First>(first)),
                               part<second_type>(std::forward<Second>(second)));
    }
    constexpr auto operator()() const { return (*this)(std::piecewise_construct, std::tuple<>{}, std::tuple<>{}); }
    template <class First, class Second>
    constexpr auto operator()(First&& first, Second&& second) const {
        return (*this)(std::piecewise_construct, std::forward_as_tuple(std::forward<First>(first)),
                       std::forward_as_tuple(std::forward<Second>(second)));
    }
    template <class Other>
    constexpr auto operator()(Other&& other) const {
        if constexpr (is_one_of_parts<2, Other>) {
            return (*this)(std::get<0>(std::forward<Other>(other)), std::get<1>(std::forward<Other>(other)));
        } else {
            // What becomes a pair has no parts yet.
            return std::tuple<Pair>(
                detail::made_with_allocator<Pair>(allocator, static_cast<Pair>(std::forward<Other>(other))));
        }
    }

private:
    template <class Part, class Tuple>
    constexpr auto part(Tuple&& given) const {
        const auto with_allocator = [this]<class... Arguments>(Arguments&&... arguments) {
            return detail::construction_arguments<Part>(allocator, std::forward<Arguments>(arguments)...);
        };
        return std::apply(with_allocator, std::forward<Tuple>(given));
    }
};

/// The arguments of a tuple whose elements cannot be made without the allocator, which std::tuple's constructors ask
/// for: such an element is made here, and the others where the tuple lies.
template <class Tuple>
struct tuple_arguments;
template <class... Elements>
struct tuple_arguments<std::tuple<Elements...>> {
    static constexpr std::size_t count = sizeof...(Elements);

    template <class... Arguments>
    static constexpr bool are_elements =
        sizeof...(Arguments) == count && !(std::is_same_v<std::remove_cvref_t<Arguments>, std::allocator_arg_t> || ...);

    template <class Allocator, class... Arguments>
    static constexpr auto of(const Allocator& allocator, Arguments&&... arguments) {
        return std::tuple<element<Elements, Allocator, Arguments>...>(
            made<Elements>(allocator, std::forward<Arguments>(arguments))...);
    }
    /// Of nothing: each element's own default, which is moved.
    template <class Allocator>
    static constexpr auto of_nothing(const Allocator& allocator) {
        return std::tuple<std::remove_cv_t<Elements>...>(
            detail::made_with_allocator<std::remove_cv_t<Elements>>(allocator)...);
    }
    /// Of a pair or tuple.
    template <class Allocator, class Parts>
    static constexpr auto of_parts(const Allocator& allocator, Parts&& parts) {
        return of_parts(allocator, std::forward<Parts>(parts), std::index_sequence_for<Elements...>{});
    }

private:
    template <class Element, class Allocator, class Argument>
    using element = std::conditional_t<takes_allocator<std::remove_cv_t<Element>, Allocator>, std::remove_cv_t<Element>,
                                       Argument&&>;

    template <class Element, class Allocator, class Argument>
    static constexpr element<Element, Allocator, Argument> made(const Allocator& allocator, Argument&& argument) {
        if constexpr (takes_allocator<std::remove_cv_t<Element>, Allocator>) {
            return detail::made_with_allocator<std::remove_cv_t<Element>>(allocator, std::forward<Argument>(argument));
        } else {
            return std::forward<Argument>(argument);
        }
    }

    template <class Allocator, class Parts, std::size_t... Index>
    static constexpr auto of_parts(const Allocator& allocator, Parts&& parts, std::index_sequence<Index...>) {
        return of(allocator, std::get<Index>(std::forward<Parts>(parts))...);
    }
};

/// True for an argument that is an `Allocator` or becomes one: a resource, or an allocator of other objects.
template <class Argument, class Allocator>
inline constexpr bool gives_allocator =
    std::is_convertible_v<Argument, Allocator> || std::is_convertible_v<std::remove_cvref_t<Argument>, Allocator>;

template <class Tuple, class Allocator, class... Arguments>
constexpr auto construction_arguments_of_tuple(const Allocator& allocator, Arguments&&... arguments) {
    using to_elements = tuple_arguments<Tuple>;
    if constexpr (sizeof...(Arguments) == 0 && !passes_allocator_on<Tuple, Allocator>) {
        return to_elements::of_nothing(allocator);
    } else if constexpr (is_one_of_parts<to_elements::count, Arguments...>) {
        return to_elements::of_parts(allocator, std::forward<Arguments>(arguments)...);
    } else if constexpr (to_elements::template are_elements<Arguments...>) {
        return to_elements::of(allocator, std::forward<Arguments>(arguments)...);
    } else {
        return std::tuple<std::allocator_arg_t, const Allocator&, Arguments&&...>(
            std::allocator_arg, allocator, std::forward<Arguments>(arguments)...);
    }
}
/// As std::scoped_allocator_adaptor passes its allocator on, and as std::tuple takes it.
template <class Tuple, class Allocator, class Given, class... Arguments>
    requires(std::is_convertible_v<const std::remove_cvref_t<Given>&, Allocator>)
constexpr auto construction_arguments_of_tuple(const Allocator&, std::allocator_arg_t, Given&& given,
                                               Arguments&&... arguments) {
    // Named, because the arguments refer to it.
    return detail::construction_arguments_of_tuple<Tuple, std::remove_cvref_t<Given>>(
        given, std::forward<Arguments>(arguments)...);
}

template <class T, class Allocator, class... Arguments>
constexpr auto construction_arguments(const Allocator& allocator, Arguments&&... arguments) {
    using object = std::remove_cv_t<T>;
    if constexpr (!takes_allocator<object, Allocator>) {
        return std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    } else if constexpr (is_pair<object>) {
        return pair_arguments<object, Allocator>{allocator}(std::forward<Arguments>(arguments)...);
    } else if constexpr (is_tuple<object>) {
        return detail::construction_arguments_of_tuple<object>(allocator, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::is_constructible_v<object, std::allocator_arg_t, const Allocator&, Arguments...>) {
        return std::tuple<std::allocator_arg_t, const Allocator&, Arguments&&...>(
            std::allocator_arg, allocator, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::is_constructible_v<object, Arguments..., const Allocator&>) {
        return std::tuple<Arguments&&..., const Allocator&>(std::forward<Arguments>(arguments)..., allocator);
    } else {
        static_assert((gives_allocator<Arguments, Allocator> || ...),
                      "acre: the object takes an allocator, but no constructor takes these arguments and the allocator "
                      "behind them, or std::allocator_arg and the allocator in front of them: add one");
        return std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    }
}

/// Constructs a T at `p` from `arguments`, and the allocator where it takes one.
template <class T, class Allocator, class... Arguments>
void construct_with_allocator(T* p, const Allocator& allocator, Arguments&&... arguments) {
    if constexpr (takes_allocator<std::remove_cv_t<T>, Allocator>) {
        const auto construct = [p]<class... All>(All&&... all) { detail::construct_at(p, std::forward<All>(all)...); };
        std::apply(construct, detail::construction_arguments<T>(allocator, std::forward<Arguments>(arguments)...));
    } else {
        detail::construct_at(p, std::forward<Arguments>(arguments)...);
    }
}

}  // namespace acre::detail
