// Tables of any size become tables that a reader takes, with sentences that say what is missing.
#include "trace/table_fit.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tools/support/hostile_trace.hpp"
#include "trace/error.hpp"
#include "trace/table_codec.hpp"

namespace {

using namespace acre::test;
using format::table_limits;

trace_tables decoded(const trace_tables& tables, const table_limits& limits) {
    const encoded_tables encoded = encode_tables(tables);
    trace_tables read;
    table_decoder decoder{read, limits};
    decoder.strings(encoded.strings.bytes());
    decoder.modules(encoded.modules.bytes());
    decoder.frames(encoded.frames.bytes());
    decoder.call_tree(encoded.call_tree.bytes());
    decoder.scope_names(encoded.scopes.bytes());
    return read;
}

testing::AssertionResult reads(const trace_tables& tables, const table_limits& limits) {
    try {
        if (decoded(tables, limits).call_tree.size() == tables.call_tree.size()) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "nodes are missing";
    } catch (const tool_error& error) {
        return testing::AssertionFailure() << error.what();
    }
}

/// 40 callers of a frame of 3 functions, and some more of everything.
trace_tables some_tables() {
    hostile_trace made;
    made.add_fans(40, 3);
    made.tables.modules.push_back({"/usr/lib/another-rather-long-name.so", "00", 0});
    made.tables.frames[7].module = 1;
    made.tables.scope_names = {"load", "parse", "a scope with a name that is longer than others"};
    return made.tables;
}

/// Each limit in turn, from far too low to high enough: what is cut is read again, and nothing is cut without a word.
template <typename Member>
void expect_round_trips(const char* name, Member member, std::uint64_t low, std::uint64_t high) {
    SCOPED_TRACE(name);
    const trace_tables whole = some_tables();
    bool all_cut = true;
    bool none_cut = true;
    for (std::uint64_t limit = low; limit <= high; limit += std::max<std::uint64_t>((high - low) / 200, 1)) {
        table_limits limits;
        limits.*member = limit;
        trace_tables tables = whole;
        const table_fit fit{tables, limits};
        const std::vector<std::string> notes = fit.cut(tables);
        EXPECT_EQ(notes.empty(), fit.is_whole()) << limit;
        EXPECT_TRUE(reads(tables, limits)) << limit;
        EXPECT_TRUE((table_fit{tables, limits}.is_whole())) << limit;
        EXPECT_NO_THROW(check_tables(tables, limits)) << limit;
        if (!fit.is_whole()) {
            EXPECT_THROW(check_tables(whole, limits), tool_error) << limit;
        } else {
            EXPECT_TRUE(reads(whole, limits)) << limit;
        }
        all_cut = all_cut && !fit.is_whole();
        none_cut = none_cut && fit.is_whole();
    }
    EXPECT_FALSE(all_cut || none_cut) << "the limits were meant to be around what there is";
}

TEST(table_fit, what_is_cut_at_any_limit_is_read_again) {
    expect_round_trips("nodes", &table_limits::nodes, 1, 100);
    expect_round_trips("frames", &table_limits::frames, 0, 60);
    expect_round_trips("locations", &table_limits::locations, 0, 60);
    expect_round_trips("modules", &table_limits::modules, 0, 3);
    expect_round_trips("scope_names", &table_limits::scope_names, 0, 4);
    expect_round_trips("texts", &table_limits::texts, 1, 300);
    expect_round_trips("text_bytes", &table_limits::text_bytes, 1, 60);
    expect_round_trips("texts_bytes", &table_limits::texts_bytes, 1, 2'000);
    expect_round_trips("weight", &table_limits::weight, 100, 100'000);
}

TEST(table_fit, says_how_much_is_missing) {
    trace_tables tables = some_tables();
    table_limits limits;
    limits.nodes = 11;
    limits.locations = 4;
    const std::vector<std::string> notes = table_fit{tables, limits}.cut(tables);
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_NE(notes[0].find("70 of 81 places"), std::string::npos) << notes[0];
    EXPECT_NE(notes[1].find("39 of them"), std::string::npos) << notes[1];
    EXPECT_EQ(tables.call_tree.size(), 11U);
}

TEST(table_fit, a_command_line_keeps_its_beginning) {
    trace_header header;
    header.command = {"program", "a"};
    EXPECT_FALSE(fit_command(header));
    for (int i = 0; i < 70; ++i) header.command.push_back(std::string(120'000, 'x'));
    EXPECT_TRUE(fit_command(header));
    EXPECT_GT(header.command.size(), 50U);
    EXPECT_LE(encode_header(header).bytes().size(), format::max_header_bytes);
    EXPECT_EQ(decode_header(encode_header(header).bytes(), format::version).command, header.command);
}

}  // namespace
