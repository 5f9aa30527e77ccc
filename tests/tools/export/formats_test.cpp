// The formats with call stacks: figures of a made program with known figures, and odd names.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "export/profiles.hpp"
#include "export/usage.hpp"
#include "memory_output.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/temporary_directory.hpp"

namespace {

using namespace acre::test;

/// Two stacks. At the peak (300 bytes) one object of each is live; one object of 5 bytes is never freed.
made_trace two_stacks() {
    made_trace made;
    const auto parse = made.stack({"main", "parse:3"});
    const auto load = made.stack({"main", "load:4"});
    const auto first = made.allocate(parse, 200);  // at 1 us
    made.release(made.allocate(load, 50), load);   // at 2 and 3 us
    const auto second = made.allocate(load, 100);  // at 4 us
    made.release(first, parse);                    // at 5 us
    made.release(second, parse);                   // at 6 us
    made.allocate(parse, 5);                       // at 7 us
    made.header.duration = 100'007'000;
    return made;
}

class formats : public testing::Test {
protected:
    template <typename Write>
    std::string written(const made_trace& made, Write&& write) {
        trace_reader reader{made.write(directory_ / "a.acre")};
        const call_paths paths{reader.tables()};
        memory_output output;
        write(reader, paths, output);
        EXPECT_TRUE(output.finished);
        return output.text;
    }

    std::string collapsed(const made_trace& made, stack_weight weight) {
        return written(made, [&](auto& reader, auto& paths, auto& to) { write_collapsed(reader, paths, weight, to); });
    }

    nlohmann::json dhat(const made_trace& made) {
        return nlohmann::json::parse(
            written(made, [](auto& reader, auto& paths, auto& to) { write_dhat(reader, paths, to); }));
    }

    std::string pprof(const made_trace& made) {
        return written(
            made, [](auto& reader, auto& paths, auto& to) { write_pprof(reader, paths, identify(reader, ""), to); });
    }

    temporary_directory directory_;
};

TEST(usage, has_the_figures_of_each_key) {
    usage_table table;
    for (const event& e : two_stacks().events) {
        if (e.allocates) {
            table.allocate(e, e.stack);
        } else {
            table.release(e);
        }
    }
    table.finish(100'007'000);
    const usage& parse = table.of(2);
    EXPECT_EQ(parse.allocated.count, 2U);
    EXPECT_EQ(parse.allocated.bytes, 205U);
    EXPECT_EQ(parse.peak.bytes, 200U);
    EXPECT_EQ(parse.at_peak.count, 1U);
    EXPECT_EQ(parse.at_peak.bytes, 200U);
    EXPECT_EQ(parse.live.count, 1U);
    EXPECT_EQ(parse.live.bytes, 5U);
    EXPECT_EQ(parse.smallest, 5U);
    EXPECT_EQ(parse.largest, 200U);
    EXPECT_EQ(parse.freed_ticks, 4U);
    EXPECT_EQ(parse.live_ticks, 100'000U);
    const usage& load = table.of(3);
    EXPECT_EQ(load.allocated.count, 2U);
    EXPECT_EQ(load.peak.bytes, 100U);
    EXPECT_EQ(load.at_peak.bytes, 100U);
    EXPECT_EQ(load.live.count, 0U);
    EXPECT_EQ(load.mean_lifetime_nanoseconds(), 1500);
    EXPECT_EQ(table.peak_time(), 4000U);
    EXPECT_EQ(table.all().bytes, 355U);
}

/// Compares with a plain count over all keys at each event.
TEST(usage, figures_at_the_peak_are_right_when_the_peak_moves_often) {
    const made_trace made = random_trace(3, 5000);
    usage_table table;
    std::vector<std::uint64_t> live(made.tables.call_tree.size());
    std::vector<std::uint64_t> at_peak = live;
    std::vector<std::uint32_t> stacks;
    std::uint64_t all = 0;
    std::uint64_t peak = 0;
    for (event e : made.events) {
        e.size &= 0xfff;  // so that sums do not wrap
        if (e.allocates) {
            table.allocate(e, e.stack);
            stacks.push_back(e.stack);
            live[e.stack] += e.size;
            all += e.size;
            if (all > peak) {
                peak = all;
                at_peak = live;
            }
        } else {
            table.release(e);
            live[stacks[e.object]] -= e.size;
            all -= e.size;
        }
    }
    for (std::uint32_t key = 0; key < table.by_key().size(); ++key) {
        EXPECT_EQ(table.of(key).at_peak.bytes, at_peak[key]) << key;
        EXPECT_EQ(table.of(key).live.bytes, live[key]) << key;
    }
}

TEST_F(formats, collapsed_stacks_count_the_chosen_weight) {
    const made_trace made = two_stacks();
    EXPECT_EQ(collapsed(made, stack_weight::bytes), "main;parse 205\nmain;load 150\n");
    EXPECT_EQ(collapsed(made, stack_weight::allocations), "main;parse 2\nmain;load 2\n");
    EXPECT_EQ(collapsed(made, stack_weight::peak), "main;parse 200\nmain;load 100\n");
    EXPECT_EQ(collapsed(made, stack_weight::lifetime), "main;parse 100004\nmain;load 3\n");
}

TEST_F(formats, equal_collapsed_stacks_share_a_line) {
    made_trace made;
    made.allocate(made.stack({"main:1", "f"}), 1);
    made.allocate(made.stack({"main:2", "f"}), 2);
    made.allocate(made.stack({"main:2"}), 4);
    made.allocate(no_stack, 8);
    EXPECT_EQ(collapsed(made, stack_weight::bytes), "main 4\nmain;f 3\nunknown 8\n");
}

TEST_F(formats, collapsed_names_cannot_end_a_frame_or_a_line) {
    made_trace made;
    made.allocate(made.stack({"a;b", "c\nd\te", "f\xff", "operator<< <x, y>"}), 1);
    EXPECT_EQ(collapsed(made, stack_weight::bytes), "a,b;c?d?e;f\ufffd;operator<< <x, y> 1\n");
}

TEST_F(formats, figures_of_a_sampled_trace_are_scaled) {
    made_trace made = two_stacks();
    made.header.sampling_period = 100;
    EXPECT_EQ(collapsed(made, stack_weight::bytes), "main;parse 20500\nmain;load 15000\n");
    const auto json = dhat(made);
    EXPECT_EQ(json["pps"][0]["tb"], 20'500);
    EXPECT_NE(json["cmd"].get<std::string>().find("one allocation in 100"), std::string::npos);
}

TEST_F(formats, dhat_has_the_known_figures) {
    const auto json = dhat(two_stacks());
    EXPECT_EQ(json["dhatFileVersion"], 2);
    EXPECT_EQ(json["te"], 100'007);
    ASSERT_EQ(json["pps"].size(), 2U);
    const auto& parse = json["pps"][0];
    const nlohmann::json expected{{"tb", 205}, {"tbk", 2}, {"tl", 100'004}, {"mb", 200}, {"mbk", 1},
                                  {"gb", 200}, {"gbk", 1}, {"eb", 5},       {"ebk", 1},  {"fs", {1, 2}}};
    EXPECT_EQ(parse, expected);
    EXPECT_EQ(json["ftbl"], (nlohmann::json{"[root]", "0x10: parse (made.cpp:3)", "0x0: main (made.cpp:1)",
                                            "0x20: load (made.cpp:4)"}));
}

TEST_F(formats, dhat_has_no_stack_twice) {
    made_trace made;
    for (int twice = 0; twice < 2; ++twice) {
        made.tables.frames.push_back({0, 16, {{"f\"\\\n\xff", "x.cpp", 1}}});
    }
    made.tables.call_tree.push_back({0, 0});
    made.tables.call_tree.push_back({0, 0});
    made.allocate(1, 1);
    made.allocate(2, 2);
    made.allocate(no_stack, 4);
    const auto json = dhat(made);
    ASSERT_EQ(json["pps"].size(), 2U);
    EXPECT_EQ(json["pps"][0]["tb"], 3);
    EXPECT_EQ(json["pps"][1]["fs"].size(), 1U);
    EXPECT_EQ(json["ftbl"][1], "0x10: f\"\\?\ufffd (x.cpp:1)");
    EXPECT_EQ(json["ftbl"][2], "unknown");
}

TEST_F(formats, pprof_is_gzip_and_the_same_each_time) {
    const made_trace made = two_stacks();
    const std::string file = pprof(made);
    EXPECT_EQ(file, pprof(made));
    std::string raw(1 << 16, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    std::string compressed = file;
    stream.next_in = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_in = static_cast<uInt>(compressed.size());
    stream.next_out = reinterpret_cast<Bytef*>(raw.data());
    stream.avail_out = static_cast<uInt>(raw.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    raw.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(raw.substr(0, 6), (std::string{"\x0a\x04\x08\x01\x10\x02", 6})) << "the first sample type";
    for (const char* name : {"alloc_objects", "peak_space", "parse", "load", "main", "made.cpp", "0123abcd"}) {
        EXPECT_NE(raw.find(name), std::string::npos) << name;
    }
}

TEST_F(formats, deep_stacks_are_cut_at_a_limit) {
    made_trace made;
    made.tables.frames.push_back({0, 16, {{"f", "", 0}}});
    for (std::uint32_t i = 0; i < 30'000; ++i) made.tables.call_tree.push_back({i, 0});
    made.allocate(30'000, 1);
    made.allocate(29'999, 1);
    const std::string text = collapsed(made, stack_weight::bytes);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 4095);
}

}  // namespace
