// Classes in typed arenas of one file, whose objects other files own from before main to after it.
#pragma once

#include <cstddef>

namespace acre_test {

/// Its arena has no reuse and lies at namespace scope.
struct static_orc {
    int strength = 100;
    static void* operator new(std::size_t bytes);
    static void operator delete(void* p, std::size_t bytes) noexcept;
};

/// Its arena has reuse and is local to a function.
struct static_elf {
    static_elf();
    static_elf(const static_elf&) = delete;
    static_elf& operator=(const static_elf&) = delete;
    ~static_elf();
    int age = 500;
    static void* operator new(std::size_t bytes);
    static void operator delete(void* p, std::size_t bytes) noexcept;
    static void* operator new[](std::size_t bytes);
    static void operator delete[](void* p, std::size_t bytes) noexcept;
};

bool owned_by_an_arena(const static_orc* orc) noexcept;
bool owned_by_an_arena(const static_elf* elf) noexcept;
/// Number of live elves.
int live_elves() noexcept;

/// Ends the program with status 7 unless no elf is live and all their storage is free. To be called last.
void expect_no_elves_left() noexcept;

}  // namespace acre_test
