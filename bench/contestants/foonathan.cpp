// foonathan/memory: node_pool, the collection of node pools for varying sizes, and memory_stack.
#include <foonathan/memory/container.hpp>
#include <foonathan/memory/memory_pool.hpp>
#include <foonathan/memory/memory_pool_collection.hpp>
#include <foonathan/memory/memory_stack.hpp>
#include <foonathan/memory/std_allocator.hpp>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/footprint.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "contestants.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace foonathan_contestants {

namespace memory = foonathan::memory;

using node_pool = memory::memory_pool<memory::node_pool>;
using node_pools = memory::memory_pool_collection<memory::node_pool, memory::log2_buckets>;
using bytes_allocator = memory::std_allocator<std::byte, node_pool>;

constexpr std::size_t first_block(std::size_t node_bytes) {
    return node_pool::min_block_size(node_bytes, 1000);
}

struct node_pool_blocks {
    void* allocate() { return pool.allocate_node(); }
    void deallocate(void* p) { pool.deallocate_node(p); }
    node_pool pool{block_bytes, first_block(block_bytes)};
};

struct collection_mixed {
    void* allocate(std::size_t bytes) { return pools.allocate_node(bytes); }
    void deallocate(void* p, std::size_t bytes) { pools.deallocate_node(p, bytes); }
    node_pools pools{largest_mixed, std::size_t{1} << 20};
};

template <class T>
struct node_pool_objects {
    T* create(int value) { return new (pool.allocate_node()) T(value); }
    void destroy(T* object) {
        object->~T();
        pool.deallocate_node(object);
    }
    node_pool pool{sizeof(T), first_block(sizeof(T))};
};

template <std::size_t NodeBytes>
struct node_pool_source {
    bytes_allocator get() { return bytes_allocator{pool}; }
    node_pool pool{NodeBytes, first_block(NodeBytes)};
};

using list_source = node_pool_source<memory::list_node_size<value24>::value>;
using map_source = node_pool_source<memory::map_node_size<std::pair<const std::uint64_t, value24>>::value>;

using table_source = node_pool_source<memory::unordered_map_node_size<std::pair<const std::uint64_t, value24>>::value>;

/// Bucket arrays are larger than any node, so an unordered_map needs the collection.
struct collection_source {
    memory::std_allocator<std::byte, node_pools> get() { return memory::std_allocator<std::byte, node_pools>{pools}; }
    node_pools pools{std::size_t{16} << 10, std::size_t{1} << 20};
};

struct counting_raw {
    using is_stateful = std::true_type;

    void* allocate_node(std::size_t bytes, std::size_t) {
        counts->take(bytes);
        return ::operator new(bytes);
    }
    void deallocate_node(void* p, std::size_t, std::size_t) noexcept { ::operator delete(p); }
    [[nodiscard]] static std::size_t max_node_size() noexcept { return static_cast<std::size_t>(-1); }

    upstream_counts* counts;
};

struct node_pool_store {
    explicit node_pool_store(std::size_t bytes) : pool{bytes, first_block(bytes), counting_raw{&taken}} {}
    void* allocate(std::size_t) { return pool.allocate_node(); }
    void deallocate(void* p, std::size_t) { pool.deallocate_node(p); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return taken; }
    upstream_counts taken;
    memory::memory_pool<memory::node_pool, counting_raw> pool;
};

struct collection_store {
    explicit collection_store(std::size_t bytes) : pools{bytes, std::size_t{1} << 16, counting_raw{&taken}} {}
    void* allocate(std::size_t bytes) { return pools.allocate_node(bytes); }
    void deallocate(void* p, std::size_t bytes) { pools.deallocate_node(p, bytes); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return taken; }
    upstream_counts taken;
    memory::memory_pool_collection<memory::node_pool, memory::log2_buckets, counting_raw> pools;
};

struct node_pool_orc : orc {
    static void* operator new(std::size_t) { return home.allocate_node(); }
    static void operator delete(void* p) { home.deallocate_node(p); }
    static void all_deleted() noexcept {}
    static inline node_pool home{sizeof(orc), first_block(sizeof(orc))};
};

struct stack_arena {
    void* allocate(std::size_t bytes) { return stack.allocate(bytes, bump_alignment); }
    void reset() { stack.unwind(bottom); }

    template <class Function>
    void scoped(const Function& function) {
        function(memory::std_allocator<std::byte, memory::memory_stack<>>{stack});
        reset();
    }
    memory::memory_stack<> stack{std::size_t{1} << 16};
    memory::memory_stack<>::marker bottom = stack.top();
};

}  // namespace foonathan_contestants
using namespace foonathan_contestants;

void add_foonathan(suite& entries) {
    entries.add_peer("foonathan/memory", std::to_string(FOONATHAN_MEMORY_VERSION_MAJOR) + "." +
                                             std::to_string(FOONATHAN_MEMORY_VERSION_MINOR) + "." +
                                             std::to_string(FOONATHAN_MEMORY_VERSION_PATCH));
    add_batches<node_pool_blocks>(entries, "foonathan node_pool");
    add_mixed_batches<collection_mixed>(entries, "foonathan collection of node_pools");
    add_list<list_source>(entries, "foonathan node_pool");
    add_map<map_source>(entries, "foonathan node_pool");
    add_unordered_map<collection_source>(entries, "foonathan collection of node_pools");
    add_unordered_map<nodes_only<table_source>>(entries, "foonathan node_pool, arrays by new");
    add_equal_footprints<node_pool_store>(entries, "foonathan node_pool");
    add_mixed_footprint<collection_store>(entries, "foonathan collection of node_pools");
    add_stacked<node_pool_objects>(entries, "foonathan node_pool");
    add_orcs<node_pool_orc>(entries, "foonathan node_pool");
    add_bump<stack_arena>(entries, "foonathan memory_stack");
    add_filled_map<stack_arena>(entries, "foonathan memory_stack");
}

}  // namespace bench
