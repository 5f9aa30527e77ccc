// What a program may write in place of a resource: a pointer, a smart pointer or a handle leads to it; a const or a
// temporary resource is refused by a sentence. Used by what refers to a resource, not directly.
//
// Cost: a comparison with null, which compilers leave out for &level.
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <type_traits>
#include <utility>

namespace acre::detail {

/// What `*from` is, if it refers to something that stays: the resource that a pointer or a handle leads to.
template <class From>
struct led_to {
    using type = void;
};
/// A pointer to an acre::unique_resource, as a port writes that took the address of an arena. That of an acre::pmr is
/// one to a memory_resource.
template <class From, class Handle = std::remove_pointer_t<std::remove_cvref_t<From>>>
concept points_to_handle = std::is_pointer_v<std::remove_cvref_t<From>> && requires { typename Handle::handle_of; } &&
                           !requires { &Handle::is_equal; };
template <class From>
    requires(std::is_pointer_v<std::remove_cvref_t<From>> && !points_to_handle<From>)
struct led_to<From> {
    using type = std::remove_pointer_t<std::remove_cvref_t<From>>;
};
template <points_to_handle From>
struct led_to<From> {
    using type = typename std::remove_pointer_t<std::remove_cvref_t<From>>::handle_of;
};
// A member, not `*from`: that looks for operators in the types around From, such as values of a container's allocator,
// and may need them before they are complete.
template <class From>
    requires(!resource<std::remove_cvref_t<From>> &&
             requires(std::remove_reference_t<From>& from) {
                 requires std::is_lvalue_reference_v<decltype(from.operator*())>;
             })
struct led_to<From> {
    using type = std::remove_reference_t<decltype(std::declval<std::remove_reference_t<From>&>().operator*())>;
};
template <class From>
using led_to_t = typename led_to<From>::type;

/// A pointer to an R, or what leads to one as a pointer does.
template <class From, class R>
concept leads_to = !std::is_void_v<led_to_t<From>> && std::is_convertible_v<led_to_t<From>*, R*>;

/// The same, to any resource.
template <class From>
concept leads_to_resource = !std::is_void_v<led_to_t<From>> && resource<led_to_t<From>>;

/// An owner, as a handle, that ends with its statement.
template <class From>
concept ends_at_once = !std::is_lvalue_reference_v<From> && !std::is_pointer_v<std::remove_cvref_t<From>>;

/// An owner of a resource that ends with its statement, or a pointer to a const one.
template <class From>
concept leads_to_unfit_resource =
    !std::is_void_v<led_to_t<From>> && resource<std::remove_const_t<led_to_t<From>>> &&
    (ends_at_once<From> || (std::is_const_v<led_to_t<From>> && !resource<led_to_t<From>>));

/// An R that cannot be referred to: it is const or a temporary, or a pointer leads to a const one.
template <class From, class R>
concept unfit_resource =
    (std::is_convertible_v<std::remove_reference_t<From>*, const R*> &&
     (!std::is_lvalue_reference_v<From> || !std::is_convertible_v<std::remove_reference_t<From>*, R*>)) ||
    (leads_to<From, const R> && !leads_to<From, R>);

/// One of these that is const.
template <class From, class R>
concept const_resource = (std::is_convertible_v<std::remove_reference_t<From>*, const R*> &&
                          !std::is_convertible_v<std::remove_reference_t<From>*, R*>) ||
                         (leads_to<From, const R> && !leads_to<From, R>);

/// A scratch of an R: its arena is its parent.
template <class From, class R>
concept scope_of = resource<std::remove_cvref_t<From>> && requires(std::remove_reference_t<From>& from) {
    requires std::is_convertible_v<decltype(&from.parent()), R*>;
};

/// All that referred() takes.
template <class From, class R>
concept stands_for = leads_to<From, R> || unfit_resource<From, R> || scope_of<From, R>;

/// The R that `from` leads to, on behalf of `user`. Throws bad_option for null. What is no R is refused by a sentence.
template <class R, class From>
R& referred(const char* user, From&& from) {
    static_assert(!scope_of<From, R>,
                  "acre: this takes the arena, not a scratch of it: write temp.parent(), or name the scratch in the "
                  "type, as acre::allocator<T, acre::scratch>");
    static_assert(!const_resource<From, R>,
                  "acre: this resource is const, and allocating changes a resource: remove the const; and give a "
                  "std::queue, stack or priority_queue, which make it const, an acre::allocator<T, R>{level}");
    static_assert(const_resource<From, R> || (!unfit_resource<From, R> && (!leads_to<From, R> || !ends_at_once<From>)),
                  "acre: this resource, or the handle that owns it, ends with its statement, and what refers to it "
                  "would dangle: make it a variable");
    if constexpr (leads_to<From, R>) {
        if constexpr (std::is_constructible_v<bool, From&>) {
            require_option(static_cast<bool>(from), user, "resource", 0, "a pointer that is not null");
        }
        if constexpr (points_to_handle<From>) {
            return referred<R>(user, *from);
        } else {
            return *from;
        }
    } else {
        __builtin_unreachable();
    }
}

/// What a resource is not constructed from: an R, where an upstream was meant or a copy. One that is const is left to
/// the deleted copy, so that std::is_copy_constructible says no.
template <class Other, class R>
concept copy_of = !std::is_const_v<Other> && std::is_convertible_v<Other*, R*>;

// Stands before a constructor from a copy_of. As here, an unavailable function is refused where it is called, in few
// lines of which the first is the sentence; a failed static_assert also lists what led to it.
#define ACRE_IS_NOT_COPIED                                                                              \
    __attribute__((                                                                                     \
        unavailable("acre: a resource is not copied: to take memory from one of the same type, pass a " \
                    "pointer, {&other}; capture it in a lambda as [&level]; for a memory_resource, "    \
                    "write acre::pmr<acre::arena&>")))

// Before and behind a function that is refused where code may also ask whether it can be called. Then g++ says of an
// unavailable function that it can, and clang that it cannot; so g++ gets a deleted one, and prints the types of its
// parameters. A static_assert would fail where code only asks.
#if defined(__clang__)
#define ACRE_UNAVAILABLE(text) __attribute__((unavailable(text)))
#define ACRE_OR_DELETED
#else
#define ACRE_UNAVAILABLE(text)
#define ACRE_OR_DELETED = delete
#endif

/// What is written in place of an R by mistake: another resource, what leads to one, or a std::reference_wrapper.
template <class From, class R>
concept mistaken_for = !stands_for<From, R> && !std::is_convertible_v<std::remove_reference_t<From>*, const R*> &&
                       (resource<std::remove_cvref_t<From>> || leads_to_resource<From> ||
                        requires(std::remove_reference_t<From>& from, R& (*take)(R&)) {
                            typename std::remove_cvref_t<From>::type;
                            take(from.get());
                        });

}  // namespace acre::detail
