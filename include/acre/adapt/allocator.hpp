// A standard allocator over any resource, for the standard's containers and everything else that takes one.
//
// Calls inline the resource's own functions: a node of a std::map costs what a slot of the pool costs. Use acre::pmr<R>
// where a container wants a std::pmr::memory_resource instead.
//
// Holds a pointer to the resource, or nothing for a stateless one. The resource must live longer than the container.
// Two allocators are equal when their resource is the same. Move assignment and swap of containers also transfer the
// allocator, so both are constant time; copy assignment keeps the target's. Thread rules: those of the resource.
//
//     acre::arena level;
//     std::vector<int, acre::allocator<int, acre::arena>> v{level};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <cstddef>
#include <type_traits>

namespace acre {

/// Refers to a resource: holds a pointer, or nothing when the resource has no state.
template <resource R>
class resource_pointer {
public:
    resource_pointer() noexcept = default;
    explicit resource_pointer(R& referred) noexcept : referred_(detail::address_of(referred)) {}
    R& get() const noexcept { return *referred_; }
    friend bool operator==(const resource_pointer&, const resource_pointer&) noexcept = default;

private:
    R* referred_ = nullptr;
};

template <stateless_resource R>
class resource_pointer<R> {
public:
    resource_pointer() noexcept = default;
    explicit resource_pointer(const R&) noexcept {}
    R get() const noexcept { return {}; }
    friend bool operator==(const resource_pointer&, const resource_pointer&) noexcept = default;
};

/// Allocates objects of T from an R.
template <class T, resource R>
class allocator {
public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::false_type;
    using propagate_on_container_move_assignment = std::true_type;
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
    /// Allocates from `referred`, which must live longer.
    allocator(R& referred) noexcept : resource_(referred) {}
    template <class U>
    allocator(const allocator<U, R>& other) noexcept : resource_(other.pointer()) {}

    /// Returns storage for `count` objects. Throws what the resource throws; request_too_large when the size would
    /// wrap.
    [[nodiscard, gnu::always_inline]] T* allocate(std::size_t count) {
        if (count > max_request / sizeof(T)) [[unlikely]]
            return fail();
        return static_cast<T*>(resource_.get().allocate(count * sizeof(T), alignof(T)));
    }

    /// Frees storage for `count` objects.
    [[gnu::always_inline]] void deallocate(T* p, std::size_t count) noexcept {
        // Unlike a resource, an allocator never gets null: this removes the resource's check.
        if (p == nullptr) __builtin_unreachable();
        resource_.get().deallocate(p, count * sizeof(T), alignof(T));
    }

    /// The resource.
    decltype(auto) referred() const noexcept { return resource_.get(); }
    /// For allocators of other types over the same resource.
    const resource_pointer<R>& pointer() const noexcept { return resource_; }

    template <class U>
    friend bool operator==(const allocator& a, const allocator<U, R>& b) noexcept {
        return a.pointer() == b.pointer();
    }

private:
    [[gnu::noinline, gnu::cold]] static T* fail() {
        raise<request_too_large>("acre::allocator", SIZE_MAX, max_request);
        return nullptr;
    }

    [[no_unique_address]] resource_pointer<R> resource_;
};

}  // namespace acre
