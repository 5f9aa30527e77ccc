// A growing pool of objects of one type, created and destroyed one by one in any order.
//
// Use it for bullets, connections, orders, nodes: many objects of one type with lifetimes of their own. Use acre::arena
// when they die together, acre::multi_pool when sizes vary.
//
// Cost: create 21 instructions and the constructor, destroy 26 and the destructor, constant time except for
// a new slab. Memory as acre::pool. The pool's end destroys the objects that are still live, each once. Storage from
// allocate() counts as live at once, so construct an object in it before the pool ends or is iterated. The destructors
// that reset() and the pool's end run may destroy other objects of the pool; an object destroyed by then is skipped.
// A double destroy and a pointer that create() did not return abort with a message before any destructor runs, in every
// build (docs/misuse.md).
// Not thread-safe. Movable: objects stay where they are.
//
//     acre::object_pool<Bullet> bullets;
//     Bullet* b = bullets.create(position, speed);
//     for (Bullet& each : bullets) each.step();  // the live ones, in address order
//     bullets.destroy(b);
#pragma once

#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/object_face.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// Forward iterator over the live objects of `Pool`, as T or const T, in address order. The current object may be
/// destroyed before the iterator moves on. It skips objects destroyed ahead of it. It may visit objects created
/// meanwhile, so a loop that creates one at each step may never end.
template <class Pool, class T>
class live_iterator {
public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;

    live_iterator() noexcept = default;
    explicit live_iterator(const Pool& walked) noexcept : pool_(&walked), at_(walked.first_live()) {}

    reference operator*() const noexcept { return *std::launder(static_cast<pointer>(at_.slot)); }
    pointer operator->() const noexcept { return std::launder(static_cast<pointer>(at_.slot)); }

    live_iterator& operator++() noexcept {
        pool_->advance(at_);
        return *this;
    }
    live_iterator operator++(int) noexcept {
        live_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const live_iterator& a, const live_iterator& b) noexcept { return a.at_.slot == b.at_.slot; }

private:
    const Pool* pool_ = nullptr;
    bitmap_slabs::position at_;
};

}  // namespace detail

/// Objects of type T, created and destroyed in any order.
template <class T>
class object_pool : public detail::object_face<object_pool<T>, T, pool<sizeof(T), alignof(T)>> {
    using base = detail::object_face<object_pool<T>, T, pool<sizeof(T), alignof(T)>>;

public:
    static constexpr const char* name = "acre::object_pool";

    using iterator = detail::live_iterator<object_pool, T>;
    using const_iterator = detail::live_iterator<object_pool, const T>;

    /// Takes no memory.
    constexpr object_pool() noexcept : base(name) {}
    explicit object_pool(resource_ref upstream) noexcept : base(pool_options{}, upstream, name) {}
    explicit object_pool(const pool_options& options, resource_ref upstream = heap{}) : base(options, upstream, name) {}

    object_pool(object_pool&& other) noexcept = default;
    object_pool& operator=(object_pool&& other) noexcept {
        if (this == &other) return *this;
        this->finish();
        base::operator=(std::move(other));
        return *this;
    }

    /// The live objects, in address order.
    iterator begin() noexcept { return iterator{*this}; }
    iterator end() noexcept { return iterator{}; }
    const_iterator begin() const noexcept { return const_iterator{*this}; }
    const_iterator end() const noexcept { return const_iterator{}; }

private:
    friend iterator;
    friend const_iterator;
};

}  // namespace acre
