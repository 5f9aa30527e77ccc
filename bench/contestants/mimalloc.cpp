// The distribution's mimalloc, through its own function names.
#include <mimalloc.h>

#include <string>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/footprint.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "contestants.hpp"
#include "malloc_library.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace mimalloc_contestants {

const std::string mimalloc_name = "mimalloc";

struct mimalloc {
    static constexpr const char* path = ACRE_BENCH_MIMALLOC;
    static constexpr const char* allocate_name = "mi_malloc";
    static constexpr const char* deallocate_name = "mi_free";
};

const opened_library& library = opened_malloc<mimalloc>.library;

void* take(std::size_t bytes) {
    return opened_malloc<mimalloc>.take(bytes);
}
void give_back(void* p) {
    opened_malloc<mimalloc>.give_back(p);
}

template <class T>
struct mimalloc_objects {
    T* create(int value) { return new (take(sizeof(T))) T(value); }
    void destroy(T* object) {
        object->~T();
        give_back(object);
    }
};

template <class T>
struct mimalloc_allocator {
    using value_type = T;

    mimalloc_allocator() = default;
    template <class U>
    explicit(false) mimalloc_allocator(const mimalloc_allocator<U>&) noexcept {}

    T* allocate(std::size_t n) { return static_cast<T*>(take(n * sizeof(T))); }
    void deallocate(T* p, std::size_t) noexcept { give_back(p); }
    bool operator==(const mimalloc_allocator&) const noexcept { return true; }
};

struct mimalloc_source {
    mimalloc_allocator<std::byte> get() const noexcept { return {}; }

    template <class Function>
    void scoped(const Function& function) {
        function(get());
    }
};

struct mimalloc_arena {
    void* allocate(std::size_t bytes) { return live.add(take(bytes)); }
    void reset() { live.give_back_all(give_back); }
    remembered<void> live{many};
};

struct mimalloc_created {
    observed_object* create(std::uint64_t value) {
        return live.add(new (take(sizeof(observed_object))) observed_object(value));
    }
    void reset() {
        live.give_back_all([](observed_object* object) {
            object->~observed_object();
            give_back(object);
        });
    }
    remembered<observed_object> live{object_count};
};

struct mimalloc_orc : orc {
    static void* operator new(std::size_t bytes) { return take(bytes); }
    static void operator delete(void* p) { give_back(p); }
    static void all_deleted() noexcept {}
};

/// A separate heap; its footprint is the memory that its pages have committed.
class mimalloc_store {
public:
    explicit mimalloc_store(std::size_t) {}
    mimalloc_store(const mimalloc_store&) = delete;
    mimalloc_store& operator=(const mimalloc_store&) = delete;
    ~mimalloc_store() { library.get<decltype(mi_heap_destroy)>("mi_heap_destroy")(heap_); }

    void* allocate(std::size_t bytes) { return heap_malloc_(heap_, bytes); }
    void deallocate(void* p, std::size_t) { give_back(p); }

    [[nodiscard]] upstream_counts counts() const {
        upstream_counts taken;
        library.get<decltype(mi_heap_visit_blocks)>("mi_heap_visit_blocks")(heap_, false, add_area, &taken);
        taken.calls = 0;  // unknown: it requests segments that all heaps share
        return taken;
    }

private:
    static bool add_area(const mi_heap_t*, const mi_heap_area_t* area, void*, std::size_t, void* taken) {
        static_cast<upstream_counts*>(taken)->take(area->committed);
        return true;
    }

    mi_heap_t* heap_ = library.get<decltype(mi_heap_new)>("mi_heap_new")();
    decltype(mi_heap_malloc)* heap_malloc_ = library.get<decltype(mi_heap_malloc)>("mi_heap_malloc");
};

}  // namespace mimalloc_contestants
using namespace mimalloc_contestants;

void add_mimalloc(suite& entries) {
    entries.add_peer(mimalloc_name, std::to_string(library.get<decltype(mi_version)>("mi_version")()));
    add_batches<malloc_blocks<mimalloc>>(entries, mimalloc_name);
    add_mixed_batches<malloc_mixed<mimalloc>>(entries, mimalloc_name);
    add_containers<mimalloc_source>(entries, mimalloc_name);
    add_footprints<mimalloc_store>(entries, mimalloc_name);
    add_bump<mimalloc_arena>(entries, mimalloc_name);
    add_objects<mimalloc_created>(entries, mimalloc_name);
    add_filled_map<mimalloc_source>(entries, mimalloc_name);
    add_stacked<mimalloc_objects>(entries, mimalloc_name);
    add_orcs<mimalloc_orc>(entries, mimalloc_name);
    add_malloc_threads<mimalloc>(entries, mimalloc_name);
}

}  // namespace bench
