// A program before and after: which advices were followed, and whether the prediction held.
#include "advise/apply_check.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "advise/candidates.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;

/// A number of requests with texts, and of orcs that are made and removed. Lines and parameters may differ.
made_trace program(int requests, int orcs, const char* line) {
    made_trace made;
    const auto text = made.stack({"main()", "request():5", std::string("copy_text(int):") + line});
    const auto end = made.stack({"main()", "request():8"});
    const auto spawns = made.stack({"main()", "battle():1", std::string("spawn(int):") + line});
    const auto buries = made.stack({"main()", "battle():2"});
    for (int i = 0; i < requests; ++i) {
        std::vector<std::uint64_t> texts;
        for (std::uint64_t n = 0; n < 6; ++n) texts.push_back(made.allocate(text, 20 + 13 * n));
        for (const std::uint64_t each : texts) made.release(each, end);
    }
    std::vector<std::uint64_t> live;
    for (int i = 0; i < orcs; ++i) {
        live.push_back(made.allocate(spawns, 64));
        if (live.size() < 50) continue;
        const auto which = live.begin() + i * 7 % 40;
        made.release(*which, buries);
        live.erase(which);
    }
    return made;
}

class apply : public testing::Test {
protected:
    struct opened {
        explicit opened(const std::filesystem::path& path) : reader{path}, paths{reader.tables()}, run{reader, paths} {}
        trace_reader reader;
        call_paths paths;
        history run;
    };

    double expected_of_one() const { return list_.advices[0].saving.expected().median; }

    /// Checks with a saving of 10 ms on a clean heap for each advice; one about `left` was decided against.
    const apply_check& check(const made_trace& before, const made_trace& after, std::optional<cpu_times> cpu,
                             const std::string& left = "") {
        before_.emplace(before.write(directory_ / "before.acre"));
        after_.emplace(after.write(directory_ / "after.acre"));
        list_ = find_candidates(before_->run, before_->paths);
        for (advice& each : list_.advices) {
            each.saving.done = true;
            each.saving.nanoseconds = {9e6, 10e6, 11e6};
            each.saving.fragmented_nanoseconds = each.saving.nanoseconds;
            if (before_->paths.functions()[each.function].short_name == left) each.decision = verdict::leave;
        }
        check_ = check_application(list_, before_->run, before_->paths, after_->run, after_->paths, cpu);
        return check_;
    }

    const checked_advice& about(const std::string& function) const {
        for (const checked_advice& each : check_.advices) {
            const advice& of = list_.advices[each.number];
            if (before_->paths.functions()[of.function].short_name == function) return each;
        }
        ADD_FAILURE() << "there is no advice about " << function;
        return check_.advices.front();
    }

    std::string text() const { return apply_text(check_, list_, before_->paths); }
    nlohmann::json json() const { return apply_json(check_, list_, before_->paths); }

private:
    temporary_directory directory_;
    std::optional<opened> before_;
    std::optional<opened> after_;
    advice_list list_;
    apply_check check_;
};

TEST_F(apply, what_allocates_no_longer_was_followed) {
    check(program(300, 3000, "3"), program(0, 3000, "9"), cpu_times{1e9, 0.99e9, false});
    EXPECT_EQ(about("request").state, follow_up::applied);
    EXPECT_EQ(about("request").objects_before, 1800U);
    EXPECT_EQ(about("request").objects_after, 0U);
    EXPECT_EQ(about("spawn").state, follow_up::not_applied);
    EXPECT_EQ(about("spawn").objects_after, 3000U);
    EXPECT_NE(text().find("an arena, reset in request: followed"), std::string::npos) << text();
}

// One buffer of each stays.
TEST_F(apply, what_is_reserved_was_followed) {
    const auto vectors = [](bool is_reserved) {
        made_trace made;
        const auto fills = made.stack({"main:3", "fill:7", "std::vector<int>::_M_realloc_append<int>(int&&)"});
        const auto drops = made.stack({"main:4"});
        for (int i = 0; i < 1000; ++i) {
            std::uint64_t buffer = made.allocate(fills, is_reserved ? 16 : 4);
            for (const std::uint64_t size : {8U, 16U}) {
                if (is_reserved) break;
                const std::uint64_t larger = made.allocate(fills, size);
                made.release(buffer, fills);
                buffer = larger;
            }
            made.release(buffer, drops);
        }
        return made;
    };
    check(vectors(false), vectors(true), std::nullopt);
    EXPECT_EQ(about("fill").state, follow_up::applied);
    check(vectors(false), vectors(false), std::nullopt);
    EXPECT_EQ(about("fill").state, follow_up::not_applied);
}

TEST_F(apply, what_was_saved_lies_in_the_predicted_interval_or_not) {
    const made_trace before = program(300, 3000, "3");
    const made_trace after = program(0, 3000, "3");
    EXPECT_EQ(check(before, after, cpu_times{1e9, 0.99e9, false}).outcome, prediction_outcome::inside);
    EXPECT_TRUE(check(before, after, cpu_times{1e9, 0.99e9, false}).held());
    EXPECT_EQ(check(before, after, cpu_times{1e9, 0.9e9, false}).outcome, prediction_outcome::above);
    EXPECT_TRUE(check(before, after, cpu_times{1e9, 0.9e9, false}).held());
    EXPECT_EQ(check(before, after, cpu_times{1e9, 0.995e9, false}).outcome, prediction_outcome::below);
    EXPECT_FALSE(check(before, after, cpu_times{1e9, 0.995e9, false}).held());
    EXPECT_NE(text().find("the prediction did"), std::string::npos) << text();
    EXPECT_EQ(json()["outcome"], "below");
    EXPECT_EQ(json()["held"], false);
    EXPECT_EQ(json()["cpu"]["saved_ns"], 5e6);
}

TEST_F(apply, what_is_half_gone_was_followed_in_part_and_promised_half) {
    check(program(300, 3000, "3"), program(300, 1500, "3"), cpu_times{1e9, 0.995e9, false});
    EXPECT_EQ(about("spawn").state, follow_up::in_part);
    EXPECT_NE(text().find("remaining    mostly spawn\n"), std::string::npos) << text();
    EXPECT_DOUBLE_EQ(about("spawn").predicted.median, expected_of_one() / 2);
}

TEST_F(apply, several_advices_are_predicted_together) {
    const apply_check& found = check(program(300, 3000, "3"), program(0, 30, "3"), cpu_times{1e9, 0.98e9, false});
    EXPECT_EQ(found.followed(), 2U);
    // A few objects of one advice are still allocated.
    EXPECT_NEAR(found.predicted.median, 1.99 * expected_of_one(), 1e3);
    EXPECT_EQ(found.outcome, prediction_outcome::inside);
}

TEST_F(apply, two_classes_of_one_function_are_told_apart) {
    const auto run = [](bool with_orcs) {
        made_trace made;
        const auto orc = made.stack({"main()", "spawn():3", "operator new<orc>", "operator new(unsigned long)"});
        const auto elf = made.stack({"main()", "spawn():4", "operator new<elf>", "operator new(unsigned long)"});
        const auto end = made.stack({"main()", "bury():2"});
        std::vector<std::uint64_t> live;
        for (int i = 0; i < 3000; ++i) {
            if (with_orcs) live.push_back(made.allocate(orc, 64));
            live.push_back(made.allocate(elf, 96));
            for (; live.size() > 50; live.erase(live.begin() + i * 7 % 40))
                made.release(live[static_cast<std::size_t>(i * 7 % 40)], end);
        }
        return made;
    };
    const apply_check& found = check(run(true), run(false), cpu_times{1e9, 0.99e9, false});
    ASSERT_EQ(found.advices.size(), 2U);
    EXPECT_EQ(found.followed(), 1U) << text();
    EXPECT_EQ(found.advices[0].objects_after + found.advices[1].objects_after, 3000U);
}

// A larger class derived from a pooled one stays on malloc, and nothing tells its name there any more.
TEST_F(apply, a_class_that_is_still_allocated_under_another_name_is_not_gone) {
    const auto run = [](bool has_pool) {
        made_trace made;
        const auto stack = [&](const char* inner) {
            return made.stack({"main()", "build():3", inner, "operator new(unsigned long)"});
        };
        const auto node = stack("operator new<node>");
        const auto light = has_pool ? made.stack({"main()", "build():3", "operator new(unsigned long)"})
                                    : stack("operator new<light>");
        const auto end = made.stack({"main()", "drop():2"});
        for (int i = 0; i < 3000; ++i) {
            if (!has_pool) made.release(made.allocate(node, 64), end);
            made.release(made.allocate(light, has_pool ? 112 : 104), end);
        }
        return made;
    };
    check(run(false), run(true), cpu_times{1e9, 0.995e9, false});
    const nlohmann::json found = json();
    ASSERT_FALSE(found["advices"].empty());
    std::uint64_t remaining = 0;
    for (const auto& each : found["advices"]) remaining += each["allocations_after"].get<std::uint64_t>();
    EXPECT_EQ(remaining, 3000U) << text();
}

TEST_F(apply, more_saved_in_threads_is_put_down_to_them) {
    const auto run = [](int count) {
        made_trace made;
        const auto makes = made.stack({"main()", "send():3"});
        const auto takes = made.stack({"main()", "receive():2"});
        const auto keeps = made.stack({"main()", "keep():4"});
        for (int i = 0; i < count; ++i) made.release(made.allocate(makes, 64), takes, 1);
        made.allocate(keeps, 64);
        return made;
    };
    check(run(3000), run(0), cpu_times{1e9, 0.5e9, false});
    EXPECT_EQ(json()["outcome"], "above") << text();
    EXPECT_NE(text().find("a replay does not show what threads cost each other in malloc, skipped destructors"),
              std::string::npos)
        << text();
}

TEST_F(apply, nothing_followed_is_no_success) {
    const made_trace same = program(300, 3000, "3");
    const apply_check& found = check(same, same, cpu_times{1e9, 0.5e9, false});
    EXPECT_EQ(found.followed(), 0U);
    EXPECT_FALSE(found.held());
    EXPECT_NE(text().find("No advice was followed"), std::string::npos) << text();
}

TEST_F(apply, what_was_left_and_not_followed_is_not_listed) {
    const made_trace before = program(300, 3000, "3");
    const apply_check& found = check(before, program(0, 3000, "9"), std::nullopt, "spawn");
    ASSERT_EQ(found.advices.size(), 1U);
    EXPECT_EQ(about("request").state, follow_up::applied);
    check(before, program(300, 0, "3"), std::nullopt, "spawn");
    EXPECT_EQ(about("spawn").state, follow_up::applied) << "followed all the same";
}

TEST_F(apply, nothing_changed_is_nothing_followed) {
    // Texts that die with their request, and others from the same site that live on: two advices about one site.
    made_trace made;
    const auto text = made.stack({"main()", "request():5", "copy_text(int):7"});
    const auto end = made.stack({"main()", "request():8"});
    const auto other_end = made.stack({"main()", "session():8"});
    const auto kept = made.stack({"main()", "session():3", "request():5", "copy_text(int):7"});
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 500; ++i) {
        std::vector<std::uint64_t> texts;
        for (std::uint64_t n = 0; n < 6; ++n) texts.push_back(made.allocate(text, 20 + 13 * n));
        for (const std::uint64_t each : texts) made.release(each, end);
        for (std::uint64_t n = 0; n < 2; ++n) live.push_back(made.allocate(kept, 48));
        for (; live.size() > 40; live.erase(live.begin() + i % 30))
            made.release(live[static_cast<std::size_t>(i % 30)], other_end);
    }
    const apply_check& found = check(made, made, cpu_times{100e6, 100e6, false});
    EXPECT_GE(found.advices.size(), 2U);
    for (const checked_advice& each : found.advices) EXPECT_EQ(each.state, follow_up::not_applied);
    EXPECT_EQ(found.followed(), 0U);
}

TEST_F(apply, times_with_the_recording_are_said_to_be_that) {
    check(program(300, 3000, "3"), program(0, 3000, "3"), cpu_times{1e9, 0.99e9, true});
    EXPECT_NE(text().find("--cpu-before"), std::string::npos);
    EXPECT_EQ(json()["cpu"]["of_recorded_runs"], true);
    check(program(300, 3000, "3"), program(0, 3000, "3"), std::nullopt);
    EXPECT_EQ(json()["cpu"], nullptr);
    EXPECT_EQ(json()["outcome"], "unknown");
}

// As where an arena is static in a header, so that another one is reset.
TEST_F(apply, more_memory_is_no_success) {
    made_trace grown = program(0, 0, "3");
    const auto blocks = grown.stack({"main()", "request():5", "new_block():1"});
    for (int i = 0; i < 10; ++i) grown.allocate(blocks, 1 << 20);
    const apply_check& found = check(program(1000, 1000, "3"), grown, cpu_times{100e6, 60e6});
    EXPECT_NE(found.outcome, prediction_outcome::below);
    EXPECT_FALSE(found.held());
    EXPECT_NE(text().find("10.0 MiB after. That is far more."), std::string::npos) << text();
    EXPECT_EQ(json()["peak_bytes_after"], 10 << 20);
}

}  // namespace
