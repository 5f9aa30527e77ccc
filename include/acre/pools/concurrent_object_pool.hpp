// Objects of one type for all threads: any thread creates, any thread destroys, at about the cost of a pool of its own.
//
// Use it where threads hand objects to each other: messages, jobs, requests. Use acre::object_pool where one thread
// does all, acre::wait_free_object_pool where one thread creates and must never wait. Costs, thread rules and memory
// are those of acre::concurrent_pool.
//
// Objects still live at the end of the pool are destroyed, each once, and may destroy others of the same pool in their
// destructors; what was destroyed by then is passed over. Storage taken raw by allocate() counts as live, so construct
// in it before the pool ends. In the child after a fork, where other threads used the pool, its end destroys nothing.
//
//     acre::concurrent_object_pool<Message> messages;
//     Message* sent = messages.create("hello");   // in one thread
//     messages.destroy(sent);                     // in another
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/concurrent_pool_options.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// Objects of type T, created and destroyed by any thread.
template <class T>
class concurrent_object_pool : public concurrent_pool<sizeof(T), alignof(T)> {
    using base = concurrent_pool<sizeof(T), alignof(T)>;

public:
    static_assert(!std::is_array_v<T>, "a concurrent_object_pool holds single objects: put an array into a struct");
    static_assert(!std::is_const_v<T>, "the objects of a concurrent_object_pool are not const");

    static constexpr const char* name = "acre::concurrent_object_pool";
    using value_type = T;

    /// Takes no memory from upstream.
    concurrent_object_pool() : concurrent_object_pool(resource_ref{heap{}}) {}
    explicit concurrent_object_pool(resource_ref upstream) : base(concurrent_pool_options{}, upstream, name) {}
    explicit concurrent_object_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : base(options, upstream, name) {}

    /// Destroys the objects that are still live, in address order. No thread may use it any more.
    ~concurrent_object_pool() {
        this->report_live(name);
        destroy_all();
    }

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
            if (this->visiting() && this->is_free(object)) return;
            std::destroy_at(object);
        }
        this->give_back(name, object);
    }

    /// Destroys all objects and keeps the slabs. No other thread may use it meanwhile.
    void reset() noexcept {
        destroy_all();
        base::reset();
    }
    /// Destroys all objects and gives all slabs back to upstream. No other thread may use it meanwhile.
    void release() noexcept {
        destroy_all();
        base::release();
    }

private:
    template <class... Arguments>
    T* construct(void* slot, Arguments&&... arguments) {
        return detail::construct_at_or<T>(
            slot, [this, slot]() noexcept { this->deallocate(slot); }, std::forward<Arguments>(arguments)...);
    }

    void destroy_all() noexcept {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            this->for_each_live([this](void* slot) { destroy(std::launder(static_cast<T*>(slot))); });
        }
    }
};

static_assert(owning_resource<concurrent_object_pool<int>> && resettable_resource<concurrent_object_pool<int>>);

}  // namespace acre
