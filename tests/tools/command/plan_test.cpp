// `acre plan` and `acre run --plan`: sites get the memory that the plan says, the program's results stay the same under
// any plan, and what cannot be used is refused before the program starts.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "command_run.hpp"
#include "conformance/refusal.hpp"
#include "tools/support/made_trace.hpp"

#ifdef ACRE_HAS_PLAN_LIBRARY

namespace {

using namespace acre::test;
using nlohmann::json;

class plan_command : public command_run {
protected:
    /// Records the subject, and makes a.plan.
    void plan(const std::string& arguments, const std::string& policy) {
        if (content_of("a.acre").empty()) {
            const run_result recorded = acre("-q record -o a.acre -- " + subject + " " + arguments);
            ASSERT_EQ(recorded.status, 0) << recorded.errors;
        }
        const run_result made = acre("plan a.acre --policy " + policy + " -o a.plan");
        ASSERT_EQ(made.status, 0) << made.errors;
        EXPECT_NE(made.errors.find(" are planned, with "), std::string::npos) << made.errors;
    }

    /// What the subject prints under a.plan.
    std::string under_plan(const std::string& arguments) {
        const run_result result = acre("run --plan a.plan -- " + subject + " " + arguments);
        EXPECT_EQ(result.status, 0) << result.errors;
        EXPECT_EQ(result.errors, "");
        return result.output;
    }

    int near_pairs(const std::string& arguments) {
        const std::string output = under_plan(arguments);
        return output.starts_with("near ") ? std::stoi(output.substr(5)) : -1;
    }

    json read() { return json::parse(content_of("a.plan")); }
    void write(const json& plan) { std::ofstream{directory_ / "a.plan"} << plan; }

    const std::string subject = "'" ACRE_PLAN_SUBJECT "'";
    const std::string module = "'" ACRE_PLAN_MODULE "'";
};

TEST_F(plan_command, gives_sites_memory_of_their_own) {
    plan("near", "leave");
    EXPECT_GT(near_pairs("near"), 900);
    for (const char* policy : {"pool", "counted"}) {
        plan("near", policy);
        EXPECT_EQ(near_pairs("near"), 0) << policy;
    }
    // Both sites share the memory of what lives long.
    plan("near", "separate");
    EXPECT_GT(near_pairs("near"), 900);
}

TEST_F(plan_command, knows_the_callers_of_operator_new) {
    plan("new", "pool");
    EXPECT_EQ(near_pairs("new"), 0);
}

// Both sites allocate through the same two functions.
TEST_F(plan_command, tells_the_callers_of_wrappers_apart) {
    plan("wrapped", "pool");
    EXPECT_EQ(near_pairs("wrapped"), 0);
    json object = read();
    json& first = object["sites"][0];
    EXPECT_EQ(first["callers"].size(), 2U) << first;
    EXPECT_NE(first["callers"][1]["symbol"].get<std::string>().find("wrapped_"), std::string::npos) << first;
    // Callers that the plan does not know are left, or get what the wrapper itself gets.
    json& second = object["sites"][1];
    second.erase("callers");
    write(object);
    EXPECT_EQ(near_pairs("wrapped"), 0);
    second["policy"] = "leave";
    first["policy"] = "leave";
    write(object);
    EXPECT_GT(near_pairs("wrapped"), 900);
}

// Two classes, each with an advice of its own.
TEST_F(plan_command, tells_two_sites_in_one_line_apart) {
    ASSERT_EQ(acre("-q record -o a.acre -- '" ACRE_PLAN_ONE_LINE "'").status, 0);
    ASSERT_EQ(acre("-q plan a.acre -o a.plan").status, 0);
    const json object = read();
    const json& first = object["sites"][0];
    const json& second = object["sites"][1];
    EXPECT_EQ(first["place"], second["place"]) << "one line";
    EXPECT_EQ(first["policy"], "pool");
    EXPECT_EQ(second["policy"], "pool");
    EXPECT_NE(first["group"], second["group"]);
}

TEST_F(plan_command, finds_sites_again_in_another_build) {
    plan("near", "pool");
    const run_result result = acre("run --plan a.plan -- '" ACRE_PLAN_REBUILT "' near");
    EXPECT_EQ(result.output, "near 0\n");
    EXPECT_NE(result.errors.find("' is another build than the recorded one: "), std::string::npos) << result.errors;
    EXPECT_NE(result.errors.find(" found again by their functions"), std::string::npos) << result.errors;
}

// A site in C whose objects hardly use memory again: acre's heap serves it anyway, unless the rest is left to malloc.
TEST_F(plan_command, counts_the_sites_that_are_routed) {
    made_trace trace;
    trace.tables.modules.push_back({"app", "00ff", 0});
    trace.tables.frames.push_back({0, 0x100, {{"load", "made.c", 7}}});
    trace.tables.call_tree.push_back({0, static_cast<std::uint32_t>(trace.tables.frames.size() - 1)});
    const auto stack = static_cast<std::uint32_t>(trace.tables.call_tree.size() - 1);
    for (const std::uint64_t count : {500U, 400U}) {
        std::vector<std::uint64_t> objects;
        for (std::uint64_t i = 0; i < count; ++i) objects.push_back(trace.allocate(stack, 1 + i * 37 % 300));
        for (const std::uint64_t object : objects) trace.release(object, stack);
    }
    trace.write(directory_ / "a.acre");
    EXPECT_NE(acre("plan a.acre -o a.plan").errors.find("0 of 1 site are planned"), std::string::npos);
    EXPECT_EQ(read()["sites"][0]["policy"], "heap");
    EXPECT_NE(acre("plan a.acre --left-to below -o a.plan").errors.find("1 of 1 site are planned"), std::string::npos);
}

// Where the rest is left to the malloc below, what is too large for slots is as well, but for sites of acre's heap.
TEST_F(plan_command, leaves_large_requests_to_the_malloc_below) {
    ASSERT_EQ(acre("-q record -o a.acre -- " + subject + " usable 100000").status, 0);
    ASSERT_EQ(acre("-q plan a.acre --policy pool --left-to below -o a.plan").status, 0);
    constexpr const char* by_heap = "usable 114688\n";  // whole units of 16 KiB
    const std::string by_below = under_plan("usable 100000");
    EXPECT_NE(by_below, by_heap);
    json object = read();
    for (json& each : object["sites"]) each["policy"] = "heap";
    write(object);
    EXPECT_EQ(under_plan("usable 100000"), by_heap);
    EXPECT_EQ(under_plan("usable 24"), "usable 32\n");
    object["left_to"] = "acre";
    write(object);
    EXPECT_EQ(under_plan("usable 100000"), by_heap);
}

TEST_F(plan_command, leaves_requests_to_the_malloc_below) {
    plan("usable", "pool");
    ASSERT_EQ(acre("-q plan a.acre --policy leave --left-to below -o below.plan").status, 0);
    const auto usable = [&](const std::string& before, const std::string& options) {
        return shell(before + "'" ACRE_COMMAND "' run " + options + " -- " + subject + " usable").output;
    };
    EXPECT_EQ(usable("", "--plan a.plan"), "usable 32\n");
    EXPECT_EQ(usable("", "--plan below.plan"), "usable 24\n") << "the C library's";
    EXPECT_EQ(usable("LD_PRELOAD='" ACRE_PLAN_BELOW "' ", "--plan below.plan"), "usable 4321\n");
    // Some sites planned, the others below: blocks of both are freed and resized in all threads.
    const std::string expected = shell(subject + " work").output;
    ASSERT_EQ(acre("-q record -o w.acre -- " + subject + " work").status, 0);
    for (const char* policy : {"pool", "counted"}) {
        ASSERT_EQ(acre("-q plan w.acre --left-to below -o a.plan --policy " + std::string{policy}).status, 0);
        json object = read();
        EXPECT_EQ(object["left_to"], "below");
        for (json& site : object["sites"]) {
            if (site["symbol"].get<std::string>().find("request_orc") == std::string::npos) site["policy"] = "leave";
        }
        write(object);
        EXPECT_EQ(under_plan("work"), expected) << policy;
    }
}

// A group whose slabs are sparse is evicted. Its slots then served all that the program asked for in that size, so that
// a group of 3 % of the allocations was said to save a third of the CPU time.
TEST_F(plan_command, leaves_requests_to_the_malloc_below_after_an_eviction) {
    ASSERT_EQ(acre("-q record -o a.acre -- " + subject + " evicted").status, 0);
    ASSERT_EQ(acre("-q plan a.acre --policy pool --left-to below -o a.plan").status, 0);
    json object = read();
    for (json& site : object["sites"]) {
        if (site["symbol"].get<std::string>().find("request_orc") == std::string::npos) site["policy"] = "leave";
    }
    write(object);
    EXPECT_EQ(shell("LD_PRELOAD='" ACRE_PLAN_BELOW "' '" ACRE_COMMAND "' run --plan a.plan -- " + subject + " evicted")
                  .output,
              "below 1000\n");
}

// jemalloc's memalign of no bytes is not aligned; its posix_memalign and aligned_alloc are.
TEST_F(plan_command, what_the_malloc_below_serves_is_aligned) {
    plan("usable", "pool");
    ASSERT_EQ(acre("-q plan a.acre --policy leave --left-to below -o below.plan").status, 0);
    const std::string run = "LD_PRELOAD='" ACRE_PLAN_BELOW "' '" ACRE_COMMAND "' run --plan below.plan -- ";
    EXPECT_EQ(shell(run + subject + " aligned").output, "misaligned 0\n");
}

TEST_F(plan_command, costs_nothing_where_it_routes_nothing) {
    plan("near", "leave");
    ASSERT_EQ(acre("-q plan a.acre --policy leave --left-to below -o below.plan").status, 0);
    const auto preloaded = [&](const std::string& name) {
        return acre("run --plan " + name + " -- sh -c 'echo $LD_PRELOAD'").output;
    };
    EXPECT_TRUE(preloaded("a.plan").ends_with("/libacre-malloc.so\n")) << preloaded("a.plan");
    EXPECT_TRUE(preloaded("below.plan").ends_with("/libacre-plan.so\n")) << preloaded("below.plan");
}

// RTLD_DEEPBIND, modules that take each other's addresses, a fork, and exec: with a plan and without one.
TEST_F(plan_command, survives_what_programs_do) {
    plan(module, "pool");
    const std::string program = subject + " hazards " + module + " '" ACRE_PLAN_OTHER "'";
    for (const char* options : {"", "--plan a.plan"}) {
        const run_result result = acre("run " + std::string{options} + " -- " + program);
        EXPECT_EQ(result.status, 0) << options << result.errors;
        EXPECT_TRUE(result.output.starts_with("near ")) << result.output << result.errors;
        EXPECT_EQ(result.errors, "") << options;
    }
    EXPECT_EQ(acre("run --plan a.plan -- " + program).output, "near 0\n") << "by exec the program has its plan";
    plan(module, "inverted");
    EXPECT_EQ(acre("run --plan a.plan -- " + program).status, 0);
    ASSERT_EQ(acre("-q plan a.acre --left-to below --policy counted -o a.plan").status, 0);
    EXPECT_EQ(acre("run --plan a.plan -- " + program).status, 0);
}

// Its blocks would go from one malloc to the other.
TEST_F(plan_command, run_refuses_a_program_that_calls_jemallocs_own_functions) {
    expect_failure("run -- '" ACRE_JEMALLOC_USER "'", 1,
                   "it calls mallocx, a function of jemalloc's own, whose blocks");
    EXPECT_EQ(acre("run -- '" ACRE_JEMALLOC_IF_ANY "'").status, 0) << "it looks first whose malloc it has";
}

TEST_F(plan_command, refuses_programs_that_nothing_can_be_preloaded_into) {
    plan("near", "pool");
    const std::string line = "run --plan a.plan -- ";
    expect_failure(line + "'" ACRE_STATIC_PROGRAM "'", 1, "it is statically linked, so no malloc can be preloaded");
    expect_failure(line + "'" ACRE_OWN_MALLOC "'", 1, "it contains a malloc of its own");
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
    const std::filesystem::path copy = directory_ / "setuid";
    std::filesystem::copy_file("/bin/true", copy);
    ASSERT_EQ(::chown(copy.c_str(), 65534, 65534), 0);
    ASSERT_EQ(::chmod(copy.c_str(), 04755), 0);
    expect_failure(line + copy.string(), 1, "it is setuid or setgid");
}

TEST_F(plan_command, plans_modules_that_are_loaded_later) {
    plan(module, "pool");
    EXPECT_EQ(near_pairs(module), 0);
}

// `exchange` opens and closes two modules in turns, 20 times.
TEST_F(plan_command, plans_a_module_that_is_loaded_again_once) {
    const std::string arguments = "exchange " + module + " '" ACRE_PLAN_OTHER "'";
    plan(arguments, "pool");
    const json object = read();
    std::set<std::string> modules;
    for (const json& each : object["modules"]) EXPECT_TRUE(modules.insert(each.dump()).second) << each;
    std::set<json> addresses;
    for (const json& each : object["sites"]) {
        const json address{each["module"], each["offset"], each.value("callers", json{})};
        EXPECT_TRUE(addresses.insert(address).second) << each;
    }
    EXPECT_EQ(under_plan(arguments), "exchanged\n");
}

// Each of 1,030 files has four sites or more.
TEST_F(plan_command, says_what_it_has_no_room_for) {
    made_trace trace;
    for (std::size_t file = 0; file < 1030; ++file) {
        trace.tables.modules.push_back({std::to_string(file) + ".so", "00ff", 0});
        const auto number = static_cast<std::uint32_t>(trace.tables.modules.size() - 1);
        for (std::size_t site = 0; site < (file == 7 ? 5 : 4); ++site) {
            const auto stack = static_cast<std::uint32_t>(trace.tables.call_tree.size());
            trace.tables.call_tree.push_back({0, static_cast<std::uint32_t>(trace.tables.frames.size())});
            trace.tables.frames.push_back({number, 16 * site, {{"load", "made.cpp", 7}}});
            trace.allocate(stack, 16);
        }
    }
    trace.write(directory_ / "a.acre");
    const run_result made = acre("plan a.acre --policy pool -o a.plan");
    EXPECT_EQ(made.status, 0);
    EXPECT_EQ(made.errors,
              "acre: 4,096 of 4,096 sites are planned, with 99.4 % of the allocations\n"
              "acre: 6 files are left out, with 24 allocations: a plan names at most 1,024, those with most planned "
              "allocations\n"
              "acre: 1 site is left out, with 1 allocation: a plan has at most 4,096, those with most allocations\n");
    EXPECT_EQ(read()["modules"].size(), 1024U);
}

TEST_F(plan_command, leaves_results_as_they_are_under_any_plan) {
    const std::string expected = shell(subject + " work").output;
    EXPECT_TRUE(expected.starts_with("sum "));
    for (const char* policy : {"advice", "pool", "counted", "separate", "leave", "inverted", "shuffled"}) {
        plan("work", policy);
        EXPECT_EQ(under_plan("work"), expected) << policy;
    }
}

TEST_F(plan_command, is_a_text_that_may_be_changed_by_hand) {
    plan("near", "leave");
    json object = read();
    EXPECT_EQ(object["made_by"], "leave");
    EXPECT_EQ(object["recording"]["file"], "a.acre");
    EXPECT_EQ(object["recording"]["command"][1], "near");
    bool has_orc = false;
    for (json& site : object["sites"]) {
        if (site["symbol"].get<std::string>().find("request_orc") == std::string::npos) continue;
        has_orc = true;
        EXPECT_EQ(site["allocations"], 100'000);
        EXPECT_EQ(site["policy"], "leave");
        site["policy"] = "pool";
        site["group"] = "orcs";
    }
    EXPECT_TRUE(has_orc) << object;
    write(object);
    EXPECT_EQ(near_pairs("near"), 0);
    EXPECT_EQ(json::parse(acre("-q plan a.acre").output)["made_by"], "advice");
}

TEST_F(plan_command, goes_to_standard_output_for_a_dash) {
    plan("near", "leave");
    const run_result result = acre("plan a.acre --policy leave -o -");
    EXPECT_EQ(json::parse(result.output), read());
    EXPECT_NE(result.errors.find(" are planned, with "), std::string::npos) << result.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "-"));
}

TEST_F(plan_command, of_no_group_has_none_to_measure_alone) {
    plan("near", "leave");
    const run_result result =
        acre("-q try --sites --json --unchecked --budget 0.2s --plan a.plan -- " + subject + " near");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json object = json::parse(result.output);
    EXPECT_TRUE(object["groups"].empty());
    EXPECT_EQ(object["notes"][0], "The plan leaves every site to malloc, so there is no group to measure alone.");
}

TEST_F(plan_command, says_which_sites_are_lost) {
    std::filesystem::copy_file(ACRE_PLAN_MODULE, directory_ / "module.so");
    const std::string copied = "'" + (directory_ / "module.so").string() + "'";
    plan(copied, "pool");
    std::ofstream{directory_ / "module.so"} << "another build";
    const std::string line = "run --plan a.plan -- " + subject + " near";
    const run_result result = acre(line);
    EXPECT_EQ(result.output, "near 0\n") << "the program's own sites are planned";
    EXPECT_NE(result.errors.find("module.so' is not the file that was recorded: 2 sites in it are not planned\n"),
              std::string::npos)
        << result.errors;
    EXPECT_EQ(acre("-q " + line).errors, "");
}

TEST_F(plan_command, is_tried_beside_the_others) {
    plan("near", "pool");
    const run_result result = acre("-q try --json --budget 0.2s --with acre --plan a.plan -- " + subject + " work");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json object = json::parse(result.output);
    ASSERT_EQ(object["ways"].size(), 3U);
    EXPECT_EQ(object["ways"][2]["name"], "acre + plan");
    EXPECT_FALSE(object["ways"][2]["failed"]) << object;
}

TEST_F(plan_command, each_group_has_a_figure_of_its_own) {
    plan("near", "pool");
    const run_result result =
        acre("-q try --sites --json --unchecked --budget 0.2s --plan a.plan --report a.html -- " + subject + " near");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json object = json::parse(result.output);
    ASSERT_EQ(object["ways"].size(), 3U) << "as it is, acre, acre + plan";
    ASSERT_GE(object["groups"].size(), 2U);
    std::uint64_t before = ~std::uint64_t{0};
    for (const json& group : object["groups"]) {
        EXPECT_FALSE(group["failed"]) << group;
        EXPECT_EQ(group["policy"], "pool");
        EXPECT_EQ(group["compared_with"], "acre");
        EXPECT_GT(group["cpu_ratio"]["median"], 0.0);
        EXPECT_GE(group["cpu_seconds_saved"]["high"], group["cpu_seconds_saved"]["low"]);
        EXPECT_GT(group["peak_ratio"], 0.0);
        EXPECT_LE(group["allocations"], before) << "the largest first";
        before = group["allocations"];
        ASSERT_FALSE(group["sites"].empty());
        EXPECT_TRUE(group["sites"][0]["offset"].get<std::string>().starts_with("0x"));
    }
    EXPECT_NE(content_of("a.html").find("one group of the plan alone"), std::string::npos);
}

TEST_F(plan_command, serves_the_programs_that_the_one_that_is_run_starts) {
    plan("near", "pool");
    const run_result result = acre("run --plan a.plan -- nice " + subject + " near");
    EXPECT_EQ(result.status, 0);
    EXPECT_LT(std::stoi(result.output.substr(5)), 100) << result.output;
    EXPECT_NE(result.errors.find("it serves the programs that this one starts"), std::string::npos) << result.errors;
    EXPECT_EQ(acre("-q run --plan a.plan -- sh -c \"" + subject + " near\"").errors, "");
}

TEST_F(plan_command, a_recorded_program_is_tried_with_the_plan_of_its_advice) {
    plan("work", "advice");
    const auto tried = [&](const std::string& options) {
        const run_result result = acre("-q try --json --budget 0.2s " + options + " a.acre");
        EXPECT_EQ(result.status, 0) << result.errors;
        return json::parse(result.output);
    };
    const json object = tried("--sites");
    EXPECT_EQ(object["ways"].back()["name"], "acre + plan");
    EXPECT_FALSE(object["ways"].back()["failed"]) << object;
    EXPECT_FALSE(object["groups"].empty());
    EXPECT_NE(object["notes"][0].get<std::string>().find("acre plan a.acre -o a.plan"), std::string::npos);
    ASSERT_EQ(shell("cp a.acre \"tr a'x.acre\"").status, 0);
    const run_result odd = acre("-q try --json --budget 0.2s \"tr a'x.acre\"");
    EXPECT_EQ(json::parse(odd.output)["notes"][0],
              "The plan is that of: acre plan 'tr a'\\''x.acre' -o 'tr a'\\''x.plan'");

    const auto trace = directory_ / "a.acre";
    std::filesystem::resize_file(trace, std::filesystem::file_size(trace) * 9 / 10);
    const run_result of_cut = acre("try --sites --budget 0.2s a.acre");
    EXPECT_EQ(of_cut.status, 3);
    EXPECT_NE(of_cut.errors.find("'a.acre' was cut off"), std::string::npos) << of_cut.errors;
}

// `work` allocates the same each time, in groups that a plan can follow.
TEST_F(plan_command, advice_has_figures_of_runs) {
    plan("work", "advice");
    const run_result result = acre("-q advise --json --run 1 --no-measure a.acre");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json advised = json::parse(result.output);
    EXPECT_GE(advised["runs"]["rounds"], 1U);
    EXPECT_EQ(advised["runs"]["ways"][0]["cpu_seconds_in_rounds"].size(), advised["runs"]["rounds"]);
    const bool says_how_to_have_more = advised["notes"].dump().find("allows six") != std::string::npos;
    EXPECT_EQ(says_how_to_have_more, advised["runs"]["rounds"] < 6U) << advised["notes"];
    EXPECT_GT(advised["cpu_ns"], 0U);
    const auto saved_by = [&](const std::string& name) {
        for (const json& each : advised["preloads"])
            if (each["name"] == name) return each;
        return json{};
    };
    for (const char* name : {"acre", "acre + plan"}) EXPECT_GT(saved_by(name)["peak_ratio"], 0.0) << name;
    std::size_t run_alone = 0;
    for (const json& each : advised["advices"]) {
        if (each["in_runs"].is_null()) continue;
        ++run_alone;
        const json& runs = each["in_runs"];
        EXPECT_LE(runs["nanoseconds"]["low"], runs["nanoseconds"]["high"]);
        EXPECT_GT(runs["peak_ratio"], 0.0);
        EXPECT_TRUE(runs["policy"] == "pool" || runs["policy"] == "counted") << runs;
    }
    EXPECT_GE(run_alone, 1U) << advised["advices"];
    EXPECT_EQ(content_of("a.plan").find("below"), std::string::npos) << "the plan of the user is as it was";
    EXPECT_FALSE(advised["answer"].empty());

    ASSERT_EQ(acre("-q report --run 1 --no-measure --no-fit -o a.html a.acre").status, 0);
    EXPECT_NE(content_of("a.html").find("\"cpu_seconds_in_rounds\":["), std::string::npos);
}

// Linux counts what acre has when it starts a program as the program's.
TEST_F(plan_command, memory_of_runs_is_the_programs_and_not_acres) {
    const std::string program =
        "perl -e 'for my $i (1 .. 300000) { my @a = ($i, \"x\" x 30); $seen[$i % 20] = [@a]; }'";
    ASSERT_EQ(acre("-q record -o a.acre -- " + program).status, 0);
    const run_result result = acre("-q advise --json --run 1 --no-measure a.acre");
    ASSERT_EQ(result.status, 0) << result.errors;
    std::set<double> ratios;
    const json advised = json::parse(result.output);
    for (const json& each : advised["preloads"]) ratios.insert(each["peak_ratio"].get<double>());
    EXPECT_GE(ratios.size(), 2U) << advised["preloads"];
}

TEST_F(plan_command, advice_is_not_measured_by_runs_that_do_less_than_the_recorded_one) {
    std::ofstream{directory_ / "input"} << "here";
    const std::string program = "sh -c 'test -e input || exit 0; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'";
    ASSERT_EQ(acre("-q record -o a.acre -- " + program).status, 0);
    std::filesystem::remove(directory_ / "input");
    const run_result result = acre("-q advise --run 1 --no-measure a.acre");
    EXPECT_EQ(result.status, 1);
    const char* const why = "when it was recorded: start acre in the same folder";
    EXPECT_NE(result.errors.find(why), std::string::npos) << result.errors << result.output;

    const run_result report = acre("-q report --run 1 --no-measure -o a.html a.acre");
    EXPECT_EQ(report.status, 1);
    EXPECT_NE(report.errors.find(why), std::string::npos) << report.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "a.html"));
}

TEST_F(plan_command, advice_without_runs_knows_acres_heap) {
    if (acre_test::sanitized) GTEST_SKIP() << "what is measured with a sanitizer says nothing of malloc";
    plan("work", "advice");
    const run_result result = acre("-q advise --top 1 --json a.acre");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json advised = json::parse(result.output);
    EXPECT_TRUE(std::ranges::any_of(advised["preloads"], [](const json& each) { return each["name"] == "acre"; }))
        << advised["preloads"];
}

TEST_F(plan_command, groups_beside_the_programs_own_malloc_are_compared_with_a_plan_for_no_site) {
    plan("near", "pool");
    ASSERT_EQ(acre("plan a.acre --policy pool --left-to below -o a.plan").status, 0);
    const run_result result =
        acre("-q try --sites --json --unchecked --budget 0.2s --plan a.plan -- " + subject + " near");
    ASSERT_EQ(result.status, 0) << result.errors;
    const json object = json::parse(result.output);
    ASSERT_GE(object["groups"].size(), 2U);
    ASSERT_EQ(object["ways"].size(), 4U) << "as it is, acre, acre + plan, a plan for no site";
    EXPECT_EQ(object["ways"][3]["name"], object["groups"][0]["compared_with"]);
    EXPECT_EQ(object["ways"][3]["name"], "a plan for no site");
}

// Which groups save depends on the machine: what is said of each must agree with what the plan does.
TEST_F(plan_command, keeps_the_groups_that_save_in_runs) {
    plan("work", "advice");
    const run_result result = acre("plan --measure --budget 1s a.acre -o m.plan");
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(result.output.starts_with("Each group alone beside acre's heap without a plan: ")) << result.output;
    EXPECT_NE(result.output.find("  Kept: "), std::string::npos) << result.output;
    const json object = json::parse(content_of("m.plan"));
    const json& measured = object["measured"];
    EXPECT_EQ(measured["compared_with"], "acre");
    EXPECT_GE(measured["rounds"], 1);
    ASSERT_FALSE(measured["groups"].empty());
    bool keeps_some = false;
    for (const json& each : measured["groups"]) {
        ASSERT_TRUE(each.contains("cpu_ratio")) << each;
        EXPECT_LE(each["cpu_ratio"]["low"], each["cpu_ratio"]["high"]);
        EXPECT_GT(each["peak_ratio"], 0.0);
        EXPECT_NE(result.output.find(each["finding"].get<std::string>()), std::string::npos) << each;
        const bool is_kept = each["kept"];
        keeps_some = keeps_some || is_kept;
        for (const json& site : object["sites"]) {
            if (site["group"] != each["group"]) continue;
            EXPECT_EQ(site["policy"], is_kept ? each["policy"].get<std::string>() : "leave") << site;
        }
    }
    EXPECT_EQ(measured.contains("together"), keeps_some);
    if (keeps_some) {
        EXPECT_LT(measured["together"]["cpu_ratio"]["high"], 1.0);
    }
    EXPECT_EQ(acre("run --plan m.plan -- " + subject + " work").output, shell(subject + " work").output);
}

TEST_F(plan_command, small_groups_are_run_together) {
    plan("work", "advice");
    json object = read();
    std::uint64_t allocations = 0;
    for (const json& each : object["sites"]) allocations += each["allocations"].get<std::uint64_t>();
    const run_result result = acre("-q plan --measure --budget 0.5s --policy pool a.acre");
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(result.errors, "") << "not with --quiet";
    std::size_t bundles = 0;
    const json planned = json::parse(result.output);
    for (const json& each : planned["measured"]["groups"]) {
        if (each["policy"] == "") {
            ++bundles;
            EXPECT_TRUE(each["group"].get<std::string>().ends_with(" smaller groups")) << each;
        } else {
            EXPECT_GE(each["allocations"].get<double>(), 0.01 * static_cast<double>(allocations)) << each;
        }
    }
    EXPECT_EQ(bundles, 1U) << result.output;
}

TEST_F(plan_command, groups_are_measured_beside_the_malloc_that_serves_the_rest) {
    plan("work", "pool");
    const run_result result = acre("-q plan --measure --budget 0.3s --policy pool --left-to below a.acre -o m.plan");
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_EQ(json::parse(content_of("m.plan"))["measured"]["compared_with"], "as it is");
    EXPECT_TRUE(result.output.starts_with("Each group alone beside the program as it is: ")) << result.output;
}

TEST_F(plan_command, is_measured_only_where_the_program_does_the_same) {
    // Prints the usable size of a block, which is another one on acre's heap.
    plan("usable", "pool");
    const std::string line = "plan --measure --budget 0.3s --policy pool a.acre -o m.plan";
    expect_failure(line, 1, "the plan cannot be measured: on acre's heap the program wrote another output");
    EXPECT_EQ(content_of("m.plan"), "") << "no plan is written";
    expect_failure("plan --budget 5s a.acre", 2, "--measure");
    expect_failure("plan --measure --budget soon a.acre", 2, "is not a time");
    EXPECT_EQ(acre("-q " + line + " --check 'grep -q usable'").status, 0);
}

TEST_F(plan_command, is_not_measured_where_the_program_is_gone) {
    std::filesystem::copy_file(ACRE_PLAN_SUBJECT, directory_ / "subject");
    const std::string copy = "'" + (directory_ / "subject").string() + "'";
    ASSERT_EQ(acre("-q record -o a.acre -- " + copy + " usable").status, 0);
    std::filesystem::remove(directory_ / "subject");
    expect_failure("plan --measure --policy pool a.acre", 1, "subject");
    std::filesystem::copy_file("/bin/true", directory_ / "subject");
    expect_failure("plan --measure --policy pool a.acre", 1, "'a.acre' was recorded of another program than");
}

TEST_F(plan_command, refuses_before_the_program_starts) {
    plan("near", "pool");
    const std::string program = " -- " + subject;
    expect_failure("run --plan b.plan" + program, 1, "there is no plan 'b.plan'");
    expect_failure("run --plan a.acre" + program, 1, "cannot use the plan 'a.acre': it is not JSON");
    const std::string text = content_of("a.plan");
    std::ofstream{directory_ / "a.plan"} << text.substr(0, text.size() - 100);
    expect_failure("run --plan a.plan" + program, 1, "it is not JSON, or ends too early");
    std::ofstream{directory_ / "a.plan"} << text;
    expect_failure("try --plan a.plan --budget 0.1s -- true", 1, "no file of it is part of");
    const std::filesystem::path other = directory_ / "other" / std::filesystem::path{ACRE_PLAN_SUBJECT}.filename();
    std::filesystem::create_directory(other.parent_path());
    std::filesystem::copy_file("/bin/true", other);
    expect_failure("run --plan a.plan -- '" + other.string() + "'", 1, "it is of another program");
    json object = read();
    for (json& each : object["modules"]) each["build_id"] = "00";
    for (json& each : object["sites"]) each["symbol"] = "";
    write(object);
    expect_failure("run --plan a.plan" + program, 1, "it is of another program, or of another build");
    expect_failure("plan a.acre --policy best", 2, "--policy: 'best' is not one of");
    expect_failure("plan b.acre", 1, "b.acre");
    expect_failure("plan a.acre -o a.acre", 1, "is the input: name another file with -o");
}

}  // namespace

#endif
