// The sources' own loops: each published design's workload, by acre and by a re-implementation of the design. It prints
// the time of an operation in nanoseconds (the least of interleaved runs) and acre's divided by the source's, a row
// each: the table of speed in docs/porting.md.
//
//     g++ -std=c++20 -O2 -DNDEBUG -Iinclude bench/seeds/own_loops.cpp bench/harness.cpp
//         bench/contestants/published.cpp -o own_loops -pthread
//     ./own_loops [PART_OF_A_ROW'S_NAME]
//
// No thread runs beside the measured one. A row that says so comes after a thread was started and ended.
#include <acre/acre.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/pooled.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <stack>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../contestants/published.hpp"
#include "../harness.hpp"
#include "camera.hpp"
#include "chunks.hpp"
#include "object_pool.hpp"
#include "static_pool.hpp"

// A named namespace: see bench/README.md.
namespace own_loops {

using bench::escape;
using bench::hide;
using bench::touch;

/// A blog's pool: one heap block an object; a stack of the addresses that are free.
template <class T>
class basic_pool {
public:
    basic_pool() = default;
    basic_pool(const basic_pool&) = delete;
    basic_pool& operator=(const basic_pool&) = delete;
    ~basic_pool() {
        for (; !free_.empty(); free_.pop()) ::operator delete(free_.top());
    }

    void* allocate() {
        if (free_.empty()) return ::operator new(sizeof(T));
        void* p = free_.top();
        free_.pop();
        return p;
    }
    void deallocate(void* p) { free_.push(p); }
    template <class... Arguments>
    T* create(Arguments&&... arguments) {
        return ::new (allocate()) T(std::forward<Arguments>(arguments)...);
    }
    void destroy(T* object) {
        object->~T();
        deallocate(object);
    }

private:
    std::stack<void*> free_;
};

/// The same as a base: operators new and delete of one pool for each class.
template <class T>
struct inheritable_pool {
    static void* operator new(std::size_t) { return pool().allocate(); }
    static void operator delete(void* p) { pool().deallocate(p); }

private:
    static basic_pool<T>& pool() {
        static basic_pool<T> of_the_class;
        return of_the_class;
    }
};

/// A blog's arena: a position in one block, and a list of the objects that need a destructor.
class blog_arena {
    struct finaliser {
        void (*destroy)(void*);
        void* object;
        finaliser* previous;
    };

public:
    explicit blog_arena(std::size_t bytes) : memory_(new std::byte[bytes]), capacity_(bytes) {}

    void* allocate(std::size_t bytes, std::size_t alignment) {
        const std::size_t start = (used_ + alignment - 1) & ~(alignment - 1);
        if (start + bytes > capacity_) throw std::bad_alloc{};
        used_ = start + bytes;
        return memory_.get() + start;
    }
    template <class T>
    T* allocate() {
        return static_cast<T*>(allocate(sizeof(T), alignof(T)));
    }
    template <class T, class... Arguments>
    T* create(Arguments&&... arguments) {
        T* object = ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Arguments>(arguments)...);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            last_ = ::new (allocate(sizeof(finaliser), alignof(finaliser)))
                finaliser{[](void* p) { static_cast<T*>(p)->~T(); }, object, last_};
        }
        return object;
    }
    void reset() noexcept { rewind({}); }

    struct place {
        std::size_t used = 0;
        finaliser* last = nullptr;
    };
    place here() const noexcept { return {used_, last_}; }
    void rewind(const place& begin) noexcept {
        for (; last_ != begin.last; last_ = last_->previous) last_->destroy(last_->object);
        used_ = begin.used;
    }

private:
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;
    std::size_t used_ = 0;
    finaliser* last_ = nullptr;
};

class blog_scratch {
public:
    explicit blog_scratch(blog_arena* arena) noexcept : arena_(arena), begin_(arena->here()) {}
    blog_scratch(const blog_scratch&) = delete;
    blog_scratch& operator=(const blog_scratch&) = delete;
    ~blog_scratch() { arena_->rewind(begin_); }

private:
    blog_arena* arena_;
    blog_arena::place begin_;
};

template <class T>
struct blog_allocator {
    using value_type = T;
    explicit blog_allocator(blog_arena& arena) noexcept : from(&arena) {}
    template <class U>
    explicit(false) blog_allocator(const blog_allocator<U>& other) noexcept : from(other.from) {}
    T* allocate(std::size_t n) { return static_cast<T*>(from->allocate(n * sizeof(T), alignof(T))); }
    void deallocate(T*, std::size_t) noexcept {}
    bool operator==(const blog_allocator&) const noexcept = default;
    blog_arena* from;
};

/// Static pools by size and group: a list through the free blocks, one heap block each; a lock for the group of all
/// threads where the program is built with threads.
struct no_lock {
    void lock() noexcept {}
    void unlock() noexcept {}
};
template <class Lock>
class static_list {
public:
    static void* allocate() {
        static_list& pool = instance();
        const std::lock_guard guard{pool.lock_};
        if (pool.first_ == nullptr) return ::operator new(bench::static_block_bytes);
        return std::exchange(pool.first_, pool.first_->next);
    }
    static void deallocate(void* p) {
        static_list& pool = instance();
        const std::lock_guard guard{pool.lock_};
        pool.first_ = ::new (p) node{pool.first_};
    }

private:
    struct node {
        node* next;
    };
    static static_list& instance() {
        static static_list only;
        return only;
    }
    node* first_ = nullptr;
    [[no_unique_address]] Lock lock_;
};

template <class Pool>
struct class_over {
    static void* operator new(std::size_t) { return Pool::allocate(); }
    static void operator delete(void* p) { Pool::deallocate(p); }
    char bytes[bench::static_block_bytes];
};

using round = bench::round_function;

/// Least nanoseconds of an operation: acre's and the source's, in interleaved samples of about 3 ms.
void print_row(const char* only, const std::string& name, std::size_t operations, const round& acre,
               const round& source) {
    if (only != nullptr && name.find(only) == std::string::npos) return;
    const auto seconds = [](const round& work, std::size_t times) {
        const double before = bench::cpu_seconds();
        for (std::size_t i = 0; i < times; ++i) work();
        return bench::cpu_seconds() - before;
    };
    std::size_t times = 1;
    while (seconds(acre, times) + seconds(source, times) < 6e-3) times *= 2;
    double least[2] = {1e9, 1e9};
    for (int sample = 0; sample < 15; ++sample) {
        least[0] = std::min(least[0], seconds(acre, times));
        least[1] = std::min(least[1], seconds(source, times));
    }
    const double scale = 1e9 / static_cast<double>(times * operations);
    std::printf("| %s | %.2f | %.2f | %.2f |\n", name.c_str(), least[0] * scale, least[1] * scale, least[0] / least[1]);
    std::fflush(stdout);
}

constexpr std::size_t many = 1000;

template <class Pool>
struct array_of_objects {
    explicit array_of_objects(bool newest_first) : newest_first_(newest_first) {}
    void operator()() {
        for (std::size_t i = 0; i < many; ++i) touch(live_[i] = pool_.create(1));
        for (std::size_t i = 0; i < many; ++i) pool_.destroy(live_[newest_first_ ? many - 1 - i : i]);
    }
    Pool pool_;
    bench::one_int* live_[many];
    bool newest_first_;
};
template <class Pool>
struct pair_of_one_object {
    void operator()() {
        for (std::size_t i = 0; i < many; ++i) {
            auto* object = pool_.create(1);
            touch(object);
            pool_.destroy(object);
        }
    }
    Pool pool_;
};
template <class T>
struct class_stack {
    void operator()() {
        std::stack<T*> live;
        for (std::size_t i = 0; i < many; ++i) live.push(new T);
        escape(&live);
        for (; !live.empty(); live.pop()) delete live.top();
    }
};
template <class T>
struct class_pair {
    void operator()() {
        for (std::size_t i = 0; i < many; ++i) {
            T* object = new T;
            touch(object);
            delete object;
        }
    }
};

struct acre_own : acre::pooled<acre_own, acre::own_pool> {
    int value = 0;
};
struct group_name;
struct acre_group : acre::pooled<acre_group, acre::in_group<group_name>> {
    int value = 0;
};
// Without a look at what is freed, as the sources.
constexpr auto none = acre::double_free_check::none;
template <class T>
using unchecked_object_pool = acre::object_pool<T, none>;
struct unchecked_name;
using unchecked_name_group = acre::thread_group<unchecked_name, acre::heap, none>;
struct acre_unchecked : acre::pooled<acre_unchecked, acre::in_group<unchecked_name_group>> {
    int value = 0;
};
struct blog_own : inheritable_pool<blog_own> {
    int value = 0;
};

template <template <class> class Pool>
void object_pool_rows(const char* only, const std::string& unchecked) {
    const auto stacked = [&]<class T>(const char* name, T*) {
        print_row(only, name + unchecked, 100 * many, bench::make_round<bench::stacked<Pool, T>>(100),
                  bench::make_round<bench::stacked<basic_pool, T>>(100));
    };
    stacked("object pools, the source's own benchmark", static_cast<bench::one_int*>(nullptr));
    stacked("the same with five ints", static_cast<bench::five_ints*>(nullptr));
    using acre_pool = Pool<bench::one_int>;
    using blog_pool = basic_pool<bench::one_int>;
    print_row(only, "object pools, array LIFO" + unchecked, many, bench::make_round<array_of_objects<acre_pool>>(true),
              bench::make_round<array_of_objects<blog_pool>>(true));
    print_row(only, "object pools, array FIFO" + unchecked, many, bench::make_round<array_of_objects<acre_pool>>(false),
              bench::make_round<array_of_objects<blog_pool>>(false));
    print_row(only, "object pools, one pair" + unchecked, many, bench::make_round<pair_of_one_object<acre_pool>>(),
              bench::make_round<pair_of_one_object<blog_pool>>());
}

template <class T>
using checked_object_pool = acre::object_pool<T>;

void object_pools(const char* only) {
    object_pool_rows<checked_object_pool>(only, "");
    object_pool_rows<unchecked_object_pool>(only, ", unchecked");
    print_row(only, "a pool for each class, in_group, stack, unchecked", many, class_stack<acre_unchecked>{},
              class_stack<blog_own>{});
    print_row(only, "a pool for each class, in_group, one pair, unchecked", many, class_pair<acre_unchecked>{},
              class_pair<blog_own>{});
    print_row(only, "a pool for each class, own_pool, stack", many, class_stack<acre_own>{}, class_stack<blog_own>{});
    print_row(only, "a pool for each class, own_pool, one pair", many, class_pair<acre_own>{}, class_pair<blog_own>{});
    print_row(only, "a pool for each class, in_group, stack", many, class_stack<acre_group>{}, class_stack<blog_own>{});
    print_row(only, "a pool for each class, in_group, one pair", many, class_pair<acre_group>{},
              class_pair<blog_own>{});
    // Without giving the class's free memory back, which the example does once, at the end.
    print_row(
        only, "porting.md's BasicPool example", 1,
        [] {
            acre::object_pool<bench::one_int> pool;
            bench::one_int* object = pool.create(10);
            escape(object);
            pool.destroy(object);
            acre_own* own = new acre_own;
            escape(own);
            delete own;
        },
        [] {
            basic_pool<bench::one_int> pool;
            bench::one_int* object = pool.create(10);
            escape(object);
            pool.destroy(object);
            blog_own* own = new blog_own;
            escape(own);
            delete own;
        });
}

template <class Map>
void fill(Map& map, const std::vector<int>& keys) {
    for (const int key : keys) map.emplace(key, 1LL);
    escape(&map);
}

void arenas(const char* only) {
    using in_arena = acre::containers_in<acre::arena>;
    acre::arena level;
    acre::arena& acre = *hide(&level);
    blog_arena block{1 << 20};
    blog_arena& blog = *hide(&block);

    print_row(
        only, "arena, reset() after each create", many,
        [&] {
            for (std::size_t i = 0; i < many; ++i) {
                escape(acre.create<double>(1.0));
                acre.reset();
            }
        },
        [&] {
            for (std::size_t i = 0; i < many; ++i) {
                escape(blog.create<double>(1.0));
                blog.reset();
            }
        });
    print_row(
        only, "arena, scratch scope", many,
        [&] {
            for (std::size_t i = 0; i < many; ++i) {
                acre::scratch temp{acre};
                escape(acre.create<double>(1.0));
            }
        },
        [&] {
            for (std::size_t i = 0; i < many; ++i) {
                blog_scratch temp{&blog};
                escape(blog.create<double>(1.0));
            }
        });
    print_row(
        only, "arena, make and end", 1,
        [] {
            acre::arena made{{.fixed_bytes = 4096}};
            escape(made.create<double>(1.0));
        },
        [] {
            blog_arena made{4096};
            escape(made.create<double>(1.0));
        });
    bench::random_numbers random{777};
    std::vector<int> keys(many);
    for (int& key : keys) key = static_cast<int>(random() & 0x7fffffff);
    using blog_entries = blog_allocator<std::pair<const int, long long>>;
    print_row(
        only, "arena under unordered_map, 1,000 keys", many,
        [&] {
            in_arena::unordered_map<int, long long> map{acre};
            fill(map, keys);
            acre.reset();
        },
        [&] {
            std::unordered_map<int, long long, std::hash<int>, std::equal_to<>, blog_entries> map{blog_entries{blog}};
            fill(map, keys);
            blog.reset();
        });
    print_row(
        only, "arena under vector, push_back of 1,000", many,
        [&] {
            in_arena::vector<int> values{acre};
            for (const int each : keys) values.push_back(each);
            escape(values.data());
            acre.reset();
        },
        [&] {
            std::vector<int, blog_allocator<int>> values{blog_allocator<int>{blog}};
            for (const int each : keys) values.push_back(each);
            escape(values.data());
            blog.reset();
        });
    const auto example = [](acre::arena& used) {
        escape(used.create<std::string>("URG"));
        escape(used.allocate<double>());
        {
            acre::scratch temp{used};
            escape(temp.allocate<int>(64).data());
            in_arena::vector<int> scores{used};
            scores.push_back(7);
            escape(scores.data());
        }
        used.reset();
    };
    const round source_example = [] {
        blog_arena used(1 << 20);
        escape(used.create<std::string>("URG"));
        escape(used.allocate<double>());
        {
            blog_scratch temp{&used};
            escape(used.allocate(64 * sizeof(int), alignof(int)));
            std::vector<int, blog_allocator<int>> scores{blog_allocator<int>{used}};
            scores.push_back(7);
            escape(scores.data());
        }
        used.reset();
    };
    print_row(
        only, "porting.md's arena example", 1,
        [&] {
            acre::arena used;
            example(used);
        },
        source_example);
    print_row(
        only, "the same with .fixed_bytes", 1,
        [&] {
            acre::arena used{{.fixed_bytes = 1 << 20}};
            example(used);
        },
        source_example);
}

template <class A, class B>
void block_rows(const char* only, const std::string& name) {
    print_row(only, name + ", pair", bench::static_round, bench::make_round<bench::single_pairs<A>>(),
              bench::make_round<bench::single_pairs<B>>());
    print_row(only, name + ", LIFO", bench::static_round, bench::make_round<bench::rounds_newest_first<A>>(),
              bench::make_round<bench::rounds_newest_first<B>>());
    print_row(only, name + ", churn", bench::churn_steps, bench::make_round<bench::churn<A>>(),
              bench::make_round<bench::churn<B>>());
}

void static_pools(const char* only) {
    using shared = acre::static_pool<bench::static_block_bytes>;
    struct group;
    using grouped = acre::static_pool<bench::static_block_bytes, group>;
    using unchecked_shared =
        acre::static_pool<bench::static_block_bytes, acre::shared_group<unchecked_name, acre::heap, none>>;
    using unchecked_grouped = acre::static_pool<bench::static_block_bytes, unchecked_name_group>;
    struct without_threads : static_list<no_lock> {};
    struct with_threads : static_list<std::mutex> {};
    block_rows<shared, without_threads>(only, "static pool, default, beside the source without threads");
    block_rows<shared, with_threads>(only, "static pool, default, beside the source with threads");
    block_rows<grouped, without_threads>(only, "static pool, a group");
    block_rows<unchecked_shared, without_threads>(only, "static pool, default unchecked, beside that without threads");
    block_rows<unchecked_grouped, without_threads>(only, "static pool, a group unchecked");
    block_rows<bench::blocks_of_class<class_over<grouped>>, bench::blocks_of_class<class_over<without_threads>>>(
        only, "static pool, class of a group");
}

/// A book's arena and chunks, with the mutex that allocating locks.
struct locked_arena {
    void* allocate() {
        const std::lock_guard guard{lock};
        return arena.allocate();
    }
    bench::published::size_based_arena arena{many, 16};
    std::mutex lock;
};
struct locked_chunks {
    template <class T>
    T* create() {
        return ::new (take(sizeof(T))) T{};
    }
    template <class T>
    void destroy(T* object) noexcept {
        chunks.deallocate(object);
    }
    void* take(std::size_t bytes) {
        const std::lock_guard guard{lock};
        return chunks.allocate(bytes);
    }
    bench::published::chunk_allocator<bench::chunk_count, 32, 62, 128> chunks;
    std::mutex lock;
};

struct slot_of_16 {
    char bytes[16];
};

void typed_arena(const char* only, const std::string& when) {
    static constinit acre::typed_arena<slot_of_16, many, acre::typed_arena_options{.synchronized = true}> slots;
    static locked_arena source;
    print_row(
        only, "typed arena .synchronized" + when, many,
        [] {
            for (std::size_t i = 0; i < many; ++i) touch(slots.allocate_one());
            slots.deallocate_all();
        },
        [] {
            for (std::size_t i = 0; i < many; ++i) touch(source.allocate());
            source.arena.reset();
        });
}

/// As the book has it: each object with a std::function that ends it.
template <class Chunks>
void chunk_round() {
    using finalised = std::pair<void*, std::function<void(void*)>>;
    Chunks chunks;
    std::vector<finalised> objects(3 * bench::chunk_count);
    const auto make = [&]<class T>(T*) {
        return finalised{chunks.template create<T>(), [&chunks](void* p) { chunks.destroy(static_cast<T*>(p)); }};
    };
    for (std::size_t i = 0; i < objects.size(); i += 3) {
        objects[i] = make(static_cast<bench::zeroed<30>*>(nullptr));
        objects[i + 1] = make(static_cast<bench::zeroed<60>*>(nullptr));
        objects[i + 2] = make(static_cast<bench::zeroed<100>*>(nullptr));
    }
    for (const finalised& each : objects) each.second(each.first);
}

void chunk_pools(const char* only, const std::string& when) {
    print_row(only, "chunk pool synchronized, with construction" + when, 3 * bench::chunk_count,
              chunk_round<acre::synchronized<acre::chunk_pool<bench::chunk_count, 32, 62, 128>>>,
              chunk_round<locked_chunks>);
}

template <class Memory>
struct list_of_256 {
    void operator()() {
        std::pmr::list<int> list{hide(static_cast<std::pmr::memory_resource*>(memory.get()))};
        for (int i = 0; i < 256; ++i) list.push_back(i);
        escape(&list);
    }
    Memory memory;
};
struct acre_arenas {
    std::pmr::memory_resource* get() noexcept { return &resource; }
    acre::pmr<acre::multi_arena> resource{{.arenas = bench::camera_arenas, .bytes = bench::camera_arena_bytes}};
};
struct published_arenas {
    std::pmr::memory_resource* get() noexcept { return &resource; }
    bench::published::multi_arena resource{bench::camera_arenas, bench::camera_arena_bytes};
};

void multi_arenas(const char* only) {
    print_row(only, "multi_arena, camera", bench::camera_iterations,
              bench::make_round<bench::one_camera<acre_arenas>>(),
              bench::make_round<bench::one_camera<published_arenas>>());
    print_row(only, "multi_arena, pmr::list of 256", 256, bench::make_round<list_of_256<acre_arenas>>(),
              bench::make_round<list_of_256<published_arenas>>());
}

}  // namespace own_loops

int main(int count, char** arguments) {
    const char* only = count > 1 ? arguments[1] : nullptr;
    std::printf("| workload | acre, ns | the source's design, ns | ratio |\n|---|--:|--:|--:|\n");
    own_loops::object_pools(only);
    own_loops::arenas(only);
    own_loops::static_pools(only);
    own_loops::typed_arena(only, ", one thread");
    own_loops::chunk_pools(only, "");
    own_loops::multi_arenas(only);
    std::thread{[] {}}.join();
    own_loops::typed_arena(only, ", a thread was started");
    own_loops::chunk_pools(only, ", a thread was started");
}
