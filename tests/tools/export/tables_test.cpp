// Tables as CSV and as Parquet. scripts/readers-tests reads the Parquet with pyarrow and DuckDB.
#include <gtest/gtest.h>

#include "export/csv_table.hpp"
#include "export/parquet_table.hpp"
#include "memory_output.hpp"
#include "text/valid_text.hpp"

namespace {

using namespace acre::tool;
using namespace acre::test;

const std::vector<std::string> words{"plain", "a \"word\"", ""};

std::vector<column> one_of_each() {
    using enum value_kind;
    return {{"n64", number64},
            {"n32", number32, true},
            {"real", real},
            {"yes", truth},
            {"when", moment},
            {"text", text, true},
            {"word", word, true, false, &words}};
}

void put_rows(table_writer& to) {
    to.number(~std::uint64_t{0});
    to.number(7);
    to.real(0.25);
    to.truth(true);
    to.moment(1'767'323'045'000'000);
    to.text("a,b");
    to.word(1);
    to.number(0);
    to.nothing();
    to.real(1e300);
    to.truth(false);
    to.moment(0);
    to.text_if_any("");
    to.word(2);
}

TEST(csv, follows_rfc_4180) {
    memory_output output;
    csv_table table{one_of_each(), output};
    put_rows(table);
    table.finish();
    EXPECT_EQ(output.text,
              "n64,n32,real,yes,when,text,word\r\n"
              "18446744073709551615,7,0.25,true,2026-01-02T03:04:05Z,\"a,b\",\"a \"\"word\"\"\"\r\n"
              "0,,1e+300,false,1970-01-01T00:00:00Z,,\"\"\r\n");
}

TEST(csv, keeps_odd_names_in_their_fields) {
    const auto field = [](std::string_view name) {
        memory_output output;
        csv_table table{{{"x", value_kind::text}}, output};
        table.text(name);
        table.finish();
        return output.text.substr(3);
    };
    EXPECT_EQ(field("std::map<int, a>"), "\"std::map<int, a>\"\r\n");
    EXPECT_EQ(field("two\nlines"), "\"two\nlines\"\r\n");
    EXPECT_EQ(field("semi;colon"), "semi;colon\r\n");
    EXPECT_EQ(field("\xff\xc3"), "\xef\xbf\xbd\xef\xbf\xbd\r\n");
    EXPECT_EQ(field(""), "\"\"\r\n");
}

TEST(csv, writes_no_formulas) {
    const auto field = [](std::string_view name) {
        memory_output output;
        csv_table table{{{"x", value_kind::text}}, output};
        table.text(name);
        table.finish();
        return output.text.substr(3);
    };
    EXPECT_EQ(field("=HYPERLINK(A1)"), "'=HYPERLINK(A1)\r\n");
    EXPECT_EQ(field("=1,\"2\""), "\"'=1,\"\"2\"\"\"\r\n");
    EXPECT_EQ(field("+1"), "'+1\r\n");
    EXPECT_EQ(field("-f"), "'-f\r\n");
    EXPECT_EQ(field("@SUM"), "'@SUM\r\n");
    EXPECT_EQ(field("\t=1"), "'\t=1\r\n");
    EXPECT_EQ(field("\r=1"), "'?=1\r\n");
    EXPECT_EQ(field("a=1"), "a=1\r\n");
    EXPECT_EQ(field("a\u009b\u202e\x1b"), "a???\r\n") << "nor what a terminal obeys";
    const std::vector<std::string> dashed{"-word"};
    memory_output output;
    csv_table table{{{"n", value_kind::real}, {"w", value_kind::word, false, false, &dashed}}, output};
    table.real(-0.5);
    table.word(0);
    table.finish();
    EXPECT_EQ(output.text, "n,w\r\n-0.5,'-word\r\n");
}

TEST(valid_text, is_utf8_without_zeros) {
    EXPECT_EQ(valid_text("plain; \"\n"), "plain; \"\n");
    EXPECT_EQ(valid_text("\u00e4\u20ac\U0001f600"), "\u00e4\u20ac\U0001f600");
    const std::string bad = "\ufffd";
    EXPECT_EQ(valid_text(std::string_view{"a\0b", 3}), "a" + bad + "b");
    EXPECT_EQ(valid_text("\xc0\x80"), bad + bad);                      // overlong
    EXPECT_EQ(valid_text("\xed\xa0\x80"), bad + bad + bad);            // a surrogate
    EXPECT_EQ(valid_text("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // beyond U+10FFFF
    EXPECT_EQ(valid_text("\xe2\x82"), bad + bad);                      // cut off
    EXPECT_LE(valid_text(std::string(3 << 20, '\xff')).size(), std::size_t{1} << 20);
}

std::string parquet(std::uint64_t rows) {
    memory_output output;
    parquet_table table{one_of_each(), {{"key", "value"}}, output};
    for (std::uint64_t i = 0; i < rows; ++i) put_rows(table);
    table.finish();
    return output.text;
}

TEST(parquet, has_its_header_and_footer) {
    for (std::uint64_t rows : {0U, 1U, 1000U}) {
        const std::string file = parquet(rows);
        ASSERT_GT(file.size(), 12U);
        EXPECT_EQ(file.substr(0, 4), "PAR1");
        EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
        std::uint32_t metadata = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            metadata |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(file[file.size() - 8 + i])) << (8 * i);
        }
        ASSERT_LE(metadata + 12, file.size());
        EXPECT_NE(file.find("key", file.size() - 8 - metadata), std::string::npos);
        EXPECT_EQ(rows == 0, metadata + 12 == file.size());
    }
}

TEST(parquet, is_the_same_for_the_same_rows) {
    EXPECT_EQ(parquet(500), parquet(500));
}

/// The output grows while rows arrive: memory holds one row group.
TEST(parquet, is_written_in_row_groups) {
    memory_output output;
    parquet_table table{{{"n", value_kind::number64}}, {}, output};
    for (std::uint64_t i = 0; i < parquet_table::group_rows - 1; ++i) table.number(i);
    const std::size_t before = output.text.size();
    table.number(1);
    const std::size_t after = output.text.size();
    EXPECT_EQ(before, 4U);
    EXPECT_GT(after, before);
    parquet_table texts{{{"t", value_kind::text}}, {}, output};
    const std::string megabyte((1 << 20) - 4, 'x');
    for (int i = 0; i < 40; ++i) texts.text(megabyte);
    EXPECT_GT(output.text.size(), after + 4) << "long texts end a row group early";
}

}  // namespace
