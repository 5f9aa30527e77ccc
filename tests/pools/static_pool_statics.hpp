// Classes from static pools, whose objects files own from before main to after it.
#pragma once

#include <acre/adapt/pooled.hpp>
#include <acre/pools/static_pool.hpp>
#include <cstdio>
#include <cstdlib>

namespace acre_test {

struct group_of_statics;

/// From the pool that all threads share, of a size that nobody else in the program uses.
struct static_troll : acre::pooled<static_troll> {
    int strength = 100;
    char rest[2000] = {};
};
using troll_pool = acre::static_pool<sizeof(static_troll)>;

/// From a named group.
struct static_dwarf {
    int age = 150;
    ACRE_POOLED_IN(static_dwarf, acre::static_pool<16, group_of_statics>);
};
using dwarf_pool = acre::static_pool<16, group_of_statics>;

/// Ends the program with status 7 unless all are gone and their memory can be given back: to be the last of all ends.
inline void expect_nobody_left() noexcept {
    troll_pool::release_unused();
    dwarf_pool::release_unused();
    if (troll_pool::live() + dwarf_pool::live() + troll_pool::capacity() + dwarf_pool::capacity() == 0) return;
    std::fprintf(stderr, "%zu trolls and %zu dwarfs are left, %zu and %zu bytes are held\n", troll_pool::live(),
                 dwarf_pool::live(), troll_pool::capacity(), dwarf_pool::capacity());
    std::_Exit(7);
}

}  // namespace acre_test
