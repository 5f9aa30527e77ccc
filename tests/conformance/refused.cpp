// What the types refuse at compile time, beside the lists of the rooms. CMakeLists.txt lists the cases, with several
// sentences each; each is compiled with ACRE_TEST_CASE set to its number. Case 0 is the same with arguments that are
// right, which compiles.
#include <acre/acre.hpp>
#include <acre/pools/hardened_multi_pool.hpp>
#include <acre/pools/hardened_object_pool.hpp>
#include <acre/pools/hardened_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

// ACRE_TEST_IN_n(right, wrong): the second in case n, the first in all others.
#if ACRE_TEST_CASE == 1
#define ACRE_TEST_IN_1(right, wrong) wrong
#else
#define ACRE_TEST_IN_1(right, wrong) right
#endif
#if ACRE_TEST_CASE == 2
#define ACRE_TEST_IN_2(right, wrong) wrong
#else
#define ACRE_TEST_IN_2(right, wrong) right
#endif
#if ACRE_TEST_CASE == 3
#define ACRE_TEST_IN_3(right, wrong) wrong
#else
#define ACRE_TEST_IN_3(right, wrong) right
#endif
#if ACRE_TEST_CASE == 4
#define ACRE_TEST_IN_4(right, wrong) wrong
#else
#define ACRE_TEST_IN_4(right, wrong) right
#endif

using sizes = acre::default_size_classes;

// Case 1: arguments of the pools.
template class acre::pool<ACRE_TEST_IN_1(8, 0)>;
template class acre::pool<16, ACRE_TEST_IN_1(8, 3)>;
using numbers = ACRE_TEST_IN_1(int, int[2]);
acre::object_pool<numbers> of_arrays;
acre::object_pool<ACRE_TEST_IN_1(long, const long)> of_constants;
std::size_t shared_slot = sizeof(acre::static_pool<ACRE_TEST_IN_1(8, 0)>);
std::size_t largest_slot = sizeof(acre::static_pool<ACRE_TEST_IN_1(8, SIZE_MAX / 4)>);
std::size_t of_sizes = sizeof(acre::basic_multi_pool<ACRE_TEST_IN_1(sizes, int)>);
std::size_t of_shared_sizes = sizeof(acre::basic_concurrent_multi_pool<ACRE_TEST_IN_1(sizes, int)>);
std::size_t large_slots = sizeof(acre::hardened_pool<ACRE_TEST_IN_1(32768, 32769)>);
std::size_t of_hardened_sizes = sizeof(acre::basic_hardened_multi_pool<ACRE_TEST_IN_1(sizes, int)>);
using large_sizes = acre::size_class_list<64, 65536>;
std::size_t of_large_hardened_sizes = sizeof(acre::basic_hardened_multi_pool<ACRE_TEST_IN_1(sizes, large_sizes)>);

// Case 2: arguments of what holds its storage inside, and of what wraps another resource.
std::size_t inside = sizeof(acre::inline_buffer<ACRE_TEST_IN_2(64, 0)>);
std::size_t aligned_inside = sizeof(acre::inline_buffer<64, ACRE_TEST_IN_2(8, 3)>);
std::size_t block_inside = sizeof(acre::inline_arena<ACRE_TEST_IN_2(64, 63)>);
std::size_t arenas_inside = sizeof(acre::inline_multi_arena<ACRE_TEST_IN_2(4, 0), 64>);
std::size_t bytes_inside = acre::inline_multi_arena<4, ACRE_TEST_IN_2(64, SIZE_MAX / 32)>::arenas();
std::size_t open_inside = sizeof(acre::inline_multi_arena<16, 64, ACRE_TEST_IN_2(8, 9)>);
std::size_t too_many_arenas = sizeof(acre::inline_concurrent_multi_arena<ACRE_TEST_IN_2(64, 1 << 24), 16>);
std::size_t no_threshold = sizeof(acre::segregate<ACRE_TEST_IN_2(64, SIZE_MAX), acre::pool<64>, acre::heap>);
constexpr acre::statistics_options with_map{.live_map = ACRE_TEST_IN_2(true, false), .leak_report = true};
std::size_t reporting = sizeof(acre::statistics<acre::arena, with_map>);
constexpr acre::statistics_options with_peak{.peak_busy_arenas = true};
std::size_t peaks = sizeof(acre::statistics<ACRE_TEST_IN_2(acre::multi_arena, acre::multi_pool), with_peak>);
std::size_t growing_list = sizeof(acre::arena_vector<int, ACRE_TEST_IN_2(acre::arena, acre::multi_pool)>);
std::size_t growing_text = sizeof(acre::basic_arena_string<ACRE_TEST_IN_2(acre::arena, acre::multi_pool)>);
constexpr acre::typed_arena_options by_default;
std::size_t falling_back = sizeof(acre::typed_arena<int, 2, by_default, ACRE_TEST_IN_2(acre::heap, int)>);

// Case 3: storage whose objects nobody would destroy.
using stored = ACRE_TEST_IN_3(double, std::string);
void storage(acre::arena& level, acre::concurrent_arena& shared, acre::cursor& at, acre::arena_vector<stored>& list) {
    (void)level.allocate<stored>(2);
    (void)level.try_allocate<stored>(2);
    (void)shared.create<stored>();
    (void)at.create<stored>();
    (void)at.allocate<stored>(2);
    (void)list.detach();
}

// Case 4: calls.
struct row {
    int values[3];
};
void calls(acre::arena& level, acre::synchronized<acre::multi_pool>& shared, acre::chunk_pool<4, 64>& chunks) {
    acre::scratch temp = acre::thread_scratch ACRE_TEST_IN_4((level, level), (level, level, level, level));
    (void)shared.with([](acre::multi_pool& pool) { return ACRE_TEST_IN_4(pool.live(), &pool); });
    using element = ACRE_TEST_IN_4(double, std::string);
    (void)level.copy(std::span<const element>{});
    using cells = ACRE_TEST_IN_4(row, int[3]);
    chunks.destroy_array(static_cast<cells*>(nullptr));
    (void)new (ACRE_TEST_IN_4(chunks, level)) row;
    (void)new (ACRE_TEST_IN_4(chunks, shared)) row[2];
}
