#include "event_sections.hpp"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "error.hpp"

namespace acre::tool {

namespace {

constexpr int compression_level = 1;

void put_little_endian(std::uint8_t* to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

format::section_head_image image_of(const format::section_head& head) {
    format::section_head_image image{};
    put_little_endian(image.data(), static_cast<std::uint32_t>(head.kind), 4);
    put_little_endian(image.data() + 4, head.flags, 4);
    put_little_endian(image.data() + 8, head.compressed_bytes, 8);
    put_little_endian(image.data() + 16, head.raw_bytes, 8);
    put_little_endian(image.data() + 24, head.checksum, 8);
    return image;
}

/// The number of the first guess that is right; their number if none is. Without branches, since a processor cannot
/// guess which one it is.
template <typename Value, std::size_t Count>
std::uint64_t code_of(Value value, const std::array<Value, Count>& guesses) {
    std::uint64_t code = Count;
    for (std::size_t i = Count; i-- > 0;) code = guesses[i] == value ? i : code;
    return code;
}

/// Columns that are empty when the block is left.
struct emptied {
    std::span<column_sink> columns;

    ~emptied() {
        for (column_sink& each : columns) each.clear();
    }
};

template <std::size_t... Numbers>
std::array<column_sink, sizeof...(Numbers)> all_columns(std::index_sequence<Numbers...>) {
    return {column_sink{static_cast<format::column>(Numbers)}...};
}

/// The fewest bytes from which a reader expands so many.
std::uint64_t min_compressed_bytes(const format::section_head& head) {
    return head.raw_bytes / format::max_table_expansion;
}

}  // namespace

section_packer::section_packer() : compressor_{ZSTD_createCCtx(), &ZSTD_freeCCtx} {
    if (compressor_ == nullptr) throw std::bad_alloc{};
}

std::span<const std::uint8_t> section_packer::pack(format::section_kind kind, std::span<const frame> frames,
                                                   std::uint64_t min_bytes) {
    section_.resize(format::section_head_bytes);
    format::section_head head{.kind = kind};
    for (const frame raw : frames) {
        const std::size_t used = section_.size();
        section_.resize(used + ZSTD_compressBound(raw.size()));
        const std::size_t written = ZSTD_compressCCtx(compressor_.get(), section_.data() + used, section_.size() - used,
                                                      raw.data(), raw.size(), compression_level);
        if (ZSTD_isError(written) != 0) throw std::bad_alloc{};  // the only error that is possible here
        section_.resize(used + written);
        head.raw_bytes += raw.size();
    }
    pad(std::max(min_bytes, min_compressed_bytes(head)));
    head.compressed_bytes = section_.size() - format::section_head_bytes;
    if (head.raw_bytes > format::max_raw_bytes(head)) throw tool_error{"the tables are too large for a trace"};
    const auto unsealed = image_of(head);
    const std::span<const std::uint8_t> payload = std::span{section_}.subspan(format::section_head_bytes);
    head.checksum = format::checksum(payload, format::checksum(std::span{unsealed}.first(24)));
    std::ranges::copy(image_of(head), section_.begin());
    return section_;
}

/// Adds a frame that zstd skips, so that the compressed payload has at least that many bytes.
void section_packer::pad(std::uint64_t bytes) {
    constexpr std::uint32_t skippable_magic = 0x184d'2a50;
    constexpr std::size_t head_bytes = 8;
    const std::size_t used = section_.size() - format::section_head_bytes;
    if (used >= bytes) return;
    const std::size_t content = std::max(static_cast<std::size_t>(bytes), used + head_bytes) - used - head_bytes;
    const std::size_t at = section_.size();
    section_.resize(at + head_bytes + content);
    put_little_endian(section_.data() + at, skippable_magic, 4);
    put_little_endian(section_.data() + at + 4, content, 4);
}

event_sections::event_sections(section_writer write, std::size_t nodes, std::size_t scope_names,
                               std::uint64_t bytes_before)
    : write_{std::move(write)},
      context_{nodes},
      columns_{all_columns(std::make_index_sequence<format::column_count>{})},
      nodes_{nodes},
      scope_names_{scope_names},
      file_bytes_{bytes_before} {}

void event_sections::add(const mark& m) {
    if (m.thread >= format::max_threads) throw tool_error{"a mark's thread is out of range"};
    if (m.is_scope() && m.name >= scope_names_) throw tool_error{"a mark names a scope that is not in the table"};
    scopes_.pass(m);
    marks_.byte(static_cast<std::uint8_t>(m.kind));
    marks_.number(events_ - previous_mark_event_);
    previous_mark_event_ = events_;
    const std::uint64_t tick = m.time / format::tick_nanoseconds;
    marks_.signed_number(static_cast<std::int64_t>(tick - previous_mark_tick_));
    previous_mark_tick_ = tick;
    marks_.number(m.thread);
    if (m.is_scope()) marks_.number(m.name);
    if (++mark_count_ - chunk_first_mark_ == format::marks_per_chunk) write_marks();
}

inline void event_sections::check(const event& e) {
    if (e.stack >= nodes_) throw tool_error{"an event has a stack that is not in the call tree"};
    // It is encoded as size + 1.
    if (e.size == ~std::uint64_t{0}) throw tool_error{"an event has an impossible size"};
    if (e.alignment_log2 > 63) throw tool_error{"an event has an impossible alignment"};
    if (e.thread > threads_ || e.thread >= format::max_threads) {
        throw tool_error{"an event's thread is not numbered in order"};
    }
    if (e.thread == threads_) ++threads_;
    if (e.allocates) {
        if (e.object != objects_) throw tool_error{"an event's object is not numbered in order"};
        ++objects_;
        bytes_ += e.size;
    }
}

/// `freed`: the object of a free. `stack_code`: the number of the right guess.
inline void event_sections::append(const event& e, std::uint64_t freed, std::uint64_t stack_code,
                                   const situation& here) {
    using enum format::column;
    const std::uint8_t code = format::operation_code(e.op, e.allocates);
    std::uint8_t op_byte = code == here.guess_operation() ? 0 : code;
    if (e.thread != previous_thread_) {
        op_byte |= format::thread_changes_bit;
        column(thread).number(e.thread);
        previous_thread_ = e.thread;
    }
    column(stack).number(stack_code + (stack_code == format::stack_guesses ? e.stack : 0));
    if (!e.allocates) {
        append_object(freed, here);
    } else {
        column(size).number(e.size == here.guess_size() ? 0 : e.size + 1);
        if (e.alignment_log2 != here.guess_alignment()) {
            op_byte |= format::alignment_bit;
            column(alignment).byte(e.alignment_log2);
        }
    }
    column(op).byte(op_byte);
    append_time(e.time);
}

inline void event_sections::append_object(std::uint64_t object, const situation& here) {
    const std::uint64_t code = code_of(object, context_.guess_objects(here));
    column(format::column::guess).byte(static_cast<std::uint8_t>(code));
    if (code == format::object_guesses) column(format::column::object).number(objects_ - 1 - object);
}

inline void event_sections::append_time(std::uint64_t time) {
    const std::uint64_t tick = time / format::tick_nanoseconds;
    if (run_ == 0 || tick != previous_tick_) {
        end_run();
        column(format::column::step).signed_number(static_cast<std::int64_t>(tick - previous_tick_));
        previous_tick_ = tick;
    }
    ++run_;
}

inline void event_sections::end_run() {
    if (run_ != 0) column(format::column::run).number(run_);
    run_ = 0;
}

void event_sections::add(const event& e, linked_objects::place place) {
    const std::uint64_t there = context_.objects().object_in(place);
    if (!e.allocates && there == linked_objects::none) throw tool_error{"an event frees an object that is not live"};
    if (e.allocates && (there != linked_objects::none || place > linked_objects::max_places))
        throw tool_error{"an event's object is at a place that is not free"};
    check(e);
    const situation here = context_.at(e.thread, e.stack);
    const std::uint64_t stack_code = code_of(e.stack, here.guess_stacks());
    append(e, there, stack_code, here);
    context_.pass(e, place, here, stack_code != format::stack_guesses);
    if (++events_ - chunk_first_event_ == format::events_per_chunk) write_chunk();
}

void event_sections::write_chunk() {
    end_run();
    const std::uint64_t count = events_ - chunk_first_event_;
    byte_sink head;
    head.number(count);
    head.number(std::exchange(chunk_first_event_, events_));
    head.number(std::exchange(chunk_first_object_, objects_));
    std::array<section_packer::frame, 1 + format::column_count> frames;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        frames[i + 1] = columns_[i].bytes();
        head.number(frames[i + 1].size());
    }
    frames[0] = head.bytes();
    // Also if there is no memory to compress them, since they have no room for more.
    const emptied at_the_end{columns_};
    write_section(format::section_kind::events, frames, count);
    // After the events that they lie between, so that a truncated file has both.
    write_marks();
}

void event_sections::write_marks() {
    if (mark_count_ == chunk_first_mark_) return;
    byte_sink head;
    head.number(mark_count_ - chunk_first_mark_);
    head.number(chunk_first_mark_);
    const section_packer::frame frames[] = {head.bytes(), marks_.bytes()};
    write_section(format::section_kind::marks, frames, mark_count_ - chunk_first_mark_);
    marks_.clear();
    chunk_first_mark_ = mark_count_;
}

void event_sections::finish() {
    if (events_ != chunk_first_event_) write_chunk();
    write_marks();
    write_end();
}

void event_sections::write_end() {
    byte_sink payload;
    payload.number(events_);
    payload.number(objects_);
    payload.number(bytes_);
    payload.number(threads_);
    payload.number(context_.live());
    payload.number(mark_count_);
    const section_packer::frame frames[] = {payload.bytes()};
    write_section(format::section_kind::end, frames, 0);
}

/// The fewest bytes that a section with so many events or marks may have in the file.
std::uint64_t event_sections::min_bytes(std::uint64_t entries) const {
    const std::uint64_t for_entries = (entries + format::entries_per_byte - 1) / format::entries_per_byte;
    const std::uint64_t live = context_.live();
    const std::uint64_t before = file_bytes_ + format::section_head_bytes;
    // max_live_objects grows by one for two bytes.
    const std::uint64_t allowed = format::max_live_objects(before);
    return std::max(for_entries, live > allowed ? (live - allowed) * 2 : 0);
}

void event_sections::write_section(format::section_kind kind, std::span<const section_packer::frame> frames,
                                   std::uint64_t entries) {
    const auto section = packer_.pack(kind, frames, entries == 0 ? 0 : min_bytes(entries));
    file_bytes_ += section.size();
    write_(section);
}

}  // namespace acre::tool
