// Constructs and destroys objects in storage. The standard's functions are in <memory>, which takes a compiler longer
// than all of an arena.
//
// Used by the library, not directly. Cost: that of the constructors and destructors.
#pragma once

#include <acre/core/detail/language.hpp>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// True when a pointer to T may point to the base of a larger object.
template <class T>
consteval bool may_be_base() noexcept {
    return std::has_virtual_destructor_v<T> && !std::is_final_v<T>;
}

/// True for a class with constructors of its own: they may reach the resource that the object lies in.
template <class T>
inline constexpr bool has_constructors = std::is_class_v<T> && !std::is_aggregate_v<T>;

/// The address of an object, also of one whose class has an operator&.
template <class T>
constexpr T* address_of(T& object) noexcept {
    return __builtin_addressof(object);
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++20-extensions"  // said of an aggregate in parentheses, also in C++20
#endif
/// A T made of `arguments` at `storage`.
template <class T, class... Arguments>
T* construct_at(T* storage, Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    return ::new (const_cast<void*>(static_cast<const volatile void*>(storage)))
        T(std::forward<Arguments>(arguments)...);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T>
void destroy_at(T* object) noexcept {
    if constexpr (std::is_array_v<T>) {
        for (auto& each : *object) detail::destroy_at(address_of(each));
    } else {
        object->~T();
    }
}

/// Destroys [first, last) in this order.
template <class T>
void destroy(T* first, T* last) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
        for (; first != last; ++first) detail::destroy_at(first);
    }
}

/// Calls `construct(at)` for each place from `target` on, `count` times. If one throws, destroys those before it,
/// newest first.
template <class T, class Construct>
void construct_each(T* target, std::size_t count, Construct construct) {
    struct guard {
        T* first;
        T* next;
        ~guard() {
            if constexpr (!std::is_trivially_destructible_v<T>) {
                while (next != first) detail::destroy_at(--next);
            }
        }
    } made{target, target};
    for (; count > 0; --count, ++made.next) construct(made.next);
    made.first = made.next;
}

/// Makes `count` objects at `first`, each from `arguments`; without any they are value-initialised. If a constructor
/// throws, destroys those before it.
template <class T, class... Arguments>
void value_construct(T* first, std::size_t count,
                     const Arguments&... arguments) noexcept(std::is_nothrow_constructible_v<T, const Arguments&...>) {
    if constexpr (std::is_nothrow_constructible_v<T, const Arguments&...>) {
        for (; count > 0; --count, ++first) ::new (static_cast<void*>(first)) T(arguments...);
    } else {
        detail::construct_each(first, count, [&](T* at) { ::new (static_cast<void*>(at)) T(arguments...); });
    }
}

}  // namespace acre::detail
