// Everything that is written is read back: each event and each name.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tools/support/events_equal.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/section.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/format.hpp"
#include "trace/reader.hpp"
#include "trace/table_codec.hpp"

namespace {

using namespace acre::test;

std::vector<event> events_of(trace_reader& reader) {
    std::vector<event> events;
    reader.for_each([&](const event& e) { events.push_back(e); });
    return events;
}

class random_round_trip : public testing::TestWithParam<std::size_t> {};

TEST_P(random_round_trip, gives_every_event_back) {
    const temporary_directory directory;
    const made_trace made = random_trace(static_cast<unsigned>(GetParam()), GetParam());
    trace_reader reader{made.write(directory / "a.acre")};
    EXPECT_EQ(reader.missing(), "");
    EXPECT_EQ(events_of(reader), made.events);
    // Reading again starts from the beginning.
    EXPECT_EQ(events_of(reader), made.events);
}

INSTANTIATE_TEST_SUITE_P(lengths, random_round_trip,
                         testing::Values(0, 1, 2, 1000, format::events_per_chunk - 1, format::events_per_chunk,
                                         format::events_per_chunk + 1, 3 * format::events_per_chunk + 17));

TEST(round_trip, makes_sentences_printable) {
    const temporary_directory directory;
    made_trace made;
    made.header.machine = "a \x1b[2Jmachine";
    made.header.date = "today\n";
    made.header.notes = {"a note\x07", "plain"};
    const trace_reader reader{made.write(directory / "a.acre")};
    EXPECT_EQ(reader.header().machine, "a ?[2Jmachine");
    EXPECT_EQ(reader.header().date, "today?");
    EXPECT_EQ(reader.header().notes, (std::vector<std::string>{"a note?", "plain"}));
}

TEST(round_trip, of_version_4_has_no_allocator) {
    const temporary_directory directory;
    const made_trace made = random_trace(1, 100);
    const std::filesystem::path path = made.write(directory / "a.acre");
    std::stringstream whole;
    whole << std::ifstream{path, std::ios::binary}.rdbuf();
    std::string bytes = whole.str();
    bytes[format::magic.size()] = 4;
    const auto header = encode_header(made.header).bytes();
    // Its last two bytes: an empty allocator, and no notes.
    const std::string of_version_4 =
        section(format::section_kind::header, std::string{header.begin(), header.end() - 1});
    std::uint64_t compressed_bytes = 0;
    std::memcpy(&compressed_bytes, bytes.data() + format::file_head_bytes + 8, sizeof compressed_bytes);
    bytes.replace(format::file_head_bytes, format::section_head_bytes + compressed_bytes, of_version_4);
    std::ofstream{path, std::ios::binary} << bytes;
    trace_reader reader{path};
    EXPECT_EQ(reader.header().allocator, "");
    EXPECT_EQ(reader.header().command, made.header.command);
    EXPECT_EQ(events_of(reader), made.events);
}

TEST(round_trip, keeps_header_and_tables) {
    const temporary_directory directory;
    made_trace made;
    made.header.exit_status = 139;
    made.header.duration = 123'456'789'012;
    made.header.system_time = 77;
    made.header.recording_time = 55;
    made.header.unmatched_frees = 3;
    made.header.stacks_at_free = false;
    made.header.stacks = stack_method::caller;
    made.header.sampling_period = 1000;
    made.header.allocator = "jemalloc (libjemalloc.so.2)";
    made.header.notes = {"one", "", "three with \xc3\xa4"};
    made.tables.modules.push_back({"/lib/libc.so.6", "", 0x7f00'0000'1000});
    made.stack({"main", "inner"});
    made.tables.frames.push_back({frame_info::no_module, ~std::uint64_t{0}, {}});
    made.tables.frames.push_back({1, 5, {{"inlined", "a.hpp", 3}, {"outer", "", 0}}});
    made.tables.call_tree.push_back({2, 3});
    made.tables.scope_names = {"frame", ""};
    const trace_reader reader{made.write(directory / "a.acre")};

    EXPECT_EQ(reader.header().command, made.header.command);
    EXPECT_EQ(reader.header().date, made.header.date);
    EXPECT_EQ(reader.header().machine, made.header.machine);
    EXPECT_EQ(reader.header().exit_status, 139);
    EXPECT_EQ(reader.header().duration, made.header.duration);
    EXPECT_EQ(reader.header().user_time, made.header.user_time);
    EXPECT_EQ(reader.header().system_time, 77U);
    EXPECT_EQ(reader.header().recording_time, 55U);
    EXPECT_EQ(reader.header().unmatched_frees, 3U);
    EXPECT_FALSE(reader.header().stacks_at_free);
    EXPECT_EQ(reader.header().stacks, stack_method::caller);
    EXPECT_EQ(reader.header().sampling_period, 1000U);
    EXPECT_EQ(reader.header().allocator, made.header.allocator);
    EXPECT_EQ(reader.header().notes, made.header.notes);
    EXPECT_EQ(reader.tables().scope_names, made.tables.scope_names);

    ASSERT_EQ(reader.tables().modules.size(), 2U);
    EXPECT_EQ(reader.tables().modules[1].path, "/lib/libc.so.6");
    EXPECT_EQ(reader.tables().modules[1].load_bias, 0x7f00'0000'1000U);
    ASSERT_EQ(reader.tables().frames.size(), 4U);
    EXPECT_EQ(reader.tables().frames[2].module, frame_info::no_module);
    EXPECT_EQ(reader.tables().frames[2].module_offset, ~std::uint64_t{0});
    ASSERT_EQ(reader.tables().frames[3].locations.size(), 2U);
    EXPECT_EQ(reader.tables().frames[3].locations[0].function, "inlined");
    EXPECT_EQ(reader.tables().frames[3].locations[0].line, 3U);
    EXPECT_EQ(reader.tables().frames[3].locations[1].file, "");
    ASSERT_EQ(reader.tables().call_tree.size(), 4U);
    EXPECT_EQ(reader.tables().call_tree[3].parent, 2U);
    EXPECT_EQ(reader.tables().call_tree[3].frame, 3U);
}

TEST(trace_header, leaves_a_tenth_of_the_cpu_time_to_the_program) {
    trace_header header;
    header.user_time = 700;
    header.system_time = 305;
    EXPECT_EQ(header.program_microseconds(), 1005U);
    header.recording_time = 905;
    EXPECT_EQ(header.recording_microseconds(), 905U);
    EXPECT_EQ(header.program_microseconds(), 100U);
    for (const std::uint64_t absurd : {std::uint64_t{906}, std::uint64_t{2000}, ~std::uint64_t{0}}) {
        header.recording_time = absurd;
        EXPECT_EQ(header.recording_microseconds(), 905U);
        EXPECT_EQ(header.program_microseconds(), 100U);
    }
    header.user_time = header.system_time = 0;
    EXPECT_EQ(header.program_microseconds(), 0U);
}

TEST(round_trip, is_byte_for_byte_the_same_each_time) {
    const temporary_directory directory;
    const made_trace made = random_trace(1, 5000);
    const auto bytes = [](const std::filesystem::path& path) {
        std::ifstream file{path, std::ios::binary};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    EXPECT_EQ(bytes(made.write(directory / "a.acre")), bytes(made.write(directory / "b.acre")));
}

TEST(round_trip, takes_less_than_a_byte_an_event_where_sites_repeat) {
    const temporary_directory directory;
    made_trace made;
    const auto node = made.stack({"main", "insert"});
    const auto text = made.stack({"main", "copy"});
    const auto gone = made.stack({"main", "clear"});
    constexpr std::size_t rounds = 20'000;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto a = made.allocate(node, 64);
        const auto b = made.allocate(text, 32);
        made.release(b, gone);
        made.release(a, gone);
    }
    EXPECT_LT(std::filesystem::file_size(made.write(directory / "a.acre")), rounds * 4);
}

}  // namespace
