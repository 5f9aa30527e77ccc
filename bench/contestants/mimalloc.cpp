// mimalloc, by its own names. Debian's library replaces malloc in whatever links it, so it is opened by hand, where its
// malloc stays out of sight; a call costs what a call into a shared library costs.
#include <dlfcn.h>
#include <mimalloc.h>

#include <stdexcept>

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../peers/footprint.hpp"
#include "../peers/threads.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "contestants.hpp"

namespace bench {
// A namespace with a name: see bench/README.md.
namespace mimalloc_contestants {

const std::string mimalloc_name = "mimalloc";

class mimalloc_library {
public:
    mimalloc_library() {
        if (library_ == nullptr) throw std::runtime_error(std::string("mimalloc does not open: ") + dlerror());
    }

    template <class Function>
    Function* get(const char* name) const {
        void* found = dlsym(library_, name);
        if (found == nullptr) throw std::runtime_error(std::string("mimalloc has no ") + name);
        return reinterpret_cast<Function*>(found);
    }

private:
    void* library_ = dlopen(ACRE_BENCH_MIMALLOC, RTLD_NOW | RTLD_LOCAL);
};

const mimalloc_library library;
decltype(mi_malloc)* const take = library.get<decltype(mi_malloc)>("mi_malloc");
decltype(mi_free)* const give_back = library.get<decltype(mi_free)>("mi_free");

struct mimalloc_blocks {
    void* allocate() { return take(block_bytes); }
    void deallocate(void* p) { give_back(p); }
};

struct mimalloc_mixed {
    void* allocate(std::size_t bytes) { return take(bytes); }
    void deallocate(void* p, std::size_t) { give_back(p); }
};

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

/// A heap of its own; what it holds is the memory that its pages have committed.
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
        taken.calls = 0;  // it asks for segments that all heaps share
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

void enter_mimalloc(suite& entries) {
    entries.add_peer(mimalloc_name, std::to_string(library.get<decltype(mi_version)>("mi_version")()));
    enter_batches<mimalloc_blocks>(entries, mimalloc_name);
    enter_mixed_batches<mimalloc_mixed>(entries, mimalloc_name);
    enter_containers<mimalloc_source>(entries, mimalloc_name);
    enter_footprints<mimalloc_store>(entries, mimalloc_name);
    enter_bump<mimalloc_arena>(entries, mimalloc_name);
    enter_objects<mimalloc_created>(entries, mimalloc_name);
    enter_filled_map<mimalloc_source>(entries, mimalloc_name);
    enter_stacked<mimalloc_objects>(entries, mimalloc_name);
    enter_orcs<mimalloc_orc>(entries, mimalloc_name);
    enter_threads<mimalloc_blocks>(entries, mimalloc_name);
}

}  // namespace bench
