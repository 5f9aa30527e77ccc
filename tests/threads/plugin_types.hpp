// Uses each type that knows threads, for plugin.cpp and plugin_host.cpp.
#pragma once

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/pooled.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/static_pool.hpp>

namespace plugin_types {

template <class Resource>
void use(Resource& resource) {
    resource.deallocate(resource.allocate(48, 8), 48, 8);
}
template <class Pool>
void use_static() {
    Pool::deallocate(Pool::allocate());
}

// Who: another type for each user, so that a plugin has pools that the program does not have.
template <class Who>
struct pooled_item : acre::pooled<pooled_item<Who>> {
    int x[Who::ints];
};

template <class Who>
void use_all() {
    acre::concurrent_pool<4 * Who::ints> pool;
    use(pool);
    acre::concurrent_object_pool<pooled_item<Who>> objects;
    objects.destroy(objects.create());
    acre::concurrent_multi_pool multi_pool;
    use(multi_pool);
    acre::concurrent_arena arena;
    use(arena);
    acre::concurrent_multi_arena multi_arena{{.arenas = 8, .bytes = 1024}};
    use(multi_arena);
    use_static<acre::static_pool<4 * Who::ints>>();
    use_static<acre::static_pool<4 * Who::ints, acre::shared_group<Who>>>();
    use_static<acre::static_pool<4 * Who::ints, Who>>();
    delete new pooled_item<Who>;
    acre::general_heap heap;
    use(heap);
    acre::scratch scratch = acre::thread_scratch();
    scratch.allocate(48, 8);
    acre::ambient ambient;
    const acre::use_resource scope{pool};
    use(ambient);
}

}  // namespace plugin_types
