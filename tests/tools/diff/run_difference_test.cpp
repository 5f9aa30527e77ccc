// The differences between two runs, and what must not count as one.
#include "diff/run_difference.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diff/diff_report.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

class run_difference_of_two : public testing::Test {
protected:
    /// A run to compare.
    struct run {
        run(const made_trace& made, const std::filesystem::path& path)
            : reader{made.write(path)}, paths{reader.tables()}, summary{summarise(reader, paths)} {}

        trace_reader reader;
        call_paths paths;
        trace_summary summary;
    };

    const run_difference& compare(const made_trace& before, const made_trace& after) {
        before_.emplace(before, directory_ / "before.acre");
        after_.emplace(after, directory_ / "after.acre");
        difference_ = compare_runs({before_->reader.tables(), before_->paths, before_->summary},
                                   {after_->reader.tables(), after_->paths, after_->summary});
        return difference_;
    }

    std::string text(const diff_view& view = {}) {
        return diff_text(difference_, before_->reader, after_->reader, view);
    }
    nlohmann::json json(const diff_view& view = {}) {
        return diff_json(difference_, before_->reader, after_->reader, view);
    }

    /// A program that parses and keeps a few of the results.
    static made_trace parser(int lines, int kept, const std::string& line_of_parse = "7") {
        made_trace made;
        const auto parses = made.stack({"main", "parse:" + line_of_parse, "malloc"});
        const auto keeps = made.stack({"main", "keep:9", "malloc"});
        const auto frees = made.stack({"main", "drop:3"});
        for (int i = 0; i < lines; ++i) {
            const std::uint64_t object = made.allocate(parses, 100);
            if (i < kept) made.allocate(keeps, 50);
            made.release(object, frees);
        }
        return made;
    }

    temporary_directory directory_;
    std::optional<run> before_;
    std::optional<run> after_;
    run_difference difference_;
};

TEST_F(run_difference_of_two, a_run_does_not_differ_from_itself) {
    const made_trace made = random_trace(4, 5000);
    EXPECT_TRUE(compare(made, made).nothing());
    EXPECT_NE(text().find("No difference."), std::string::npos) << text();
    EXPECT_EQ(json()["different"], false);
    EXPECT_TRUE(json()["grew"].empty());
}

TEST_F(run_difference_of_two, sites_that_grew_and_shrank_are_listed) {
    compare(parser(1000, 20), parser(1100, 10));
    EXPECT_EQ(difference_.before, (run_figures{1020, 101'000, 1100, 1000, 20}));
    EXPECT_EQ(difference_.after, (run_figures{1110, 110'500, 600, 500, 10}));
    const auto grew = difference_.changed(measure::bytes, true);
    ASSERT_EQ(grew.size(), 1U);
    EXPECT_EQ(grew[0]->text, "parse (made.cpp:7)");
    EXPECT_EQ(grew[0]->by(measure::allocations).amount(), 100U);
    EXPECT_DOUBLE_EQ(grew[0]->by(measure::allocations).share(), 0.1);
    const auto shrank = difference_.changed(measure::never_freed, false);
    ASSERT_EQ(shrank.size(), 1U);
    EXPECT_EQ(shrank[0]->text, "keep (made.cpp:9)");
    EXPECT_EQ(shrank[0]->after.never_freed_objects, 10U);
    EXPECT_NE(text({measure::allocations, 10}).find("+100  +10.0 %"), std::string::npos);
    EXPECT_NE(text({measure::allocations, 10}).find("What grew, by allocations (1 of 1 site)"), std::string::npos);
    EXPECT_EQ(json()["grew"][0]["bytes"]["after"], 110'000);
    EXPECT_EQ(json()["shrank"][0]["function"], "keep");
    EXPECT_EQ(json()["totals"]["never_freed_objects"]["before"], 20);
}

TEST_F(run_difference_of_two, new_and_gone_sites_are_named_as_such) {
    made_trace after = parser(100, 0);
    after.release(after.allocate(after.stack({"main", "log:4"}), 10), after.stack({"main"}));
    compare(parser(100, 3), after);
    EXPECT_EQ(json()["sites"], (nlohmann::json{{"new", 1}, {"gone", 1}, {"changed", 0}, {"equal", 1}}));
    EXPECT_EQ(json()["grew"][0]["in"], "after");
    EXPECT_TRUE(json()["grew"][0]["bytes"]["growth"].is_null());
    EXPECT_EQ(json()["shrank"][0]["in"], "before");
    EXPECT_NE(text().find("1 new site, 1 gone, 0 otherwise changed, 1 unchanged."), std::string::npos) << text();
    EXPECT_NE(text().find("log (made.cpp:4)"), std::string::npos);
}

TEST_F(run_difference_of_two, moved_addresses_and_lines_are_no_difference) {
    made_trace before = parser(100, 3);
    made_trace after = parser(100, 3, "8");
    after.tables.modules[0].load_bias = 0x5555'0000;
    for (frame_info& frame : after.tables.frames) {
        frame.module_offset += 4096;
        frame.locations[0].file = "/elsewhere/" + frame.locations[0].file;
    }
    EXPECT_TRUE(compare(before, after).nothing()) << text();
}

TEST_F(run_difference_of_two, the_order_of_threads_is_no_difference) {
    made_trace before;
    made_trace after;
    for (int i = 0; i < 50; ++i) {
        for (std::uint32_t thread = 0; thread < 2; ++thread) {
            const auto add = [](made_trace& made, const char* function, std::uint32_t as) {
                made.release(made.allocate(made.stack({"thread", function}), 8, as), made.stack({"thread"}), as);
            };
            add(before, thread == 0 ? "read" : "write", thread);
            add(after, thread == 0 ? "write" : "read", thread);
        }
    }
    EXPECT_TRUE(compare(before, after).nothing()) << text();
}

TEST_F(run_difference_of_two, the_requested_number_of_sites_is_shown_largest_change_first) {
    made_trace before;
    made_trace after;
    for (std::uint64_t i = 0; i < 30; ++i) {
        const std::string name = "f" + std::to_string(i);
        before.allocate(before.stack({"main", name}), 100);
        after.allocate(after.stack({"main", name}), 100 + (i * 7) % 30);
    }
    compare(before, after);
    const nlohmann::json shown = json({measure::peak, 3});
    ASSERT_EQ(shown["grew"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(shown["grew"][i]["peak"]["after"], 129 - i);
    EXPECT_NE(text({measure::peak, 3}).find("(3 of 29 sites)"), std::string::npos);
}

}  // namespace
