// Programs that allocate more than they need are told so, and others are not.
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "advised.hpp"

namespace {

using namespace acre::test;

class fewer : public advised, public testing::WithParamInterface<std::string> {
protected:
    /// Verdict and function of what allocates less in such a program.
    std::set<std::pair<std::string, std::string>> told(const std::string& program) {
        record("a.acre", "'" TRUTH_FOLDER "/fewer-" + GetParam() + "' " + program);
        advice_ = advice_for("a.acre", "--no-measure --top 50");
        std::set<std::pair<std::string, std::string>> found;
        for (const auto& each : advice_["advices"]) {
            if (each["candidate"] == "reserve" || each["candidate"] == "keep_buffer")
                found.emplace(each["candidate"], each["subject"]);
        }
        return found;
    }

    std::string code() const {
        for (const auto& each : advice_["advices"]) {
            if (each["candidate"] == "reserve" || each["candidate"] == "keep_buffer") return each["code"];
        }
        return {};
    }

    nlohmann::json advice_;
    const std::set<std::pair<std::string, std::string>> nothing_;
};

using told_as = std::set<std::pair<std::string, std::string>>;

TEST_P(fewer, a_vector_that_grows_from_empty_is_to_be_reserved) {
    EXPECT_EQ(told("grows"), (told_as{{"reserve", "numbers_of"}}));
    EXPECT_NE(code().find("reserve(2048)"), std::string::npos) << code();
    const nlohmann::json growth = advice_["advices"][0]["growth"];
    EXPECT_EQ(growth["containers"], 500);
    EXPECT_EQ(growth["replaced"], 500 * 11);
    EXPECT_EQ(growth["element_bytes"], sizeof(int));
    EXPECT_EQ(growth["reserve_bytes"], 8192);
    EXPECT_NE(code().find("fewer.cpp:19, in"), std::string::npos) << code();
}

TEST_P(fewer, no_arena_is_told_for_a_vector_that_grows_in_each_turn) {
    EXPECT_EQ(told("fills"), (told_as{{"reserve", "fill_in_turns"}}));
    EXPECT_NE(code().find("reserve(16384)"), std::string::npos) << code();
    EXPECT_EQ(advice_["advices"].size(), 1U) << advice_["advices"];
}

TEST_P(fewer, a_vector_of_each_turn_is_to_be_kept) {
    EXPECT_EQ(told("anew"), (told_as{{"keep_buffer", "cheapest_steps"}}));
    EXPECT_NE(code().find("cheapest_steps_kept.clear();"), std::string::npos) << code();
}

TEST_P(fewer, what_substr_copies_is_to_be_a_view) {
    EXPECT_EQ(told("words"), (told_as{{"keep_buffer", "words_in"}}));
    EXPECT_NE(code().find("std::string_view{text}.substr("), std::string::npos) << code();
}

// Two buffers at a time are not one to keep: an arena serves them with what holds them.
TEST_P(fewer, programs_without_such_faults_are_told_nothing) {
    for (const char* program : {"reserved", "long", "two"}) EXPECT_EQ(told(program), nothing_) << program;
}

INSTANTIATE_TEST_SUITE_P(builds, fewer, testing::Values("O0", "O2"), [](const auto& each) { return each.param; });

}  // namespace
