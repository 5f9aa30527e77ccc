// Objects of one type for all threads: any thread creates, any thread destroys, at about the cost of a pool that one
// thread has for itself.
//
// Use it where threads hand objects to each other: messages, jobs, requests. Use acre::object_pool where one thread
// does all, acre::wait_free_object_pool where one thread creates and must never wait. Costs, thread rules and memory
// are those of acre::concurrent_pool; for a class with a constructor and a destructor, create takes 50 instructions and
// destroy 52.
//
// The pool's end destroys the objects that are still live, each once. Their destructors may destroy other objects of
// the pool; an object destroyed by then is skipped. Storage from allocate() counts as live, so construct an object in
// it before the pool ends. In the child after a fork, if other threads had used the pool, its end destroys nothing.
//
//     acre::concurrent_object_pool<Message> messages;
//     Message* sent = messages.create("hello");   // in one thread
//     messages.destroy(sent);                     // in another
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::concurrent_object_pool needs threads, which this target does not have: use acre::object_pool");
#else

#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/detail/object_face.hpp>
#include <acre/pools/pool_options.hpp>

namespace acre {

/// Objects of type T, created and destroyed by any thread. `Check` says what is looked at in a free.
template <class T, double_free_check Check>
class concurrent_object_pool
    : public detail::object_face<concurrent_object_pool<T, Check>, T,
                                 concurrent_pool<sizeof(detail::defined<T>), alignof(T), Check>> {
    using base = detail::object_face<concurrent_object_pool<T, Check>, T,
                                     concurrent_pool<sizeof(detail::defined<T>), alignof(T), Check>>;

public:
    static constexpr const char* name = "acre::concurrent_object_pool";

    /// Takes no memory from upstream.
    concurrent_object_pool() : concurrent_object_pool(resource_ref{heap{}}) {}
    explicit concurrent_object_pool(resource_ref upstream) : base(concurrent_pool_options{}, upstream, name) {}
    explicit concurrent_object_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : base(options, upstream, name) {}
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
