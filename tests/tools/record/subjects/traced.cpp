// Allocates through traced resources, each time a different size. The names of its functions say what happens.
#include <acre/adapt/pmr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/traced.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// Its constructor allocates, and its destructor frees.
template <std::size_t Bytes>
struct holder {
    std::unique_ptr<char[]> held = std::make_unique<char[]>(Bytes);
    char more[Bytes - 50];
    explicit holder(char first) { more[0] = first; }
};

using traced_arena = acre::traced<acre::arena>;

[[gnu::noinline]] void fill(traced_arena& level) {
    for (int i = 0; i < 10; ++i) level.allocate(6001);
    level.create<holder<6100>>('x');
    asm volatile("");
}

[[gnu::noinline]] void empty(traced_arena& level) {
    level.reset();
    asm volatile("");
}

[[gnu::noinline]] void go_back(traced_arena& level) {
    level.allocate(6003);
    const auto before = level.mark();
    for (int i = 0; i < 3; ++i) level.allocate(6002);
    level.rewind(before);
    asm volatile("");
}

void in_arena() {
    traced_arena level;
    fill(level);
    empty(level);
    go_back(level);
    void* p = level.allocate(6004, 64);
    level.try_resize(p, 6004, 6005);
}

void in_pools() {
    acre::traced<acre::object_pool<holder<7100>>> holders;
    holders.destroy(holders.create('y'));
    holders.create('z');

    acre::traced<acre::pool<7008>> first;
    void* p = first.allocate(7001);
    acre::traced<acre::pool<7008>> second = std::move(first);
    second.deallocate(p, 7001);
    p = second.allocate(7002);  // lives until its end
    p = first.allocate(7003);
    first.deallocate(p, 7003);
}

/// A slab and its first slot may have the same address.
void nested() {
    traced_arena below;
    acre::traced<acre::multi_pool> nodes{below};
    below.allocate(7201);
    void* p = nodes.allocate(72);
    nodes.deallocate(p, 72);
    nodes.allocate(73);
    nodes.release();
    below.reset();
}

void in_pmr() {
    acre::pmr<acre::traced<acre::multi_pool>> face;
    std::pmr::vector<char> text(8001, &face);
    acre::traced<acre::pmr_upstream> theirs{std::pmr::new_delete_resource()};
    acre::pmr other_face{theirs};
    std::pmr::vector<char> more(8002, &other_face);
}

template <class Pool>
void in_threads(std::size_t bytes) {
    Pool pool;
    std::vector<void*> kept[2];
    const auto work = [&](int number) {
        for (int i = 0; i < 500; ++i) {
            kept[number].push_back(pool.allocate(bytes));
            pool.deallocate(pool.allocate(bytes + 1), bytes + 1);
        }
    };
    std::thread other{work, 1};
    work(0);
    other.join();
    for (auto& each : kept) {
        for (void* p : each) pool.deallocate(p, bytes);
    }
}

}  // namespace

int main() {
    in_arena();
    in_pools();
    nested();
    in_pmr();
    in_threads<acre::synchronized<acre::traced<acre::multi_pool>>>(901);
    in_threads<acre::traced<acre::concurrent_multi_pool>>(903);
}
