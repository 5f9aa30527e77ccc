// The work without an allocator: a lower bound for every allocator.
#include <vector>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/threads.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/camera.hpp"
#include "../seeds/chunks.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "../seeds/static_pool.hpp"
#include "contestants.hpp"
#include "costless.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace loop_alone_contestants {

const std::string loop_alone = "the loop alone";

struct one_block {
    void* allocate() noexcept { return &memory; }
    void deallocate(void* p) noexcept { escape(p); }
    block memory;
};

/// Touches as much memory as a pool does, in ascending order, which suits the prefetcher best.
struct blocks_in_order {
    void* allocate() noexcept { return &memory[next++]; }
    void deallocate(void* p) noexcept {
        escape(p);
        next = 0;
    }
    std::vector<block> memory{100'000};
    std::size_t next = 0;
};

struct one_block_of_any_size {
    void* allocate(std::size_t) noexcept { return memory; }
    void deallocate(void* p, std::size_t) noexcept { escape(p); }
    std::byte memory[largest_mixed];
};

template <class T>
struct one_object {
    T* create(int value) noexcept { return new (memory) T(value); }
    void destroy(T* object) noexcept { escape(object); }
    alignas(T) std::byte memory[sizeof(T)];
};

struct one_slot {
    void* allocate(std::size_t) noexcept { return memory; }
    observed_object* create(std::uint64_t value) noexcept { return new (memory) observed_object(value); }
    void reset() noexcept { escape(memory); }
    alignas(16) std::byte memory[256];
};

struct standing_orc : orc {
    static void* operator new(std::size_t) noexcept { return storage; }
    static void operator delete(void*) noexcept {}
    static void all_deleted() noexcept {}
    alignas(orc) static inline std::byte storage[sizeof(orc)];
};

struct one_chunk {
    template <class T>
    T* create() noexcept {
        return new (memory) T;
    }
    template <class T>
    void destroy(T* object) noexcept {
        escape(object);
    }
    alignas(16) std::byte memory[128];
};

/// Touches as much memory as a pool of these sizes does, in ascending order; all pages were touched before.
struct chunks_in_order {
    template <class T>
    T* create() noexcept {
        std::byte* p = at;
        at += (sizeof(T) + 15) / 16 * 16;
        return new (p) T;
    }
    template <class T>
    void destroy(T* object) noexcept {
        escape(object);
        at = memory.data();
    }
    std::vector<std::byte> memory{chunk_count * (32 + 64 + 112)};
    std::byte* at = memory.data();
};

/// Each block has fixed storage, separate for each thread.
template <std::size_t Thread>
struct ready_blocks {
    static void* allocate() noexcept { return storage + block_at_hand * 104; }
    static void deallocate(void* p) noexcept { escape(p); }
    static inline std::byte storage[static_round * 104];
};

/// Measures the ring, or the threads, alone: all use one block.
struct no_blocks {
    void* allocate() noexcept { return memory; }
    void deallocate(void* p) noexcept { escape(p); }
    std::byte memory[shared_block_bytes];
};

/// Rotates through as many blocks as can be in the ring: an allocator cannot reuse a block that is still in it.
struct blocks_in_turns {
    void* allocate() noexcept { return memory[next++ % ring_slots]; }
    void deallocate(void* p) noexcept { escape(p); }
    std::size_t next = 0;
    std::byte memory[ring_slots][shared_block_bytes];
};

}  // namespace loop_alone_contestants
using namespace loop_alone_contestants;

void add_loop_alone(suite& entries) {
    add_batches<one_block>(entries, loop_alone);
    add_mixed_batches<one_block_of_any_size>(entries, loop_alone);
    add_batches<blocks_in_order>(entries, "the loop over as many blocks, no pool");
    add_bump<one_slot>(entries, loop_alone);
    add_objects<one_slot>(entries, loop_alone);
    add_stacked<one_object>(entries, loop_alone);
    add_orcs<standing_orc>(entries, loop_alone);
    add_chunks<one_chunk>(entries, loop_alone);
    add_chunks<chunks_in_order>(entries, "the loop over as many bytes, no pool");
    add_filled_map<costless_source>(entries, loop_alone);
    add_camera<camera_home<costless_resource<4096>>>(entries, loop_alone);
    add_camera<camera_home<costless_resource<4096, 2>>>(entries, loop_alone + ", two storage in turns");
    add_shared_camera<camera_home<costless_resource<256>>>(entries, loop_alone);
    add_static_blocks<ready_blocks>(entries, loop_alone);
    add_local_threads<no_blocks>(entries, loop_alone);
    add_producer_and_consumer<no_blocks>(entries, "the ring alone");
    add_producer_and_consumer<blocks_in_turns>(entries, "the ring alone, 4,096 blocks in turns");
    add_successors<no_blocks>(entries, loop_alone);
    add_mixed_successors<one_block_of_any_size>(entries, loop_alone);
    add_scaling_threads<no_blocks>(entries, loop_alone);
}

}  // namespace bench
