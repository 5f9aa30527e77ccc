// Truncated, damaged and malicious files give one sentence: no crash, no unbounded memory.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <random>

#include "tools/support/events_equal.hpp"
#include "tools/support/made_trace.hpp"
#include "tools/support/random_trace.hpp"
#include "tools/support/section.hpp"
#include "tools/support/temporary_directory.hpp"
#include "trace/byte_sink.hpp"
#include "trace/error.hpp"
#include "trace/format.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace {

using namespace acre::test;
using format::section_kind;

std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::filesystem::path write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
}

/// What the system says of this process's memory by that name, in KiB.
long kibibytes_of_process(const std::string& name) {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word && word != name;) {
    }
    long kibibytes = 0;
    status >> kibibytes;
    return kibibytes;
}

/// A section of a file: the start of its head and the end of its payload.
struct span_in_file {
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::vector<span_in_file> sections_of(const std::string& bytes) {
    std::vector<span_in_file> sections;
    for (std::size_t at = format::file_head_bytes; at < bytes.size();) {
        std::uint64_t compressed = 0;
        std::memcpy(&compressed, bytes.data() + at + 8, sizeof compressed);
        sections.push_back({at, at + format::section_head_bytes + static_cast<std::size_t>(compressed)});
        at = sections.back().end;
    }
    return sections;
}

std::string text_of(const byte_sink& sink) {
    return {sink.bytes().begin(), sink.bytes().end()};
}

std::string payload(const std::function<void(byte_sink&)>& fill) {
    byte_sink sink;
    fill(sink);
    return text_of(sink);
}

class damage : public testing::Test {
protected:
    /// A small trace with three chunks.
    damage() : made_{random_trace(7, 2 * format::events_per_chunk + 100)} {
        bytes_ = read_bytes(made_.write(directory_ / "whole.acre"));
        sections_ = sections_of(bytes_);
    }

    trace_reader reader_of(const std::string& bytes) { return trace_reader{write_bytes(directory_ / "a.acre", bytes)}; }

    std::vector<event> events_of(trace_reader& reader) {
        std::vector<event> events;
        reader.for_each([&](const event& e) { events.push_back(e); });
        return events;
    }

    /// Expects that opening or reading throws one sentence that names the file.
    void expect_refused(const std::string& bytes, const std::string& word = "") {
        try {
            trace_reader reader = reader_of(bytes);
            events_of(reader);
            FAIL() << "read as if it were whole; expected: " << word;
        } catch (const tool_error& error) {
            const std::string sentence = error.what();
            EXPECT_NE(sentence.find("a.acre"), std::string::npos) << sentence;
            EXPECT_NE(sentence.find(word), std::string::npos) << sentence;
            EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
        }
    }

    std::string replaced(std::size_t section_number, const std::string& by) const {
        const span_in_file& old = sections_[section_number];
        return bytes_.substr(0, old.begin) + by + bytes_.substr(old.end);
    }

    temporary_directory directory_;
    made_trace made_;
    std::string bytes_;
    std::vector<span_in_file> sections_;
};

TEST_F(damage, the_trace_has_the_sections_that_these_tests_change) {
    ASSERT_EQ(sections_.size(), 6U + 3U + 1U);
    trace_reader reader = reader_of(bytes_);
    EXPECT_EQ(events_of(reader), made_.events);
}

TEST_F(damage, a_file_cut_at_a_section_gives_the_complete_events) {
    for (std::size_t kept = 7; kept < sections_.size(); ++kept) {
        trace_reader reader = reader_of(bytes_.substr(0, sections_[kept].begin));
        EXPECT_NE(reader.missing(), "") << kept;
        const std::vector<event> events = events_of(reader);
        const std::size_t whole = std::min((kept - 6) * format::events_per_chunk, made_.events.size());
        EXPECT_EQ(events,
                  std::vector<event>(made_.events.begin(), made_.events.begin() + static_cast<std::ptrdiff_t>(whole)));
    }
}

TEST_F(damage, a_file_cut_within_its_events_gives_the_chunks_before) {
    for (std::size_t cut = 7; cut < sections_.size(); ++cut) {
        const auto [begin, end] = sections_[cut];
        for (const std::size_t at : {begin + 1, begin + 31, begin + 32, (begin + end) / 2, end - 1}) {
            trace_reader reader = reader_of(bytes_.substr(0, at));
            EXPECT_NE(reader.missing(), "") << at;
            const std::size_t whole = std::min((cut - 6) * format::events_per_chunk, made_.events.size());
            EXPECT_EQ(events_of(reader).size(), whole) << at;
        }
    }
}

TEST_F(damage, a_file_cut_before_its_events_is_refused) {
    for (std::size_t at = 0; at < sections_[5].end; at += at < 600 ? 1 : 13) {
        expect_refused(bytes_.substr(0, at), at < format::file_head_bytes ? "not a trace" : "cut off");
    }
    const auto [begin, end] = sections_[6];
    for (const std::size_t at : {begin, begin + 1, begin + 31, begin + 32, (begin + end) / 2, end - 1}) {
        expect_refused(bytes_.substr(0, at), "cut off before its first event");
    }
}

TEST_F(damage, every_flipped_bit_is_noticed) {
    const std::string small = read_bytes(random_trace(3, 60).write(directory_ / "small.acre"));
    // Each byte several times, each bit in turn.
    for (std::size_t bit = 0; bit < small.size() * 8; bit += 3) {
        std::string flipped = small;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        try {
            trace_reader reader = reader_of(flipped);
            events_of(reader);
            EXPECT_NE(reader.missing(), "") << "bit " << bit;
        } catch (const tool_error&) {
            continue;
        }
    }
}

TEST_F(damage, another_version_is_named) {
    std::string changed = bytes_;
    changed[8] = 1;
    expect_refused(changed, "version 1");
}

TEST_F(damage, a_file_that_is_not_a_trace_is_reported_as_such) {
    expect_refused("", "not a trace");
    expect_refused("#!/bin/sh\necho no trace at all, but long enough\n", "not a trace");
    EXPECT_THROW(trace_reader{directory_ / "missing.acre"}, tool_error);
    EXPECT_THROW(trace_reader{directory_.path()}, tool_error);
}

TEST_F(damage, a_pipe_is_refused_without_waiting_for_a_writer) {
    ASSERT_EQ(::mkfifo((directory_ / "pipe.acre").c_str(), 0600), 0);
    EXPECT_THROW(trace_reader{directory_ / "pipe.acre"}, tool_error);
}

TEST_F(damage, sections_in_another_order_are_refused) {
    const auto section_text = [&](std::size_t number) {
        return bytes_.substr(sections_[number].begin, sections_[number].end - sections_[number].begin);
    };
    for (std::size_t first = 0; first + 1 < sections_.size(); ++first) {
        expect_refused(bytes_.substr(0, sections_[first].begin) + section_text(first + 1) + section_text(first) +
                           bytes_.substr(sections_[first + 1].end),
                       // Bytes after the end.
                       first + 2 == sections_.size() ? "after its end" : "out of order");
    }
}

TEST_F(damage, a_chunk_that_is_missing_is_noticed) {
    expect_refused(replaced(7, ""), "out of order");
}

TEST_F(damage, a_last_chunk_that_is_missing_is_noticed) {
    expect_refused(replaced(8, ""), "the totals of its events differ");
}

TEST_F(damage, impossible_sizes_are_refused_before_memory_is_allocated) {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        std::string changed = bytes_;
        const std::uint64_t absurd = std::uint64_t{1} << 40;
        std::memcpy(changed.data() + sections_[i].begin + 16, &absurd, sizeof absurd);
        expect_refused(changed, "impossible size");
    }
}

TEST_F(damage, a_cyclic_call_tree_is_refused) {
    const auto tree = [](std::uint64_t up) {
        return section(section_kind::call_tree, payload([&](byte_sink& sink) {
                           sink.number(3);
                           for (int i = 0; i < 2; ++i) {
                               sink.number(up);
                               sink.number(0);
                           }
                       }));
    };
    expect_refused(replaced(4, tree(0)), "own parent");
    expect_refused(replaced(4, tree(2)), "parent");
}

TEST_F(damage, counts_that_the_file_cannot_hold_are_refused) {
    const std::string huge = payload([](byte_sink& sink) { sink.number(std::uint64_t{1} << 23); });
    expect_refused(replaced(2, section(section_kind::modules, huge)), "modules");
    expect_refused(replaced(3, section(section_kind::frames, huge)), "frames");
    expect_refused(replaced(4, section(section_kind::call_tree, huge)), "nodes");
    expect_refused(replaced(5, section(section_kind::scopes, huge)), "scopes");
    expect_refused(replaced(4, section(section_kind::call_tree, "")), "cut off");
    expect_refused(replaced(4, section(section_kind::call_tree, std::string(1, '\0'))), "root");
}

TEST_F(damage, names_that_expand_beyond_the_limit_are_refused) {
    // One long text, referred to a million times.
    std::string long_text(60'000, 'x');
    std::mt19937 random{1};
    for (char& each : long_text) each = static_cast<char>('a' + random() % 20);
    const std::string strings = payload([&](byte_sink& sink) { sink.text(long_text); });
    std::string frames = payload([](byte_sink& sink) { sink.number(100'000); });
    for (int i = 0; i < 100'000; ++i) {
        // An address that does not compress, and one location.
        frames += payload([&](byte_sink& sink) {
            for (const unsigned number : {0U, static_cast<unsigned>(random()), 1U, 0U, 0U, 1U}) sink.number(number);
        });
    }
    std::string changed = replaced(3, section(section_kind::frames, frames));
    const span_in_file& old = sections_[1];
    const std::string no_modules = section(section_kind::modules, payload([](byte_sink& sink) { sink.number(0); }));
    changed = changed.substr(0, old.begin) + section(section_kind::strings, strings) + no_modules +
              changed.substr(sections_[2].end);
    // The tests before this one have a peak too, and a sanitizer keeps what they freed: only the growth counts.
    std::ofstream{"/proc/self/clear_refs"} << 5;  // the peak begins anew
    const long before = kibibytes_of_process("VmRSS:");
    expect_refused(changed, "too much memory");
    EXPECT_GT(before, 0);
    EXPECT_LT(kibibytes_of_process("VmHWM:") - before, 1'000'000);
}

std::string numbers(std::initializer_list<std::uint64_t> values) {
    return payload([&](byte_sink& sink) {
        for (const std::uint64_t value : values) sink.number(value);
    });
}

/// The columns of a chunk; without more: of one malloc.
struct columns {
    std::string op = numbers({0});
    std::string size = numbers({9});
    std::string alignment{};
    std::string stack = numbers({0});
    std::string guess{};
    std::string object{};
    std::string step = numbers({0});
    std::string run = numbers({1});
    std::string thread{};
};

std::string chunk(std::uint64_t events, const columns& of) {
    const std::string* const in_order[] = {&of.op,     &of.size, &of.alignment, &of.stack, &of.guess,
                                           &of.object, &of.step, &of.run,       &of.thread};
    std::string text = payload([&](byte_sink& sink) {
        sink.number(events);
        sink.number(0);
        sink.number(0);
        for (const std::string* column : in_order) sink.number(column->size());
    });
    for (const std::string* column : in_order) text += *column;
    return section(section_kind::events, text);
}

TEST_F(damage, impossible_events_are_refused) {
    const std::string tables = bytes_.substr(0, sections_[5].end);
    const std::string release = numbers({format::operation_code(operation::free, false)});
    const auto expect = [&](std::uint64_t events, const columns& of, const char* why) {
        expect_refused(tables + chunk(events, of), why);
    };
    {
        trace_reader sound = reader_of(tables + chunk(1, {}));
        EXPECT_EQ(events_of(sound).size(), 1U);
    }
    for (const char* unknown : {"\x0c", "\x1f", "\x10", "\x80"}) expect(1, {.op = unknown}, "operation is unknown");
    expect(1, {.stack = numbers({100'000})}, "the stack");
    expect(1, {.op = "\x20", .thread = numbers({3})}, "the thread");
    expect(1, {.op = "\x40", .alignment = "\x40"}, "the alignment");
    expect(1, {.op = "\x47", .size = "", .guess = numbers({0})}, "a free has an alignment");
    expect(1, {.op = release, .size = "", .guess = numbers({7}), .object = numbers({0})}, "never allocated");
    expect(1, {.op = release, .size = "", .guess = numbers({8})}, "the guess");
    for (std::uint64_t guess = 0; guess < 7; ++guess) {
        expect(1, {.op = release, .size = "", .guess = numbers({guess})}, "is not live");
    }
    const columns twice{.op = numbers({0}) + release + release,
                        .stack = numbers({0, 0, 0}),
                        .guess = numbers({7, 7}),
                        .object = numbers({0, 0}),
                        .run = numbers({3})};
    expect(3, twice, "is not live");
    expect(1, {.run = numbers({0})}, "a group of simultaneous events is empty");
    expect(1, {.run = numbers({2})}, "simultaneous events");
    expect(2, {.op = numbers({0, 0}), .size = numbers({9, 9}), .stack = numbers({0, 0}), .step = "", .run = ""},
           "cut off");
    expect(2, {.op = numbers({0, 0}), .size = numbers({9, 9}), .stack = numbers({0, 0}), .run = numbers({1})},
           "cut off");
    expect(2,
           {.op = numbers({0, 0}),
            .size = numbers({9, 9}),
            .stack = numbers({0, 0}),
            .step = numbers({0, 0}),
            .run = numbers({1, 2})},
           "end within a group of simultaneous ones");
    expect(2, {}, "cut off");
    expect(1, {.size = numbers({9, 9})}, "longer");
    expect(70'000, {.op = "", .size = "", .stack = "", .step = "", .run = ""}, "number of events");
    expect_refused(tables + section(section_kind::events, ""), "cut off");
}

TEST_F(damage, a_file_cut_anywhere_gives_the_events_before_or_is_refused) {
    const made_trace made = random_trace(9, 500);
    const std::string small = read_bytes(made.write(directory_ / "small.acre"));
    for (std::size_t at = 0; at < small.size(); ++at) {
        try {
            trace_reader reader = reader_of(small.substr(0, at));
            EXPECT_NE(reader.missing(), "") << at;
            EXPECT_EQ(events_of(reader), made.events) << at;
        } catch (const tool_error& error) {
            EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos) << error.what();
        }
    }
}

TEST_F(damage, damaged_marks_are_refused_even_if_only_events_are_read) {
    made_trace made;
    made.mark_here(mark_kind::scope_begin, "all");
    made.allocate(made.stack({"main"}), 8);
    made.mark_here(mark_kind::scope_end, "all");
    const std::string whole = read_bytes(made.write(directory_ / "marked.acre"));
    trace_reader reader = reader_of(whole);
    EXPECT_EQ(events_of(reader).size(), 1U);
    EXPECT_EQ(events_of(reader).size(), 1U) << "the second time";

    const std::vector<span_in_file> sections = sections_of(whole);
    for (const span_in_file& each : sections) {
        if (whole[each.begin] != static_cast<char>(section_kind::marks)) continue;
        std::string changed = whole;
        changed[each.end - 1] ^= 1;
        expect_refused(changed, "marks after mark 0, the checksum does not match");
    }
    const std::string more_marks = payload([](byte_sink& sink) {
        for (const unsigned total : {1U, 1U, 8U, 1U, 1U, 3U}) sink.number(total);
    });
    expect_refused(whole.substr(0, sections.back().begin) + section(section_kind::end, more_marks),
                   "the number of its marks");
}

TEST_F(damage, sections_that_are_repeated_are_refused) {
    for (const span_in_file& each : sections_) {
        const std::string twice = bytes_.substr(0, each.end) + bytes_.substr(each.begin);
        expect_refused(twice, &each == &sections_.back() ? "after its end" : "out of order");
    }
}

TEST_F(damage, sizes_near_the_largest_number_take_no_memory) {
    const std::uint64_t absurd[] = {~std::uint64_t{0}, ~std::uint64_t{0} - 31, std::uint64_t{1} << 63};
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        for (const std::uint64_t size : absurd) {
            std::string changed = bytes_;
            std::memcpy(changed.data() + sections_[i].begin + 16, &size, sizeof size);
            expect_refused(changed, "impossible size");
            changed = bytes_;
            std::memcpy(changed.data() + sections_[i].begin + 8, &size, sizeof size);
            // For a reader the file ends within that section.
            if (i < 7) {
                expect_refused(changed, "cut off");
            } else {
                EXPECT_NE(reader_of(changed).missing(), "");
            }
        }
    }
}

TEST_F(damage, a_section_larger_in_the_file_than_decompressed_is_refused) {
    // A sparse file takes no disk space, but all of it would be read into memory.
    for (const std::size_t i : {std::size_t{1}, std::size_t{6}}) {
        const std::uint64_t size = std::uint64_t{1} << 36;
        std::string head = bytes_.substr(0, sections_[i].begin + format::section_head_bytes);
        std::memcpy(head.data() + sections_[i].begin + 8, &size, sizeof size);
        write_bytes(directory_ / "a.acre", head);
        std::filesystem::resize_file(directory_ / "a.acre", size * 2);
        try {
            const trace_reader reader{directory_ / "a.acre"};
            ADD_FAILURE() << "a section of 64 GiB was taken";
        } catch (const tool_error& error) {
            EXPECT_NE(std::string{error.what()}.find("impossible size"), std::string::npos) << error.what();
        }
    }
}

TEST_F(damage, chunks_that_claim_more_than_they_hold_are_refused) {
    const std::string tables = bytes_.substr(0, sections_[5].end);
    const auto claiming = [](std::uint64_t events, std::uint64_t before, std::uint64_t objects, std::uint64_t column) {
        return section(section_kind::events, payload([&](byte_sink& sink) {
                           for (const std::uint64_t number : {events, before, objects}) sink.number(number);
                           for (std::size_t i = 0; i < format::column_count; ++i) sink.number(column);
                       }));
    };
    for (const std::uint64_t absurd : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        expect_refused(tables + claiming(absurd, 0, 0, 0), "number of events");
        expect_refused(tables + claiming(1, absurd, 0, 0), "out of order");
        expect_refused(tables + claiming(1, 0, absurd, 0), "out of order");
        expect_refused(tables + claiming(1, 0, 0, absurd), "length of a column");
    }
    expect_refused(tables + claiming(1, 0, 0, 9), "column");
}

TEST_F(damage, texts_without_number_are_refused) {
    // 50 KB in the file were gigabytes in memory.
    const std::string empty(std::size_t{9} << 20, '\0');
    expect_refused(replaced(1, section(section_kind::strings, empty, 100'000)), "too many texts");
    const std::string words = payload([](byte_sink& sink) { sink.number(5 << 20); }) + empty.substr(0, 7 << 20);
    expect_refused(replaced(0, section(section_kind::header, words)), "count of texts");
    expect_refused(replaced(0, section(section_kind::header, empty)), "impossible size");
    const std::string one = payload([](byte_sink& sink) { sink.text(std::string(70'000, 'x')); });
    expect_refused(replaced(1, section(section_kind::strings, one)), "a text is too long");
    const std::string long_text = payload([](byte_sink& sink) { sink.text(std::string(64'000, 'x')); });
    std::string many;
    for (int i = 0; i < 1100; ++i) many += long_text;
    expect_refused(replaced(1, section(section_kind::strings, many, 100'000)), "the texts are too long");
}

TEST_F(damage, more_events_or_marks_than_bytes_can_hold_are_refused) {
    // All columns are the same byte over and over.
    const std::string tables = bytes_.substr(0, sections_[5].end);
    const std::string same(format::events_per_chunk, '\0');
    const columns of{.op = same, .size = same, .stack = same, .run = numbers({format::events_per_chunk})};
    expect_refused(tables + chunk(format::events_per_chunk, of), "number of events");

    const std::string marks = payload([](byte_sink& sink) {
                                  sink.number(format::marks_per_chunk);
                                  sink.number(0);
                              }) +
                              std::string(4 * format::marks_per_chunk, '\2');
    std::string whole = read_bytes(random_trace(3, 60).write(directory_ / "small.acre"));
    const std::size_t end = sections_of(whole).back().begin;
    expect_refused(whole.insert(end, section(section_kind::marks, marks)), "number of marks");
}

TEST_F(damage, more_live_objects_than_bytes_can_hold_are_refused) {
    const std::string tables = bytes_.substr(0, sections_[5].end);
    std::string bytes = tables;
    const std::string same(format::events_per_chunk, '\0');
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t before = i * format::events_per_chunk;
        std::string text = payload([&](byte_sink& sink) {
            for (const std::uint64_t number : {std::uint64_t{format::events_per_chunk}, before, before}) {
                sink.number(number);
            }
            for (const std::uint64_t length : {same.size(), same.size(), std::size_t{0}, same.size(), std::size_t{0},
                                               std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{0}}) {
                sink.number(length);
            }
        });
        text += same + same + same + numbers({0}) + numbers({format::events_per_chunk});
        bytes += section(section_kind::events, text, 8192);
    }
    expect_refused(bytes, "too many objects are live");
}

TEST(padding, a_trace_that_compresses_too_well_is_read_again) {
    // One site whose objects are freed at once, then one whose objects all stay.
    const temporary_directory directory;
    made_trace made;
    const auto stack = made.stack({"main"});
    const std::filesystem::path path = directory / "a.acre";
    constexpr std::uint64_t pairs = 100'000;
    constexpr std::uint64_t kept = 1'200'000;
    {
        trace_writer writer{path, made.header, made.tables};
        std::uint64_t object = 0;
        for (std::uint64_t i = 0; i < pairs; ++i, ++object) {
            writer.add(event{.object = object, .size = 8, .stack = stack});
            writer.add(event{.object = object, .stack = stack, .op = operation::free, .allocates = false});
        }
        for (std::uint64_t i = 0; i < kept; ++i, ++object) {
            if (i % 10 == 0) writer.add(mark{.kind = mark_kind::recording_paused});
            writer.add(event{.object = object, .size = 8, .stack = stack});
        }
        writer.finish();
    }
    trace_reader reader{path};
    std::uint64_t events = 0;
    reader.for_each([&](const event&) { ++events; });
    EXPECT_EQ(events, 2 * pairs + kept);
    EXPECT_GE(reader.file_bytes(), events / format::entries_per_byte);
    EXPECT_GE(format::max_live_objects(reader.file_bytes()), kept);
    EXPECT_LE(reader.file_bytes(), 1'500'000U);
}

}  // namespace
