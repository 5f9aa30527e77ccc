// Encodes the events and marks of a trace: the sections between the tables and the end. They do not depend on the
// tables, so they can be made before these are known.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "byte_sink.hpp"
#include "event_context.hpp"
#include "format.hpp"
#include "model.hpp"

struct ZSTD_CCtx_s;

namespace acre::tool {

/// Compresses sections of a trace.
class section_packer {
public:
    using frame = std::span<const std::uint8_t>;

    section_packer();

    /// The frames as one section. `min_bytes`: of the compressed payload. The result is valid until the next call.
    std::span<const std::uint8_t> pack(format::section_kind kind, std::span<const frame> frames,
                                       std::uint64_t min_bytes);

private:
    void pad(std::uint64_t bytes);

    std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> compressor_;
    std::vector<std::uint8_t> section_;  // the head and the payload
};

/// A column of a chunk. There is room for a whole chunk from the start, so that nothing is checked for each byte; what
/// no byte comes to takes no memory.
class column_sink {
public:
    explicit column_sink(format::column which) : bytes_{new std::uint8_t[room_of(which)]}, end_{bytes_.get()} {}

    void byte(std::uint8_t value) noexcept {
        std::uint8_t* const at = end_;
        *at = value;
        end_ = at + 1;
    }

    /// As of byte_sink.
    void number(std::uint64_t value) noexcept {
        std::uint8_t* at = end_;
        for (; value >= 0x80; value >>= 7) *at++ = static_cast<std::uint8_t>(value | 0x80);
        *at = static_cast<std::uint8_t>(value);
        end_ = at + 1;
    }
    void signed_number(std::int64_t value) noexcept {
        number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }

    void clear() noexcept { end_ = bytes_.get(); }
    std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.get(), end_}; }

private:
    /// An event adds a byte, or a number of 32 bits (of 33 where the guesses come before it) or of 64.
    static constexpr std::size_t room_of(format::column which) noexcept {
        using enum format::column;
        const bool has_bytes = which == op || which == alignment || which == guess;
        const std::size_t most = has_bytes ? 1 : which == stack || which == thread ? 5 : 10;
        return most * format::events_per_chunk;
    }

    std::unique_ptr<std::uint8_t[]> bytes_;
    std::uint8_t* end_;
};

class event_sections {
public:
    using section_writer = std::function<void(std::span<const std::uint8_t>)>;

    /// `write` gets each section when it is full. `bytes_before`: in the file, or fewer.
    event_sections(section_writer write, std::size_t nodes, std::size_t scope_names, std::uint64_t bytes_before);

    /// From now on stacks below `nodes` are expected, too.
    void grow(std::size_t nodes) {
        nodes_ = nodes;
        context_.grow(nodes);
    }

    /// `place`: where the event's object is among the live ones, a small number that the caller chooses and may use
    /// again once the object is freed. Of a free, the place alone says which object it is. Throws tool_error if objects
    /// are not numbered from 0, or if a free's place has no object; then nothing more can be added.
    void add(const event& e, linked_objects::place place);

    /// To be called some events before an event at that place is added. Inlined, since g++ drops calls of functions
    /// that only prefetch.
    [[gnu::always_inline]] void expect(linked_objects::place place) const noexcept {
        context_.objects().prefetch(place);
    }

    /// The same once more before a free, when what expect() asked for has come.
    [[gnu::always_inline]] void expect_removal(linked_objects::place place) const noexcept {
        context_.objects().prefetch_neighbours(place);
    }

    /// Adds a mark after the last event; ignores its `event`. Throws tool_error if it ends a scope that is not the
    /// innermost of its thread.
    void add(const mark& m);

    /// Writes the rest, and the section of the end.
    void finish();

private:
    column_sink& column(format::column which) noexcept { return columns_[static_cast<std::size_t>(which)]; }
    void check(const event& e);
    using situation = event_context<linked_objects>::situation;

    void append(const event& e, std::uint64_t freed, std::uint64_t stack_code, const situation& here);
    void append_object(std::uint64_t object, const situation& here);
    void append_time(std::uint64_t time);
    void end_run();
    void write_chunk();
    void write_marks();
    void write_end();
    void write_section(format::section_kind kind, std::span<const section_packer::frame> frames, std::uint64_t entries);
    std::uint64_t min_bytes(std::uint64_t entries) const;

    section_writer write_;
    section_packer packer_;
    event_context<linked_objects> context_;
    std::array<column_sink, format::column_count> columns_;
    byte_sink marks_;
    open_scopes scopes_;
    std::size_t nodes_ = 0;
    std::size_t scope_names_ = 0;
    std::uint64_t file_bytes_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t objects_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t chunk_first_event_ = 0;
    std::uint64_t chunk_first_object_ = 0;
    std::uint64_t previous_tick_ = 0;
    std::uint64_t run_ = 0;  // events at that tick so far, in this chunk
    std::uint64_t mark_count_ = 0;
    std::uint64_t chunk_first_mark_ = 0;
    std::uint64_t previous_mark_tick_ = 0;
    std::uint64_t previous_mark_event_ = 0;
    std::uint32_t previous_thread_ = 0;
    std::uint32_t threads_ = 0;
};

}  // namespace acre::tool
