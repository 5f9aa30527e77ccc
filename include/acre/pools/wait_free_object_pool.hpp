// Objects of one type for real-time threads: one thread creates, any thread destroys, and none of them ever waits, for
// a lock, for the system or for another thread.
//
// Use it where a thread that must not miss its deadline makes what others use up: samples, commands, events. Use
// acre::concurrent_object_pool where threads may wait now and then, or several create; acre::object_pool where one
// thread does all. Costs, thread rules and memory are those of acre::wait_free_pool<Slot, Align>.
//
// Objects still live at the end of the pool are destroyed, each once, and may destroy others of the same pool in their
// destructors; what was destroyed by then is passed over. Storage taken raw by allocate() counts as live, so construct
// in it before the pool ends. In the child after a fork an object that another thread was just creating or destroying
// counts as live. A double destroy and a pointer of another pool abort with a sentence before any destructor runs.
//
//     acre::wait_free_object_pool<Sample> samples{{.slots = 1000}};
//     Sample* taken = samples.try_create(now());   // in the real-time thread
//     samples.destroy(taken);                      // in another
#pragma once

#include <acre/core/detail/construct.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <acre/pools/wait_free_pool_options.hpp>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// Objects of type T: one thread creates, any thread destroys, none waits.
template <class T>
class wait_free_object_pool : public wait_free_pool<sizeof(T), alignof(T)> {
    using base = wait_free_pool<sizeof(T), alignof(T)>;

public:
    static_assert(!std::is_array_v<T>, "a wait_free_object_pool holds single objects: put an array into a struct");
    static_assert(!std::is_const_v<T>, "the objects of a wait_free_object_pool are not const");

    static constexpr const char* name = "acre::wait_free_object_pool";
    using value_type = T;

    /// Takes required_bytes() from upstream, all at once.
    explicit wait_free_object_pool(const wait_free_pool_options& options, resource_ref upstream = heap{})
        : base(options, upstream, name) {}

    /// Destroys the objects that are still live, in address order. No thread may use it any more.
    ~wait_free_object_pool() {
        this->report_live(name);
        destroy_all();
    }

    /// The owner: a T constructed from `arguments`. Throws as allocate, and what the constructor throws: then its slot
    /// is free.
    template <class... Arguments>
    T* create(Arguments&&... arguments) {
        return construct(this->allocate(), std::forward<Arguments>(arguments)...);
    }
    /// As create, but null when every slot is taken. What the constructor throws is passed on.
    template <class... Arguments>
    T* try_create(Arguments&&... arguments) {
        void* p = this->try_allocate();
        return p == nullptr ? nullptr : construct(p, std::forward<Arguments>(arguments)...);
    }
    /// Any thread: destroys the object and takes its slot back; null is a no-op.
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        if constexpr (!std::is_trivially_destructible_v<T>) {
            if (this->visiting() && this->is_free(name, object)) return;
            this->check_live(name, object);
            std::destroy_at(object);
        }
        this->give_back(name, object);
    }

    /// Destroys all objects. No other thread may use it meanwhile.
    void reset() noexcept {
        destroy_all();
        base::reset();
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

static_assert(owning_resource<wait_free_object_pool<int>> && resettable_resource<wait_free_object_pool<int>>);

}  // namespace acre
