// The lists that users write after --with.
#include "replay/contender_list.hpp"

#include <gtest/gtest.h>

#include "replay/resources.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::tool;

/// The parsed list, written again in the same syntax.
std::string understood(const std::string& list) {
    std::string text;
    for (const named_contender& each : parse_contenders(list)) {
        text += (text.empty() ? "" : " ") + contender_text(each.which) + (each.by_name ? "" : "?");
    }
    return text;
}

std::string complaint(const std::string& list) {
    try {
        parse_contenders(list);
    } catch (const tool_error& error) {
        return error.what();
    }
    return "nothing";
}

TEST(contender_list, names_and_parameters) {
    EXPECT_EQ(understood("arena"), "arena");
    EXPECT_EQ(understood(" arena , pool"), "arena pool");
    EXPECT_EQ(understood("arena:block=64K,pool:slot=48"), "arena:block=64K pool:slot=48");
    EXPECT_EQ(understood("multi_arena:count=64,bytes=16384,arena"), "multi_arena:count=64,bytes=16K arena");
    EXPECT_EQ(understood("multi_arena:bytes=16k, count = 2"), "multi_arena:count=2,bytes=16K");
}

TEST(contender_list, duplicates_and_the_systems_malloc_are_dropped) {
    EXPECT_EQ(understood("arena,arena,pool,arena"), "arena pool");
    EXPECT_EQ(understood("arena,arena:block=1K"), "arena arena:block=1K");
    EXPECT_EQ(understood("system"), "");
}

TEST(contender_list, groups_stand_for_their_members) {
    EXPECT_EQ(understood("std"), "std_monotonic? std_pool? std_synchronized_pool?");
    EXPECT_EQ(understood("std_pool,std"), "std_pool std_monotonic? std_synchronized_pool?");
    EXPECT_EQ(understood("std,std_pool"), "std_monotonic? std_pool std_synchronized_pool?");
    EXPECT_EQ(parse_contenders("all").size(), resources().size() - 2);
    EXPECT_EQ(parse_contenders("acre,peers").size(), resources().size() - 2);
}

TEST(contender_list, mistakes_are_refused_with_a_sentence) {
    EXPECT_NE(complaint("nonsense").find("there is no resource 'nonsense': known are system, new_delete"),
              std::string::npos);
    EXPECT_NE(complaint("arena,,pool").find("there is no resource ''"), std::string::npos);
    EXPECT_NE(complaint("").find("there is no resource ''"), std::string::npos);
    EXPECT_NE(complaint("arena,").find("there is no resource ''"), std::string::npos);
    EXPECT_EQ(complaint("bytes=16K"),
              "parameter 'bytes=16K' follows no resource: write it after one, as in multi_arena:count=64,bytes=16K");
    EXPECT_EQ(complaint("std:count=3"),
              "parameter 'count=3' follows no resource: write it after one, as in multi_arena:count=64,bytes=16K");
    EXPECT_EQ(complaint("multi_pool:slot=3"), "multi_pool has no parameters");
    EXPECT_EQ(complaint("arena:count=3"), "arena has no parameter 'count': it has block");
    EXPECT_EQ(complaint("arena:64K"), "'64K' is no parameter of arena: write its name, = and a number");
    EXPECT_EQ(complaint("pool:slot=8K"),
              "'8K' is not a valid slot of pool: give a number from 1 to 4,096, optionally followed by K, M or G");
    EXPECT_NE(complaint("pool:slot=").find("'' is not a valid slot"), std::string::npos);
    EXPECT_NE(complaint("pool:slot=-1").find("'-1' is not a valid slot"), std::string::npos);
    EXPECT_NE(complaint("pool:slot=12X").find("'12X' is not a valid slot"), std::string::npos);
    EXPECT_EQ(complaint("pool:slot=8,slot=16"), "slot of pool is given twice");
}

TEST(contender_list, a_pool_for_one_size_refuses_larger_requests) {
    const shape large{100'000, 16};
    sequence_view sequence;
    sequence.shapes = {&large, 1};
    const contender wait_free{.resource = resource_number("wait_free_pool")};
    EXPECT_EQ(not_for(wait_free, sequence),
              "its slots hold at most 4.0 KiB, and the trace has an allocation of 97.7 KiB");
    EXPECT_EQ(not_for({.resource = resource_number("arena")}, sequence), "");
    const lane_run run{0, 1, 1};
    sequence.runs = {&run, 1};
    EXPECT_NE(not_for({.resource = resource_number("arena")}, sequence).find("for one thread"), std::string::npos);
    EXPECT_EQ(not_for({.resource = resource_number("concurrent_arena")}, sequence), "");
}

}  // namespace
