// One call of each pool, as a function of its own, for callgrind: pool_instructions.py counts and prints a table.
//
// Usage: pool_instructions                lists the pools
//        pool_instructions POOL ROUNDS    allocates 40 slots of 64 bytes and frees them, newest first, in each round
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

constexpr std::size_t bytes = 64;
struct block {
    std::byte storage[bytes];
};
// Its constructor and destructor do nothing, so that what is counted is what the pool does for a class that has them.
struct classed {
    classed() noexcept {}  // NOLINT(modernize-use-equals-default): a defaulted one is none that the pool watches
    ~classed() { asm volatile(""); }
    std::byte storage[bytes];
};
constexpr auto none = acre::double_free_check::none;
struct job {};

// How a pool is called. `size` is unknown to the compiler.
struct by_slot {
    static void* allocate(auto& pool, std::size_t) { return pool.allocate(); }
    static void deallocate(auto& pool, void* p, std::size_t) { pool.deallocate(p); }
};
template <class T>
struct by_object {
    static void* allocate(auto& pool, std::size_t) { return pool.create(); }
    static void deallocate(auto& pool, void* p, std::size_t) { pool.destroy(static_cast<T*>(p)); }
};
struct by_constant_size {
    static void* allocate(auto& pool, std::size_t) { return pool.allocate(bytes); }
    static void deallocate(auto& pool, void* p, std::size_t) { pool.deallocate(p, bytes); }
};
struct by_size {
    static void* allocate(auto& pool, std::size_t size) { return pool.allocate(size); }
    static void deallocate(auto& pool, void* p, std::size_t size) { pool.deallocate(p, size); }
};

template <class Call, class Pool>
[[gnu::noinline]] void* the_counted_allocation(Pool& pool, std::size_t size) {
    return Call::allocate(pool, size);
}
template <class Call, class Pool>
[[gnu::noinline]] void the_counted_deallocation(Pool& pool, void* p, std::size_t size) {
    Call::deallocate(pool, p, size);
}

template <class Call, class Pool>
void run(Pool& pool, int rounds) {
    constexpr std::size_t live = 40;
    void* blocks[live];
    std::size_t size = bytes;
    for (int round = 0; round < rounds; ++round) {
        asm volatile("" : "+r"(size));
        for (void*& each : blocks) each = the_counted_allocation<Call>(pool, size);
        for (std::size_t at = live; at > 0; --at) the_counted_deallocation<Call>(pool, blocks[at - 1], size);
    }
}
template <class Call, class Pool>
void run_own(int rounds) {
    const auto pool = std::make_unique<Pool>();
    run<Call>(*pool, rounds);
}

struct named_pool {
    const char* name;
    void (*run)(int rounds);
};
const named_pool pools[] = {
    {"pool", run_own<by_slot, acre::pool<bytes>>},
    {"pool, unchecked", run_own<by_slot, acre::pool<bytes, 16, none>>},
    {"object_pool", run_own<by_object<block>, acre::object_pool<block>>},
    {"object_pool, with constructor and destructor", run_own<by_object<classed>, acre::object_pool<classed>>},
    {"object_pool, unchecked, with constructor and destructor",
     run_own<by_object<classed>, acre::object_pool<classed, none>>},
    {"multi_pool, constant size", run_own<by_constant_size, acre::multi_pool>},
    {"multi_pool", run_own<by_size, acre::multi_pool>},
    {"multi_pool, unchecked", run_own<by_size, acre::basic_multi_pool<acre::default_size_classes, none>>},
    {"chunk_pool, constant size", run_own<by_constant_size, acre::chunk_pool<100'000, bytes>>},
    {"wait_free_pool, 4096 slots",
     [](int rounds) {
         acre::wait_free_pool<bytes> pool{{.slots = 4096}};
         run<by_slot>(pool, rounds);
     }},
    {"wait_free_object_pool, 4096 slots, with constructor and destructor",
     [](int rounds) {
         acre::wait_free_object_pool<classed> pool{{.slots = 4096}};
         run<by_object<classed>>(pool, rounds);
     }},
    {"concurrent_pool", run_own<by_slot, acre::concurrent_pool<bytes>>},
    {"concurrent_pool, unchecked", run_own<by_slot, acre::concurrent_pool<bytes, 16, none>>},
    {"concurrent_object_pool", run_own<by_object<block>, acre::concurrent_object_pool<block>>},
    {"concurrent_object_pool, with constructor and destructor",
     run_own<by_object<classed>, acre::concurrent_object_pool<classed>>},
    {"concurrent_multi_pool, constant size", run_own<by_constant_size, acre::concurrent_multi_pool>},
    {"concurrent_multi_pool", run_own<by_size, acre::concurrent_multi_pool>},
    {"concurrent_multi_pool, unchecked",
     run_own<by_size, acre::basic_concurrent_multi_pool<acre::default_size_classes, none>>},
    {"static_pool", run_own<by_slot, acre::static_pool<bytes>>},
    {"static_pool, unchecked", run_own<by_slot, acre::static_pool<bytes, acre::shared_group<job, acre::heap, none>>>},
    {"static_pool, group of one thread", run_own<by_slot, acre::static_pool<bytes, acre::thread_group<job>>>},
    {"static_pool, group of one thread, unchecked",
     run_own<by_slot, acre::static_pool<bytes, acre::thread_group<job, acre::heap, none>>>},
};

}  // namespace

int main(int argc, char** argv) {
    for (const named_pool& each : pools) {
        if (argc == 1) std::puts(each.name);
        if (argc == 3 && each.name == std::string_view{argv[1]}) each.run(std::atoi(argv[2]));
    }
}
