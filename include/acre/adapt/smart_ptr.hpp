// Smart pointers to objects in a resource: they destroy the object and give its storage back to the resource.
//
// Use them where an object of a pool or arena has one owner (unique_ptr) or several (make_shared). A unique_ptr is two
// pointers wide, one for a stateless resource. The resource must live longer. A unique_ptr to a derived class does not
// convert to one to its base, because storage is freed by its size: use make_shared there. Cost: that of the resource.
//
//     auto owned = acre::make_unique<Orc>(pool, "URG");
//     auto several = acre::make_unique<Orc[]>(pool, 12);
//     auto shared = acre::make_shared<Orc>(pool, "URG");  // object and counts in one allocation
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace acre {

/// Deleter of a unique_ptr to an object, or with T[] to an array, in an R.
template <class T, resource R>
class resource_delete {
public:
    /// For an empty pointer.
    resource_delete() noexcept = default;
    explicit resource_delete(R& referred) noexcept : resource_(referred) {}

    void operator()(T* object) const noexcept {
        decltype(auto) from = resource_.get();
        if constexpr (requires { from.destroy(object); }) {
            from.destroy(object);
        } else {
            detail::destroy_at(object);
            from.deallocate(const_cast<std::remove_const_t<T>*>(object), sizeof(T), alignof(T));
        }
    }

private:
    [[no_unique_address]] resource_pointer<R> resource_;
};

template <class T, resource R>
class resource_delete<T[], R> {
public:
    resource_delete() noexcept = default;
    resource_delete(R& referred, std::size_t count) noexcept : resource_(referred), count_(count) {}

    void operator()(T* first) const noexcept {
        for (std::size_t i = count_; i > 0; --i) detail::destroy_at(first + i - 1);
        resource_.get().deallocate(const_cast<std::remove_const_t<T>*>(first), count_ * sizeof(T), alignof(T));
    }

    /// Number of objects in the array.
    std::size_t size() const noexcept { return count_; }

private:
    [[no_unique_address]] resource_pointer<R> resource_;
    std::size_t count_ = 0;
};

/// A std::unique_ptr that knows its resource.
template <class T, resource R>
using unique_ptr = std::unique_ptr<T, resource_delete<T, R>>;

namespace detail {
// Frees storage when the construction in it throws.
template <class R>
struct storage_guard {
    R& from;
    void* p;
    std::size_t bytes;
    std::size_t alignment;
    ~storage_guard() {
        if (p != nullptr) from.deallocate(p, bytes, alignment);
    }
    void* succeeded() noexcept { return std::exchange(p, nullptr); }
};
}  // namespace detail

/// Constructs a T from `arguments` in storage of `from`. Throws what the resource and the constructor throw; then the
/// storage is free again. Without exceptions: an empty pointer when there is no memory.
template <class T, class R, class... Arguments>
    requires(!std::is_array_v<T> && resource<R>)
unique_ptr<T, R> make_unique(R& from, Arguments&&... arguments) {
    void* p = from.allocate(sizeof(T), alignof(T));
    T* object = detail::construct_at_or<T>(
        p, [&from, p]() noexcept { from.deallocate(p, sizeof(T), alignof(T)); }, std::forward<Arguments>(arguments)...);
    return unique_ptr<T, R>{object, resource_delete<T, R>{from}};
}

/// Constructs `count` value-initialised objects in storage of `from`: make_unique<T[]>(from, count). Throws as above.
template <class T, class R>
    requires(std::is_unbounded_array_v<T> && resource<R>)
unique_ptr<T, R> make_unique(R& from, std::size_t count) {
    using element = std::remove_extent_t<T>;
    const auto bytes = array_bytes(count, sizeof(element));
    if (!bytes) raise<request_too_large>("acre::make_unique", SIZE_MAX, max_request);
    void* p = bytes ? from.allocate(*bytes, alignof(element)) : nullptr;
    if (!exceptions_enabled && p == nullptr) return unique_ptr<T, R>{nullptr, resource_delete<T, R>{from, 0}};
    detail::storage_guard<R> guard{from, p, *bytes, alignof(element)};
    auto* first = static_cast<std::remove_const_t<element>*>(p);
    detail::value_construct(first, count);
    guard.succeeded();
    return unique_ptr<T, R>{first, resource_delete<T, R>{from, count}};
}

/// Constructs a T with shared owners: object and counts in one allocation from `from`.
template <class T, class R, class... Arguments>
    requires(resource<R>)
std::shared_ptr<T> make_shared(R& from, Arguments&&... arguments) {
    return std::allocate_shared<T>(allocator<T, R>{from}, std::forward<Arguments>(arguments)...);
}

}  // namespace acre
