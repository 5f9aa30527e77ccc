// Base of resources that are made of two others: construction, and the members that combine both. Used by
// acre::fallback and acre::segregate, not directly.
//
// A part is held, or referred to if its type is a reference: fallback<arena&, heap>. A member exists if both parts have
// it.
#pragma once

#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/detail/serves_threads.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// True when R can give all its memory back to upstream.
template <class R>
concept releasable_resource = requires(R& r) { r.release(); };

/// An argument that a part is constructed from, or that leads to the part to refer to.
template <class Part, class Argument>
concept makes_part = std::is_constructible_v<Part, Argument> ||
                     (std::is_reference_v<Part> && stands_for<Argument, std::remove_reference_t<Part>>);

/// The argument, or the resource that it leads to.
template <class Part, class Argument>
decltype(auto) part_of(Argument&& argument) {
    if constexpr (std::is_constructible_v<Part, Argument>) {
        return std::forward<Argument>(argument);
    } else {
        return detail::referred<std::remove_reference_t<Part>>("acre::fallback", std::forward<Argument>(argument));
    }
}

/// How a part is written that is made of an Argument: held, or referred to.
template <class Argument>
struct part_type {
    using type = Argument;
};
template <leads_to_resource Argument>
struct part_type<Argument> {
    using type = led_to_t<Argument>&;
};

/// Two resources.
template <resource_part First, resource_part Second>
class two_parts : public no_clear<two_parts<First, Second>> {
public:
    using first_type = std::remove_reference_t<First>;
    using second_type = std::remove_reference_t<Second>;

    /// acre::shared_resource
    static constexpr bool shared_by_threads = serves_threads<first_type> && serves_threads<second_type> &&
                                              !(stateless_resource<first_type> && stateless_resource<second_type>);

    /// What may lie in both.
    template <class T>
    static constexpr bool holds = may_lie_in<T, first_type> && may_lie_in<T, second_type>;

    two_parts() = default;
    /// Each part is constructed from one argument: its options, its upstream, or the resource to refer to, also by a
    /// pointer or a handle.
    template <class FirstArgument, class SecondArgument>
        requires makes_part<First, FirstArgument> && makes_part<Second, SecondArgument>
    two_parts(FirstArgument&& first, SecondArgument&& second)
        : first_(detail::part_of<First>(std::forward<FirstArgument>(first))),
          second_(detail::part_of<Second>(std::forward<SecondArgument>(second))) {}
    /// Each part is constructed from the arguments in its tuple: std::forward_as_tuple(options, upstream).
    template <class... FirstArguments, class... SecondArguments>
    two_parts(std::piecewise_construct_t, std::tuple<FirstArguments...> first, std::tuple<SecondArguments...> second)
        : two_parts(first, second, std::index_sequence_for<FirstArguments...>{},
                    std::index_sequence_for<SecondArguments...>{}) {}

    two_parts(two_parts&&) = default;
    two_parts& operator=(two_parts&&) = default;
    two_parts(const two_parts&) = delete;
    two_parts& operator=(const two_parts&) = delete;
    ~two_parts() = default;

    /// True when `p` lies in storage of either.
    bool owns(const void* p) const noexcept
        requires owning_resource<first_type> && owning_resource<second_type>
    {
        return std::as_const(first_).owns(p) || std::as_const(second_).owns(p);
    }
    /// Takes everything back at once, from both.
    void reset()
        requires resettable_resource<first_type> && resettable_resource<second_type>
    {
        first_.reset();
        second_.reset();
    }
    /// Gives all memory back to the upstreams of both.
    void release() noexcept
        requires releasable_resource<first_type> && releasable_resource<second_type>
    {
        first_.release();
        second_.release();
    }
    /// Bytes held by both.
    std::size_t capacity() const noexcept
        requires requires(const first_type& a, const second_type& b) { a.capacity() + b.capacity(); }
    {
        return first_.capacity() + second_.capacity();
    }
    /// Bytes handed out by both.
    std::size_t used() const noexcept
        requires requires(const first_type& a, const second_type& b) { a.used() + b.used(); }
    {
        return first_.used() + second_.used();
    }
    /// Number of live allocations of both.
    std::size_t live() const noexcept
        requires requires(const first_type& a, const second_type& b) { a.live() + b.live(); }
    {
        return first_.live() + second_.live();
    }

protected:
    first_type& first() noexcept { return first_; }
    const first_type& first() const noexcept { return first_; }
    second_type& second() noexcept { return second_; }
    const second_type& second() const noexcept { return second_; }

    // A part that cannot resize refuses even to shrink: storage must go back with its original size.
    template <class R>
    static bool resized(R& part, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        if constexpr (resizable_resource<R>) return part.try_resize(p, old_bytes, new_bytes);
        return (void)part, (void)p, old_bytes == new_bytes;
    }

private:
    template <class FirstTuple, class SecondTuple, std::size_t... I, std::size_t... J>
    two_parts(FirstTuple& first, SecondTuple& second, std::index_sequence<I...>, std::index_sequence<J...>)
        : first_(std::get<I>(std::move(first))...), second_(std::get<J>(std::move(second))...) {}

    First first_;
    Second second_;
};

}  // namespace acre::detail
