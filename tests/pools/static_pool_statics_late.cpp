// Linked last: the other order of initialisation.
#include <gtest/gtest.h>

#include <memory>

#include "pools/static_pool_statics.hpp"

namespace {

using acre_test::dwarf_pool;
using acre_test::static_dwarf;
using acre_test::static_troll;
using acre_test::troll_pool;

const std::unique_ptr<static_troll> late_troll = std::make_unique<static_troll>();
const std::unique_ptr<static_dwarf> late_dwarf = std::make_unique<static_dwarf>();
std::unique_ptr<static_troll> filled_in_main;
// Destroyed with the main thread, before any static.
thread_local std::unique_ptr<static_troll> of_the_main_thread;

// Hazards B7, B8.
TEST(static_pool_statics, in_the_other_order) {
    EXPECT_TRUE(troll_pool::owns(late_troll.get()));
    EXPECT_TRUE(dwarf_pool::owns(late_dwarf.get()));
    filled_in_main = std::make_unique<static_troll>();
    of_the_main_thread = std::make_unique<static_troll>();
    EXPECT_TRUE(troll_pool::owns(filled_in_main.get()));
}

}  // namespace
