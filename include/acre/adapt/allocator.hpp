// A standard allocator over any resource, for the standard's containers and everything else that takes one.
//
// Calls inline the resource's own functions: a node of a std::map costs what a slot of the pool costs. Use acre::pmr<R>
// where a container wants a std::pmr::memory_resource instead, and acre::containers_in<R> to write the types of
// containers without their allocators.
//
// Nested containers share the resource: an element that takes an acre::allocator of the same resource is constructed
// with this one, as std::pmr::polymorphic_allocator does. So a map of strings to vectors lies in one arena. An element
// moved in from another arena is copied. A resource without state need not be passed on.
//
// A pool has slots of one size. A container whose nodes fit no slot does not compile: use acre::multi_pool. An object
// pool takes objects of its own class only.
//
// It is made of the resource, of a pointer to it, as std::pmr takes it, or of a handle (acre::unique_resource,
// acre::pmr).
//
// Holds a pointer to the resource, or nothing for a stateless one. The resource must live longer than the container.
// Two allocators are equal when their resource is the same. A container keeps the resource that it was made with, as
// with std::pmr: assigned from a container of another one it copies or moves each element; within one resource move
// assignment and swap are constant time. A swap of containers in two resources aborts with a sentence. Moved into a new
// container, the elements stay and bring their resource along. Thread rules: those of the resource.
//
//     acre::arena level;
//     std::vector<int, acre::allocator<int, acre::arena>> v{level};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/at_least.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/detail/uses_allocator.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// Refers to a resource: holds a pointer, or nothing when the resource has no state.
template <resource R>
class resource_pointer {
public:
    resource_pointer() noexcept = default;
    /// To `referred`, which must live longer.
    explicit resource_pointer(R& referred) noexcept : referred_(detail::address_of(referred)) {}
    /// The resource; undefined for a default-constructed pointer.
    R& get() const noexcept { return *referred_; }
    friend bool operator==(const resource_pointer&, const resource_pointer&) noexcept = default;

private:
    R* referred_ = nullptr;
};

template <stateless_resource R>
class resource_pointer<R> {
public:
    resource_pointer() noexcept = default;
    /// To any object of a stateless resource, which need not live longer.
    explicit resource_pointer(const R&) noexcept {}
    /// An object of the resource.
    R get() const noexcept { return {}; }
    friend bool operator==(const resource_pointer&, const resource_pointer&) noexcept = default;
};

/// A handle is held by value: what it refers to must live longer, not the handle.
template <>
class resource_pointer<resource_ref> {
public:
    resource_pointer() noexcept = default;
    /// A copy of the handle.
    explicit resource_pointer(const resource_ref& referred) noexcept : referred_(referred) {}
    /// The handle; undefined for a default-constructed pointer.
    resource_ref get() const noexcept { return referred_; }
    friend bool operator==(const resource_pointer&, const resource_pointer&) noexcept = default;

private:
    resource_ref referred_ = heap{};
};

namespace detail {

// Compilers would explain a concept in many lines.
template <class R>
inline constexpr bool is_a_resource = resource<R>;
template <class R>
inline constexpr bool is_a_handle = requires { typename R::handle_of; };

/// True when no slot of the pool R serves objects of T: each would take a block of its own from upstream.
template <class T, class R>
constexpr bool misses_the_slots() noexcept {
    if constexpr (requires { R::serves(sizeof(T), alignof(T)); }) {
        return !R::serves(sizeof(T), alignof(T));
    } else {
        return false;
    }
}

namespace a_resource_is_missing {
/// Stands in the message of a container that is made without its resource: write vector<int> v{level}. Elements made by
/// emplace, try_emplace or operator[] get the container's; a string made elsewhere needs it, as in {"text", level}.
/// Under a library that makes an allocator of its own, name a resource without state: docs/ambient.md.
struct give_it_to_the_container_or_use_acre_ambient_or_acre_program_pools {
    explicit constexpr give_it_to_the_container_or_use_acre_ambient_or_acre_program_pools(int) noexcept {}
};
inline constexpr give_it_to_the_container_or_use_acre_ambient_or_acre_program_pools say{0};
}  // namespace a_resource_is_missing

}  // namespace detail

/// Refused by a sentence: what is no resource.
template <class T, class R>
class allocator {
    static_assert(!detail::is_a_handle<R>,
                  "acre: a handle is no resource: write the resource's type, acre::allocator<T, acre::arena>, and pass "
                  "the handle");
    static_assert(
        detail::is_a_handle<R> || detail::is_a_resource<R>,
        "acre: a resource has void* allocate(bytes, alignment), void* try_allocate(bytes, alignment) noexcept "
        "and void deallocate(p, bytes, alignment) noexcept");

public:
    using value_type = T;
    /// Of anything, so that the sentence is the only error.
    template <class... Arguments>
    allocator(Arguments&&...) noexcept;
};

/// Allocates objects of T from an R.
template <class T, resource R>
class allocator<T, R> {
public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::false_type;
    // Otherwise an element that is assigned would take along storage of a resource that may end before its container.
    using propagate_on_container_move_assignment = std::bool_constant<stateless_resource<R>>;
    // So that a swap of containers calls the swap below.
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::bool_constant<stateless_resource<R>>;

    template <class U>
    struct rebind {
        using other = allocator<U, R>;
    };

    /// Any object of a stateless resource.
    allocator() noexcept
        requires stateless_resource<R>
    = default;
    // Compilers print the parameter's type. A static_assert would also fail where the standard only asks whether a
    // container has a default constructor.
    // clang-format off
    allocator(  // acre: give a container its resource, v{level}, or v(level) where braces make an element; under a library that makes an allocator, use acre::ambient or acre::program_pools: docs/ambient.md
        detail::a_resource_is_missing::give_it_to_the_container_or_use_acre_ambient_or_acre_program_pools =
            detail::a_resource_is_missing::say) noexcept
        // clang-format on
        requires(!stateless_resource<R>)
#if defined(__clang__) && defined(__cpp_deleted_function)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
    = delete("acre: give it its resource, as in v{level}");
#pragma clang diagnostic pop
#else
    = delete;
#endif
    /// Allocates from `referred`, which must live longer.
    allocator(R& referred) noexcept : resource_(referred) {}
    /// Of a pointer to the resource, as std::pmr takes it, or of a handle. Throws bad_option for null. A const resource
    /// and a temporary one are refused by a sentence.
    template <class From>
        requires(detail::stands_for<From, R> && !stateless_resource<R> && !std::is_same_v<R, resource_ref>)
    allocator(From&& from) : resource_(detail::referred<R>("acre::allocator", std::forward<From>(from))) {}
    /// Refused by a sentence: a resource that the type does not name.
    template <class Other>
        requires(!stateless_resource<R> && !std::is_same_v<R, resource_ref> && detail::mistaken_for<Other, R>)
    allocator(Other&&) noexcept {
        static_assert(std::is_void_v<Other>,
                      "acre: the type of this container or allocator names another resource: pass one of that type, or "
                      "a pointer to it, not a std::reference_wrapper; or name this resource in the type, as in "
                      "acre::containers_in<acre::multi_pool>");
    }
    // A node of a map could be null in braces, too.
    /// Refused by a sentence: null.
    template <std::same_as<std::nullptr_t> Null>
        requires(!stateless_resource<R> && std::is_scalar_v<T>)
    allocator(Null) noexcept {
        static_assert(std::is_void_v<Null>, "acre: null is no resource: pass a resource, or a pointer to one");
    }
    /// Of a resource_ref: all that one is made of, a temporary one too.
    template <class Other>
        requires(std::is_same_v<R, resource_ref> && !std::is_same_v<Other, resource_ref&> &&
                 std::is_convertible_v<Other, resource_ref> && !std::is_arithmetic_v<std::remove_reference_t<Other>> &&
                 !detail::almost_resource<std::remove_reference_t<Other>>)
    allocator(Other&& referred) : resource_(resource_ref(std::forward<Other>(referred))) {}
    /// Refused by a sentence: a const or a temporary resource.
    template <class Other>
        requires(std::is_same_v<R, resource_ref> && resource<std::remove_cvref_t<Other>> &&
                 !std::is_convertible_v<Other, resource_ref>)
    allocator(Other&&) noexcept {
        static_assert(
            std::is_void_v<Other>,
            "acre: this resource is const, which allocating would change, or ends with its statement: make it a "
            "variable that is not const");
    }
    template <class U>
    allocator(const allocator<U, R>& other) noexcept : resource_(other.pointer()) {}

    /// Returns storage for `count` objects. Throws what the resource throws; request_too_large when the size would
    /// wrap. Without exceptions it aborts with a sentence: containers do not expect null.
    [[nodiscard, gnu::always_inline]] T* allocate(std::size_t count) {
        static_assert(
            !detail::misses_the_slots<T, R>(),
            "acre: the objects, such as the nodes of a container or an object of make_shared with its counts, do "
            "not fit a slot of this pool, and each would take a block of its own from upstream: use "
            "acre::multi_pool, or an acre::pool<Bytes> whose slots hold one");
        static_assert(
            detail::misses_the_slots<T, R>() || !detail::holds_one_class<R>,
            "acre: an object pool would visit and destroy what lies in its slots, such as the nodes of a container or "
            "the room that a vector reserves, as objects of its own: use acre::multi_pool, or an acre::pool<Bytes> "
            "whose slots hold one");
        if (count > max_request / sizeof(T)) [[unlikely]]
            return fail();
        void* p = resource_.get().allocate(count * sizeof(T), alignof(T));
        if (!exceptions_enabled && p == nullptr) [[unlikely]]
            abort_on_misuse("acre::allocator", detail::mistake::out_of_memory, nullptr);
        return static_cast<T*>(p);
    }

    /// Storage for `count` objects or more, and for how many. A slot's rest has room for further ones.
    [[nodiscard]] allocation_result<T*> allocate_at_least(std::size_t count) {
        if (count <= max_request / sizeof(T)) {
            count = detail::bytes_given(resource_.get(), count * sizeof(T), alignof(T)) / sizeof(T);
        }
        return {allocate(count), count};
    }

    /// Frees storage for `count` objects; null is a no-op.
    [[gnu::always_inline]] void deallocate(T* p, std::size_t count) noexcept {
        resource_.get().deallocate(p, count * sizeof(T), alignof(T));
    }

    /// Constructs a U at `p`; one that takes an allocator of R gets this one, as std::pmr's does it.
    template <class U, class... Arguments>
    [[gnu::always_inline]] void construct(U* p, Arguments&&... arguments) noexcept(
        constructs_without_throwing<U, Arguments...>()) {
        // All allocators of a resource without state are equal: what a U makes by itself does.
        if constexpr (is_always_equal::value) {
            ::new (const_cast<void*>(static_cast<const volatile void*>(p))) U(std::forward<Arguments>(arguments)...);
        } else if constexpr (detail::takes_allocator<std::remove_cv_t<U>, allocator>) {
            detail::construct_with_allocator(p, *this, std::forward<Arguments>(arguments)...);
        } else {
            static_assert(std::is_constructible_v<U, Arguments...>,
                          "acre: the element is not made of these arguments. A string or container inside an optional, "
                          "a variant or a struct is not given the resource: pass one that has it, "
                          "acre::containers_in<R>::string{text, resource}");
            detail::construct_at(p, std::forward<Arguments>(arguments)...);
        }
    }

    /// The resource.
    decltype(auto) referred() const noexcept { return resource_.get(); }
    /// For allocators of other types over the same resource.
    const resource_pointer<R>& pointer() const noexcept { return resource_; }

    template <class U>
    friend bool operator==(const allocator& a, const allocator<U, R>& b) noexcept {
        return a.pointer() == b.pointer();
    }

    /// What containers call that are swapped. Aborts where the resources differ: std::pmr leaves that undefined.
    friend void swap(allocator& a, allocator& b) noexcept {
        if (!(a == b)) [[unlikely]]
            abort_on_misuse("acre::allocator", detail::mistake::swapped_resources, detail::address_of(a));
    }

private:
    // A string without its allocator is no valid argument of is_nothrow_constructible.
    template <class U, class... Arguments>
    static constexpr bool constructs_without_throwing() noexcept {
        if constexpr (!is_always_equal::value && detail::takes_allocator<std::remove_cv_t<U>, allocator>) {
            return false;
        } else {
            return std::is_nothrow_constructible_v<U, Arguments...>;
        }
    }

    [[gnu::noinline, gnu::cold]] static T* fail() {
        raise<request_too_large>("acre::allocator", SIZE_MAX, max_request);
        abort_on_misuse("acre::allocator", detail::mistake::out_of_memory, nullptr);
    }

    [[no_unique_address]] resource_pointer<R> resource_;
};

}  // namespace acre
