// A type-erased handle to any resource: the upstream of arenas and pools, which call it rarely.
//
// Use it where a type must not depend on its upstream's type. Where calls are frequent, use the resource's own type:
// its calls are inline.
//
// Cost: an indirect call; two words. A stateless resource (acre::heap) is copied into the handle. Any other resource is
// referred to and must live longer, also a std::pmr::memory_resource*. A pointer, a smart pointer or a handle
// (acre::unique_resource) stands for the resource that it leads to. Copies refer to the same resource. Thread rules:
// those of the resource.
//
//     acre::arena first;                                            // upstream: acre::heap
//     acre::multi_pool second{first};                    // a pool whose slabs come out of an arena
//     acre::arena third{std::pmr::get_default_resource()};
//     acre::arena fourth{&first};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {
/// Bytes to request from a standard memory resource for `bytes` bytes. libstdc++'s pools align a block larger than its
/// alignment only if its size is a multiple of the alignment.
constexpr std::size_t pmr_bytes(std::size_t bytes, std::size_t alignment) noexcept {
    return bytes <= alignment ? bytes + (bytes == 0) : align_up(bytes, alignment);
}

// std::pmr::memory_resource is recognised by its members, as <memory_resource> takes a compiler longer than all of an
// arena: it is the class in which is_equal is declared.
template <class Declaring>
std::type_identity<Declaring> declaring_class(bool (Declaring::*)(const Declaring&) const noexcept);
template <class M>
using pmr_interface = typename decltype(detail::declaring_class(&M::is_equal))::type;

// These stand in the messages of what cannot be an upstream.
namespace this_resource_is_const_and_allocating_changes_it {
struct remove_the_const {};
}  // namespace this_resource_is_const_and_allocating_changes_it
namespace this_resource_ends_with_its_statement {
struct make_it_a_variable {};
}  // namespace this_resource_ends_with_its_statement
namespace name_the_number {
struct as_in_acre_arena_level_first_block_bytes_is_65536 {};
}  // namespace name_the_number
namespace null_is_no_resource {
struct pass_a_resource_or_a_pointer_to_one {};
}  // namespace null_is_no_resource
}  // namespace detail

/// A std::pmr::memory_resource, or a class derived from it.
template <class M>
concept standard_memory_resource = requires(M& m, void* p, std::size_t bytes, std::size_t alignment) {
    { m.allocate(bytes, alignment) } -> std::same_as<void*>;
    m.deallocate(p, bytes, alignment);
    typename detail::pmr_interface<M>;
} && std::derived_from<M, detail::pmr_interface<M>>;

namespace detail {
/// Looks like a resource of a program, and is none.
template <class Other>
concept almost_resource =
    !resource<Other> && !requires { typename Other::handle_of; } && !standard_memory_resource<Other> &&
    (requires(Other& r, std::size_t n) { r.allocate(n); } || requires(Other& r, std::size_t n) { r.allocate(n, n); });
}  // namespace detail

/// Type-erased, non-owning handle to a resource.
class resource_ref {
public:
    /// Any object of a stateless resource, which need not live longer.
    template <stateless_resource R>
    constexpr resource_ref(const R&) noexcept : object_(nullptr), operations_(&stateless_operations<R>) {}

    /// A resource with state, which must live longer than this handle.
    template <resource R>
        requires(!stateless_resource<R> && !std::same_as<R, resource_ref>)
    resource_ref(R& referred) noexcept : object_(&referred), operations_(&stateful_operations<R>) {}

    /// Refused by a sentence: a const resource, one that ends with its statement, and null.
    template <class R>
        requires(resource<R> && !stateless_resource<R> && !std::same_as<R, resource_ref>)
    ACRE_UNAVAILABLE("acre: this resource is const, and allocating changes it: remove the const")
    resource_ref(const R&,
                 detail::this_resource_is_const_and_allocating_changes_it::remove_the_const = {}) ACRE_OR_DELETED;
    template <class R>
        requires(resource<R> && !stateless_resource<R> && !std::same_as<R, resource_ref>)
    ACRE_UNAVAILABLE("acre: this resource ends with its statement: make it a variable")
    resource_ref(const R&&, detail::this_resource_ends_with_its_statement::make_it_a_variable = {}) ACRE_OR_DELETED;
    template <class From>
        requires(detail::leads_to_unfit_resource<From> && detail::ends_at_once<From>)
    ACRE_UNAVAILABLE("acre: this resource ends with its statement: make it a variable")
    resource_ref(From&&, detail::this_resource_ends_with_its_statement::make_it_a_variable = {}) ACRE_OR_DELETED;
    template <class From>
        requires(detail::leads_to_unfit_resource<From> && !detail::ends_at_once<From>)
    ACRE_UNAVAILABLE("acre: this resource is const, and allocating changes it: remove the const")
    resource_ref(From&&,
                 detail::this_resource_is_const_and_allocating_changes_it::remove_the_const = {}) ACRE_OR_DELETED;
    ACRE_UNAVAILABLE("acre: null is no resource: pass a resource, or a pointer to one")
    resource_ref(std::nullptr_t, detail::null_is_no_resource::pass_a_resource_or_a_pointer_to_one = {}) ACRE_OR_DELETED;

    /// Refused by a sentence: numbers, which every constructor that takes an upstream would get.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    ACRE_UNAVAILABLE(
        "acre: name the number: {{.option = number}}, as in acre::arena level{{.first_block_bytes = 65536}}; the "
        "page of the type lists its options")
    resource_ref(Number,
                 detail::name_the_number::as_in_acre_arena_level_first_block_bytes_is_65536 = {}) ACRE_OR_DELETED;
    /// Refused by a sentence: what has allocate and deallocate, but is no resource.
    template <detail::almost_resource Other>
    __attribute__((
        unavailable("acre: a resource has void* allocate(bytes, alignment), void* try_allocate(bytes, "
                    "alignment) noexcept and void deallocate(p, bytes, alignment) noexcept")))
    resource_ref(Other&);

    /// What leads to a resource: a pointer, a smart pointer or a handle, which need not live longer. Throws bad_option
    /// for null.
    template <detail::leads_to_resource From>
        requires(!detail::leads_to_unfit_resource<From> && !standard_memory_resource<detail::led_to_t<From>>)
    resource_ref(From&& from)
        : resource_ref(detail::referred<detail::led_to_t<From>>("acre::resource_ref", std::forward<From>(from))) {}

    /// A standard memory resource. Throws bad_option for null.
    template <standard_memory_resource M>
    resource_ref(M* referred)
        : object_(static_cast<detail::pmr_interface<M>*>(referred)),
          operations_(&pmr_operations<detail::pmr_interface<M>>) {
        require_option(referred != nullptr, "acre::resource_ref", "upstream", 0, "a pointer that is not null");
    }

    /// Storage of `bytes` bytes from the resource, which throws its own errors. Costs what the resource costs, and a
    /// call through a pointer; so do the other two.
    void* allocate(std::size_t bytes, std::size_t alignment) const {
        return operations_->allocate(object_, bytes, alignment);
    }
    /// As allocate, but null when the resource cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment) const noexcept {
        return operations_->try_allocate(object_, bytes, alignment);
    }
    /// Gives back what allocate returned for the same size and alignment.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment) const noexcept {
        operations_->deallocate(object_, p, bytes, alignment);
    }

    /// True when both refer to the same resource.
    friend bool operator==(const resource_ref&, const resource_ref&) noexcept = default;

private:
    struct operations {
        void* (*allocate)(void* object, std::size_t bytes, std::size_t alignment);
        void* (*try_allocate)(void* object, std::size_t bytes, std::size_t alignment) noexcept;
        void (*deallocate)(void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept;
    };

    template <class R>
    static constexpr operations stateless_operations{
        [](void*, std::size_t bytes, std::size_t alignment) { return R{}.allocate(bytes, alignment); },
        [](void*, std::size_t bytes, std::size_t alignment) noexcept { return R{}.try_allocate(bytes, alignment); },
        [](void*, void* p, std::size_t bytes, std::size_t alignment) noexcept { R{}.deallocate(p, bytes, alignment); }};

    template <class R>
    static constexpr operations stateful_operations{
        [](void* object, std::size_t bytes, std::size_t alignment) {
            return static_cast<R*>(object)->allocate(bytes, alignment);
        },
        [](void* object, std::size_t bytes, std::size_t alignment) noexcept {
            return static_cast<R*>(object)->try_allocate(bytes, alignment);
        },
        [](void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept {
            static_cast<R*>(object)->deallocate(p, bytes, alignment);
        }};

    // The standard's interface leaves some of acre's promises undefined: sizes that wrap when rounded up, alignments
    // that are no power of two, zero bytes, null.
    static constexpr const char* pmr_name = "std::pmr::memory_resource";
    static constexpr bool fits_pmr(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) && bytes <= max_request && alignment <= max_request - bytes;
    }

    template <class M>
    static void* allocate_pmr(void* object, std::size_t bytes, std::size_t alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(pmr_name, alignment);
        if (!fits_pmr(bytes, alignment)) return raise<request_too_large>(pmr_name, bytes, max_request - alignment);
        auto* referred = static_cast<M*>(object);
#if defined(__cpp_exceptions)
        try {
            return referred->allocate(detail::pmr_bytes(bytes, alignment), alignment);
        } catch (const allocation_error&) {
            throw;
        } catch (const std::bad_alloc&) {
            // So that handlers of acre's errors catch it, too.
            throw out_of_memory{pmr_name, bytes, alignment};
        }
#else
        return referred->allocate(detail::pmr_bytes(bytes, alignment), alignment);
#endif
    }

    template <class M>
    static void* try_allocate_pmr(void* object, std::size_t bytes, std::size_t alignment) noexcept {
        if (!fits_pmr(bytes, alignment)) return nullptr;
#if defined(__cpp_exceptions)
        // A std::pmr::memory_resource reports failure only by an exception.
        try {
            return allocate_pmr<M>(object, bytes, alignment);
        } catch (...) {
            return nullptr;
        }
#else
        return allocate_pmr<M>(object, bytes, alignment);
#endif
    }

    template <class M>
    static void deallocate_pmr(void* object, void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        static_cast<M*>(object)->deallocate(p, detail::pmr_bytes(bytes, alignment), alignment);
    }

    template <class M>
    static constexpr operations pmr_operations{&allocate_pmr<M>, &try_allocate_pmr<M>, &deallocate_pmr<M>};

    void* object_;
    const operations* operations_;
};

}  // namespace acre
