// Slips of those who meet acre for the first time (hazard Y21): the first line of the error says what to write, and few
// lines follow. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set to its number.
#include <acre/acre.hpp>
#include <cstddef>
#include <new>

using namespace acre::literals;

struct throwing_resource {
    void* allocate(std::size_t bytes, std::size_t) { return ::operator new(bytes); }
    void* try_allocate(std::size_t bytes, std::size_t) { return ::operator new(bytes, std::nothrow); }
    void deallocate(void* p, std::size_t, std::size_t) { ::operator delete(p); }
};
struct malloc_like {
    void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    void deallocate(void* p) noexcept { ::operator delete(p); }
};

void slip() {
#if ACRE_TEST_CASE == 1
    acre::arena level{1 << 20};
#elif ACRE_TEST_CASE == 2
    acre::inline_arena<1024> level{1024};
#elif ACRE_TEST_CASE == 3
    acre::concurrent_arena level{1 << 20};
#elif ACRE_TEST_CASE == 4
    acre::object_pool<int> numbers{100};
#elif ACRE_TEST_CASE == 5
    acre::pool<64> nodes{1000};
#elif ACRE_TEST_CASE == 6
    acre::multi_pool nodes{1 << 20};
#elif ACRE_TEST_CASE == 7
    acre::chunk_pool<100, 48> chunks{100};
#elif ACRE_TEST_CASE == 8
    acre::statistics<acre::arena> counted{1024};
#elif ACRE_TEST_CASE == 9
    acre::limited<acre::arena> level{1000};
#elif ACRE_TEST_CASE == 10
    acre::multi_arena frames;
#elif ACRE_TEST_CASE == 11
    acre::multi_arena frames{64, 64_KiB};
#elif ACRE_TEST_CASE == 12
    acre::concurrent_multi_arena frames{64};
#elif ACRE_TEST_CASE == 13
    acre::realtime_heap control;
#elif ACRE_TEST_CASE == 14
    acre::multi_pool nodes;
    auto one = acre::make_unique<int>(nodes, 1);
#elif ACRE_TEST_CASE == 15
    acre::multi_pool nodes;
    auto one = acre::make_shared<int>(&nodes, 1);
#elif ACRE_TEST_CASE == 16
    throwing_resource mine;
    acre::arena level{mine};
#elif ACRE_TEST_CASE == 17
    malloc_like mine;
    acre::multi_pool nodes{mine};
#elif ACRE_TEST_CASE == 18
    acre::arena level;
    auto work = [level] {};
#elif ACRE_TEST_CASE == 19
    acre::arena_vector<int> numbers;
#elif ACRE_TEST_CASE == 20
    acre::arena level;
    acre::arena_vector<int> numbers{level, 10};
#elif ACRE_TEST_CASE == 21
    acre::arena_string text{"abc"};
#elif ACRE_TEST_CASE == 22
    acre::scratch temp;
#elif ACRE_TEST_CASE == 23
    acre::allocator<int, throwing_resource> mine;
#elif ACRE_TEST_CASE == 24
    acre::pmr<acre::arena> level{1024};
#elif ACRE_TEST_CASE == 25
    acre::synchronized<acre::arena> level{1024};
#elif ACRE_TEST_CASE == 26
    acre::pool nodes;
#elif ACRE_TEST_CASE == 27
    acre::object_pool orcs;
#elif ACRE_TEST_CASE == 28
    acre::concurrent_pool nodes;
#elif ACRE_TEST_CASE == 29
    acre::concurrent_object_pool orcs;
#elif ACRE_TEST_CASE == 30
    acre::inline_arena level;
#elif ACRE_TEST_CASE == 31
    acre::typed_arena orcs;
#elif ACRE_TEST_CASE == 32
    acre::typed_arena<int> numbers;
#elif ACRE_TEST_CASE == 33
    acre::chunk_pool chunks;
#elif ACRE_TEST_CASE == 34
    acre::static_pool nodes;
#elif ACRE_TEST_CASE == 35
    acre::wait_free_pool<64> events;
#elif ACRE_TEST_CASE == 36
    acre::wait_free_object_pool<int> events;
#elif ACRE_TEST_CASE == 37
    acre::wait_free_object_pool<int> events{100};
#elif ACRE_TEST_CASE == 38
    acre::arena_vector<int> numbers(5);
#elif ACRE_TEST_CASE == 39
    acre::arena_vector<int> numbers{1, 2, 3};
#elif ACRE_TEST_CASE == 40
    acre::arena_string line(80, '-');
#elif ACRE_TEST_CASE == 41
    acre::allocator<int, acre::arena> without{};
#elif ACRE_TEST_CASE == 42
    const acre::multi_pool nodes;
    acre::arena level{nodes};
#elif ACRE_TEST_CASE == 43
    acre::arena level{acre::multi_pool{}};
#elif ACRE_TEST_CASE == 44
    acre::arena level{nullptr};
#endif
}
