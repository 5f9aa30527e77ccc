// Linked after the file that defines the arenas: the other order of initialisation.
#include <gtest/gtest.h>

#include <memory>

#include "arenas/typed_arena_statics.hpp"

namespace {

using acre_test::static_elf;
using acre_test::static_orc;

const std::unique_ptr<static_orc> late_orc = std::make_unique<static_orc>();
const std::unique_ptr<static_elf> late_elf = std::make_unique<static_elf>();
std::unique_ptr<static_elf[]> filled_in_main;

// Hazards B7, B8.
TEST(typed_arena_statics, in_the_other_order) {
    EXPECT_TRUE(acre_test::owned_by_an_arena(late_orc.get()));
    EXPECT_TRUE(acre_test::owned_by_an_arena(late_elf.get()));
    filled_in_main.reset(new static_elf[4]);
    EXPECT_TRUE(acre_test::owned_by_an_arena(filled_in_main.get()));
}

}  // namespace
