// The operations that acre's pages promise to be bounded, called from functions that clang's -Wfunction-effects allows
// no call that may block. Compiling is the test, by clang 20 or newer. With ACRE_TEST_CASE 1 it must be refused, which
// shows that the compiler looks.
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <cstddef>

struct voice {
    float phase = 0;
};

template <class Resource>
void allocate_and_free(Resource& resource) noexcept [[clang::nonblocking]] {
    if (void* p = resource.try_allocate(64, alignof(std::max_align_t))) {
        [[maybe_unused]] const bool own = resource.owns(p);
        resource.deallocate(p, 64, alignof(std::max_align_t));
    }
    resource.deallocate(nullptr, 0, 1);
}

void callback(acre::wait_free_object_pool<voice>& voices, acre::wait_free_pool<64>& slots) noexcept
    [[clang::nonblocking]] {
    if (voice* each = voices.try_create()) voices.destroy(each);
    if (void* p = slots.try_allocate()) slots.deallocate(p);
    allocate_and_free(slots);
}

void callback(acre::multi_arena& arenas, acre::inline_multi_arena<4, 1024>& here) noexcept [[clang::nonblocking]] {
    allocate_and_free(arenas);
    allocate_and_free(here);
}

void callback(acre::arena& arena, acre::inline_arena<1024>& here) noexcept [[clang::nonblocking]] {
    arena.deallocate(arena.try_allocate_from_block(64), 64);
    here.deallocate(here.try_allocate_from_block(64), 64);
}

void callback(acre::typed_arena<voice, 10>& voices,
              acre::typed_arena<voice, 10, {.synchronized = true}>& shared) noexcept [[clang::nonblocking]] {
    if (voice* each = voices.try_allocate_one()) voices.deallocate(each, 1);
    if (voice* each = shared.try_allocate_one()) shared.deallocate(each, 1);
}

void callback(acre::chunk_pool<10, 32, 64>& chunks, acre::realtime_heap& heap, acre::buffer& buffer) noexcept
    [[clang::nonblocking]] {
    allocate_and_free(chunks);
    allocate_and_free(heap);
    allocate_and_free(buffer);
    heap.deallocate_unsized(heap.try_allocate(8));
}

#if ACRE_TEST_CASE == 1
void grows(acre::arena& arena) noexcept [[clang::nonblocking]] {
    arena.deallocate(arena.try_allocate(64), 64);
}
#endif
