// A growing pool of objects of one type, created and destroyed one by one in any order.
//
// Use it for bullets, connections, orders, nodes: many objects of one type with lifetimes of their own. Use acre::arena
// when they die together, acre::multi_pool when sizes vary.
//
// Cost: create about 12 instructions and the constructor, destroy about 20 and the destructor, constant time but for a
// new slab. Memory as acre::pool. Objects still live at the end of the pool are destroyed, each once: which slots are
// live is recorded, never inferred. Storage taken raw by allocate() counts as live from then on, so construct in it
// before the pool ends or is walked. Objects may destroy others of the same pool in their
// destructors: what clear() or the pool's end has destroyed already is passed over then; it must not be touched.
// A double destroy and a pointer of another pool abort with a sentence before any destructor runs, in every build.
// Not thread-safe. Movable: objects stay where they are.
//
//     acre::object_pool<Bullet> bullets;
//     Bullet* b = bullets.create(position, speed);
//     for (Bullet& each : bullets) each.step();  // the live ones, in address order
//     bullets.destroy(b);
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/live_iterator.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace acre {

/// Objects of type T, created and destroyed in any order.
template <class T>
class object_pool : public pool<sizeof(T), alignof(T)> {
    using base = pool<sizeof(T), alignof(T)>;

public:
    static_assert(!std::is_array_v<T>, "an object_pool holds single objects: put an array into a struct");
    static_assert(!std::is_const_v<T>, "the objects of an object_pool are not const: make object_pool<T> of a plain T");

    static constexpr const char* name = "acre::object_pool";

    using value_type = T;
    using iterator = detail::live_iterator<object_pool, T>;
    using const_iterator = detail::live_iterator<object_pool, const T>;

    /// Takes no memory.
    constexpr object_pool() noexcept : base(name) {}
    explicit object_pool(resource_ref upstream) noexcept : base(pool_options{}, upstream, name) {}
    explicit object_pool(const pool_options& options, resource_ref upstream = heap{}) : base(options, upstream, name) {}
    object_pool(object_pool&& other) noexcept : base(std::move(other)) {}
    object_pool& operator=(object_pool&& other) noexcept {
        if (this == &other) return *this;
        end_of_all();
        base::operator=(std::move(other));
        return *this;
    }

    /// Destroys the objects that are still live, in address order.
    ~object_pool() { end_of_all(); }

    /// A T constructed from `arguments`. Throws as allocate, and what the constructor throws: then its slot is free.
    template <class... Arguments>
    T* create(Arguments&&... arguments) {
        return construct(this->allocate(), std::forward<Arguments>(arguments)...);
    }

    /// As create, but null when there is no memory. What the constructor throws is passed on.
    template <class... Arguments>
    T* try_create(Arguments&&... arguments) {
        void* p = this->try_allocate();
        return p == nullptr ? nullptr : construct(p, std::forward<Arguments>(arguments)...);
    }

    /// Destroys the object and takes its slot back; null is a no-op.
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (clearing_ && this->is_free(object)) return;
            this->check_live(name, object);
            std::destroy_at(object);
        }
        this->give_back(name, object);
    }

    /// Destroys all objects and keeps the slabs.
    void clear() noexcept {
        destroy_all();
        base::reset();
    }
    /// As clear.
    void reset() noexcept { clear(); }

    /// Destroys all objects and gives all slabs back to upstream.
    void release() noexcept {
        destroy_all();
        base::release();
    }

    /// The live objects, in address order.
    iterator begin() noexcept { return iterator{*this}; }
    iterator end() noexcept { return iterator{}; }
    const_iterator begin() const noexcept { return const_iterator{*this}; }
    const_iterator end() const noexcept { return const_iterator{}; }

private:
    friend iterator;
    friend const_iterator;

    template <class... Arguments>
    T* construct(void* slot, Arguments&&... arguments) {
        return detail::construct_at_or<T>(
            slot, [this, slot]() noexcept { this->deallocate(slot); }, std::forward<Arguments>(arguments)...);
    }

    void end_of_all() noexcept {
        this->report_live(name);
        destroy_all();
    }

    void destroy_all() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            clearing_ = true;
            for (iterator each = begin(); each != end(); ++each) destroy(std::addressof(*each));
            clearing_ = false;
        }
    }

    bool clearing_ = false;  // objects are being destroyed by the pool, and may destroy those they own in turn
};

static_assert(owning_resource<object_pool<int>> && resettable_resource<object_pool<int>>);

}  // namespace acre
