// A program for the debugger tests: one object of each type that the printers of debuggers/gdb know, in a known state.
// stopped() is where the debugger stops.
#include <acre/acre.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/observe/gdb_printers.hpp>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>

struct bullet {
    int x;
    float speed;
};
struct named {
    std::string name;
};

// What lies in these is the same in each run; that they have external linkage keeps an optimiser from removing them.
namespace shown {
acre::arena empty_arena;
acre::arena level{{.first_block_bytes = 1024, .max_block_bytes = 1024}};
acre::inline_arena<512> small;
acre::arena parent;
acre::concurrent_arena shared_level;
acre::typed_arena<bullet, 8> once;
acre::typed_arena<bullet, 8, acre::typed_arena_options{.reuse = true}> again;
acre::typed_arena<bullet, 8, acre::typed_arena_options{.reuse = true, .synchronized = true}> again_shared;
acre::multi_arena frames{{.arenas = 4, .bytes = 256}};
acre::inline_multi_arena<2, 100> inline_frames;
acre::concurrent_multi_arena messages{{.arenas = 4, .bytes = 256}};
acre::inline_concurrent_multi_arena<4, 256> inline_messages;
acre::object_pool<bullet> bullets;
acre::object_pool<bullet> many_bullets;
acre::pool<24> slots;
acre::multi_pool nodes;
acre::concurrent_object_pool<bullet> shared_bullets;
acre::concurrent_pool<64, 64, acre::double_free_check::late> late_slots;
acre::concurrent_multi_pool shared_nodes;
acre::wait_free_object_pool<bullet> wait_free_bullets{{.slots = 70}};
acre::limited<acre::object_pool<bullet>> few{{.limit_bytes = 64}};
acre::statistics<acre::arena> watched;
acre::synchronized<acre::pool<32>> locked;
acre::pmr<acre::arena> face;
acre::synchronized<acre::statistics<acre::multi_pool>> nested;
acre::resource_ref to_level{level};
acre::resource_ref to_heap{acre::heap{}};
acre::allocator<int, acre::arena> of_level{level};
acre::allocator<int, acre::heap> of_heap;
alignas(16) std::byte storage[256];
acre::buffer given{storage};
acre::unique_ptr<bullet, acre::object_pool<bullet>> owned;
acre::resource_delete<bullet, acre::object_pool<bullet>> deleter{bullets};
const acre::arena& by_reference = level;
}  // namespace shown

extern "C" [[gnu::noinline, gnu::used]] void stopped(const acre::scratch* outer, const acre::scratch* inner,
                                                     const acre::scratch* ended) {
    asm volatile("" : : "r"(outer), "r"(inner), "r"(ended) : "memory");
}

namespace {

using namespace shown;

void fill_arenas(acre::arena& filled) {
    for (int i = 0; i < 3; ++i) (void)filled.allocate(400);
    (void)filled.allocate(4096);
    filled.create<named>(named{"destroyed at reset"});
    (void)small.allocate(100);
    (void)shared_level.allocate(100);
}

void fill_typed_arenas() {
    for (int i = 0; i < 3; ++i) (void)once.allocate_one();
    const auto fill = [](auto& filled) {
        bullet* made[4];
        for (int i = 0; i < 4; ++i) made[i] = ::new (filled.allocate_one()) bullet{i, 0.5F};
        filled.destroy(made[1]);
    };
    fill(again);
    fill(again_shared);
}

void fill_multi_arenas() {
    for (int i = 0; i < 3; ++i) (void)frames.allocate(100);
    (void)inline_frames.allocate(10);
    for (int i = 0; i < 3; ++i) (void)messages.allocate(100);
    (void)inline_messages.allocate(16);
}

void fill_pools() {
    bullet* first = bullets.create(1, 1.5F);
    bullets.create(2, 2.5F);
    bullets.create(3, 3.5F);
    bullets.destroy(first);
    for (int i = 0; i < 100'000; ++i) many_bullets.create(i, 0.0F);
    (void)slots.allocate();
    (void)slots.allocate(1000);
    for (std::size_t bytes : {8U, 8U, 24U, 100U, 100'000U}) (void)nodes.allocate(bytes);
    bullet* freed = shared_bullets.create(7, 7.5F);
    shared_bullets.create(8, 8.5F);
    shared_bullets.destroy(freed);
    (void)late_slots.allocate();
    (void)shared_nodes.allocate(24);
    for (int i = 0; i < 66; ++i) wait_free_bullets.create(i, 0.0F);
}

void fill_wrappers() {
    few.create(4, 4.5F);
    (void)watched.allocate(100);
    (void)locked.allocate();
    (void)face->allocate(40);
    (void)nested.allocate(24);
    (void)given.allocate(40, 8);
    owned = acre::make_unique<bullet>(bullets, bullet{9, 9.5F});
}

}  // namespace

int main() {
    fill_arenas(level);
    fill_typed_arenas();
    fill_multi_arenas();
    fill_pools();
    fill_wrappers();
    (void)parent.allocate(64);
    acre::scratch outer{parent};
    (void)parent.allocate(32);
    acre::scratch inner{parent};
    (void)parent.allocate(16);
    acre::scratch ended{level};
    ended.end();
    // What the library itself says, for the test to compare.
    std::printf("level used %zu of %zu\n", level.used(), level.capacity());
    std::printf("many_bullets %zu of %zu\n", many_bullets.live(), many_bullets.slots());
    std::printf("bullets %zu of %zu\n", bullets.live(), bullets.slots());
    std::printf("slots %zu of %zu\n", slots.live(), slots.slots());
    std::printf("nodes %zu in %zu\n", nodes.live(), nodes.capacity());
    std::printf("frames %zu in %zu\n", frames.allocations(), frames.busy_arenas());
    std::printf("messages %zu in %zu\n", messages.allocations(), messages.busy_arenas());
    std::printf("inline_messages %zu in %zu\n", inline_messages.allocations(), inline_messages.busy_arenas());
    std::printf("shared_bullets %zu\n", shared_bullets.live());
    std::printf("late_slots %zu\n", late_slots.live());
    std::printf("shared_nodes %zu\n", shared_nodes.live());
    std::printf("wait_free_bullets %zu\n", wait_free_bullets.live());
    std::printf("shared_level %zu\n", shared_level.used());
    std::fflush(stdout);
    stopped(&outer, &inner, &ended);
    return 0;
}
