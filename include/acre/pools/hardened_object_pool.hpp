// A growing pool of objects of one type that finds memory errors and makes them hard to exploit: acre::object_pool over
// the slots of acre::hardened_pool, whose header says what it guards against, and what it costs.
//
// Use it for objects that hold what an attacker may send or steal. Use acre::object_pool where speed matters more. The
// pool's end destroys the objects that are still live, each once. Not thread-safe. Not movable.
//
//     acre::hardened_object_pool<Session> sessions;
//     Session* s = sessions.create(user, key);
//     sessions.destroy(s);
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_VIRTUAL_MEMORY
static_assert(
    false, "acre::hardened_object_pool needs mmap or VirtualAlloc, and this target has neither: use acre::object_pool");
#else

#include <acre/pools/detail/object_face.hpp>
#include <acre/pools/hardened_pool.hpp>

namespace acre {

/// Objects of type T, created and destroyed in any order.
template <class T>
    requires true  // acre/core/detail/left_out.hpp
class hardened_object_pool<T>
    : public detail::object_face<hardened_object_pool<T>, T, hardened_pool<sizeof(detail::defined<T>), alignof(T)>> {
    using base = detail::object_face<hardened_object_pool<T>, T, hardened_pool<sizeof(detail::defined<T>), alignof(T)>>;

public:
    static constexpr const char* name = "acre::hardened_object_pool";

    /// Reserves addresses and takes no memory.
    hardened_object_pool() : hardened_object_pool(hardened_options{}) {}
    explicit hardened_object_pool(const hardened_options& options) : base(options, name) {}
};

}  // namespace acre

#endif  // ACRE_HAS_VIRTUAL_MEMORY
