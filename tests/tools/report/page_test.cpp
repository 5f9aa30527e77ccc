#include "report/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace {

using acre::tool::page_of;

std::size_t times(const std::string& text, const std::string& word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

std::string data_in(const std::string& page) {
    const std::string begin = R"(<script type="application/json" id="data">)";
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("</script>", from) - from);
}

TEST(page, holds_its_data) {
    const nlohmann::json data{{"name", "orc"}, {"sizes", {1, 2, 3}}};
    EXPECT_EQ(nlohmann::json::parse(data_in(page_of(data))), data);
}

TEST(page, data_cannot_leave_its_element) {
    const nlohmann::json data{{"</script><script>alert(1)</script>", "<!--<script>"}, {"u", "\u2028\u2029 & ' \" ]]>"}};
    const std::string page = page_of(data);
    const std::string inert = data_in(page);
    EXPECT_EQ(nlohmann::json::parse(inert), data);
    EXPECT_EQ(inert.find('<'), std::string::npos);
    EXPECT_TRUE(std::all_of(inert.begin(), inert.end(), [](char c) { return c >= ' ' && c < 127; }));
    EXPECT_EQ(times(page, "</script>"), 2U);
}

TEST(page, invalid_utf8_is_replaced) {
    const std::string page = page_of({{"name", "\xff\xfe orc"}});
    EXPECT_EQ(nlohmann::json::parse(data_in(page))["name"], "\ufffd\ufffd orc");
}

TEST(page, loads_nothing) {
    const std::string page = page_of(nlohmann::json::object());
    EXPECT_NE(page.find("default-src 'none'; style-src 'sha256-"), std::string::npos);
    EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
    for (const char* word :
         {"src=", "@import", "url(", "<link", "fetch(", "XMLHttpRequest", "WebSocket", "innerHTML"}) {
        EXPECT_EQ(page.find(word), std::string::npos) << word;
    }
}

}  // namespace
