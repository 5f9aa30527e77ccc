// The concurrent resources, for tests that run over all of them. A new one goes into `subjects` and `shared_subjects`.
#pragma once

#include <gtest/gtest.h>

#include <acre/adapt/pool_resource.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/locks.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace acre_test {

/// What the tests have to know about a resource.
struct shared_traits {
    std::size_t largest;               // largest request in bytes
    std::size_t rest = 0;              // bytes held when nothing is live and unused memory was given back,
    std::size_t rest_of_a_thread = 0;  // and more for each parallel thread
    bool survives_forks = true;        // a forked child may use it
};

namespace detail {
/// The object with the live count: the pool of a pool resource, else the resource.
template <class R>
auto& counted_by(R& r) noexcept {
    if constexpr (requires { r.pool(); }) {
        return r.pool();
    } else {
        return r;
    }
}
}  // namespace detail

/// A common interface for resources of storage, slots or objects.
template <class R, shared_traits Traits>
class shared_subject {
public:
    static constexpr shared_traits traits = Traits;
    static constexpr std::size_t alignment = 8;

    /// Null when there is no memory.
    void* allocate(std::size_t bytes) {
        if constexpr (requires(R& r) { r.try_create(); }) {
            return tested_.try_create();
        } else if constexpr (requires(R& r) { r.try_allocate(bytes, alignment); }) {
            return tested_.try_allocate(bytes, alignment);
        } else {
            return tested_.allocate(bytes, alignment);
        }
    }
    /// Throws when there is no memory.
    void* allocate_throwing(std::size_t bytes) {
        if constexpr (requires(R& r) { r.try_create(); }) {
            return tested_.create();
        } else {
            return tested_.allocate(bytes, alignment);
        }
    }
    void deallocate(void* p, [[maybe_unused]] std::size_t bytes) {
        if constexpr (requires(R& r) { r.try_create(); }) {
            tested_.destroy(static_cast<typename R::value_type*>(p));
        } else {
            tested_.deallocate(p, bytes, alignment);
        }
    }

    /// Number of live allocations, if the resource counts them.
    std::optional<std::size_t> live() {
        if constexpr (requires(inner& r) { r.live(); }) return resource().live();
        if constexpr (requires(inner& r) { r.allocations(); }) return resource().allocations();
        return std::nullopt;
    }

    static constexpr bool releases_unused =
        requires(R& r) { r.release_unused(); } || requires(R& r) { r.pool().release_unused(); };
    void release_unused()
        requires releases_unused
    {
        resource().release_unused();
    }

    /// Expects that nothing is live and unused memory is given back, except the rest that each thread may leave.
    void expect_rest_after(std::size_t threads) {
        EXPECT_EQ(live().value_or(0), 0u);
        if constexpr (releases_unused) {
            release_unused();
        } else if constexpr (requires(R& r) { r.reset(acre::release); }) {
            resource().reset(acre::release);
        }
        if constexpr (requires { resource().capacity(); }) {
            EXPECT_LE(resource().capacity(), traits.rest + threads * traits.rest_of_a_thread);
        }
        if constexpr (requires(R& r) { r.busy_arenas(); }) {
            EXPECT_EQ(resource().busy_arenas(), 0u);
        }
    }

private:
    using inner = std::remove_reference_t<decltype(detail::counted_by(std::declval<R&>()))>;
    inner& resource() noexcept { return detail::counted_by(tested_); }

    R tested_;
};

/// An object whose bytes only its user writes.
struct message {
    message() noexcept {}
    ~message() {}  // not trivial, so the pool must track live objects
    std::byte bytes[96];
};

/// More arenas than any test has live blocks: each block may keep an arena busy.
template <class Arenas>
struct many_arenas : Arenas {
    many_arenas() : Arenas(typename Arenas::options_type{.arenas = 2048, .bytes = 4096}) {}
};
inline constexpr std::size_t arenas_bytes = 2048 * 4096;

// Bytes that a thread which ended leaves for the next one.
inline constexpr std::size_t cache_bytes = sizeof(acre::detail::thread_cache);
inline constexpr std::size_t thread_caches_bytes = 4224;

// The subjects by name. Resources under a lock of the standard or of POSIX do not survive forks: another thread may
// hold the lock.
namespace subjects {
struct concurrent_pool
    : shared_subject<acre::concurrent_pool<64>, shared_traits{.largest = 200, .rest_of_a_thread = cache_bytes}> {};
struct concurrent_object_pool
    : shared_subject<acre::concurrent_object_pool<message>,
                     shared_traits{.largest = sizeof(message), .rest_of_a_thread = cache_bytes}> {};
struct concurrent_multi_pool
    : shared_subject<acre::concurrent_multi_pool,
                     shared_traits{.largest = 12'000, .rest_of_a_thread = thread_caches_bytes}> {};
struct synchronized_pool_resource
    : shared_subject<acre::synchronized_pool_resource,
                     shared_traits{.largest = 12'000, .rest_of_a_thread = thread_caches_bytes}> {};
struct static_pool : shared_subject<acre::static_pool<64>, shared_traits{.largest = 200}> {};
struct synchronized_pool
    : shared_subject<acre::synchronized<acre::pool<64>>, shared_traits{.largest = 200, .survives_forks = false}> {};
struct synchronized_multi_arena
    : shared_subject<many_arenas<acre::synchronized<acre::multi_arena>>,
                     shared_traits{.largest = 2000, .rest = arenas_bytes, .survives_forks = false}> {};
struct concurrent_multi_arena
    : shared_subject<many_arenas<acre::concurrent_multi_arena>, shared_traits{.largest = 2000, .rest = arenas_bytes}> {
};
struct synchronized_by_priority : shared_subject<acre::synchronized<acre::multi_pool, acre::priority_inheritance_mutex>,
                                                 shared_traits{.largest = 12'000, .survives_forks = false}> {};
struct concurrent_arena : shared_subject<acre::concurrent_arena, shared_traits{.largest = 6000}> {};
// Not over the C heap: it serves requests where that has no memory.
struct general_heap : shared_subject<acre::general_heap, shared_traits{.largest = 100'000, .rest = 1}> {};
}  // namespace subjects

using shared_subjects =
    testing::Types<subjects::concurrent_pool, subjects::concurrent_object_pool, subjects::concurrent_multi_pool,
                   subjects::synchronized_pool_resource, subjects::static_pool, subjects::synchronized_pool,
                   subjects::synchronized_multi_arena, subjects::synchronized_by_priority, subjects::concurrent_arena,
                   subjects::concurrent_multi_arena, subjects::general_heap>;

namespace detail {
template <class Kept, template <class> class Predicate, class... Rest>
struct filtered {
    using type = Kept;
};
template <class... Kept, template <class> class Predicate, class First, class... Rest>
struct filtered<testing::Types<Kept...>, Predicate, First, Rest...> {
    using with_first =
        std::conditional_t<Predicate<First>::value, testing::Types<Kept..., First>, testing::Types<Kept...>>;
    using type = typename filtered<with_first, Predicate, Rest...>::type;
};
template <class Subjects, template <class> class Predicate>
struct filter;
template <class... Subjects, template <class> class Predicate>
struct filter<testing::Types<Subjects...>, Predicate> : filtered<testing::Types<>, Predicate, Subjects...> {};
}  // namespace detail

template <class Subject>
struct survives_forks : std::bool_constant<Subject::traits.survives_forks> {};
template <class Subject>
struct releases_unused : std::bool_constant<Subject::releases_unused> {};

/// Those that a forked child may use, and those that give unused memory back while others go on.
using forking_subjects = detail::filter<shared_subjects, survives_forks>::type;
using releasing_subjects = detail::filter<shared_subjects, releases_unused>::type;

}  // namespace acre_test
