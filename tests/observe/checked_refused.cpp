// What acre::checked refuses at compile time. CMakeLists.txt lists the cases; each is compiled with ACRE_TEST_CASE set
// to its number. Case 0 is the rest of the file, which compiles.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/observe/checked.hpp>
#include <acre/observe/checked_ptr.hpp>
#include <acre/observe/checked_scratch.hpp>

#pragma GCC diagnostic error "-Wunused-result"
#if defined(__clang__)
#pragma GCC diagnostic error "-Wunused-value"
#endif

acre::synchronized<acre::checked<acre::heap>> under_a_lock;

#if ACRE_TEST_CASE == 1
acre::checked<acre::synchronized<acre::heap>> over_a_lock;
#endif

void use() {
    acre::checked<acre::arena> level;
    acre::checked_scratch temp{level};
    temp.allocate(100);
    acre::checked_scratch of_a_pointer{&level};
#if ACRE_TEST_CASE == 2
    acre::scratch plain{level};
#elif ACRE_TEST_CASE == 3
    acre::checked_scratch{level};
#elif ACRE_TEST_CASE == 4
    level.clear();
#elif ACRE_TEST_CASE == 5
    acre::checked_ptr<int>{under_a_lock, nullptr};
#endif
}
