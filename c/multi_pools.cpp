// acre_multi_pool and acre_concurrent_multi_pool.
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>

#include "pool_options.hpp"
#include "resource.hpp"

struct acre_multi_pool final : acre_c::holding<acre_c::handle<acre_c::handle_kind::multi_pool>, acre::multi_pool> {
    using holding::holding;
};
struct acre_concurrent_multi_pool final
    : acre_c::holding<acre_c::handle<acre_c::handle_kind::concurrent_multi_pool>, acre::concurrent_multi_pool> {
    using holding::holding;
};

namespace acre_c {
namespace {

template <class Handle>
Handle* create_multi_pool(const acre_pool_options* options) noexcept {
    using held = decltype(Handle::held);
    return guarded([=] {
        const acre_pool_options asked = given(options);
        return new Handle(asked.upstream, pool_options_of<typename held::options_type>(held::name, asked));
    });
}

}  // namespace
}  // namespace acre_c

acre_multi_pool* acre_multi_pool_create(const acre_pool_options* options) {
    return acre_c::create_multi_pool<acre_multi_pool>(options);
}

void acre_multi_pool_destroy(acre_multi_pool* pool) {
    acre_c::destroy(pool);
}

void* acre_multi_pool_allocate(acre_multi_pool* pool, std::size_t bytes, std::size_t alignment) {
    return acre_c::allocate(pool, bytes, alignment);
}

void acre_multi_pool_free(acre_multi_pool* pool, void* p, std::size_t bytes, std::size_t alignment) {
    acre_c::deallocate(pool, p, bytes, alignment);
}

void acre_multi_pool_reset(acre_multi_pool* pool) {
    acre_c::reset(pool);
}

std::size_t acre_multi_pool_release_unused(acre_multi_pool* pool) {
    return acre_c::release_unused(pool);
}

acre_resource* acre_multi_pool_resource(acre_multi_pool* pool) {
    return acre_c::resource_of(pool);
}

acre_concurrent_multi_pool* acre_concurrent_multi_pool_create(const acre_pool_options* options) {
    return acre_c::create_multi_pool<acre_concurrent_multi_pool>(options);
}

void acre_concurrent_multi_pool_destroy(acre_concurrent_multi_pool* pool) {
    acre_c::destroy(pool);
}

void* acre_concurrent_multi_pool_allocate(acre_concurrent_multi_pool* pool, std::size_t bytes, std::size_t alignment) {
    return acre_c::allocate(pool, bytes, alignment);
}

void acre_concurrent_multi_pool_free(acre_concurrent_multi_pool* pool, void* p, std::size_t bytes,
                                     std::size_t alignment) {
    acre_c::deallocate(pool, p, bytes, alignment);
}

void acre_concurrent_multi_pool_reset(acre_concurrent_multi_pool* pool) {
    acre_c::reset(pool);
}

std::size_t acre_concurrent_multi_pool_release_unused(acre_concurrent_multi_pool* pool) {
    return acre_c::release_unused(pool);
}

acre_resource* acre_concurrent_multi_pool_resource(acre_concurrent_multi_pool* pool) {
    return acre_c::resource_of(pool);
}
