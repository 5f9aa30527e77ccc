// Sites are matched between runs with other load addresses, and after changes of the program.
#include "diff/site_match.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using namespace acre::tool;

/// Maps each site of `before`, as "function:position", to its site in `after` or to "gone"; new sites are under "new".
std::multimap<std::string, std::string> matched(const std::vector<site_position>& before,
                                                const std::vector<site_position>& after) {
    const auto text = [](const site_position& each) { return each.function + ":" + std::to_string(each.position); };
    std::multimap<std::string, std::string> found;
    for (const site_pair& each : match_sites(before, after)) {
        found.emplace(each.before == no_site ? "new" : text(before[each.before]),
                      each.after == no_site ? "gone" : text(after[each.after]));
    }
    return found;
}

using pairs = std::multimap<std::string, std::string>;

TEST(site_match, the_same_positions_in_any_order_are_the_same_sites) {
    EXPECT_EQ(matched({{"f", "a.c", 1}, {"f", "a.c", 2}, {"g", "a.c", 1}},
                      {{"g", "a.c", 1}, {"f", "a.c", 2}, {"f", "a.c", 1}}),
              (pairs{{"f:1", "f:1"}, {"f:2", "f:2"}, {"g:1", "g:1"}}));
    EXPECT_TRUE(match_sites({}, {}).empty());
}

TEST(site_match, a_function_that_moved_has_the_same_sites) {
    EXPECT_EQ(matched({{"f", "a.c", 10}, {"f", "a.c", 12}, {"f", "a.c", 19}},
                      {{"f", "a.c", 13}, {"f", "a.c", 15}, {"f", "a.c", 22}}),
              (pairs{{"f:10", "f:13"}, {"f:12", "f:15"}, {"f:19", "f:22"}}));
    // One site is gone, and one is new.
    EXPECT_EQ(matched({{"f", "a.c", 10}, {"f", "a.c", 12}, {"f", "a.c", 15}, {"f", "a.c", 19}},
                      {{"f", "a.c", 110}, {"f", "a.c", 112}, {"f", "a.c", 119}}),
              (pairs{{"f:10", "f:110"}, {"f:12", "f:112"}, {"f:15", "gone"}, {"f:19", "f:119"}}));
    EXPECT_EQ(matched({{"f", "a.c", 10}, {"f", "a.c", 12}}, {{"f", "a.c", 8}, {"f", "a.c", 20}, {"f", "a.c", 22}}),
              (pairs{{"f:10", "f:20"}, {"f:12", "f:22"}, {"new", "f:8"}}));
}

TEST(site_match, a_common_shift_beats_equal_lines_by_chance) {
    // A line inserted above.
    EXPECT_EQ(matched({{"f", "a.c", 5}, {"f", "a.c", 6}, {"f", "a.c", 7}},
                      {{"f", "a.c", 6}, {"f", "a.c", 7}, {"f", "a.c", 8}}),
              (pairs{{"f:5", "f:6"}, {"f:6", "f:7"}, {"f:7", "f:8"}}));
    // Inserted between them, so that only some sites have moved.
    EXPECT_EQ(matched({{"f", "a.c", 5, 100, 1000}, {"f", "a.c", 6, 100, 20'000}, {"f", "a.c", 7, 100, 300'000}},
                      {{"f", "a.c", 5, 100, 1000}, {"f", "a.c", 7, 100, 20'000}, {"f", "a.c", 8, 100, 300'000}}),
              (pairs{{"f:5", "f:5"}, {"f:6", "f:7"}, {"f:7", "f:8"}}));
    EXPECT_EQ(matched({{"f", "a.c", 5}, {"f", "a.c", 6}, {"f", "a.c", 20}, {"f", "a.c", 21}},
                      {{"f", "a.c", 5}, {"f", "a.c", 6}, {"f", "a.c", 21}, {"f", "a.c", 22}}),
              (pairs{{"f:5", "f:5"}, {"f:6", "f:6"}, {"f:20", "f:21"}, {"f:21", "f:22"}}));
}

TEST(site_match, figures_decide_between_shifts_of_equally_many) {
    // A line that allocates is inserted above, and removed again.
    const std::vector<site_position> few{{"f", "a.c", 5, 9, 90}, {"f", "a.c", 6, 9, 1800}, {"f", "a.c", 7, 9, 270}};
    const std::vector<site_position> more{
        {"f", "a.c", 5, 9, 63}, {"f", "a.c", 6, 9, 90}, {"f", "a.c", 7, 9, 1800}, {"f", "a.c", 8, 9, 270}};
    EXPECT_EQ(matched(few, more), (pairs{{"f:5", "f:6"}, {"f:6", "f:7"}, {"f:7", "f:8"}, {"new", "f:5"}}));
    EXPECT_EQ(matched(more, few), (pairs{{"f:6", "f:5"}, {"f:7", "f:6"}, {"f:8", "f:7"}, {"f:5", "gone"}}));
    // Objects of the same size, but another number of them.
    EXPECT_EQ(matched({{"f", "a.c", 5, 9, 90}}, {{"f", "a.c", 5, 9, 63}, {"f", "a.c", 6, 11, 110}}),
              (pairs{{"f:5", "f:6"}, {"new", "f:5"}}));
}

TEST(site_match, sites_with_other_figures_match_by_position) {
    // Each site allocates twice as much: as much as the next site did before.
    EXPECT_EQ(matched({{"f", "a.c", 5, 9, 90}, {"f", "a.c", 6, 9, 180}, {"f", "a.c", 7, 9, 360}},
                      {{"f", "a.c", 5, 9, 180}, {"f", "a.c", 6, 9, 360}, {"f", "a.c", 7, 9, 720}}),
              (pairs{{"f:5", "f:5"}, {"f:6", "f:6"}, {"f:7", "f:7"}}));
    // All of them moved as well.
    EXPECT_EQ(matched({{"f", "a.c", 5, 9, 90}, {"f", "a.c", 6, 9, 180}, {"f", "a.c", 7, 9, 360}},
                      {{"f", "a.c", 6, 9, 180}, {"f", "a.c", 7, 9, 360}, {"f", "a.c", 8, 9, 720}}),
              (pairs{{"f:5", "f:6"}, {"f:6", "f:7"}, {"f:7", "f:8"}}));
}

TEST(site_match, several_sites_at_one_position_are_each_matched_once) {
    const std::vector<site_position> three{{"f", "a.c", 5}, {"f", "a.c", 5}, {"f", "a.c", 9}};
    EXPECT_EQ(matched(three, three), (pairs{{"f:5", "f:5"}, {"f:5", "f:5"}, {"f:9", "f:9"}}));
    EXPECT_EQ(matched(three, {{"f", "a.c", 6}, {"f", "a.c", 6}, {"f", "a.c", 10}}),
              (pairs{{"f:5", "f:6"}, {"f:5", "f:6"}, {"f:9", "f:10"}}));
}

TEST(site_match, sites_that_moved_differently_keep_their_order) {
    EXPECT_EQ(matched({{"f", "a.c", 10}, {"f", "a.c", 20}}, {{"f", "a.c", 13}, {"f", "a.c", 29}}),
              (pairs{{"f:10", "f:13"}, {"f:20", "f:29"}}));
}

TEST(site_match, other_functions_and_files_are_other_sites) {
    EXPECT_EQ(matched({{"f", "a.c", 10}, {"g", "a.c", 10}}, {{"f", "b.c", 10}, {"h", "a.c", 10}}),
              (pairs{{"f:10", "gone"}, {"g:10", "gone"}, {"new", "f:10"}, {"new", "h:10"}}));
}

TEST(site_match, a_function_with_very_many_sites_takes_no_quadratic_time) {
    std::vector<site_position> before;
    std::vector<site_position> after;
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        before.push_back({"f", "a.c", 2 * i});
        after.push_back({"f", "a.c", 2 * i + 1});
    }
    const auto found = match_sites(before, after);
    ASSERT_EQ(found.size(), before.size());
    EXPECT_EQ(found[77].after, 77U);
}

}  // namespace
