// Plans made from traces keep to the limits that `acre run --plan` has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/handed_plan.hpp"
#include "plan/plan_making.hpp"
#include "plan/plan_table.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;
using acre::preload::plan_table;

constexpr std::uint64_t offset_of_first = 0x100;

class plan_making : public testing::Test {
protected:
    std::uint32_t add_module(const std::string& path) {
        trace_.tables.modules.push_back({path, "00ff", 0});
        return static_cast<std::uint32_t>(trace_.tables.modules.size() - 1);
    }

    std::uint32_t add_stack(std::uint32_t module, std::uint64_t offset) {
        trace_.tables.frames.push_back({module, offset, {{"load", "made.cpp", 7}}});
        trace_.tables.call_tree.push_back({0, static_cast<std::uint32_t>(trace_.tables.frames.size() - 1)});
        return static_cast<std::uint32_t>(trace_.tables.call_tree.size() - 1);
    }

    void allocate(std::uint32_t stack, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) trace_.allocate(stack, 16);
    }

    made_plan make(plan_choice choice) {
        trace_reader reader{trace_.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        return make_plan(reader, paths, choice);
    }

    /// Throws if `acre run` would refuse the plan.
    static void read_and_hand_over(const site_plan& plan) {
        const handed_plan handed{plan_in(plan_text(plan), "a.plan"), "a.plan", "/bin/true", handed_plan::part::group};
    }

    made_trace trace_;
    temporary_directory directory_;
};

// A program that opens and closes plugins in turns.
TEST_F(plan_making, a_file_that_is_loaded_again_is_one_file) {
    for (std::size_t load = 0; load < 2 * plan_table::max_modules; ++load) {
        const std::uint32_t module = add_module(load % 2 == 0 ? "/usr/lib/even.so" : "/usr/lib/odd.so");
        allocate(add_stack(module, offset_of_first), 2);
        allocate(add_stack(module, 2 * offset_of_first), 1);
        allocate(add_stack(module, 3 * offset_of_first), 1);
    }
    const made_plan made = make(plan_choice::pool);
    EXPECT_EQ(made.plan.modules.size(), 2U);
    ASSERT_EQ(made.plan.sites.size(), 6U) << "of 6,144 that were loaded";
    EXPECT_EQ(made.plan.sites.front().allocations, 2 * plan_table::max_modules);
    EXPECT_EQ(made.plan.sites.front().offset, offset_of_first + 1);
    EXPECT_EQ(made.plan.sites.back().allocations, plan_table::max_modules);
    EXPECT_NO_THROW(read_and_hand_over(made.plan));
}

TEST_F(plan_making, names_the_files_with_most_planned_allocations) {
    constexpr std::size_t files = plan_table::max_modules + 6;
    for (std::size_t i = 0; i < files; ++i) {
        const std::uint32_t module = add_module("/usr/lib/" + std::to_string(i) + ".so");
        allocate(add_stack(module, offset_of_first), i < 6 ? 1 : 2);
    }
    const made_plan made = make(plan_choice::pool);
    EXPECT_EQ(made.plan.modules.size(), plan_table::max_modules);
    EXPECT_EQ(made.plan.sites.size(), plan_table::max_modules);
    EXPECT_TRUE(std::ranges::all_of(made.plan.sites, [](const planned_site& each) { return each.allocations == 2; }));
    EXPECT_NO_THROW(read_and_hand_over(made.plan));
}

}  // namespace
