// The text, the plots and the JSON of a fit.
#include "fit/fit_report.hpp"

#include <gtest/gtest.h>

#include <acre/core/sanitizer.hpp>

#include <nlohmann/json.hpp>
#include <random>

#include "fit/front_plot.hpp"
#include "made_workload.hpp"
#include "trace/call_paths.hpp"

namespace {

using namespace acre::test;

class fit_report : public testing::Test {
protected:
    fit_report() {
        const auto stays = made_.stack({"main", "remember:3"});
        const auto large = made_.stack({"main", "load:1"});
        made_.allocate(large, 100'000);
        for (int i = 0; i < 20; ++i) {
            made_.allocate(stays, 40);
            add_messages(made_, 100, 20, 200);
        }
        outcome_.targets = {true, true, true, true, true, true};
    }

    void run(const fit_request& request = {}) {
        const call_paths paths{made_.tables};
        const event_source source = source_of(made_);
        outcome_.result = fit(source, request, [&](std::uint32_t stack) { return paths.site(stack); });
        outcome_.checks = check_sizes(source, outcome_.result, true);
        text_ = fit_text(outcome_, paths, made_.header);
        json_ = fit_json(outcome_, paths, made_.header);
    }

    bool says(const std::string& words) const {
        // Lines may be wrapped anywhere.
        std::string flat;
        for (const char each : text_) {
            const bool blank = each == ' ' || each == '\n';
            if (!blank || (!flat.empty() && flat.back() != ' ')) flat += blank ? ' ' : each;
        }
        return flat.find(words) != std::string::npos;
    }

    made_trace made_;
    fit_outcome outcome_;
    std::string text_;
    nlohmann::json json_;
};

TEST_F(fit_report, contains_the_important_figures) {
    run();
    EXPECT_TRUE(says("1 allocation is of 256 bytes or more, up to 100,000 bytes at load (made.cpp:1)")) << text_;
    EXPECT_TRUE(says(" objects, live at a time")) << text_;
    EXPECT_TRUE(says("21 objects are never freed"));
    EXPECT_TRUE(says("least in all"));
    EXPECT_TRUE(says("Checked by a replay"));
    EXPECT_TRUE(says("acre::multi_arena arenas{{.arenas = "));
    EXPECT_TRUE(says("acre::realtime_heap heap{{.arenas = "));
    EXPECT_FALSE(says("concurrent_multi_arena arenas{{"));
    EXPECT_TRUE(json_["concurrent_multi_arena"].is_null());
}

TEST_F(fit_report, for_several_threads_shows_types_for_threads) {
    for (std::size_t i = 0; i < made_.events.size(); ++i) made_.events[i].thread = i % 2;
    run();
    EXPECT_TRUE(says("2 threads allocate"));
    EXPECT_TRUE(says("acre::synchronized<acre::multi_arena> arenas"));
    EXPECT_TRUE(says("acre::concurrent_multi_arena arenas{{"));
    EXPECT_EQ(json_["concurrent_multi_arena"]["check"]["suffices"], true);
}

TEST_F(fit_report, json_has_the_same_figures) {
    if (acre::poisoning) GTEST_SKIP() << "redzones take room that an ordinary build does not need";
    run();
    const nlohmann::json& found = json_["multi_arena"];
    ASSERT_FALSE(found["pairs"].empty());
    const auto& best = outcome_.result.multi_arena.best();
    EXPECT_EQ(found["least"]["arenas"], best.arenas);
    EXPECT_EQ(found["least"]["bytes"], best.bytes);
    EXPECT_EQ(found["least"]["total_bytes"], acre::multi_arena::required_bytes(best.options()));
    EXPECT_EQ(found["check"]["suffices"], true);
    EXPECT_EQ(found["impossible"], "");
    EXPECT_EQ(json_["allocations"], 1U + 20U * 101U);
    EXPECT_EQ(json_["arena"]["check"]["suffices"], true);
    EXPECT_EQ(json_["slots"]["sizes"][0]["bytes"], 200U);
    EXPECT_EQ(json_["slots"]["sizes"][0]["slots"], 21U);
    EXPECT_EQ(json_["slots"]["larger_allocations"], 1U);
    EXPECT_GT(json_["realtime_heap"]["half_fit_bytes"], json_["peak_bytes"]);
    EXPECT_GT(json_["realtime_heap"]["total_bytes"], json_["peak_bytes"]);
    EXPECT_LT(json_["realtime_heap"]["total_bytes"], json_["realtime_heap"]["half_fit_bytes"]);
    EXPECT_EQ(json_["realtime_heap"]["check"]["suffices"], true);
}

TEST_F(fit_report, says_why_there_is_no_front) {
    made_.allocate(made_.stack({"main", "page:6"}), 8192);
    made_.events.back().alignment_log2 = 16;
    run();
    EXPECT_TRUE(says("aligned to 65536 bytes")) << text_;
    EXPECT_TRUE(says("page (made.cpp:6)")) << text_;
    EXPECT_EQ(json_["multi_arena"]["least"], nullptr);
}

TEST_F(fit_report, is_the_same_each_time) {
    run();
    const std::string before = text_;
    run();
    EXPECT_EQ(text_, before);
}

TEST_F(fit_report, draws_every_pair) {
    run();
    const front_picture picture{outcome_.result.multi_arena, arena_sharing::one_thread,
                                outcome_.result.figures.peak_bytes};
    const std::string svg = plot_svg(picture);
    const auto count = [&](const std::string& what) {
        std::size_t found = 0;
        for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(count("class=\"pair\""), outcome_.result.multi_arena.pairs.size());
    EXPECT_EQ(count("class=\"best\""), 1U);
    EXPECT_EQ(count("live at the peak"), 1U);
    EXPECT_EQ(count("nan"), 0U);
    EXPECT_EQ(count("inf"), 0U);
    EXPECT_EQ(count("prefers-color-scheme: dark"), 1U);
    const std::string text = plot_text(picture);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 16);
}

TEST_F(fit_report, draws_a_single_pair) {
    made_trace one;
    one.allocate(one.stack({"main", "work"}), 0);
    const census of = take_census(source_of(one));
    const front_picture picture{find_front(source_of(one), of), arena_sharing::one_thread, of.peak_bytes};
    EXPECT_NE(plot_text(picture).find('#'), std::string::npos);
    EXPECT_EQ(plot_svg(picture).find("nan"), std::string::npos);
}

}  // namespace
