// Adds the hand-written contestants.
#include "handwritten.hpp"

#include "../limits/bump.hpp"
#include "../peers/batches.hpp"
#include "../peers/containers.hpp"
#include "../seeds/blog_arena.hpp"
#include "../seeds/object_pool.hpp"
#include "../seeds/orcs.hpp"
#include "contestants.hpp"

namespace bench {
// A named namespace: see bench/README.md.
namespace handwritten_contestants {

struct list_of_blocks {
    void* allocate() { return list.allocate(); }
    void deallocate(void* p) noexcept { list.deallocate(p); }
    free_list list{block_bytes};
};

template <class T>
struct list_of_objects {
    T* create(int value) { return new (list.allocate()) T(value); }
    void destroy(T* object) noexcept {
        object->~T();
        list.deallocate(object);
    }
    free_list list{sizeof(T)};
};

/// One static free list for each node size; arrays use new.
template <class T>
struct list_allocator {
    using value_type = T;

    list_allocator() = default;
    template <class U>
    explicit(false) list_allocator(const list_allocator<U>&) noexcept {}

    T* allocate(std::size_t n) { return static_cast<T*>(n == 1 ? nodes().allocate() : ::operator new(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) noexcept {
        if (n == 1) {
            nodes().deallocate(p);
        } else {
            ::operator delete(p);
        }
    }
    bool operator==(const list_allocator&) const noexcept { return true; }

private:
    static free_list& nodes() {
        static free_list list{sizeof(T)};
        return list;
    }
};

struct list_source {
    list_allocator<std::byte> get() const noexcept { return {}; }
};

struct list_store {
    explicit list_store(std::size_t bytes) : list{bytes} {}
    void* allocate(std::size_t) { return list.allocate(); }
    void deallocate(void* p, std::size_t) noexcept { list.deallocate(p); }
    [[nodiscard]] const upstream_counts& counts() const noexcept { return list.counts(); }
    free_list list;
};

struct blog_bump {
    void* allocate(std::size_t bytes) { return arena.allocate(bytes, bump_alignment); }
    observed_object* create(std::uint64_t value) { return arena.create<observed_object>(value); }
    void reset() { arena.reset(); }
    blog_arena arena;
};

struct blog_source {
    template <class Function>
    void scoped(const Function& function) {
        function(blog_allocator<std::byte>{arena});
        arena.reset();
    }
    blog_arena arena;
};

struct list_orc : orc {
    static void* operator new(std::size_t) { return home.allocate(); }
    static void operator delete(void* p) noexcept { home.deallocate(p); }
    static void all_deleted() noexcept {}
    static inline free_list home{sizeof(orc)};
};

}  // namespace handwritten_contestants
using namespace handwritten_contestants;

void add_handwritten(suite& entries) {
    entries.add_peer("hand-written", "bare intrusive list, bump pointer, blog arena: in this repository");
    add_batches<list_of_blocks>(entries, "bare intrusive list");
    add_containers<list_source>(entries, "bare intrusive list");
    add_equal_footprints<list_store>(entries, "bare intrusive list");
    add_stacked<list_of_objects>(entries, "bare intrusive list");
    add_orcs<list_orc>(entries, "bare intrusive list");
    add_bump<bump_pointer>(entries, "bump pointer, hand-written");
    add_bump<blog_bump>(entries, "blog arena");
    add_objects<blog_bump>(entries, "blog arena");
    add_filled_map<blog_source>(entries, "blog arena");
}

}  // namespace bench
