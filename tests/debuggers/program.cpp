// A program for the debugger tests: one object of each type that the printers of debuggers/gdb know, in a known state.
// stopped() is where the debugger stops.
#include <acre/acre.hpp>
#include <acre/adapt/ambient.hpp>
#include <acre/adapt/ambient_arena.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/heaps/general_heap.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/virtual_memory.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_scratch.hpp>
#include <acre/observe/gdb_printers.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
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
acre::concurrent_pool<64, 64, acre::double_free_check::none> late_slots;
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
acre::arena of_numbers;
acre::arena_vector<int> numbers{of_numbers};
acre::arena_string text{of_numbers};
acre::chunk_pool<4, 32, 60, 128> chunks{{.when_full = acre::exhaustion::fall_back}};
acre::hardened_object_pool<bullet> guarded_bullets;
acre::hardened_multi_pool guarded_nodes;
struct audio;
acre::static_pool<100> static_slots;
acre::static_pool<64, audio> static_audio;
acre::static_pool<24> static_unused;
acre::general_heap process_heap;
acre::realtime_heap control{{.arenas = 8, .bytes = 1024}};
acre::virtual_memory pages{{.reserve_bytes = 1 << 20}};
acre::ambient current;
acre::ambient_arena current_arena;
acre::checked<acre::object_pool<bullet>> checked_bullets;
acre::checked<acre::arena> checked_level;
acre::fallback<acre::inline_buffer<64>, acre::heap> two;
acre::segregate<64, acre::pool<64>, acre::heap> by_size;
acre::unique_resource<acre::arena> owner;
acre::pmr_upstream standard{std::pmr::new_delete_resource()};
acre::unsynchronized_pool_resource standard_pools;
acre::malloc_face<acre::multi_pool> face_of_nodes{nodes};
acre::recycling<acre::arena> recycled;
}  // namespace shown

extern "C" [[gnu::noinline, gnu::used]] void stopped(const acre::scratch* outer, const acre::scratch* inner,
                                                     const acre::scratch* ended, const acre::cursor* writer,
                                                     const acre::checked_scratch<acre::arena>* checked_scope) {
    asm volatile("" : : "r"(outer), "r"(inner), "r"(ended), "r"(writer), "r"(checked_scope) : "memory");
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

void fill_others() {
    for (int i = 1; i <= 3; ++i) numbers.push_back(i);
    text = "URG";
    for (std::size_t bytes : {20U, 60U, 60U, 500U}) (void)chunks.allocate(bytes);
    bullet* freed = guarded_bullets.create(5, 5.5F);
    guarded_bullets.create(6, 6.5F);
    guarded_bullets.destroy(freed);
    for (std::size_t bytes : {24U, 24U, 100'000U}) (void)guarded_nodes.allocate(bytes);
    (void)static_slots.allocate();
    (void)static_audio.allocate();
    (void)process_heap.allocate(40);
    for (std::size_t bytes : {100U, 100U, 3000U}) (void)control.allocate(bytes);
    (void)pages.allocate(5000);
    checked_bullets.destroy(checked_bullets.create(1, 1.5F));
    checked_bullets.create(2, 2.5F);
    (void)checked_level.allocate(100);
    (void)two.allocate(40, 8);
    (void)by_size.allocate(40, 8);
    (void)owner->allocate(100);
    (void)standard_pools.allocate(24);
    (void)recycled.allocate(100);
}

}  // namespace

int main() {
    fill_arenas(level);
    fill_typed_arenas();
    fill_multi_arenas();
    fill_pools();
    fill_wrappers();
    fill_others();
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
    std::printf("chunks %zu live\n", chunks.live() - 1);
    std::printf("pages used %zu\n", pages.used());
    std::printf("writer %zu\n", of_numbers.remaining());
    std::fflush(stdout);
    acre::cursor writer{of_numbers};
    acre::checked_scratch checked_scope{checked_level};
    acre::use_arena use_level{level};
    acre::use_resource use_nodes{nodes};
    stopped(&outer, &inner, &ended, &writer, &checked_scope);
    return 0;
}
