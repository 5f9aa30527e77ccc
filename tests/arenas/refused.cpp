// What arenas and scratches refuse at compile time. CMakeLists.txt lists the cases; each is compiled with
// ACRE_TEST_CASE set to its number. Case 0 is the rest of the file, which compiles.
#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/multi_pool.hpp>
#include <string>
#include <utility>
#include <vector>

#pragma GCC diagnostic error "-Wunused-result"
#if defined(__clang__)
#pragma GCC diagnostic error "-Wunused-value"
#endif

void use() {
    acre::arena level;
    acre::scratch temp{level};
    acre::scratch of_the_thread = acre::thread_scratch(level);
    (void)level.allocate<int>();
    (void)level.create<std::string>("text");
    acre::unique_resource<acre::arena> handle;
    acre::unique_resource<acre::arena> moved{std::move(handle)};
    std::vector<int, acre::allocator<int, acre::arena>> numbers{*moved};
    acre::scratch in_it{*moved};
    in_it.keep();
    acre::inline_arena<64> inside;
    acre::scratch in_the_object{inside};
    acre::multi_arena named{{.arenas = 16, .bytes = 1024}};
    const acre::arena& read_only = level;
    acre::synchronized<acre::arena> shared;
    acre::multi_pool nodes;
    acre::typed_arena<int, 3> numbered;
    acre::scratch inner{temp.parent()};
    std::vector<int, acre::allocator<int, acre::arena>> in_the_arena_of_a_scratch{temp.parent()};
    acre::arena_vector<int, acre::multi_arena> elsewhere{named};
    acre::scratch beside = acre::thread_scratch(read_only, &level, handle);
    acre::cursor building{level};
#if ACRE_TEST_CASE == 1
    acre::scratch{level};
#elif ACRE_TEST_CASE == 2
    acre::thread_scratch();
#elif ACRE_TEST_CASE == 3
    temp.release();
#elif ACRE_TEST_CASE == 4
    acre::arena other{std::move(level)};
#elif ACRE_TEST_CASE == 5
    (void)level.allocate<std::string>();
#elif ACRE_TEST_CASE == 6
    int* several = level.allocate<int>(10);
#elif ACRE_TEST_CASE == 7
    std::vector<int, acre::allocator<int, acre::unique_resource<acre::arena>>> of_a_handle{handle};
#elif ACRE_TEST_CASE == 8
    temp = acre::scratch{level};
#elif ACRE_TEST_CASE == 9
    acre::scratch of_a_const_arena{read_only};
#elif ACRE_TEST_CASE == 10
    acre::scratch of_a_temporary{acre::arena{}};
#elif ACRE_TEST_CASE == 11
    std::vector<int, acre::allocator<int, acre::arena>> in_a_scratch{temp};
#elif ACRE_TEST_CASE == 12
    acre::scratch of_a_scratch{temp};
#elif ACRE_TEST_CASE == 13
    level.clear();
#elif ACRE_TEST_CASE == 14
    acre::multi_arena of_numbers(16, 1024);
#elif ACRE_TEST_CASE == 15
    acre::scratch of_what_threads_share{shared};
#elif ACRE_TEST_CASE == 16
    acre::cursor of_a_pointer_to_a_const_arena{&read_only};
#elif ACRE_TEST_CASE == 17
    acre::arena_vector<int> of_another_resource{nodes};
#elif ACRE_TEST_CASE == 18
    acre::scratch of_the_thread_without_a_pool = acre::thread_scratch(nodes);
#elif ACRE_TEST_CASE == 19
    named.clear();
#elif ACRE_TEST_CASE == 20
    numbered.clear();
#elif ACRE_TEST_CASE == 21
    acre::scratch of_a_temporary_handle{acre::unique_resource<acre::arena>{}};
#elif ACRE_TEST_CASE == 22
    level.allocate(100);
#endif
}
