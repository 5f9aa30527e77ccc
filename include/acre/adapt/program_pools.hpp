// The pools of the whole program, as a resource without state: any size, any thread allocates, any thread frees.
//
// Use it under templates that default-construct their allocator, and under hooks that pass no context, where blocks
// outlive scopes or move between threads. Use acre::ambient_arena where they die together, acre::static_pool<Bytes>
// where the size is known, acre::concurrent_multi_pool where there is a place to keep it.
//
// It is an acre::concurrent_multi_pool that is made at the first use and never destroyed, so that it works in static
// constructors and destructors. Cost and thread rules: those of acre::concurrent_multi_pool, and the check of a static
// variable.
//
//     std::vector<int, acre::allocator<int, acre::program_pools>> v;
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::program_pools needs threads, which this target does not have: use acre::ambient over an "
              "acre::multi_pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <cstddef>
#include <new>

namespace acre {

/// The pools of the program: an empty type, all of whose objects are equal.
class program_pools {
public:
    static constexpr const char* name = "acre::program_pools";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;

    /// Storage of `bytes` bytes aligned to `alignment`. Throws as acre::concurrent_multi_pool does.
    void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        return get().allocate(bytes, alignment);
    }
    /// As allocate, but null when it cannot.
    void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return get().try_allocate(bytes, alignment);
    }
    /// Takes the storage back, in any thread; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        get().deallocate(p, bytes, alignment);
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        return concurrent_multi_pool::bytes_given(bytes, alignment);
    }

    /// The pool behind it, for live(), release_unused() and the like.
    static concurrent_multi_pool& get() noexcept {
        // Never destroyed: other static objects may free their blocks later.
        alignas(concurrent_multi_pool) static std::byte room[sizeof(concurrent_multi_pool)];
        static concurrent_multi_pool& pool = *::new (static_cast<void*>(room)) concurrent_multi_pool;
        return pool;
    }

    friend bool operator==(const program_pools&, const program_pools&) noexcept = default;
};

static_assert(stateless_resource<program_pools>);

}  // namespace acre
#endif  // ACRE_HAS_THREADS
