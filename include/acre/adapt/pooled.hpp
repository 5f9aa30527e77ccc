// Class-level operators new and delete over a pool: `new Orc` and `delete orc` stay as they are and cost what a pool
// costs.
//
// Use it for classes whose objects are created and deleted one by one all over a program. Derive from acre::pooled<T>,
// or write ACRE_POOLED(T) into the class: the macro adds no base, and is not ambiguous where two bases have pools. The
// default pool is acre::static_pool, which all threads and the classes of a size share. The second argument chooses:
//   own_pool            a static pool for this class alone, which all threads share
//   in_group<Group>     the static pool of the class's size in a group
//   only_final<Pool>    the same as Pool (default: the default pool), for a class that must be final
//   any other type      one with the static functions of acre::static_pool: acre::pooled<Orc, my_pool>
// acre::nothrow_pooled<T> and ACRE_POOLED_NOTHROW(T) give null where the others throw.
//
// Objects that do not fit a slot (of larger derived classes, arrays, over-aligned ones) go to the heap. Sized delete
// tells them apart, so a base class that objects are deleted through needs a virtual destructor, as always. sizeof(T)
// does not change. As the base of a coroutine's promise type, acre::pooled does what acre::pooled_frames does.
//
// Cost: that of the pool. Thread rules: those of the pool.
//
//     struct Orc : acre::pooled<Orc> {
//         int strength = 7;
//     };
//     struct Troll {
//         ACRE_POOLED(Troll);
//     };
//     Orc* orc = new Orc;  // a slot of the pool, to which `delete orc` returns it
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::pooled needs threads, which this target does not have: use acre::typed_arena for the class");
#else

#include <acre/adapt/pooled_frames.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstddef>
#include <new>
#include <type_traits>

namespace acre {

/// Stands for the default pool of a class: the static pool of its size, which all threads and classes share.
struct default_pool;

/// Stands for a static pool that all threads share and no other class uses.
struct own_pool;

/// Stands for the static pool of a class's size in a group: a name, thread_group or shared_group.
template <class Group>
struct in_group;

/// The same as `Pool`, for a class that must be final: no derived class of the same size shares the pool.
template <class Pool>
struct only_final;

namespace detail {
/// The pool of a class U that named `Pool`.
template <class U, class Pool>
struct class_pool_of {
    static_assert(
        requires { sizeof(Pool); }, "acre::pooled: the pool of this class is only declared here: include its header");
    static_assert(
        requires(void* p) {
            Pool::allocate(sizeof(U), alignof(U));
            Pool::deallocate(p, sizeof(U), alignof(U));
        },
        "acre::pooled: the pool of a class is a type with static functions, such as acre::static_pool or "
        "acre::own_pool: a pool that is an object has none");
    using type = Pool;
};
template <class U>
struct class_pool_of<U, default_pool> {
    using type = static_pool<sizeof(U)>;
};
template <class U>
struct class_pool_of<U, own_pool> {
    using type = static_pool<sizeof(U), shared_group<U>>;
};
template <class U, class Group>
struct class_pool_of<U, in_group<Group>> {
    using type = static_pool<sizeof(U), Group>;
};
template <class U, class Pool>
struct class_pool_of<U, only_final<Pool>> : class_pool_of<U, Pool> {
    static_assert(std::is_final_v<U>,
                  "acre::only_final: the class is not final, so a derived class of the same size would share its pool: "
                  "write `final` behind its name");
};
}  // namespace detail

/// The operators new and delete of a class T over `Pool`, as plain functions.
template <class T, class Pool>
class class_operators {
    // A template, so that it is instantiated where T is complete.
    template <class U>
    using pool_of = detail::class_pool_of<U, Pool>;

public:
    /// Storage of `bytes` bytes aligned to `alignment`. Throws what the pool throws; without exceptions it aborts.
    /// The pool also serves other sizes than sizeof(T), as those of derived classes. Constant time, but for a pool that
    /// grows.
    [[gnu::always_inline]] static void* create(std::size_t bytes, std::size_t alignment) {
        refuse_promise();
        void* p = pool_of<T>::type::allocate(bytes, alignment);
        // An operator new that is not noexcept must not return null.
        if (!exceptions_enabled && p == nullptr) abort_on_misuse("acre::pooled", "out of memory without exceptions", p);
        return p;
    }
    /// As create, but null when there is no memory.
    [[gnu::always_inline]] static void* try_create(std::size_t bytes, std::size_t alignment) noexcept {
        refuse_promise();
        return pool_of<T>::type::try_allocate(bytes, alignment);
    }
    /// A frame for a coroutine of these parameters, whose promise is a T, from acre::pooled_frames.
    template <class... Given>
    static void* create_frame(std::size_t bytes, Given&&... given) noexcept(detail::expects_null_frames<T>) {
        static_assert(std::is_same_v<typename pool_of<T>::type, static_pool<sizeof(T)>>,
                      "acre::pooled: the frames of a coroutine have other sizes than their promise, so no pool of one "
                      "size serves them: name none, as in acre::pooled<promise_type>");
        return pooled_frames<T>::operator new(bytes, given...);
    }
    /// Frees what create returned for the same size and alignment; runs no destructor. Null is a no-op.
    [[gnu::always_inline]] static void destroy(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if constexpr (detail::coroutine_promise<T>) return pooled_frames<T>::operator delete(p, bytes);
        pool_of<T>::type::deallocate(p, bytes, alignment);
    }
    /// For a constructor that throws in a nothrow new-expression: the language does not pass the size. What the pool
    /// owns is a slot, of known size. Linear in the slabs held.
    [[gnu::noinline]] static void destroy_unsized(void* p, std::size_t alignment) noexcept {
        using pool = typename pool_of<T>::type;
        if (pool::owns(p)) return pool::deallocate(p, sizeof(T), alignof(T));
        // A size that no slot has; the heap ignores it.
        pool::deallocate(p, max_request / 2, alignment);
    }

    /// Makes sure that this thread can make `count` objects without the heap, unless other threads take their slots.
    /// False when there is not enough memory.
    static bool prepare(std::size_t count) noexcept { return pool_of<T>::type::prepare(count); }
    /// Gives slabs without a live object back; returns their bytes.
    static std::size_t release_unused() noexcept { return pool_of<T>::type::release_unused(); }

    /// Alignment of a request without one: the strictest that an ordinary object or array of this size can have.
    static constexpr std::size_t alignment_of(std::size_t bytes) noexcept {
        return bytes == 0 ? 1 : natural_alignment(bytes);
    }

private:
    static constexpr void refuse_promise() noexcept {
        static_assert(!detail::coroutine_promise<T>,
                      "acre: the promise of a coroutine lies in a frame, which ACRE_POOLED does not serve: derive it "
                      "from acre::pooled<promise_type>");
    }
};

}  // namespace acre

// The body of the macros below.
//
// The two templates serve constructors of over-aligned classes that throw: there the language looks for a deallocation
// function without a size and accepts a template. A non-template would also be what `delete` uses, which then would not
// pass the size of a derived class. Always inlined, because g++ warns of a mismatch when it sees a call of the
// template.
//
// `objects` constrains the forms for single objects: a coroutine passes operator new its parameters, and the form for a
// place would take a pointer among them for the place of the frame.
#define ACRE_DETAIL_POOLED(T, objects, create_or_null, never_throws, ...)                                              \
public:                                                                                                                \
    using class_pool = ::acre::class_operators<T, __VA_ARGS__>;                                                        \
    [[gnu::always_inline]] static void* operator new(std::size_t bytes) never_throws objects {                         \
        using operators = ::acre::class_operators<T, __VA_ARGS__>;                                                     \
        return operators::create_or_null(bytes, operators::alignment_of(bytes));                                       \
    }                                                                                                                  \
    static void* operator new(std::size_t bytes, std::align_val_t alignment) never_throws objects {                    \
        return ::acre::class_operators<T, __VA_ARGS__>::create_or_null(bytes, static_cast<std::size_t>(alignment));    \
    }                                                                                                                  \
    static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept objects {                             \
        using operators = ::acre::class_operators<T, __VA_ARGS__>;                                                     \
        return operators::try_create(bytes, operators::alignment_of(bytes));                                           \
    }                                                                                                                  \
    static void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept objects { \
        return ::acre::class_operators<T, __VA_ARGS__>::try_create(bytes, static_cast<std::size_t>(alignment));        \
    }                                                                                                                  \
    static void* operator new(std::size_t, void* place) noexcept objects {                                             \
        return place;                                                                                                  \
    }                                                                                                                  \
    static void* operator new[](std::size_t bytes) never_throws {                                                      \
        return operator new(bytes);                                                                                    \
    }                                                                                                                  \
    static void* operator new[](std::size_t bytes, std::align_val_t alignment) never_throws {                          \
        return operator new(bytes, alignment);                                                                         \
    }                                                                                                                  \
    static void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept {                           \
        return operator new(bytes, nothrow);                                                                           \
    }                                                                                                                  \
    static void* operator new[](std::size_t bytes, std::align_val_t alignment,                                         \
                                const std::nothrow_t& nothrow) noexcept {                                              \
        return operator new(bytes, alignment, nothrow);                                                                \
    }                                                                                                                  \
    static void* operator new[](std::size_t, void* place) noexcept {                                                   \
        return place;                                                                                                  \
    }                                                                                                                  \
    [[gnu::always_inline]] static void operator delete(void* p, std::size_t bytes) noexcept {                          \
        using operators = ::acre::class_operators<T, __VA_ARGS__>;                                                     \
        operators::destroy(p, bytes, operators::alignment_of(bytes));                                                  \
    }                                                                                                                  \
    static void operator delete(void* p, std::size_t bytes, std::align_val_t alignment) noexcept {                     \
        ::acre::class_operators<T, __VA_ARGS__>::destroy(p, bytes, static_cast<std::size_t>(alignment));               \
    }                                                                                                                  \
    template <class Never = void>                                                                                      \
    [[gnu::always_inline]] static void operator delete(void* p, std::align_val_t alignment) noexcept {                 \
        ::acre::class_operators<T, __VA_ARGS__>::destroy_unsized(p, static_cast<std::size_t>(alignment));              \
    }                                                                                                                  \
    static void operator delete(void* p, const std::nothrow_t&) noexcept {                                             \
        ::acre::class_operators<T, __VA_ARGS__>::destroy_unsized(p, ::acre::default_alignment);                        \
    }                                                                                                                  \
    static void operator delete(void* p, std::align_val_t alignment, const std::nothrow_t&) noexcept {                 \
        ::acre::class_operators<T, __VA_ARGS__>::destroy_unsized(p, static_cast<std::size_t>(alignment));              \
    }                                                                                                                  \
    static void operator delete(void*, void*) noexcept {}                                                              \
    static void operator delete[](void* p, std::size_t bytes) noexcept {                                               \
        operator delete(p, bytes);                                                                                     \
    }                                                                                                                  \
    static void operator delete[](void* p, std::size_t bytes, std::align_val_t alignment) noexcept {                   \
        operator delete(p, bytes, alignment);                                                                          \
    }                                                                                                                  \
    template <class Never = void>                                                                                      \
    [[gnu::always_inline]] static void operator delete[](void* p, std::align_val_t alignment) noexcept {               \
        ::acre::class_operators<T, __VA_ARGS__>::destroy_unsized(p, static_cast<std::size_t>(alignment));              \
    }                                                                                                                  \
    static void operator delete[](void* p, const std::nothrow_t& nothrow) noexcept {                                   \
        operator delete(p, nothrow);                                                                                   \
    }                                                                                                                  \
    static void operator delete[](void* p, std::align_val_t alignment, const std::nothrow_t& nothrow) noexcept {       \
        operator delete(p, alignment, nothrow);                                                                        \
    }                                                                                                                  \
    static void operator delete[](void*, void*) noexcept {}                                                            \
    static_assert(true, "a semicolon may follow")

/// The operators new and delete of a class T over `Pool`, a type with static functions `allocate(bytes, alignment)`,
/// `try_allocate`, `deallocate(p, bytes, alignment)` and `owns(p)`. A macro, because two bases with such operators
/// would be ambiguous. T::class_pool has prepare() and release_unused(). What follows it is public. Not for classes
/// local to a function, which cannot have member templates: derive these from acre::pooled.
#define ACRE_POOLED_IN(T, ...) ACRE_DETAIL_POOLED(T, , create, , __VA_ARGS__)

/// As ACRE_POOLED_IN, but `new T` gives null when there is no memory, in place of an exception.
#define ACRE_POOLED_NOTHROW_IN(T, ...) ACRE_DETAIL_POOLED(T, , try_create, noexcept, __VA_ARGS__)

/// ACRE_POOLED_IN with the pool that all threads share.
#define ACRE_POOLED(T) ACRE_POOLED_IN(T, ::acre::default_pool)
/// ACRE_POOLED_NOTHROW_IN with the pool that all threads share.
#define ACRE_POOLED_NOTHROW(T) ACRE_POOLED_NOTHROW_IN(T, ::acre::default_pool)

namespace acre {

/// Base of classes whose objects lie in a pool.
template <class T, class Pool>
class pooled {
    ACRE_DETAIL_POOLED(T, requires(!detail::coroutine_promise<T>), create, , Pool);

    /// Frames of coroutines whose promise is a T.
    template <class... Given>
        requires detail::coroutine_promise<T>
    static void* operator new(std::size_t bytes, Given&&... given) {
        return class_operators<T, Pool>::create_frame(bytes, given...);
    }
    template <class... Given>
        requires(detail::coroutine_promise<T> && detail::expects_null_frames<T>)
    static void* operator new(std::size_t bytes, Given&&... given) noexcept {
        return class_operators<T, Pool>::create_frame(bytes, given...);
    }

    /// As class_operators::prepare and release_unused.
    static bool prepare(std::size_t count) noexcept { return class_operators<T, Pool>::prepare(count); }
    static std::size_t release_unused() noexcept { return class_operators<T, Pool>::release_unused(); }
};

/// The same, but `new T` gives null when there is no memory, in place of an exception.
template <class T, class Pool>
class nothrow_pooled {
    ACRE_DETAIL_POOLED(T, requires(!detail::coroutine_promise<T>), try_create, noexcept, Pool);

    /// Frames of coroutines whose promise is a T.
    template <class... Given>
        requires detail::coroutine_promise<T>
    static void* operator new(std::size_t bytes, Given&&... given) noexcept {
        static_assert(detail::expects_null_frames<T>,
                      "acre::nothrow_pooled: a coroutine without memory is asked for by the promise's "
                      "get_return_object_on_allocation_failure(): declare it, or use acre::pooled");
        return class_operators<T, Pool>::create_frame(bytes, given...);
    }

    /// As class_operators::prepare and release_unused.
    static bool prepare(std::size_t count) noexcept { return class_operators<T, Pool>::prepare(count); }
    static std::size_t release_unused() noexcept { return class_operators<T, Pool>::release_unused(); }
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
