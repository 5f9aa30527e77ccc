// Reads a trace file: header and tables on opening, the events by streaming, any number of times.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "byte_source.hpp"
#include "event_context.hpp"
#include "format.hpp"
#include "model.hpp"

namespace acre::tool {

/// The file is untrusted: invalid contents throw tool_error. Of a truncated file the complete part is read, and
/// missing() says so.
class trace_reader {
public:
    explicit trace_reader(std::filesystem::path path);

    const std::filesystem::path& path() const noexcept { return path_; }
    const trace_header& header() const noexcept { return header_; }
    const trace_tables& tables() const noexcept { return tables_; }
    std::uint64_t file_bytes() const noexcept { return file_bytes_; }

    /// A sentence about what a truncated file lacks; empty if the file is complete.
    const std::string& missing() const noexcept { return missing_; }

    /// Sets a function that for_each calls now and then with its progress, from 0 to 1.
    void on_progress(std::function<void(double)> tell) { tell_ = std::move(tell); }

    /// Calls `visit(const event&)` for each event in order. Checks the marks first, once. Memory: a chunk, and 42 to 55
    /// bytes per live object, at least for 65,536 objects.
    template <typename Visit>
    void for_each(Visit&& visit) {
        if (!marks_are_sound_) for_each_mark([](const mark&) {});
        for_each_event(visit);
    }

    /// Calls `visit(const mark&)` for each mark in order. Marks whose `event` is at most n precede event
    /// number n. A scope that ends is its thread's innermost. Memory: a chunk and 4 bytes per open scope.
    template <typename Visit>
    void for_each_mark(Visit&& visit) {
        mark_stream stream;
        while (const std::optional<mark> next = take_mark(stream)) visit(*next);
    }

    /// Calls `visit(const event&)` for each event and `visit_mark(const mark&)` for each mark, in order. Memory: that
    /// of both functions above.
    template <typename Visit, typename VisitMark>
    void for_each(Visit&& visit, VisitMark&& visit_mark) {
        mark_stream marks;
        std::optional<mark> next = take_mark(marks);
        std::uint64_t events = 0;
        for_each_event([&](const event& e) {
            for (; next && next->event <= events; next = take_mark(marks)) visit_mark(*next);
            ++events;
            visit(e);
        });
        for (; next; next = take_mark(marks)) visit_mark(*next);
    }

private:
    struct file_closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    /// A section in the file.
    struct section {
        format::section_head head;
        std::uint64_t offset = 0;  // of its payload
    };

    /// The state of reading events.
    struct event_stream {
        explicit event_stream(std::size_t nodes) : context{nodes} {}

        event_context<live_objects> context;
        std::array<byte_source, format::column_count> columns;

        byte_source& column(format::column which) noexcept { return columns[static_cast<std::size_t>(which)]; }

        std::vector<std::uint8_t> payload;
        std::uint64_t left = 0;  // events in the chunk
        std::uint64_t events = 0;
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
        std::uint64_t tick = 0;
        std::uint64_t run = 0;  // further events at that tick
        std::uint32_t thread = 0;
        std::uint32_t threads = 0;
    };

    /// The state of reading marks.
    struct mark_stream {
        open_scopes scopes;
        byte_source source;
        std::vector<std::uint8_t> payload;
        std::size_t chunks = 0;  // opened
        std::uint64_t left = 0;  // marks in the chunk
        std::uint64_t marks = 0;
        std::uint64_t event = 0;
        std::uint64_t tick = 0;
    };

    /// The contents of the end section.
    struct totals {
        std::uint64_t events = 0;
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
        std::uint64_t threads = 0;
        std::uint64_t live = 0;
        std::uint64_t marks = 0;
    };

    void open_file();
    void check_file_head();
    void find_sections();
    void keep(const section& found);
    std::uint64_t count_whole_events();
    void read_tables();
    void read_end(const section& end);
    bool read_section_head(std::uint64_t offset, section& found);
    void check_head(const section& found) const;
    std::vector<std::uint8_t> payload_of(const section& of);
    void read_at(std::uint64_t offset, std::span<std::uint8_t> bytes);

    template <typename Visit>
    void for_each_event(Visit&& visit) {
        event_stream stream{tables_.call_tree.size()};
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            tell(i);
            open_chunk(chunks_[i], stream);
            for (std::uint64_t left = stream.left; left > 0; --left) visit(next_event(stream));
            close_chunk(stream);
        }
        tell(chunks_.size());
        check_counts(stream);
    }

    void tell(std::size_t chunk) const {
        if (tell_) tell_(chunks_.empty() ? 1 : static_cast<double>(chunk) / static_cast<double>(chunks_.size()));
    }
    void open_chunk(const section& chunk, event_stream& stream);
    void close_chunk(event_stream& stream) const;
    void check_counts(const event_stream& stream) const;
    event next_event(event_stream& stream) const;
    event decode_event(event_stream& stream) const;
    std::uint32_t decode_stack(event_stream& stream) const;
    std::uint64_t decode_object(event_stream& stream, const object_guesses& guesses) const;
    std::uint64_t decode_time(event_stream& stream) const;
    std::optional<mark> take_mark(mark_stream& stream);
    void open_marks(const section& chunk, mark_stream& stream);
    mark next_mark(mark_stream& stream) const;
    mark decode_mark(mark_stream& stream) const;
    [[noreturn]] void damaged(const std::string& how) const;

    std::filesystem::path path_;
    std::unique_ptr<std::FILE, file_closer> file_;
    std::uint64_t file_bytes_ = 0;
    std::uint32_t version_ = 0;
    std::uint64_t max_live_ = 0;  // objects
    trace_header header_;
    trace_tables tables_;
    std::vector<section> table_sections_;
    std::vector<section> chunks_;
    std::vector<section> mark_chunks_;
    std::uint64_t whole_events_ = ~std::uint64_t{0};  // of a truncated file
    totals totals_;
    bool ended_ = false;
    bool marks_are_sound_ = false;  // they have been checked
    std::string missing_;
    std::function<void(double)> tell_;
};

}  // namespace acre::tool
