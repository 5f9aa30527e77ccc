// Linked first: its initialisers run first and its destructors last.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "pools/static_pool_statics.hpp"

namespace {

using acre_test::dwarf_pool;
using acre_test::static_dwarf;
using acre_test::static_troll;
using acre_test::troll_pool;

// The first static object, so the last to be destroyed.
struct last_of_all {
    ~last_of_all() { acre_test::expect_nobody_left(); }
};
[[gnu::init_priority(200)]] last_of_all witness;

// Allocates in its constructor, and in its destructor, after main and after other statics.
struct allocates_at_both_ends {
    allocates_at_both_ends() { allocate(); }
    ~allocates_at_both_ends() { allocate(); }
    static void allocate() {
        delete new static_troll;
        delete new static_dwarf;
        delete[] new static_troll[3];
        // A thread that ends before this destructor does.
        std::thread{[] { delete new static_troll; }}.join();
    }
};
[[gnu::init_priority(300)]] allocates_at_both_ends ends;

const std::unique_ptr<static_troll> early_troll = std::make_unique<static_troll>();
const std::unique_ptr<static_dwarf> early_dwarf = std::make_unique<static_dwarf>();
// Filled in main, freed after it.
std::unique_ptr<static_dwarf> later_dwarf;
std::vector<std::unique_ptr<static_troll>> later_trolls;

// Hazards B8, N6, P10.
TEST(static_pool_statics, is_ready_before_any_initialiser) {
    EXPECT_TRUE(troll_pool::owns(early_troll.get()));
    EXPECT_TRUE(dwarf_pool::owns(early_dwarf.get()));
    EXPECT_EQ(early_troll->strength, 100);
    EXPECT_EQ(early_dwarf->age, 150);
}

// A failure here shows at the end of the program: by the sanitizer's report or by exit status 7.
// Hazards B7, N5.
TEST(static_pool_statics, is_there_when_statics_end) {
    later_dwarf = std::make_unique<static_dwarf>();
    for (int i = 0; i < 100; ++i) later_trolls.push_back(std::make_unique<static_troll>());
    EXPECT_TRUE(dwarf_pool::owns(later_dwarf.get()));
    EXPECT_TRUE(troll_pool::owns(later_trolls.back().get()));
}

}  // namespace
