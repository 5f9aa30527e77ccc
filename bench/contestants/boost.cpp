// Boost.Pool (pool, object_pool, fast_pool_allocator) and the resources of Boost.Container.
#include <boost/container/pmr/memory_resource.hpp>
#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/polymorphic_allocator.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <boost/version.hpp>

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
namespace boost_contestants {

namespace pmr = boost::container::pmr;

struct pool_blocks {
    void* allocate() { return pool.malloc(); }
    void deallocate(void* p) { pool.free(p); }
    boost::pool<> pool{block_bytes};
};

struct object_pool_blocks {
    void* allocate() { return pool.malloc(); }
    void deallocate(void* p) { pool.free(static_cast<block*>(p)); }
    boost::object_pool<block> pool;
};

template <class T>
using fast_allocator =
    boost::fast_pool_allocator<T, boost::default_user_allocator_new_delete, boost::details::pool::null_mutex>;

struct fast_blocks {
    void* allocate() { return fast_allocator<block>::allocate(); }
    void deallocate(void* p) { fast_allocator<block>::deallocate(static_cast<block*>(p)); }
};

struct fast_source {
    fast_allocator<std::byte> get() const { return {}; }
};

template <class T>
struct pool_objects {
    T* create(int value) { return new (pool.malloc()) T(value); }
    void destroy(T* object) {
        object->~T();
        pool.free(object);
    }
    boost::pool<> pool{sizeof(T)};
};

template <class T>
struct object_pool_objects {
    T* create(int value) { return pool.construct(value); }
    void destroy(T* object) { pool.destroy(object); }
    boost::object_pool<T> pool;
};

struct pool_orc : orc {
    static void* operator new(std::size_t) { return home.malloc(); }
    static void operator delete(void* p) { home.free(p); }
    static void all_deleted() noexcept {}
    static inline boost::pool<> home{sizeof(orc)};
};

/// Boost.Pool takes its upstream as a type only, so the counts are static; each new store resets them.
struct counting_upstream {
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;

    static char* malloc(std::size_t bytes) {
        counts.take(bytes);
        return new char[bytes];
    }
    static void free(char* p) { delete[] p; }
    static inline upstream_counts counts;
};

struct pool_store {
    explicit pool_store(std::size_t bytes) : pool{bytes} { counting_upstream::counts = {}; }
    void* allocate(std::size_t) { return pool.malloc(); }
    void deallocate(void* p, std::size_t) { pool.free(p); }
    [[nodiscard]] static const upstream_counts& counts() noexcept { return counting_upstream::counts; }
    boost::pool<counting_upstream> pool;
};

struct pmr_blocks {
    void* allocate() { return resource.allocate(block_bytes, alignof(block)); }
    void deallocate(void* p) { resource.deallocate(p, block_bytes, alignof(block)); }
    pmr::unsynchronized_pool_resource resource;
};

struct pmr_mixed {
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) { resource.deallocate(p, bytes, 8); }
    pmr::unsynchronized_pool_resource resource;
};

template <class T>
struct pmr_objects {
    T* create(int value) { return new (resource.allocate(sizeof(T), alignof(T))) T(value); }
    void destroy(T* object) {
        object->~T();
        resource.deallocate(object, sizeof(T), alignof(T));
    }
    pmr::unsynchronized_pool_resource resource;
};

struct pmr_source {
    pmr::polymorphic_allocator<std::byte> get() { return &resource; }
    pmr::unsynchronized_pool_resource resource;
};

class counting_boost_resource final : public pmr::memory_resource {
public:
    [[nodiscard]] const upstream_counts& counts() const noexcept { return counting_.counts(); }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        return counting_.allocate(bytes, alignment);
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        counting_.deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    counting_resource counting_;
};

struct pmr_store {
    explicit pmr_store(std::size_t) {}
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) { resource.deallocate(p, bytes, 8); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return upstream.counts(); }
    counting_boost_resource upstream;
    pmr::unsynchronized_pool_resource resource{&upstream};
};

struct monotonic_arena {
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, bump_alignment); }
    void reset() { resource.release(); }

    template <class Function>
    void scoped(const Function& function) {
        function(pmr::polymorphic_allocator<std::byte>{&resource});
        reset();
    }
    pmr::monotonic_buffer_resource resource;
};

void add_boost_pool(suite& entries) {
    add_batches<pool_blocks>(entries, "boost::pool");
    add_batches<fast_blocks>(entries, "boost::fast_pool_allocator");
    // Its frees keep the list sorted, so 100,000 in shuffled order would take hours.
    add_small_batches<object_pool_blocks>(entries, "boost::object_pool");
    add_containers<fast_source>(entries, "boost::fast_pool_allocator");
    add_unordered_map<nodes_only<fast_source>>(entries, "boost::fast_pool_allocator, arrays by new");
    add_equal_footprints<pool_store>(entries, "boost::pool");
    add_stacked<pool_objects>(entries, "boost::pool");
    add_stacked<object_pool_objects>(entries, "boost::object_pool");
    add_orcs<pool_orc>(entries, "boost::pool");
}

void add_boost_pmr(suite& entries) {
    add_batches<pmr_blocks>(entries, "boost pmr unsynchronized_pool");
    add_mixed_batches<pmr_mixed>(entries, "boost pmr unsynchronized_pool");
    add_containers<pmr_source>(entries, "boost pmr unsynchronized_pool");
    add_footprints<pmr_store>(entries, "boost pmr unsynchronized_pool");
    add_stacked<pmr_objects>(entries, "boost pmr unsynchronized_pool");
    add_bump<monotonic_arena>(entries, "boost pmr monotonic");
    add_filled_map<monotonic_arena>(entries, "boost pmr monotonic");
}

}  // namespace boost_contestants
using namespace boost_contestants;

void add_boost(suite& entries) {
    entries.add_peer("Boost", BOOST_LIB_VERSION);
    add_boost_pool(entries);
    add_boost_pmr(entries);
}

}  // namespace bench
