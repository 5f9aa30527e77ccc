// Objects of one type for real-time threads: one thread creates, any thread destroys, and none of them ever waits for a
// lock, the system or another thread.
//
// Use it where a thread that must not miss its deadline produces what others consume: samples, commands, events. Use
// acre::concurrent_object_pool where threads may wait now and then, or several create; acre::object_pool where one
// thread does all. Costs, thread rules and memory are those of acre::wait_free_pool<Slot, Align>; for a class with a
// constructor and a destructor, create takes 20 instructions more and destroy 16.
//
// The pool's end destroys the objects that are still live, each once. Their destructors may destroy other objects of
// the pool; an object destroyed by then is skipped. Storage from allocate() counts as live, so construct an object in
// it before the pool ends. In the child after a fork, an object that another thread was creating or destroying at that
// moment counts as live. A double destroy and a pointer of another pool abort with a message before any destructor.
//
//     acre::wait_free_object_pool<Sample> samples{{.slots = 1000}};
//     Sample* taken = samples.try_create(now());   // in the real-time thread
//     samples.destroy(taken);                      // in another
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::wait_free_object_pool needs threads, which this target does not have: use acre::object_pool");
#else

#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/object_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/wait_free_pool.hpp>

namespace acre {

/// Objects of type T: one thread creates, any thread destroys, none waits.
template <class T>
class wait_free_object_pool
    : public detail::object_face<wait_free_object_pool<T>, T, wait_free_pool<sizeof(detail::defined<T>), alignof(T)>> {
    using base =
        detail::object_face<wait_free_object_pool<T>, T, wait_free_pool<sizeof(detail::defined<T>), alignof(T)>>;

public:
    static constexpr const char* name = "acre::wait_free_object_pool";

    /// Takes required_bytes() from upstream, all at once.
    explicit wait_free_object_pool(const wait_free_pool_options& options, resource_ref upstream = heap{})
        : base(options, upstream, name) {}
    /// Refused by a sentence: no number, or a number without its name.
    template <class... Numbers>
        requires(std::is_arithmetic_v<Numbers> && ...)
    __attribute__((unavailable(
        "acre::wait_free_object_pool: name the number, {{.slots = 1000}}"))) explicit wait_free_object_pool(Numbers...);
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
