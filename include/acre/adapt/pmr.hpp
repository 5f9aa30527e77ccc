// Any resource as a std::pmr::memory_resource, for code that takes one.
//
// pmr<R> holds its resource; pmr<R&> refers to one that lives longer. operator-> reaches the resource's own interface.
// Use acre::allocator where the container's type may name the resource: its calls are inline, with a constant size. The
// calls here are virtual and look the size up: over a multi_pool a pair costs about twice as much (bench P1), but only
// a quarter of std::pmr's own pool. To replace that pool use acre::unsynchronized_pool_resource (pool_resource.hpp).
// Thread rules: those of the resource. Two are equal only when they are the same object.
//
// For objects with an owner in a memory resource: make_unique and make_shared (acre/adapt/smart_ptr.hpp).
//
//     acre::pmr<acre::multi_pool> nodes;
//     std::pmr::list<int> numbers{&nodes};
//     assert(nodes->live() == 0);
#pragma once

#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/referred.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>
#include <memory_resource>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {
template <class Handle, class... Arguments>
inline constexpr bool is_one_handle =
    (sizeof...(Arguments) == 1) && (std::is_same_v<std::remove_cvref_t<Arguments>, Handle> && ...);
}  // namespace detail

/// A memory_resource that holds an R, or refers to one when R is a reference.
template <class R>
    requires resource<std::remove_reference_t<R>>
class pmr final : public std::pmr::memory_resource {
    using held = std::remove_reference_t<R>;
    static_assert(
        !detail::holds_one_class<held>,
        "acre::pmr: an object pool would visit and destroy what lies in its slots as objects of its own class: "
        "use acre::multi_pool, or an acre::pool<Bytes>");
    using options = detail::options_of<held>;

public:
    /// Says that this is a handle and no resource: allocators and wrappers take what it refers to.
    using handle_of = held;

    /// Constructs the resource from `arguments`; pmr<R&> takes the resource to refer to.
    template <class... Arguments>
        requires(std::is_constructible_v<R, Arguments...> && !detail::is_one_handle<pmr, Arguments...>)
    explicit pmr(Arguments&&... arguments) : resource_(std::forward<Arguments>(arguments)...) {}

    /// Constructs the resource from its options: pmr<R> p{{.name = value}}.
    explicit pmr(const options& given, resource_ref upstream = heap{})
        requires(std::is_constructible_v<R, const options&, resource_ref>)
        : resource_(given, upstream) {}

    /// Refused by a sentence: a number without its name.
    template <class Number>
        requires(std::is_arithmetic_v<Number> && !std::is_constructible_v<R, Number>)
    __attribute__((
        unavailable("acre::pmr: name the number, as in {{.first_block_bytes = 65536}}: the page of the "
                    "resource lists its options"))) explicit pmr(Number);

    /// Refers to what a pointer or a handle leads to. Throws bad_option for null.
    template <detail::stands_for<held> From>
        requires(std::is_reference_v<R> && !detail::is_one_handle<pmr, From>)
    explicit pmr(From&& from) : resource_(detail::referred<held>("acre::pmr", std::forward<From>(from))) {}

    pmr(const pmr&) = delete;
    pmr& operator=(const pmr&) = delete;

    /// The resource.
    held& get() noexcept { return resource_; }
    const held& get() const noexcept { return resource_; }
    held* operator->() noexcept { return detail::address_of(resource_); }
    const held* operator->() const noexcept { return detail::address_of(resource_); }
    held& operator*() noexcept { return resource_; }
    const held& operator*() const noexcept { return resource_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* p = resource_.allocate(bytes, alignment);
        // The standard's interface never returns null.
        if (!exceptions_enabled && p == nullptr) abort_on_misuse("acre::pmr", detail::mistake::out_of_memory, this);
        return p;
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        resource_.deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    R resource_;
};

template <class R>
pmr(R&) -> pmr<R&>;
template <detail::leads_to_resource From>
pmr(From&&) -> pmr<detail::led_to_t<From>&>;

}  // namespace acre
