// A growing pool of objects of one type, created and destroyed one by one in any order.
//
// Use it for bullets, connections, orders, nodes: many objects of one type with lifetimes of their own. Use acre::arena
// when they die together, acre::multi_pool when sizes vary.
//
// Cost: create 21 instructions and the constructor, destroy 20, constant time except for a new slab; 28 for a class
// that is no aggregate, 38 and the destructor for one that has it (docs/object_pool.md). Memory as acre::pool. The
// pool's end destroys the objects that are still live, each once. Storage from allocate() counts as live at once, so
// construct an object in it before the pool ends or is iterated. The destructors that reset() and the pool's end run
// may destroy other objects of the pool; an object destroyed by then is skipped. A double destroy and a pointer that
// create() did not return abort with a message before any destructor runs, in every build (docs/misuse.md). Not
// thread-safe. Movable: objects stay where they are.
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
#include <acre/pools/detail/live_iterator.hpp>
#include <acre/pools/detail/object_face.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace acre {

namespace detail {

/// The walk over the live slots of `Pool`.
template <class Pool>
class pool_walk {
public:
    pool_walk() noexcept = default;
    explicit pool_walk(const Pool& walked) noexcept : pool_(&walked), at_(walked.first_live()) {}

    void* object() const noexcept { return at_.slot; }
    void next() noexcept { pool_->advance(at_); }

private:
    const Pool* pool_ = nullptr;
    bitmap_slabs::position at_;
};

}  // namespace detail

/// Objects of type T, created and destroyed in any order. `Check` says what is looked at in a free.
template <class T, double_free_check Check>
class object_pool
    : public detail::object_face<object_pool<T, Check>, T, pool<sizeof(detail::defined<T>), alignof(T), Check>> {
    using base = detail::object_face<object_pool, T, pool<sizeof(detail::defined<T>), alignof(T), Check>>;
    using walk = detail::pool_walk<object_pool>;

public:
    static constexpr const char* name = "acre::object_pool";

    using iterator = detail::live_iterator<walk, T>;
    using const_iterator = detail::live_iterator<walk, const T>;

    /// Takes no memory.
    constexpr object_pool() noexcept : base(name) {}
    explicit object_pool(resource_ref upstream) noexcept : base(pool_options{}, upstream, name) {}
    explicit object_pool(const pool_options& options, resource_ref upstream = heap{}) : base(options, upstream, name) {}

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<object_pool> Other>
    ACRE_IS_NOT_COPIED explicit object_pool(Other&);
    object_pool(object_pool&& other) noexcept = default;
    object_pool& operator=(object_pool&& other) noexcept {
        if (this == &other) return *this;
        this->finish();
        base::operator=(std::move(other));
        return *this;
    }

    /// The live objects, in address order.
    iterator begin() noexcept { return iterator{walk{*this}}; }
    iterator end() noexcept { return iterator{}; }
    const_iterator begin() const noexcept { return const_iterator{walk{*this}}; }
    const_iterator end() const noexcept { return const_iterator{}; }

    /// Calls `visit` with each live object, in address order, faster than the iterators do. `visit` may do what the
    /// body of a loop over them may.
    template <class Visit>
    void for_each(Visit visit) {
        this->for_each_slot([&visit](void* slot) { visit(*std::launder(static_cast<T*>(slot))); });
    }
    template <class Visit>
    void for_each(Visit visit) const {
        this->for_each_slot([&visit](void* slot) { visit(*std::launder(static_cast<const T*>(slot))); });
    }

private:
    friend walk;
};

}  // namespace acre
