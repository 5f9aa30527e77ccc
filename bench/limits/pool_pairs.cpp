// Allocates and frees a block of 64 bytes n times, from pools with thread-local state. This file is compiled into the
// program, and into shared libraries in several ways, which differ in how they find thread-local variables.
#include "pool_pairs.hpp"

#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/static_pool.hpp>

#include "../harness.hpp"

namespace {

constexpr std::size_t bytes = 64;

acre::concurrent_pool<bytes> shared_pool;

struct concurrent_blocks {
    static void* allocate() { return shared_pool.allocate(); }
    static void deallocate(void* p) noexcept { shared_pool.deallocate(p); }
};

template <class Pool>
void in_one_loop(std::size_t n) {
    for (; n > 0; --n) {
        void* p = Pool::allocate();
        bench::touch(p);
        Pool::deallocate(p);
    }
}

/// A separate function, so that the compiler cannot find the variables once for the whole loop.
template <class Pool>
struct called {
    [[gnu::noinline]] static void* allocate() { return Pool::allocate(); }
    [[gnu::noinline]] static void deallocate(void* p) noexcept { Pool::deallocate(p); }
};

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void acre_static_pool_loop(std::size_t n) {
    in_one_loop<acre::static_pool<bytes>>(n);
}
[[gnu::visibility("default")]] void acre_static_pool_calls(std::size_t n) {
    in_one_loop<called<acre::static_pool<bytes>>>(n);
}
[[gnu::visibility("default")]] void acre_concurrent_pool_loop(std::size_t n) {
    in_one_loop<concurrent_blocks>(n);
}
[[gnu::visibility("default")]] void acre_concurrent_pool_calls(std::size_t n) {
    in_one_loop<called<concurrent_blocks>>(n);
}
}
