// Plans as JSON: what is written is read again, and what is no plan is refused in one sentence.
#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/site_plan.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"

namespace {

using namespace acre::tool;

site_plan small_plan() {
    site_plan plan;
    plan.recording = "app.acre";
    plan.command = {"./app", "input \"1\""};
    plan.date = "2026-11-23T19:00:00Z";
    plan.made_by = "advice";
    plan.modules = {{"/usr/bin/app", "93ac61ec"}, {"/usr/lib/libparse.so", "00ff"}};
    planned_site site;
    site.module = 1;
    site.offset = 0x12ab;
    site.symbol = "parse";
    site.symbol_offset = 0x1b;
    site.place = "parse (parse.cpp:4)";
    site.allocations = 7;
    site.policy = site_policy::counted;
    site.group = "1 parse";
    plan.sites = {site, planned_site{}};
    planned_caller caller;
    caller.offset = 0x77;
    caller.frame_bytes = 24;
    plan.sites[1].callers = {caller};
    return plan;
}

/// The text with one part replaced.
std::string changed(const std::string& part, const std::string& by) {
    std::string text = plan_text(small_plan());
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), by);
}

std::string refusal_of(const std::string& text) {
    try {
        plan_in(text, "app.plan");
    } catch (const tool_error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(site_plan, is_read_as_it_was_written) {
    const std::string text = plan_text(small_plan());
    const site_plan plan = plan_in(text, "app.plan");
    EXPECT_EQ(plan_text(plan), text);
    EXPECT_EQ(plan.command.back(), "input \"1\"");
    EXPECT_EQ(plan.modules[1].build_id, "00ff");
    EXPECT_EQ(plan.sites[0].offset, 0x12abU);
    EXPECT_EQ(plan.sites[0].policy, site_policy::counted);
    EXPECT_EQ(plan.sites[1].callers.front().offset, 0x77U);
    EXPECT_EQ(plan.sites[1].callers.front().frame_bytes, 24U);
    EXPECT_FALSE(plan.leaves_to_malloc_below);
    EXPECT_EQ(plan.routed_wrappers(), 0U) << "the site with callers is left";
    EXPECT_EQ(plan.routed_sites_of(0), 0U);
    EXPECT_EQ(plan.routed_sites_of(1), 1U);
}

TEST(site_plan, says_what_was_measured) {
    site_plan plan = small_plan();
    plan.measured = plan_measurement{.compared_with = "acre", .rounds = 7, .seconds = 1.5};
    plan.measured->groups.push_back(
        {.name = "1 parse", .policy = "counted", .is_kept = true, .finding = "saves alone"});
    EXPECT_EQ(plan_text(plan).find("\"together\""), std::string::npos);
    EXPECT_EQ(plan_text(plan).find("\"cpu_ratio\""), std::string::npos);
    plan.measured->groups[0].cpu_ratio = interval{0.5, 0.75, 1};
    plan.measured->cpu_ratio = interval{0.5, 0.625, 0.875};
    const std::string text = plan_text(plan);
    for (const char* part :
         {"\"together\"", "\"compared_with\": \"acre\"", "\"finding\": \"saves alone\"", "0.75", "0.625"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(plan_in(text, "app.plan").sites.size(), 2U) << "it is for people, and not read";
}

TEST(site_plan, keeps_the_groups_that_are_chosen) {
    site_plan plan = small_plan();
    plan.sites[1].policy = site_policy::pool;
    plan.sites[1].group = "2 print";
    const std::vector<plan_group> groups = groups_of(plan);
    ASSERT_EQ(groups.size(), 2U);
    const auto policies = [&](std::span<const plan_group> chosen) {
        const site_plan part = plan_of(chosen, plan);
        return std::pair{part.sites[0].policy, part.sites[1].policy};
    };
    EXPECT_EQ(policies(groups), (std::pair{site_policy::counted, site_policy::pool}));
    EXPECT_EQ(policies({groups.data(), 1}), (std::pair{site_policy::counted, site_policy::leave}));
    EXPECT_EQ(policies({}), (std::pair{site_policy::leave, site_policy::leave}));
}

// What acre's heap serves anyway needs no place in the table.
TEST(site_plan, routes_sites_of_the_heap_where_the_rest_is_left_to_the_malloc_below) {
    site_plan plan = small_plan();
    plan.sites[1].policy = site_policy::heap;
    EXPECT_FALSE(plan.routes(plan.sites[1]));
    EXPECT_EQ(groups_of(plan).size(), 1U);
    plan.leaves_to_malloc_below = true;
    EXPECT_TRUE(plan.routes(plan.sites[1]));
    EXPECT_EQ(groups_of(plan).size(), 2U);
    plan.sites[1].policy = site_policy::leave;
    EXPECT_FALSE(plan.routes(plan.sites[1]));
}

TEST(site_plan, refuses_what_is_none) {
    const std::string begin = "cannot use the plan 'app.plan': ";
    EXPECT_EQ(refusal_of(""), begin + "it is not JSON, or ends too early");
    const std::string text = plan_text(small_plan());
    EXPECT_EQ(refusal_of(text.substr(0, text.size() / 2)), begin + "it is not JSON, or ends too early");
    EXPECT_EQ(refusal_of("[]"), begin + "it is JSON, but not a plan: 'acre plan' makes one");
    EXPECT_EQ(refusal_of("{}"), begin + "'format' is missing");
    EXPECT_EQ(refusal_of(changed("\"version\": 1", "\"version\": 2")),
              begin + "it is of version 2, and this acre reads version 1: make it again");
    EXPECT_EQ(refusal_of(changed("\"counted\"", "\"stack\"")),
              begin + "there is no policy 'stack': there are leave, pool, counted, separate and heap");
    EXPECT_EQ(refusal_of(changed("\"module\": 1", "\"module\": 2")), begin + "a site is in module 2, which is missing");
    EXPECT_EQ(refusal_of(changed("\"0x12ab\"", "\"12ab\"")), begin + "'offset' is not an offset as \"0x12ab\": '12ab'");
    EXPECT_EQ(refusal_of(changed("\"0x12ab\"", "\"0x10000000000000000\"")),
              begin + "'offset' is not an offset as \"0x12ab\": '0x10000000000000000'");
    EXPECT_EQ(refusal_of(changed("\"93ac61ec\"", "\"93A\"")),
              begin + "'93A' is not a build id in lower-case hexadecimal digits");
    EXPECT_EQ(refusal_of(changed("\"frame_bytes\": 24", "\"frame_bytes\": 23")),
              begin + "a caller's 'frame_bytes' is 23, and it is a multiple of 8 of at most 512");
    EXPECT_EQ(refusal_of(changed("\"left_to\": \"acre\"", "\"left_to\": \"glibc\"")),
              begin + "'left_to' is acre or below, not 'glibc'");
    EXPECT_EQ(refusal_of(changed("\"group\": \"1 parse\"", "\"group\": 1")), begin + "'group' is not a text");
}

TEST(site_plan, refuses_two_entries_for_a_site_that_differ) {
    site_plan plan = small_plan();
    plan.sites.push_back(plan.sites.front());
    EXPECT_EQ(refusal_of(plan_text(plan)), "accepted") << "the same twice";
    plan.sites.back().policy = site_policy::pool;
    EXPECT_EQ(refusal_of(plan_text(plan)),
              "cannot use the plan 'app.plan': it has two entries for the site 0x12ab of '/usr/lib/libparse.so' "
              "(parse (parse.cpp:4)), counted in group '1 parse' and pool in group '1 parse': keep one");
    plan.sites.back().callers.emplace_back();
    EXPECT_EQ(refusal_of(plan_text(plan)), "accepted") << "another caller";
}

TEST(site_plan, refuses_more_than_the_library_takes) {
    site_plan plan = small_plan();
    for (std::size_t i = 0; i <= site_plan::max_groups; ++i) {
        plan.sites.push_back(plan.sites.front());
        plan.sites.back().offset = i;
        plan.sites.back().group = std::to_string(i);
    }
    EXPECT_NE(refusal_of(plan_text(plan)).find("its sites are in 257 groups, and there can be 255"), std::string::npos);
    plan = small_plan();
    plan.sites.resize(site_plan::max_sites + 1, plan.sites.front());
    plan.sites.push_back(plan.sites.front());
    EXPECT_NE(refusal_of(plan_text(plan)).find("it plans 4,097 sites, and 4,096 can be"), std::string::npos);
}

TEST(site_plan, refuses_files_that_are_not_there_or_are_folders) {
    const acre::test::temporary_directory directory;
    EXPECT_THROW(read_plan(directory / "app.plan"), tool_error);
    EXPECT_THROW(read_plan(directory.path()), tool_error);
    std::ofstream{directory / "app.plan"} << plan_text(small_plan());
    EXPECT_EQ(read_plan(directory / "app.plan").sites.size(), 2U);
    EXPECT_THROW(read_plan("/dev/zero"), tool_error) << "which has no end";
}

}  // namespace
