// The pools of one acre under P1 to P4, T1, T2 and T3. compare_pools.py compiles it once for each tree that it
// compares, each time with other names for the namespaces acre and bench_tree, and links all into one program.
#include "pool_costs.hpp"

#include <acre/adapt/allocator.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>

#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/threads.hpp"

namespace bench_tree {

using namespace bench;

constexpr std::size_t bytes = 64;

// As usual, or looking at frees as the macro says.
#ifdef BENCH_DOUBLE_FREES
constexpr auto noticed = acre::double_free_check::BENCH_DOUBLE_FREES;
using blocks_pool = acre::pool<bytes, 16, noticed>;
using unshared_multi_pool = acre::basic_multi_pool<acre::default_size_classes, noticed>;
using shared_blocks_pool = acre::concurrent_pool<bytes, 16, noticed>;
using shared_multi_pool = acre::basic_concurrent_multi_pool<acre::default_size_classes, noticed>;
using static_blocks_pool = acre::static_pool<bytes, acre::shared_group<struct blocks, acre::heap, noticed>>;
#else
using blocks_pool = acre::pool<bytes>;
using unshared_multi_pool = acre::multi_pool;
using shared_blocks_pool = acre::concurrent_pool<bytes>;
using shared_multi_pool = acre::concurrent_multi_pool;
using static_blocks_pool = acre::static_pool<bytes>;
#endif

struct pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p); }
    blocks_pool pool;
};
struct object_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.create(); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.destroy(static_cast<block*>(p)); }
    acre::object_pool<block> pool;
};
struct odd_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p); }
    acre::pool<72> pool;
};
struct multi_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(bytes); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p, bytes); }
    [[gnu::always_inline]] void* allocate(std::size_t size) { return pool.allocate(size); }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t size) { pool.deallocate(p, size); }
    unshared_multi_pool pool;
};
struct multi_pool_source {
    acre::allocator<std::byte, unshared_multi_pool> get() {
        return acre::allocator<std::byte, unshared_multi_pool>{pool};
    }
    unshared_multi_pool pool;
};
struct chunk_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return chunks->allocate(bytes); }
    [[gnu::always_inline]] void deallocate(void* p) { chunks->deallocate(p, bytes); }
    std::unique_ptr<acre::chunk_pool<100'000, bytes>> chunks = std::make_unique<acre::chunk_pool<100'000, bytes>>();
};
struct wait_free_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p); }
    acre::wait_free_pool<bytes> pool{{.slots = 100'000}};
};
struct concurrent_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p); }
    shared_blocks_pool pool;
};
struct static_pool_blocks {
    [[gnu::always_inline]] static void* allocate() { return static_blocks_pool::allocate(); }
    [[gnu::always_inline]] static void deallocate(void* p) { static_blocks_pool::deallocate(p); }
};
struct concurrent_multi_pool_blocks {
    [[gnu::always_inline]] void* allocate() { return pool.allocate(bytes); }
    [[gnu::always_inline]] void deallocate(void* p) { pool.deallocate(p, bytes); }
    [[gnu::always_inline]] void* allocate(std::size_t size) { return pool.allocate(size); }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t size) { pool.deallocate(p, size); }
    shared_multi_pool pool;
};

template <class Blocks>
void add_batches(pool_costs& all, const char* name) {
    all.push_back({"P1", name, 1000, false, [] { return make_round<newest_first<Blocks>>(std::size_t{1000}); }});
    for (const std::size_t count : {std::size_t{1000}, std::size_t{100'000}}) {
        all.push_back({"P2 " + std::to_string(count), name, count, false,
                       [count] { return make_round<in_shuffled_order<Blocks>>(count); }});
    }
}
template <class Blocks>
void add_mixed(pool_costs& all, const char* name) {
    all.push_back({"P3 1000", name, 1000, false, [] { return make_round<of_mixed_sizes<Blocks>>(std::size_t{1000}); }});
}
void add_containers(pool_costs& all, const char* name) {
    using source = multi_pool_source;
    const auto add = [&](const char* work, auto prepare) {
        all.push_back({work, name, container_size, false, prepare});
    };
    add("P4 list", [] { return make_round<list_work<source>>(); });
    add("P4 map", [] { return make_round<map_work<source, tree<source>>>(); });
    add("P4 unordered_map", [] { return make_round<map_work<source, hash_table<source>>>(); });
}
template <class Blocks>
void add_threads(pool_costs& all, const char* name) {
    all.push_back({"T1", name, 2 * local_batch * local_batches, true,
                   [] { return make_round<local_threads<Blocks>>(std::size_t{2}); }});
    all.push_back(
        {"T2", name, sent_blocks, true, [] { return make_round<producers_and_consumers<Blocks>>(std::size_t{1}); }});
    all.push_back({"T3", name, successions * generations * replacements, true,
                   [] { return make_round<threads_that_inherit<blocks_by_size<Blocks>, equal_bytes<bytes>>>(); }});
}
template <class Blocks>
void add_mixed_threads(pool_costs& all, const char* name) {
    all.push_back({"T3 16..512", name, successions * generations * replacements, true,
                   [] { return make_round<threads_that_inherit<Blocks, mixed_bytes<16, 512>>>(); }});
}

pool_costs all_costs() {
    pool_costs all;
    add_batches<pool_blocks>(all, "pool");
    add_batches<odd_pool_blocks>(all, "pool, 72 B");
    add_batches<object_pool_blocks>(all, "object_pool");
    add_batches<multi_pool_blocks>(all, "multi_pool");
    add_mixed<multi_pool_blocks>(all, "multi_pool");
    add_containers(all, "multi_pool");
    add_batches<chunk_pool_blocks>(all, "chunk_pool");
    add_batches<wait_free_blocks>(all, "wait_free_pool");
    add_batches<concurrent_pool_blocks>(all, "concurrent_pool");
    add_batches<static_pool_blocks>(all, "static_pool");
    add_batches<concurrent_multi_pool_blocks>(all, "concurrent_multi_pool");
    add_mixed<concurrent_multi_pool_blocks>(all, "concurrent_multi_pool");
    add_threads<concurrent_pool_blocks>(all, "concurrent_pool");
    add_threads<static_pool_blocks>(all, "static_pool");
    add_threads<concurrent_multi_pool_blocks>(all, "concurrent_multi_pool");
    add_mixed_threads<concurrent_multi_pool_blocks>(all, "concurrent_multi_pool");
    return all;
}

}  // namespace bench_tree
