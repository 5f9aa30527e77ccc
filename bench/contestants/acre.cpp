// Adds acre's types to the benchmarks.
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/adapt/pooled.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/core/locks.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/footprint.hpp"
#include "../peers/threads.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/camera.hpp"
#include "../seeds/chunks.hpp"
#include "../seeds/fitting.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "../seeds/pinning.hpp"
#include "../seeds/static_pool.hpp"
#include "contestants.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace acre_contestants {

const std::string object_pool_name = "acre::object_pool";
const std::string pool_name = "acre::pool";
const std::string multi_pool_name = "acre::multi_pool";
const std::string chunk_pool_name = "acre::chunk_pool";
const std::string arena_name = "acre::arena";
const std::string scratch_name = "acre::arena + scratch";
const std::string multi_arena_name = "acre::multi_arena";

struct arena_bump {
    void* allocate(std::size_t bytes) { return arena.allocate(bytes, bump_alignment); }
    observed_object* create(std::uint64_t value) { return arena.create<observed_object>(value); }
    void reset() { arena.reset(acre::keep_all); }
    acre::arena arena;
};

struct cursor_bulk {
    acre::cursor front() { return acre::cursor{arena}; }
    void reset() { arena.reset(acre::keep_all); }
    acre::arena arena;
};

struct scratch_source {
    template <class Function>
    void scoped(const Function& function) {
        acre::scratch temp{arena};
        function(acre::allocator<std::byte, acre::arena>{arena});
    }
    acre::arena arena;
};

struct namespace_home {
    static acre::arena& get() noexcept { return arena; }
    static inline acre::arena arena;
};

struct function_home {
    static acre::arena& get() noexcept {
        static acre::arena arena;
        return arena;
    }
};

template <class Home>
struct arena_orc : orc {
    static void* operator new(std::size_t bytes) { return Home::get().allocate(bytes, alignof(orc)); }
    static void operator delete(void*) noexcept {}
    static void all_deleted() { Home::get().reset(acre::keep_all); }
};

using orc_arena = acre::typed_arena<orc, orc_count>;

struct typed_namespace_home {
    static orc_arena& get() noexcept { return orcs; }
    static constinit inline orc_arena orcs{};
};

struct typed_function_home {
    static orc_arena& get() noexcept {
        static constinit orc_arena orcs;
        return orcs;
    }
};

template <class Home>
struct typed_arena_orc : orc {
    static void* operator new(std::size_t bytes) { return Home::get().class_new(bytes); }
    static void operator delete(void* p, std::size_t bytes) noexcept { Home::get().class_delete(p, bytes); }
    static void all_deleted() { Home::get().reset(); }
    static void prefault() { Home::get().prefault(); }
};

struct object_pool_blocks {
    void* allocate() { return pool.allocate(); }
    void deallocate(void* p) noexcept { pool.deallocate(p); }
    acre::object_pool<block> pool;
};

struct pool_blocks {
    void* allocate() { return pool.allocate(); }
    void deallocate(void* p) noexcept { pool.deallocate(p); }
    acre::pool<block_bytes> pool;
};

struct multi_pool_blocks {
    void* allocate() { return pool.allocate(block_bytes, alignof(block)); }
    void deallocate(void* p) noexcept { pool.deallocate(p, block_bytes, alignof(block)); }
    acre::multi_pool pool;
};

struct multi_pool_mixed {
    void* allocate(std::size_t bytes) { return pool.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) noexcept { pool.deallocate(p, bytes, 8); }
    acre::multi_pool pool;
};

/// The same behind the virtual calls of a std::pmr::memory_resource.
struct pmr_blocks {
    void* allocate() { return face.allocate(block_bytes, alignof(block)); }
    void deallocate(void* p) { face.deallocate(p, block_bytes, alignof(block)); }
    acre::pmr<acre::multi_pool> pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

struct pmr_mixed {
    void* allocate(std::size_t bytes) { return face.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) { face.deallocate(p, bytes, 8); }
    acre::pmr<acre::multi_pool> pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

struct pmr_source {
    std::pmr::polymorphic_allocator<std::byte> get() { return &pool; }
    acre::pmr<acre::multi_pool> pool;
};

template <class T>
struct object_pool_objects {
    T* create(int value) { return pool.create(value); }
    void destroy(T* object) noexcept { pool.destroy(object); }
    acre::object_pool<T> pool;
};

struct object_pool_orc : orc {
    static void* operator new(std::size_t) { return home.allocate(); }
    static void operator delete(void* p) noexcept { home.deallocate(p); }
    static void all_deleted() noexcept {}
    static inline acre::object_pool<orc> home{acre::heap{}};
};

struct chunk_pool_blocks {
    void* allocate() { return chunks.allocate(block_bytes, alignof(block)); }
    void deallocate(void* p) noexcept { chunks.deallocate(p, block_bytes, alignof(block)); }
    acre::chunk_pool<100'000, block_bytes> chunks;
};

struct chunk_pool_mixed {
    void* allocate(std::size_t bytes) { return chunks.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) noexcept { chunks.deallocate(p, bytes, 8); }
    acre::chunk_pool<1000, 64, 128, 192, 256, 320, 384, 448, 512> chunks;
};

template <acre::chunk_pool_options Options>
struct chunk_pool_objects {
    template <class T>
    T* create() {
        return new (chunks) T;
    }
    template <class T>
    void destroy(T* object) noexcept {
        chunks.destroy(object);
    }
    acre::chunk_pool<chunk_count, 32, 62, 128> chunks{Options};
};

struct multi_pool_source {
    acre::allocator<std::byte, acre::multi_pool> get() { return acre::allocator<std::byte, acre::multi_pool>{pool}; }
    acre::multi_pool pool;
};

/// A pool of slots for one container's nodes; larger requests go to the pool's upstream.
template <std::size_t NodeBytes>
struct pool_source {
    using pool_type = acre::pool<NodeBytes>;
    acre::allocator<std::byte, pool_type> get() { return acre::allocator<std::byte, pool_type>{pool}; }
    pool_type pool;
};

constexpr std::size_t list_node = sizeof(value24) + 2 * sizeof(void*);
constexpr std::size_t map_node = sizeof(std::pair<const std::uint64_t, value24>) + 4 * sizeof(void*);
constexpr std::size_t table_node = sizeof(std::pair<const std::uint64_t, value24>) + sizeof(void*);

template <std::size_t Bytes>
struct pool_store {
    explicit pool_store(std::size_t) {}
    void* allocate(std::size_t) { return pool.allocate(); }
    void deallocate(void* p, std::size_t) noexcept { pool.deallocate(p); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return upstream.counts(); }
    counting_resource upstream;
    acre::pool<Bytes> pool{&upstream};
};

struct multi_pool_store {
    explicit multi_pool_store(std::size_t) {}
    void* allocate(std::size_t bytes) { return pool.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) noexcept { pool.deallocate(p, bytes, 8); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return upstream.counts(); }
    counting_resource upstream;
    acre::multi_pool pool{&upstream};
};

void add_pools(suite& entries) {
    add_batches<object_pool_blocks>(entries, object_pool_name);
    add_batches<pool_blocks>(entries, pool_name);
    add_stacked<object_pool_objects>(entries, object_pool_name);
    add_orcs<object_pool_orc>(entries, object_pool_name);
    add_equal_footprint<pool_store<64>>(entries, object_pool_name, 64);
    add_equal_footprint<pool_store<72>>(entries, object_pool_name, 72);
}

/// The nodes of P4; larger requests go to the heap.
struct chunk_pool_source {
    static_assert(list_node == table_node && list_node < map_node);
    using pool_type = acre::chunk_pool<container_size + 8, list_node, map_node>;
    acre::allocator<std::byte, pool_type> get() { return acre::allocator<std::byte, pool_type>{chunks}; }
    pool_type chunks{{.when_full = acre::exhaustion::fall_back}};
};

template <std::size_t Bytes>
struct chunk_pool_store {
    explicit chunk_pool_store(std::size_t) {}
    void* allocate(std::size_t) { return chunks.allocate(Bytes, 8); }
    void deallocate(void* p, std::size_t) noexcept { chunks.deallocate(p, Bytes, 8); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return upstream.counts(); }
    counting_resource upstream;
    acre::chunk_pool<footprint_objects, Bytes> chunks{&upstream};
};

void add_chunk_pools(suite& entries) {
    add_chunks<chunk_pool_objects<{}>>(entries, chunk_pool_name);
    add_chunks<chunk_pool_objects<{.prefault = false}>>(entries, chunk_pool_name + ", not prefaulted");
    add_batches<chunk_pool_blocks>(entries, chunk_pool_name);
    add_mixed_batches<chunk_pool_mixed>(entries, chunk_pool_name);
    add_containers<chunk_pool_source>(entries, "acre::allocator over a chunk_pool");
    add_equal_footprint<chunk_pool_store<64>>(entries, chunk_pool_name, 64);
    add_equal_footprint<chunk_pool_store<72>>(entries, chunk_pool_name, 72);
}

void add_containers_of_pools(suite& entries) {
    add_list<pool_source<list_node>>(entries, "acre::allocator over a pool");
    add_map<pool_source<map_node>>(entries, "acre::allocator over a pool");
    add_unordered_map<pool_source<table_node>>(entries, "acre::allocator over a pool");
}

void add_multi_pool(suite& entries) {
    add_batches<multi_pool_blocks>(entries, multi_pool_name);
    add_batches<pmr_blocks>(entries, "acre::pmr over a multi_pool");
    add_mixed_batches<multi_pool_mixed>(entries, multi_pool_name);
    add_mixed_batches<pmr_mixed>(entries, "acre::pmr over a multi_pool");
    add_containers<pmr_source>(entries, "acre::pmr over a multi_pool");
    add_containers<multi_pool_source>(entries, "acre::allocator over a multi_pool");
    add_footprints<multi_pool_store>(entries, multi_pool_name);
}

void add_arenas(suite& entries) {
    add_bump<arena_bump>(entries, arena_name);
    add_bulk<cursor_bulk>(entries, "acre::cursor");
    add_objects<arena_bump>(entries, arena_name);
    add_filled_map<scratch_source>(entries, scratch_name);
    add_orcs<arena_orc<namespace_home>>(entries, "acre::arena, at namespace scope");
    add_orcs<arena_orc<function_home>>(entries, "acre::arena, local to a function");
    add_orcs<typed_arena_orc<typed_namespace_home>>(entries, "acre::typed_arena, at namespace scope");
    add_orcs<typed_arena_orc<typed_function_home>>(entries, "acre::typed_arena, local to a function");
}

template <class Arenas>
struct arenas_home {
    std::pmr::memory_resource* get() noexcept { return &arenas; }
    acre::pmr<Arenas> arenas{{.arenas = camera_arenas, .bytes = camera_arena_bytes}};
};

/// The pair of number and size with the least memory; the detail lists the whole front.
figure fit_camera() {
    const auto front = acre::fit_multi_arena([](acre::multi_arena& tried) {
        acre::pmr<acre::multi_arena&> memory{tried};
        lone_camera{&memory, 0, 1}.run(camera_iterations);
    });
    std::string all;
    for (const acre::multi_arena_fit& each : front) {
        all += (all.empty() ? "the front: " : ", ") + arenas_text(each.arenas, each.bytes);
    }
    const acre::multi_arena_fit smallest = acre::smallest_fit(front);
    return fitted(smallest.arenas, smallest.bytes, all);
}

void add_multi_arenas(suite& entries) {
    add_camera<arenas_home<acre::multi_arena>>(entries, multi_arena_name);
    add_fit(entries, multi_arena_name, fit_camera);
    add_pinning<arenas_home<acre::multi_arena>>(entries, multi_arena_name);
}

void add_shared_cameras(suite& entries) {
    add_shared_camera<arenas_home<acre::concurrent_multi_arena>>(entries, "acre::concurrent_multi_arena");
    add_shared_camera<arenas_home<acre::synchronized<acre::multi_arena, std::mutex>>>(
        entries, "acre::synchronized multi_arena, std::mutex");
    add_shared_camera<arenas_home<acre::synchronized<acre::multi_arena, acre::spin_lock>>>(
        entries, "acre::synchronized multi_arena, acre::spin_lock");
    add_shared_camera<camera_home<acre::pmr<acre::concurrent_multi_pool>>>(entries,
                                                                           "acre::pmr over a concurrent_multi_pool");
    add_shared_camera<camera_home<acre::synchronized_pool_resource>>(entries, "acre::synchronized_pool_resource");
}

template <std::size_t Thread>
struct group_of_thread;

template <class Pool>
struct blocks_of_pool {
    static void* allocate() { return Pool::allocate(); }
    static void deallocate(void* p) noexcept { Pool::deallocate(p); }
};
template <std::size_t>
using shared_static_blocks = blocks_of_pool<acre::static_pool<static_block_bytes>>;
template <std::size_t Thread>
using grouped_static_blocks = blocks_of_pool<acre::static_pool<static_block_bytes, group_of_thread<Thread>>>;

struct pooled_item : acre::pooled<pooled_item> {
    char bytes[static_block_bytes];
};
template <std::size_t Thread>
struct grouped_item
    : acre::pooled<grouped_item<Thread>, acre::static_pool<static_block_bytes, group_of_thread<Thread>>> {
    char bytes[static_block_bytes];
};
template <std::size_t>
using pooled_blocks = blocks_of_class<pooled_item>;
template <std::size_t Thread>
using grouped_blocks = blocks_of_class<grouped_item<Thread>>;

void add_static_pools(suite& entries) {
    add_static_blocks<shared_static_blocks>(entries, "acre::static_pool");
    add_static_blocks<grouped_static_blocks>(entries, "acre::static_pool, a group");
    add_static_blocks<pooled_blocks>(entries, "acre::pooled");
    add_static_blocks<grouped_blocks>(entries, "acre::pooled, a group");
}

template <class Pool>
struct blocks_of_object {
    void* allocate() { return pool.allocate(); }
    void deallocate(void* p) noexcept { pool.deallocate(p); }
    Pool pool;
};

static_assert(shared_block_bytes == block_bytes);

/// A resource of any size, for blocks of one. The size is hidden, so that it is known only at run time.
template <class Resource>
struct blocks_of_resource {
    void* allocate() { return resource.allocate(bytes, 16); }
    void deallocate(void* p) noexcept { resource.deallocate(p, bytes, 16); }
    std::size_t bytes = *hide(&shared_block_bytes);
    Resource resource;
};

template <class Resource>
struct mixed_of_resource {
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, 16); }
    void deallocate(void* p, std::size_t bytes) noexcept { resource.deallocate(p, bytes, 16); }
    Resource resource;
};

using concurrent_multi_pool_blocks = blocks_of_resource<acre::concurrent_multi_pool>;
using concurrent_multi_pool_mixed = mixed_of_resource<acre::concurrent_multi_pool>;
using general_heap_blocks = blocks_of_resource<acre::general_heap>;
using general_heap_mixed = mixed_of_resource<acre::general_heap>;

struct general_heap_source {
    acre::allocator<std::byte, acre::general_heap> get() { return {}; }
};

struct synchronized_face_blocks {
    void* allocate() { return face.allocate(shared_block_bytes, 16); }
    void deallocate(void* p) { face.deallocate(p, shared_block_bytes, 16); }
    acre::synchronized_pool_resource pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

struct synchronized_face_mixed {
    void* allocate(std::size_t bytes) { return face.allocate(bytes, 16); }
    void deallocate(void* p, std::size_t bytes) { face.deallocate(p, bytes, 16); }
    acre::synchronized_pool_resource pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

struct private_blocks {
    void* allocate() { return own_pool().allocate(); }
    void deallocate(void* p) { own_pool().deallocate(p); }
    static acre::pool<shared_block_bytes>& own_pool() {
        thread_local acre::pool<shared_block_bytes> pool;
        return pool;
    }
};

struct shared_arena {
    void* allocate(std::size_t, std::size_t bytes) { return arena.allocate(bytes, 8); }
    void reset() { arena.reset(); }
    acre::concurrent_arena arena;
};
struct arenas_of_threads {
    void* allocate(std::size_t thread, std::size_t bytes) { return arenas[thread].own.allocate(bytes, 8); }
    void reset() {
        for (lone_arena& each : arenas) each.own.reset();
    }
    struct alignas(64) lone_arena {
        acre::arena own;
    };
    lone_arena arenas[max_threads];
};
struct shared_bump {
    void* allocate(std::size_t bytes) { return arena.allocate(bytes, bump_alignment); }
    void reset() { arena.reset(acre::keep_all); }
    acre::concurrent_arena arena;
};
struct locked_arena {
    void* allocate(std::size_t, std::size_t bytes) { return arena.allocate(bytes, 8); }
    void reset() { arena.reset(); }
    acre::synchronized<acre::arena, std::mutex> arena;
};

void add_arenas_of_threads(suite& entries) {
    add_shared_arena<arenas_of_threads>(entries, "acre::arena, one a thread");
    add_shared_arena<shared_arena>(entries, "acre::concurrent_arena");
    add_shared_arena<locked_arena>(entries, "acre::arena under a mutex");
    add_bump<shared_bump>(entries, "acre::concurrent_arena");
}

void add_pools_of_threads(suite& entries) {
    add_local_threads<private_blocks>(entries, "acre::pool, one a thread");
    add_threads<concurrent_multi_pool_blocks>(entries, "acre::concurrent_multi_pool");
    add_mixed_successors<concurrent_multi_pool_mixed>(entries, "acre::concurrent_multi_pool");
    add_scaling_threads<concurrent_multi_pool_blocks>(entries, "acre::concurrent_multi_pool");
    // In one thread: the cost without waiting, also in instructions.
    add_small_batches<concurrent_multi_pool_blocks>(entries, "acre::concurrent_multi_pool");
    add_threads<general_heap_blocks>(entries, "acre::general_heap");
    add_mixed_successors<general_heap_mixed>(entries, "acre::general_heap");
    add_mixed_batches<general_heap_mixed>(entries, "acre::general_heap");
    add_containers<general_heap_source>(entries, "acre::allocator over a general_heap");
    add_scaling_threads<general_heap_blocks>(entries, "acre::general_heap");
    add_threads<synchronized_face_blocks>(entries, "acre::synchronized_pool_resource");
    add_mixed_successors<synchronized_face_mixed>(entries, "acre::synchronized_pool_resource");
    using concurrent_blocks = blocks_of_object<acre::concurrent_pool<shared_block_bytes>>;
    add_threads<concurrent_blocks>(entries, "acre::concurrent_pool");
    add_scaling_threads<concurrent_blocks>(entries, "acre::concurrent_pool");
    add_threads<blocks_of_object<acre::static_pool<shared_block_bytes>>>(entries, "acre::static_pool");
    add_threads<blocks_of_object<acre::synchronized<acre::pool<shared_block_bytes>, std::mutex>>>(
        entries, "acre::pool under a mutex");
}

}  // namespace acre_contestants
using namespace acre_contestants;

void add_acre(suite& entries) {
    entries.add_peer("acre", "this repository");
    add_pools(entries);
    add_containers_of_pools(entries);
    add_multi_pool(entries);
    add_chunk_pools(entries);
    add_arenas(entries);
    add_multi_arenas(entries);
    add_shared_cameras(entries);
    add_static_pools(entries);
    add_pools_of_threads(entries);
    add_arenas_of_threads(entries);
}

}  // namespace bench
