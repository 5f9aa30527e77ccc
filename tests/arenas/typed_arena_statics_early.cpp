// Linked before the file that defines the arenas: its initialisers run first and its destructors last.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "arenas/typed_arena_statics.hpp"

namespace {

using acre_test::static_elf;
using acre_test::static_orc;

// The first static object, and so the last to be destroyed.
struct last_of_all {
    ~last_of_all() { acre_test::expect_no_elves_left(); }
};
[[gnu::init_priority(200)]] last_of_all witness;

// Its initialiser allocates before any initialiser of the arenas' file could run.
const std::unique_ptr<static_orc> early_orc = std::make_unique<static_orc>();
const std::unique_ptr<static_elf> early_elf = std::make_unique<static_elf>();
const std::unique_ptr<static_elf[]> early_elves{new static_elf[5]};
// Allocates in main, frees after it.
std::unique_ptr<static_elf> later_elf;
std::vector<std::unique_ptr<static_orc>> later_orcs;

// Its destructor allocates, after main and after the end of other statics.
struct allocates_at_its_end {
    ~allocates_at_its_end() {
        delete new static_orc;
        delete new static_elf;
        delete[] new static_elf[3];
    }
};
[[gnu::init_priority(300)]] allocates_at_its_end ending;

// Hazards B8, P10.
TEST(typed_arena_statics, is_ready_before_any_initialiser) {
    EXPECT_TRUE(acre_test::owned_by_an_arena(early_orc.get()));
    EXPECT_TRUE(acre_test::owned_by_an_arena(early_elf.get()));
    EXPECT_TRUE(acre_test::owned_by_an_arena(early_elves.get()));
    EXPECT_EQ(early_orc->strength, 100);
    EXPECT_EQ(early_elves[4].age, 500);
    EXPECT_GE(acre_test::live_elves(), 6);
}

// A failure shows at the end of the program: a sanitizer's report or exit status 7.
// Hazards B7, N5.
TEST(typed_arena_statics, is_there_when_statics_end) {
    later_elf = std::make_unique<static_elf>();
    for (int i = 0; i < 10; ++i) later_orcs.push_back(std::make_unique<static_orc>());
    EXPECT_TRUE(acre_test::owned_by_an_arena(later_elf.get()));
    EXPECT_TRUE(acre_test::owned_by_an_arena(later_orcs.back().get()));
}

}  // namespace
