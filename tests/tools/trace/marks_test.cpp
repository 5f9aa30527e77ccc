// Marks are read back in their places, and scopes that are not nested are refused.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/section.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/byte_sink.hpp"
#include "trace/error.hpp"
#include "trace/reader.hpp"

namespace {

using namespace acre::test;
using enum mark_kind;

std::vector<mark> marks_of(trace_reader& reader) {
    std::vector<mark> marks;
    reader.for_each_mark([&](const mark& m) { marks.push_back(m); });
    return marks;
}

std::uint64_t events_of(trace_reader& reader) {
    std::uint64_t events = 0;
    reader.for_each([&](const event&) { ++events; });
    return events;
}

TEST(marks, are_read_back_in_their_places) {
    const temporary_directory directory;
    made_trace made;
    const auto stack = made.stack({"main"});
    made.mark_here(scope_begin, "all");
    made.allocate(stack, 1);
    made.mark_here(scope_begin, "frame", 7);
    made.mark_here(scope_begin, "frame");
    made.allocate(stack, 2);
    made.mark_here(scope_end, "frame");
    made.mark_here(recording_paused);
    made.mark_here(recording_resumed);
    made.mark_here(scope_end, "frame", 7);
    made.mark_here(scope_end, "all");
    trace_reader reader{made.write(directory / "a.acre")};
    EXPECT_EQ(marks_of(reader), made.marks);
    EXPECT_EQ(marks_of(reader), made.marks) << "the second time";
    EXPECT_EQ(events_of(reader), 2U);
}

TEST(marks, come_with_the_events_in_one_order) {
    const temporary_directory directory;
    made_trace made = random_trace(5, 2 * format::events_per_chunk);
    for (std::size_t i = 0; i <= made.events.size(); i += i % 3) {
        made.mark_here(recording_paused);
        made.marks.back().event = i++;
    }
    trace_reader reader{made.write(directory / "a.acre")};
    std::uint64_t events = 0;
    std::size_t marks = 0;
    reader.for_each([&](const event&) { ++events; },
                    [&](const mark& m) {
                        EXPECT_EQ(m.event, events);
                        ++marks;
                    });
    EXPECT_EQ(events, made.events.size());
    EXPECT_EQ(marks, made.marks.size());
}

TEST(marks, come_between_the_same_events) {
    const temporary_directory directory;
    made_trace made;
    const auto stack = made.stack({"main"});
    made.mark_here(scope_begin, "all");
    made.allocate(stack, 1);
    made.allocate(stack, 2);
    made.mark_here(scope_begin, "frame");
    made.mark_here(scope_end, "frame");
    made.allocate(stack, 3);
    made.mark_here(scope_end, "all");
    trace_reader reader{made.write(directory / "a.acre")};
    std::string order;
    reader.for_each([&](const event& e) { order += std::to_string(e.size); },
                    [&](const mark& m) { order += m.kind == scope_begin ? '(' : ')'; });
    EXPECT_EQ(order, "(12()3)");
}

TEST(marks, may_be_more_than_a_section_holds_with_events_or_without) {
    const temporary_directory directory;
    for (const std::size_t events : {std::size_t{0}, 3 * format::events_per_chunk}) {
        made_trace made = random_trace(5, events);
        for (std::size_t i = 0; i < 2 * format::marks_per_chunk + 3; ++i) {
            made.mark_here(i % 2 == 0 ? scope_begin : scope_end, "frame");
            made.marks.back().event = i * events / (2 * format::marks_per_chunk + 3);
            made.marks.back().time = i * 1000;
        }
        trace_reader reader{made.write(directory / "a.acre")};
        EXPECT_EQ(marks_of(reader), made.marks);
        EXPECT_EQ(events_of(reader), events);
    }
}

TEST(marks, after_the_last_complete_event_are_left_out) {
    const temporary_directory directory;
    made_trace made = random_trace(5, format::events_per_chunk + 10);
    for (std::size_t i = 0; i <= made.events.size(); i += 5) {
        made.marks.push_back({.time = i * 1000, .event = i, .thread = 0, .kind = recording_paused});
    }
    const auto path = made.write(directory / "a.acre");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - format::section_head_bytes - 40);
    trace_reader reader{path};
    ASSERT_NE(reader.missing(), "");
    const std::vector<mark> whole = marks_of(reader);
    const std::uint64_t events = events_of(reader);
    ASSERT_FALSE(whole.empty());
    EXPECT_LE(whole.back().event, events);
    EXPECT_GE(whole.back().event + 5, format::events_per_chunk);
}

void expect_refused_by_writer(const std::function<void(made_trace&)>& fill, const std::string& word) {
    const temporary_directory directory;
    made_trace made;
    fill(made);
    try {
        made.write(directory / "a.acre");
        FAIL() << "written; expected: " << word;
    } catch (const tool_error& error) {
        EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what();
    }
}

TEST(marks, that_do_not_nest_are_not_written) {
    expect_refused_by_writer([](made_trace& made) { made.mark_here(scope_end, "frame"); }, "innermost");
    expect_refused_by_writer(
        [](made_trace& made) {
            made.mark_here(scope_begin, "frame");
            made.mark_here(scope_end, "frame", 1);
        },
        "innermost");
    expect_refused_by_writer(
        [](made_trace& made) {
            made.mark_here(scope_begin, "a");
            made.mark_here(scope_begin, "b");
            made.mark_here(scope_end, "a");
        },
        "innermost");
    expect_refused_by_writer([](made_trace& made) { made.marks.push_back({.name = 3}); }, "not in the table");
    expect_refused_by_writer([](made_trace& made) { made.marks.push_back({.thread = format::max_threads}); },
                             "out of range");
}

/// A file of two events and one section of marks, made of any numbers.
class damaged_marks : public testing::Test {
protected:
    void expect_refused(std::initializer_list<std::uint64_t> numbers, const std::string& word) {
        made_trace made;
        made.tables.scope_names = {"frame"};
        const auto path = made.write(directory_ / "a.acre");
        std::string bytes;
        {
            std::ifstream file{path, std::ios::binary};
            bytes.assign(std::istreambuf_iterator<char>{file}, {});
        }
        byte_sink sink;
        for (const std::uint64_t number : numbers) sink.number(number);
        byte_sink end;
        for (const unsigned total : {0U, 0U, 0U, 0U, 0U, 1U}) end.number(total);
        bytes.resize(bytes.rfind(section(format::section_kind::end, std::string(6, '\0'))));
        bytes += section(format::section_kind::marks, {sink.bytes().begin(), sink.bytes().end()});
        bytes += section(format::section_kind::end, {end.bytes().begin(), end.bytes().end()});
        std::ofstream{path, std::ios::binary} << bytes;
        try {
            trace_reader reader{path};
            marks_of(reader);
            FAIL() << "read as if it were whole; expected: " << word;
        } catch (const tool_error& error) {
            EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what();
        }
    }

    temporary_directory directory_;
};

TEST_F(damaged_marks, are_refused) {
    // count, before; kind, events, time, thread, name
    expect_refused({1, 0, 0, 0, 0, 0, 0, 99}, "longer");
    expect_refused({1, 0, 9, 0, 0, 0}, "kind");
    expect_refused({1, 0, 0, 1, 0, 0, 0}, "event before it");
    expect_refused({1, 0, 0, 0, 0, std::uint64_t{1} << 40, 0}, "thread");
    expect_refused({1, 0, 0, 0, 0, 0, 1}, "no name");
    expect_refused({1, 0, 1, 0, 0, 0, 0}, "innermost");
    expect_refused({2, 0, 0, 0, 0, 0, 0}, "cut off");
    expect_refused({1, 5, 0, 0, 0, 0, 0}, "out of order");
    expect_refused({std::uint64_t{1} << 50, 0}, "number of marks");
    expect_refused({0, 0}, "the number of its marks");
}

}  // namespace
