// Uses each type, and what create() and allocate() return without a look at null: compiled with the warnings that a
// program may have as errors. Some speak only of optimised code.
#include <acre/acre.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/containers.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/adapt/pooled.hpp>
#include <acre/adapt/pooled_frames.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_names.hpp>
#include <acre/observe/checked_ptr.hpp>
#include <acre/observe/checked_scratch.hpp>
#include <acre/observe/describe.hpp>
#include <acre/observe/dump.hpp>
#include <acre/observe/logged.hpp>
#include <acre/observe/traced.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <cstddef>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using namespace acre::literals;

struct point {
    int x;
    int y;
};
struct creature {
    explicit creature(int of) : strength(of), name("Ugluk") {}
    int strength;
    std::string name;
};
struct pooled_creature : acre::pooled<pooled_creature> {
    int strength = 1;
};

template <class R>
int bytes_of(R& resource) {
    auto* all = static_cast<int*>(resource.allocate(4 * sizeof(int), alignof(int)));
    for (int i = 0; i < 4; ++i) all[i] = i;
    const int sum = all[0] + all[3];
    resource.deallocate(all, 4 * sizeof(int), alignof(int));
    void* p = resource.try_allocate(100);
    resource.deallocate(p, 100);
    return sum;
}
template <class R>
int typed(R& resource) {
    point* p = resource.template create<point>(1, 2);
    p->x += p->y;
    creature* c = resource.template create<creature>(p->x);
    c->strength += static_cast<int>(c->name.size());
    int sum = c->strength;
    for (int& each : resource.template allocate<int>(8)) each = sum;
    for (creature& each : resource.template create_array<creature>(3, 7)) sum += each.strength;
    return sum + static_cast<int>(resource.copy("Ugluk").size());
}
template <class Pool>
int objects(Pool& pool) {
    auto* object = pool.create(1);
    object->strength += 2;
    const int sum = object->strength;
    pool.destroy(object);
    return sum;
}
template <class R>
int containers(R& resource) {
    using in = acre::containers_in<R>;
    typename in::template vector<int> numbers{resource};
    for (int i = 0; i < 10; ++i) numbers.push_back(i);
    typename in::template unordered_map<int, int> squares{resource};
    for (int each : numbers) squares.emplace(each, each * each);
    std::list<int, acre::allocator<int, R>> list{numbers.begin(), numbers.end(), resource};
    auto owned = acre::make_unique<creature>(resource, 3);
    owned->strength += list.front();
    return squares[3] + owned->strength;
}

int in_arenas() {
    acre::arena level;
    acre::inline_arena<1_KiB> here;
    acre::arena fixed{{.fixed_bytes = 4_KiB}};
    int sum = typed(level) + typed(here) + typed(fixed) + bytes_of(level) + containers(level);
    {
        acre::scratch temp{level};
        acre::scratch other = acre::thread_scratch(level);
        sum += typed(temp) + typed(other);
        temp.keep();
    }
    {
        acre::cursor building{level};
        point* p = building.create<point>(1, 2);
        sum += p->x;
    }
    {
        acre::arena_vector<creature> many{level};
        for (int i = 0; i < 9; ++i) sum += many.emplace_back(i).strength;
        acre::arena_string text{level};
        text += "Ugluk";
        sum += text[0];
    }
    const auto mark = level.mark();
    sum += *level.create<int>(3);
    level.rewind(mark);
    level.reset(acre::keep_largest);
    return sum;
}

constinit acre::typed_arena<creature, 100> creatures;
constinit acre::typed_arena<creature, 100, acre::typed_arena_options{.reuse = true}> creatures_again;
constinit acre::typed_arena<creature, 100, acre::typed_arena_options{.synchronized = true}> creatures_of_all;

int in_typed_arenas() {
    creatures.prefault();
    static constinit acre::typed_arena<point, 100> points;
    point* some = points.allocate_one();
    some->x = 3;
    const int x = some->x;
    points.deallocate_one(some);
    return objects(creatures) + objects(creatures_again) + objects(creatures_of_all) + x;
}

int in_pools() {
    acre::object_pool<creature> pool;
    acre::object_pool<creature, acre::double_free_check::none> unchecked;
    acre::concurrent_object_pool<creature> shared;
    acre::wait_free_object_pool<creature> waiting{{.slots = 64}};
    acre::hardened_object_pool<creature> hard;
    acre::pool<64> slots;
    acre::concurrent_pool<64> shared_slots;
    acre::multi_pool nodes;
    acre::concurrent_multi_pool shared_nodes;
    acre::chunk_pool<100, 16, 64, 128> chunks;
    auto* object = new pooled_creature;
    int sum = object->strength++;
    delete object;
    *static_cast<int*>(slots.allocate()) = 3;
    for (const creature& each : pool) sum += each.strength;
    return sum + objects(pool) + objects(unchecked) + objects(shared) + objects(waiting) + objects(hard) +
           bytes_of(shared_slots) + bytes_of(nodes) + bytes_of(shared_nodes) + bytes_of(chunks) + containers(nodes);
}

int in_arenas_that_count() {
    acre::multi_arena frames{{.arenas = 16, .bytes = 4_KiB}};
    acre::inline_multi_arena<16, 1024> here;
    acre::concurrent_multi_arena shared{{.arenas = 16, .bytes = 4_KiB}};
    acre::concurrent_arena together;
    return bytes_of(frames) + bytes_of(here) + bytes_of(shared) + bytes_of(together) + containers(frames);
}

int in_heaps() {
    acre::general_heap heap;
    acre::realtime_heap control{{.arenas = 64, .bytes = 4_KiB}};
    acre::virtual_memory pages{{.reserve_bytes = 1_MiB}};
    return bytes_of(heap) + bytes_of(control) + bytes_of(pages);
}

int combined() {
    acre::synchronized<acre::multi_pool> locked;
    acre::synchronized<acre::arena, acre::spin_lock> level;
    acre::statistics<acre::multi_pool> counted;
    acre::checked<acre::multi_pool> checked;
    acre::checked<acre::arena> checked_level;
    acre::checked_scratch temp{checked_level};
    acre::limited<acre::multi_pool> limited{{.limit_bytes = 1_MiB}};
    acre::fallback<acre::inline_arena<1_KiB>, acre::heap> either;
    acre::segregate<64, acre::pool<64>, acre::heap> by_size;
    acre::pmr<acre::multi_pool> face;
    std::pmr::vector<int> numbers{&face};
    numbers.push_back(3);
    acre::unsynchronized_pool_resource pools;
    std::pmr::list<int> list{&pools};
    list.push_back(numbers.back());
    return bytes_of(locked) + typed(level) + bytes_of(counted) + bytes_of(checked) + typed(temp) + bytes_of(limited) +
           bytes_of(either) + bytes_of(by_size) + list.back();
}

}  // namespace

int main() {
    return in_arenas() + in_typed_arenas() + in_pools() + in_arenas_that_count() + in_heaps() + combined();
}
