// The concept of the library: a resource hands out and takes back storage. Everything that allocates is a resource, and
// everything that needs memory takes an upstream resource, so resources compose by nesting.
//
// A resource promises (tests/conformance checks it for every resource of acre):
//   allocate(bytes, alignment)      storage of at least `bytes` bytes, aligned; throws a type derived from
//                                   acre::allocation_error (a std::bad_alloc) when it cannot; never null
//   try_allocate(bytes, alignment)  the same, but null when it cannot; noexcept
//   deallocate(p, bytes, alignment) takes back what was allocated with the same bytes and alignment; noexcept; null is
//                                   a no-op
// Zero bytes give a distinct non-null pointer. A failed request changes nothing.
//
//     template <acre::resource R>
//     void* copy_of(R& memory, std::span<const std::byte> bytes) {
//         void* copy = memory.allocate(bytes.size(), 1);
//         return std::memcpy(copy, bytes.data(), bytes.size());
//     }
#pragma once

#include <acre/core/detail/language.hpp>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>

namespace acre {

namespace detail {
/// What a resource of a program lacks most often: a concept of its own, since compilers print its name.
template <class R>
concept has_noexcept_behind_try_allocate_and_deallocate =
    requires(R& r, void* p, std::size_t bytes, std::size_t alignment) {
        { r.try_allocate(bytes, alignment) } noexcept;
        { r.deallocate(p, bytes, alignment) } noexcept;
    };
}  // namespace detail

/// Hands out and takes back storage. A handle (acre::unique_resource) is none, although it has the members: what refers
/// to a resource would lose it when the handle moves.
template <class R>
concept resource =
    !requires { typename R::handle_of; } && requires(R& r, void* p, std::size_t bytes, std::size_t alignment) {
        { r.allocate(bytes, alignment) } -> std::same_as<void*>;
        { r.try_allocate(bytes, alignment) } -> std::same_as<void*>;
        r.deallocate(p, bytes, alignment);
    } && detail::has_noexcept_behind_try_allocate_and_deallocate<R>;

/// A resource without state: all its objects are equivalent.
template <class R>
concept stateless_resource = resource<R> && std::is_empty_v<R> && std::default_initializable<R>;

/// A resource that knows of each address whether it handed out the storage there. One that passes some requests on, and
/// does not know what became of these, has owns() for the others, and declares owns_only_part.
template <class R>
concept owning_resource =
    resource<R> && !requires { requires R::owns_only_part; } && requires(const R& r, const void* p) {
        { r.owns(p) } noexcept -> std::same_as<bool>;
    };

/// A resource that can take everything back at once.
template <class R>
concept resettable_resource = resource<R> && requires(R& r) { r.reset(); };

/// A resource that threads share without a lock around it: it declares shared_by_threads.
template <class R>
concept shared_resource = resource<R> && requires { requires R::shared_by_threads; };

/// A resource that can grow or shrink some allocations in place.
template <class R>
concept resizable_resource = resource<R> && requires(R& r, void* p, std::size_t old_bytes, std::size_t new_bytes) {
    { r.try_resize(p, old_bytes, new_bytes) } noexcept -> std::same_as<bool>;
};

namespace detail {
/// True when objects of T may lie in storage of an R. Of some resources none but their own may, because they visit and
/// destroy what lies there: object pools. These say so by a member template<class> bool holds.
template <class T, class R>
inline constexpr bool may_lie_in = true;
template <class T, class R>
    requires requires { R::template holds<T>; }
inline constexpr bool may_lie_in<T, R> = R::template holds<T>;

/// A resource that holds only objects of its own class.
template <class R>
concept holds_one_class = !may_lie_in<std::byte, R>;

/// A resource, or a reference to one.
template <class Part>
concept resource_part = resource<std::remove_reference_t<Part>>;

/// A resource that is a class template whose first argument is a type, as the object pools are. Where that type is not
/// defined yet, nothing can be asked of the resource.
template <class R>
inline constexpr bool is_made_of_type = false;
template <template <class...> class R, class First, class... Rest>
inline constexpr bool is_made_of_type<R<First, Rest...>> = true;
template <template <class, auto, auto...> class R, class First, auto... Rest>
inline constexpr bool is_made_of_type<R<First, Rest...>> = true;
template <template <class, auto, auto, class> class R, class First, auto A, auto B, class Last>
inline constexpr bool is_made_of_type<R<First, A, B, Last>> = true;

/// What may be a resource once it is asked.
template <class R>
concept owner_of_objects = is_made_of_type<R> || resource<R>;

/// A new-expression with R as its only argument.
template <class R, class... Others>
concept names_resource_alone = resource<R> && sizeof...(Others) == 0;

/// False, but only once R is known.
template <class R>
inline constexpr bool takes_new_expressions = false;
}  // namespace detail

}  // namespace acre

/// `new (resource) T` is refused, by a sentence: C++ frees without a size what a constructor that throws leaves, which
/// only acre::chunk_pool can. Its operators, and those of a program, match better: they have no parameter pack.
template <class R, class... Others>
    requires acre::detail::names_resource_alone<R, Others...>
void* operator new(std::size_t, R&, Others...) noexcept {
    static_assert(
        acre::detail::takes_new_expressions<R>,
        "acre: new (resource) T is for acre::chunk_pool: use resource.create<T>(), or acre::make_unique<T>(resource)");
    return nullptr;
}
template <class R, class... Others>
    requires acre::detail::names_resource_alone<R, Others...>
void* operator new[](std::size_t, R&, Others...) noexcept {
    static_assert(acre::detail::takes_new_expressions<R>,
                  "acre: new (resource) T[n] is for acre::chunk_pool: use create_array<T>(n) of an arena, or "
                  "acre::make_unique<T[]>(resource, n)");
    return nullptr;
}
