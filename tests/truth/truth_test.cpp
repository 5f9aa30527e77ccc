// The program with known answers: each of its sites gets the right advice, in every build and under every disturbance.
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "advised.hpp"
#include "conformance/refusal.hpp"

namespace {

using namespace acre::test;

/// The verdicts that suit, by the function that the advice is about.
using answers = std::multimap<std::string, std::string>;

answers known_answers(bool survivors) {
    return {{"request", "arena"},
            {"join_words", "arena"},
            {"spawn", "object_pool"},
            {"load_text", "multi_pool"},
            {"format_number", "stack_buffer"},
            {"solve", "scratch"},
            {"walk", "scratch"},
            {"append_lines", "scratch"},
            {"produce", "concurrent_object_pool"},
            // Each surviving packet would pin an arena.
            {"capture", survivors ? "multi_pool" : "multi_arena"},
            {"intern", "monotonic_arena"},
            {"index_node", "phase_arena"},
            {"keep_page", "multi_pool"},
            {"transform", "leave"}};
}

answers answers_in(const nlohmann::json& advice) {
    answers found;
    for (const auto& each : advice["advices"]) found.emplace(each["subject"], each["candidate"]);
    return found;
}

std::vector<std::string> builds() {
    std::vector<std::string> names;
    std::istringstream list{TRUTH_BUILDS};
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
    return names;
}

std::string program(const std::string& build) {
    return "'" TRUTH_FOLDER "/truth-" + build + "'";
}

class truth : public advised, public testing::WithParamInterface<std::tuple<std::string, std::string>> {};

TEST_P(truth, every_site_gets_the_right_advice) {
    const auto& [build, words] = GetParam();
    record("a.acre", program(build) + " " + words);
    const nlohmann::json advice = advice_for("a.acre", "--no-measure --top 50");
    EXPECT_EQ(answers_in(advice), known_answers(words.find("survivors") != std::string::npos));
    for (const auto& each : advice["advices"]) {
        if (each["subject"] != "request") continue;
        // If enough cache entries outlive a request, they are listed as blockers, and nothing else is.
        for (const auto& blocker : each["blockers"])
            EXPECT_NE(blocker["function"].dump().find("remember"), std::string::npos);
    }
}

std::string test_name(const testing::TestParamInfo<truth::ParamType>& info) {
    std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
    for (char& c : name) c = c == ' ' ? '_' : c;
    return name;
}

INSTANTIATE_TEST_SUITE_P(builds, truth,
                         testing::Combine(testing::ValuesIn(builds()),
                                          testing::Values("", "survivors noise threads recursion")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(disturbed, truth,
                         testing::Combine(testing::Values("O2"),
                                          testing::Values("survivors", "noise", "threads", "recursion")),
                         test_name);

class measured_truth : public advised {
protected:
    /// A command built with a sanitizer would measure the sanitizer's malloc and checks.
    void SetUp() override {
        if (acre_test::sanitized) GTEST_SKIP() << "what is measured with a sanitizer says nothing of malloc";
    }

    /// The first advice for a run of one site.
    nlohmann::json advice_for_site(const std::string& words) {
        record("a.acre", program("O2") + " only=" + words);
        const nlohmann::json advice = advice_for("a.acre", "--top 1");
        return advice["advices"].empty() ? nlohmann::json::object() : advice["advices"][0];
    }
};

TEST_F(measured_truth, what_gains_much_is_advised) {
    // The advised type takes less than half of malloc's time for each of these.
    for (const auto& [site, verdict] : std::map<std::string, std::string>{
             {"arena", "arena"}, {"containers", "arena"}, {"phase_arena", "phase_arena"}, {"scratch", "scratch"}}) {
        const nlohmann::json advice = advice_for_site(site);
        EXPECT_EQ(advice["verdict"], verdict) << advice;
    }
}

TEST_F(measured_truth, what_does_not_matter_is_left) {
    const nlohmann::json slow = advice_for_site("object_pool slow");
    EXPECT_EQ(slow["candidate"], "object_pool");
    EXPECT_EQ(slow["verdict"], "leave");
    EXPECT_NE(slow["reason"].dump().find("less than 2 %"), std::string::npos) << slow["reason"];
}

TEST_F(measured_truth, large_arrays_taken_at_entry_and_freed_at_exit_are_left) {
    const nlohmann::json large = advice_for_site("large");
    EXPECT_EQ(large["verdict"], "leave");
    EXPECT_EQ(large["candidate"], "leave");
    EXPECT_EQ(large["code"], "");
}

}  // namespace
