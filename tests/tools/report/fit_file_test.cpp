#include "report/fit_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/support/temporary_directory.hpp"
#include "trace/error.hpp"

namespace {

using acre::tool::read_fit;
using acre::tool::tool_error;
using nlohmann::json;

class fit_file : public testing::Test {
protected:
    json written_and_read(const std::string& text) {
        const std::filesystem::path path = directory_ / "fit.json";
        std::ofstream{path} << text;
        return read_fit(path.string());
    }

    json whole() const {
        return {{"selected", "all"},
                {"allocations", 5},
                {"peak_bytes", 100},
                {"multi_arena",
                 {{"pairs", {{{"arenas", 2}, {"bytes", 64}, {"total_bytes", 200}}}},
                  {"least", nullptr},
                  {"impossible", ""},
                  {"check", nullptr},
                  {"code", "acre::multi_arena a;"}}},
                {"arena",
                 {{"first_block_bytes", 1024},
                  {"bytes_without_reset", 4096},
                  {"generations", {{"count", 3}, {"p50_bytes", 32}, {"p99_bytes", 1024}, {"max_bytes", 1024}}},
                  {"check", {{"suffices", true}, {"one_less_fails", nullptr}, {"failure", ""}}}}},
                {"slots", {{"sizes", json::array()}}}};
    }

private:
    acre::test::temporary_directory directory_;
};

TEST_F(fit_file, is_what_was_printed) {
    EXPECT_EQ(written_and_read(whole().dump()), whole());
    json part = whole();
    part.erase("multi_arena");
    EXPECT_EQ(written_and_read(part.dump()), part);
    json of_an_advice = part;
    of_an_advice["advice"] = 7;
    EXPECT_EQ(written_and_read(of_an_advice.dump()), part);
}

TEST_F(fit_file, is_refused_where_a_page_could_not_show_it) {
    std::vector<std::string> wrong{"", "{", "[]", "5", "{}", "no JSON", "\xff"};
    const auto with = [&](const char* place, const json& value) {
        json fit = whole();
        fit[json::json_pointer{place}] = value;
        wrong.push_back(fit.dump());
    };
    with("/selected", 5);
    with("/allocations", "many");
    with("/allocations", -1);
    with("/multi_arena", "text");
    with("/multi_arena/pairs", nullptr);
    with("/multi_arena/pairs/0/arenas", 0);
    with("/multi_arena/pairs/0/bytes", json::object());
    with("/multi_arena/least", 5);
    with("/multi_arena/code", nullptr);
    with("/slots/sizes", {{{"bytes", 8}}});
    with("/multi_arena/check", 5);
    with("/arena/first_block_bytes", nullptr);
    with("/arena/bytes_without_reset", "many");
    with("/arena/generations/p50_bytes", nullptr);
    with("/arena/generations", json::array());
    with("/arena/check/one_less_fails", "no");
    with("/arena/check/failure", nullptr);
    for (const std::string& text : wrong) {
        EXPECT_THROW(written_and_read(text), tool_error) << text;
    }
    EXPECT_THROW(read_fit("no such file"), tool_error);
    EXPECT_THROW(read_fit("/"), tool_error);
    EXPECT_THROW(read_fit("/dev/zero"), tool_error);
}

}  // namespace
