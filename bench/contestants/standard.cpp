// What comes with the compiler: new and delete (glibc's malloc), and std::pmr's resources.
#include <gnu/libc-version.h>
#include <malloc.h>

#include <memory_resource>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/footprint.hpp"
#include "../peers/threads.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/camera.hpp"
#include "../seeds/chunks.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "../seeds/static_pool.hpp"
#include "contestants.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace standard_contestants {

const std::string new_delete = "new/delete";
const std::string unsynchronized = "std::pmr unsynchronized_pool";
const std::string synchronized = "std::pmr synchronized_pool";
const std::string monotonic = "std::pmr monotonic";
const std::string monotonic_buffer = "std::pmr monotonic, over a buffer";

struct new_delete_blocks {
    void* allocate() { return new block; }
    void deallocate(void* p) noexcept { delete static_cast<block*>(p); }
};

struct new_delete_mixed {
    void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    void deallocate(void* p, std::size_t bytes) noexcept { ::operator delete(p, bytes); }
};

template <class T>
struct new_delete_objects {
    T* create(int value) { return new T(value); }
    void destroy(T* object) noexcept { delete object; }
};

struct new_delete_source {
    std::allocator<std::byte> get() const noexcept { return {}; }

    template <class Function>
    void scoped(const Function& function) {
        function(get());
    }
};

/// Bytes of chunks in use, headers and rounding included; free memory that glibc holds is not counted.
struct new_delete_store {
    explicit new_delete_store(std::size_t) {}
    void* allocate(std::size_t bytes) {
        void* p = ::operator new(bytes);
        taken.bytes += malloc_usable_size(p) + sizeof(std::size_t);
        taken.peak = std::max(taken.peak, taken.bytes);
        return p;
    }
    void deallocate(void* p, std::size_t) noexcept { ::operator delete(p); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return taken; }
    upstream_counts taken;
};

/// new/delete has no reset, so it deletes one by one.
struct new_delete_arena {
    void* allocate(std::size_t bytes) { return live.add(::operator new(bytes)); }
    void reset() noexcept {
        live.give_back_all([](void* p) { ::operator delete(p); });
    }
    remembered<void> live{many};
};

struct new_delete_created {
    observed_object* create(std::uint64_t value) { return live.add(new observed_object(value)); }
    void reset() noexcept {
        live.give_back_all([](observed_object* object) { delete object; });
    }
    remembered<observed_object> live{object_count};
};

struct new_delete_chunks {
    template <class T>
    T* create() {
        return new T;
    }
    template <class T>
    void destroy(T* object) noexcept {
        delete object;
    }
};

struct plain_orc : orc {
    static void all_deleted() noexcept {}
};

template <class Resource>
struct pmr_blocks {
    void* allocate() { return resource.allocate(block_bytes, alignof(block)); }
    void deallocate(void* p) { resource.deallocate(p, block_bytes, alignof(block)); }
    Resource resource;
};

template <class Resource>
struct pmr_mixed {
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) { resource.deallocate(p, bytes, 8); }
    Resource resource;
};

template <class Resource, class T>
struct pmr_objects {
    T* create(int value) { return new (resource.allocate(sizeof(T), alignof(T))) T(value); }
    void destroy(T* object) {
        object->~T();
        resource.deallocate(object, sizeof(T), alignof(T));
    }
    Resource resource;
};

template <class T>
using unsynchronized_objects = pmr_objects<std::pmr::unsynchronized_pool_resource, T>;

template <class Resource>
struct pmr_source {
    std::pmr::polymorphic_allocator<std::byte> get() { return &resource; }
    Resource resource;
};

template <class Resource>
struct pmr_store {
    explicit pmr_store(std::size_t) {}
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, 8); }
    void deallocate(void* p, std::size_t bytes) { resource.deallocate(p, bytes, 8); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return upstream.counts(); }
    counting_resource upstream;
    Resource resource{&upstream};
};

struct new_delete_home {
    std::pmr::memory_resource* get() const noexcept { return std::pmr::new_delete_resource(); }
};

struct monotonic_arena {
    void* allocate(std::size_t bytes) { return resource.allocate(bytes, bump_alignment); }
    void reset() { resource.release(); }

    template <class Function>
    void scoped(const Function& function) {
        function(std::pmr::polymorphic_allocator<std::byte>{&resource});
        reset();
    }
    std::pmr::monotonic_buffer_resource resource;
};

struct buffered_monotonic_arena {
    static constexpr std::size_t bytes = std::size_t{4} << 20;

    void* allocate(std::size_t amount) { return resource.allocate(amount, bump_alignment); }
    void reset() { resource.release(); }

    template <class Function>
    void scoped(const Function& function) {
        function(std::pmr::polymorphic_allocator<std::byte>{&resource});
        reset();
    }
    std::unique_ptr<std::byte[]> buffer{new std::byte[bytes]};
    std::pmr::monotonic_buffer_resource resource{buffer.get(), bytes};
};

struct plain_item {
    char bytes[static_block_bytes];
};
template <std::size_t>
using plain_items = blocks_of_class<plain_item>;

struct new_delete_of_threads {
    void* allocate() { return hide(::operator new(shared_block_bytes)); }
    void deallocate(void* p) { ::operator delete(p); }
};

struct synchronized_blocks {
    void* allocate() { return face.allocate(shared_block_bytes, 16); }
    void deallocate(void* p) { face.deallocate(p, shared_block_bytes, 16); }
    std::pmr::synchronized_pool_resource pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

struct synchronized_mixed {
    void* allocate(std::size_t bytes) { return face.allocate(bytes, 16); }
    void deallocate(void* p, std::size_t bytes) { face.deallocate(p, bytes, 16); }
    std::pmr::synchronized_pool_resource pool;
    std::pmr::memory_resource& face = *hide<std::pmr::memory_resource>(&pool);
};

void add_new_delete(suite& entries) {
    add_batches<new_delete_blocks>(entries, new_delete);
    add_mixed_batches<new_delete_mixed>(entries, new_delete);
    add_containers<new_delete_source>(entries, new_delete);
    add_footprints<new_delete_store>(entries, new_delete);
    add_bump<new_delete_arena>(entries, new_delete);
    add_objects<new_delete_created>(entries, new_delete);
    add_filled_map<new_delete_source>(entries, new_delete);
    add_stacked<new_delete_objects>(entries, new_delete);
    add_orcs<plain_orc>(entries, new_delete);
    add_chunks<new_delete_chunks>(entries, new_delete);
    add_camera<new_delete_home>(entries, new_delete);
    add_shared_camera<new_delete_home>(entries, new_delete);
    add_static_blocks<plain_items>(entries, new_delete);
    add_threads<new_delete_of_threads>(entries, new_delete);
    add_mixed_successors<new_delete_mixed>(entries, new_delete);
    add_scaling_threads<new_delete_of_threads>(entries, new_delete);
}

void add_pools(suite& entries) {
    add_batches<pmr_blocks<std::pmr::unsynchronized_pool_resource>>(entries, unsynchronized);
    add_batches<pmr_blocks<std::pmr::synchronized_pool_resource>>(entries, synchronized);
    add_mixed_batches<pmr_mixed<std::pmr::unsynchronized_pool_resource>>(entries, unsynchronized);
    add_mixed_batches<pmr_mixed<std::pmr::synchronized_pool_resource>>(entries, synchronized);
    add_containers<pmr_source<std::pmr::unsynchronized_pool_resource>>(entries, unsynchronized);
    add_containers<pmr_source<std::pmr::synchronized_pool_resource>>(entries, synchronized);
    add_footprints<pmr_store<std::pmr::unsynchronized_pool_resource>>(entries, unsynchronized);
    add_stacked<unsynchronized_objects>(entries, unsynchronized);
    add_camera<camera_home<std::pmr::unsynchronized_pool_resource>>(entries, unsynchronized);
    add_shared_camera<camera_home<std::pmr::synchronized_pool_resource>>(entries, synchronized);
    add_threads<synchronized_blocks>(entries, synchronized);
    add_mixed_successors<synchronized_mixed>(entries, synchronized);
}

void add_monotonic(suite& entries) {
    add_bump<monotonic_arena>(entries, monotonic);
    add_bump<buffered_monotonic_arena>(entries, monotonic_buffer);
    add_filled_map<monotonic_arena>(entries, monotonic);
    add_filled_map<buffered_monotonic_arena>(entries, monotonic_buffer);
}

}  // namespace standard_contestants
using namespace standard_contestants;

void add_standard(suite& entries) {
    entries.add_peer("new/delete", std::string("glibc ") + gnu_get_libc_version());
    entries.add_peer("std::pmr", "libstdc++ " + std::to_string(_GLIBCXX_RELEASE));
    add_new_delete(entries);
    add_pools(entries);
    add_monotonic(entries);
}

}  // namespace bench
