#include "reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "error.hpp"
#include "table_codec.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

using format::section_kind;

std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | bytes[i - 1];
    return value;
}

const char* name_of(section_kind kind) {
    switch (kind) {
        case section_kind::header:
            return "header";
        case section_kind::strings:
            return "strings";
        case section_kind::modules:
            return "modules";
        case section_kind::frames:
            return "frames";
        case section_kind::call_tree:
            return "call tree";
        case section_kind::scopes:
            return "scopes";
        case section_kind::events:
            return "events";
        case section_kind::marks:
            return "marks";
        case section_kind::end:
            return "end";
    }
    return "unknown";
}

constexpr auto tables_in_order = std::to_array({section_kind::header, section_kind::strings, section_kind::modules,
                                                section_kind::frames, section_kind::call_tree, section_kind::scopes});

/// Limit of the events or marks in a section.
std::uint64_t max_entries(const format::section_head& head, std::uint64_t per_chunk) {
    return std::min(per_chunk, head.compressed_bytes * format::entries_per_byte);
}

}  // namespace

trace_reader::trace_reader(std::filesystem::path path) : path_{std::move(path)} {
    open_file();
    check_file_head();
    find_sections();
    read_tables();
}

void trace_reader::open_file() {
    const auto cannot = [&](const std::string& why) {
        throw tool_error{"cannot read '" + path_.string() + "': " + why};
    };
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    file_.reset(descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"));
    if (file_ == nullptr) cannot(reason_of(errno));
    struct stat status{};
    if (::fstat(::fileno(file_.get()), &status) != 0) cannot(reason_of(errno));
    if (!S_ISREG(status.st_mode)) cannot("it is not a regular file");
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    // A chunk may exceed the limit that holds at its end.
    max_live_ = format::max_live_objects(file_bytes_) + format::events_per_chunk;
}

void trace_reader::check_file_head() {
    std::array<std::uint8_t, format::file_head_bytes> head{};
    const std::string not_a_trace = "'" + path_.string() + "' is not a trace: make one with 'acre record'";
    if (file_bytes_ < head.size()) throw tool_error{not_a_trace};
    read_at(0, head);
    if (!std::equal(format::magic.begin(), format::magic.end(), head.begin())) throw tool_error{not_a_trace};
    version_ = static_cast<std::uint32_t>(little_endian(std::span{head}.subspan(8, 4)));
    const bool readable = version_ >= format::oldest_version && version_ <= format::version;
    if (readable && little_endian(std::span{head}.subspan(12, 4)) != 0) {
        damaged("its first 16 bytes are not those of a trace");
    }
    if (!readable) {
        throw tool_error{"'" + path_.string() + "' is a trace of version " + std::to_string(version_) +
                         ", and this acre reads versions " + std::to_string(format::oldest_version) + " to " +
                         std::to_string(format::version) + ": use the acre that recorded it, or record again"};
    }
}

void trace_reader::find_sections() {
    std::uint64_t offset = format::file_head_bytes;
    section found;
    while (!ended_ && read_section_head(offset, found)) {
        keep(found);
        offset = found.offset + found.head.compressed_bytes;
    }
    if (!ended_ && chunks_.empty()) {
        throw tool_error{"'" + path_.string() + "' was cut off before its first event: copy it again, or record again"};
    }
    if (!ended_) {
        whole_events_ = count_whole_events();
        missing_ = "'" + path_.string() +
                   "' was cut off: " + plural(whole_events_, "event is complete", "events are complete") +
                   " and the rest is missing";
    } else if (offset != file_bytes_) {
        damaged("there are " + std::to_string(file_bytes_ - offset) + " bytes after its end");
    }
}

/// From the last chunk, which contains its number of events and the number before it.
std::uint64_t trace_reader::count_whole_events() {
    try {
        const auto payload = payload_of(chunks_.back());
        byte_source head{payload};
        const std::uint64_t in_chunk =
            head.number(max_entries(chunks_.back().head, format::events_per_chunk), "the number of events");
        return in_chunk + head.number();
    } catch (const tool_error& error) {
        damaged(std::string{"in its last events, "} + error.what());
    }
}

/// Checks the order of sections and keeps this one.
void trace_reader::keep(const section& found) {
    const bool in_tables = table_sections_.size() < tables_in_order.size();
    const bool ends = found.head.kind == section_kind::end;
    const bool marks = found.head.kind == section_kind::marks;
    const bool may_come_here = in_tables ? found.head.kind == tables_in_order[table_sections_.size()]
                                         : found.head.kind == section_kind::events || marks || ends;
    if (!may_come_here) {
        damaged("its " + std::string{name_of(found.head.kind)} + " section at byte " +
                std::to_string(found.offset - format::section_head_bytes) + " is out of order");
    }
    check_head(found);
    if (in_tables) {
        table_sections_.push_back(found);
    } else if (ends) {
        read_end(found);
    } else {
        (marks ? mark_chunks_ : chunks_).push_back(found);
    }
}

/// False if the file ends within the section.
bool trace_reader::read_section_head(std::uint64_t offset, section& found) {
    if (file_bytes_ - offset < format::section_head_bytes) return false;
    format::section_head_image image{};
    read_at(offset, image);
    const std::span<const std::uint8_t> bytes{image};
    found.head.kind = static_cast<section_kind>(little_endian(bytes.first(4)));
    found.head.flags = static_cast<std::uint32_t>(little_endian(bytes.subspan(4, 4)));
    found.head.compressed_bytes = little_endian(bytes.subspan(8, 8));
    found.head.raw_bytes = little_endian(bytes.subspan(16, 8));
    found.head.checksum = little_endian(bytes.subspan(24, 8));
    found.offset = offset + format::section_head_bytes;
    return found.head.compressed_bytes <= file_bytes_ - found.offset;
}

void trace_reader::check_head(const section& found) const {
    const std::string where = std::string{"its "} + name_of(found.head.kind) + " section at byte " +
                              std::to_string(found.offset - format::section_head_bytes);
    if (found.head.flags != 0) damaged(where + " has flags that this acre does not know");
    const bool absurd = found.head.raw_bytes > format::max_raw_bytes(found.head) ||
                        found.head.compressed_bytes > format::max_compressed_bytes(found.head);
    if (absurd) damaged(where + " claims an impossible size");
}

void trace_reader::read_tables() {
    std::size_t at = 0;
    try {
        header_ = decode_header(payload_of(table_sections_[at]), version_);
        table_decoder decoder{tables_};
        decoder.strings(payload_of(table_sections_[++at]));
        decoder.modules(payload_of(table_sections_[++at]));
        decoder.frames(payload_of(table_sections_[++at]));
        decoder.call_tree(payload_of(table_sections_[++at]));
        decoder.scope_names(payload_of(table_sections_[++at]));
    } catch (const tool_error& error) {
        damaged(std::string{"in its "} + name_of(tables_in_order[at]) + " section, " + error.what());
    }
}

void trace_reader::read_end(const section& end) {
    try {
        const auto payload = payload_of(end);
        byte_source source{payload};
        totals_ = {source.number(), source.number(), source.number(),
                   source.number(), source.number(), source.number()};
        source.expect_end();
    } catch (const tool_error& error) {
        damaged(std::string{"in its end section, "} + error.what());
    }
    ended_ = true;
}

std::vector<std::uint8_t> trace_reader::payload_of(const section& of) {
    std::vector<std::uint8_t> compressed(static_cast<std::size_t>(of.head.compressed_bytes));
    read_at(of.offset, compressed);
    std::array<std::uint8_t, 24> sealed{};
    read_at(of.offset - format::section_head_bytes, sealed);
    if (format::checksum(compressed, format::checksum(sealed)) != of.head.checksum) {
        throw tool_error{"the checksum does not match"};
    }
    std::vector<std::uint8_t> raw(static_cast<std::size_t>(of.head.raw_bytes));
    const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), compressed.data(), compressed.size());
    if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc{};
    if (ZSTD_isError(size) != 0 || size != raw.size()) throw tool_error{"the payload cannot be decompressed"};
    return raw;
}

void trace_reader::read_at(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0 ||
        std::fread(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
        throw tool_error{"cannot read '" + path_.string() + "': it changed while it was read"};
    }
}

void trace_reader::open_chunk(const section& chunk, event_stream& stream) {
    try {
        stream.payload = payload_of(chunk);
        byte_source head{stream.payload};
        stream.left = head.number(max_entries(chunk.head, format::events_per_chunk), "the number of events");
        const std::uint64_t first_event = head.number();
        const std::uint64_t first_object = head.number();
        std::array<std::size_t, format::column_count> lengths{};
        for (std::size_t& length : lengths) {
            length = static_cast<std::size_t>(head.number(stream.payload.size(), "the length of a column"));
        }
        if (first_event != stream.events || first_object != stream.objects) throw tool_error{"it is out of order"};
        std::size_t at = stream.payload.size() - head.remaining();
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            if (lengths[i] > stream.payload.size() - at) throw tool_error{"a column is cut off"};
            stream.columns[i] = byte_source{std::span{stream.payload}.subspan(at, lengths[i])};
            at += lengths[i];
        }
        if (at != stream.payload.size()) throw tool_error{"it is longer than its contents"};
    } catch (const tool_error& error) {
        damaged("in its events after event " + std::to_string(stream.events) + ", " + error.what());
    }
}

void trace_reader::close_chunk(event_stream& stream) const {
    for (const byte_source& column : stream.columns) {
        if (column.remaining() != 0) damaged("a column of its events is longer than they need");
    }
    if (stream.run != 0) damaged("its events end within a group of simultaneous ones");
}

void trace_reader::check_counts(const event_stream& stream) const {
    if (!ended_) return;
    const bool right = totals_.events == stream.events && totals_.objects == stream.objects &&
                       totals_.bytes == stream.bytes && totals_.threads == stream.threads &&
                       totals_.live == stream.context.live();
    if (!right) damaged("the totals of its events differ from its end section");
}

event trace_reader::next_event(event_stream& stream) const {
    try {
        event e = decode_event(stream);
        if (!stream.context.pass(e, stream.context.at(e.thread, e.stack)))
            throw tool_error{"an object is freed that is not live"};
        if (stream.context.live() > max_live_) throw tool_error{"too many objects are live for a file of this size"};
        ++stream.events;
        return e;
    } catch (const tool_error& error) {
        damaged("at event " + std::to_string(stream.events) + ", " + error.what());
    }
}

event trace_reader::decode_event(event_stream& stream) const {
    using enum format::column;
    event e;
    const std::uint8_t op_byte = stream.column(op).byte();
    if ((op_byte & format::thread_changes_bit) != 0) {
        stream.thread = static_cast<std::uint32_t>(stream.column(thread).number(stream.threads, "the thread"));
    }
    e.thread = stream.thread;
    if (e.thread >= format::max_threads) throw tool_error{"the thread is out of range"};
    if (e.thread == stream.threads) ++stream.threads;
    e.stack = decode_stack(stream);
    e.time = decode_time(stream);
    const auto here = stream.context.at(e.thread, e.stack);

    std::uint8_t code = op_byte & format::operation_mask;
    if (code == 0) code = here.guess_operation();
    e.allocates = code >= format::operation_code(operation{}, true);
    const std::uint8_t first_code = format::operation_code(operation{}, e.allocates);
    if ((op_byte & 0x80) != 0 || code - first_code > static_cast<int>(operation::deallocate)) {
        throw tool_error{"the operation is unknown"};
    }
    e.op = static_cast<operation>(code - first_code);
    const bool aligned = (op_byte & format::alignment_bit) != 0;
    if (!e.allocates) {
        if (aligned) throw tool_error{"a free has an alignment"};
        e.object = decode_object(stream, stream.context.guess_objects(here));
        return e;
    }
    e.alignment_log2 = aligned ? stream.column(alignment).byte() : here.guess_alignment();
    if (e.alignment_log2 > 63) throw tool_error{"the alignment is out of range"};
    const std::uint64_t size_code = stream.column(size).number();
    e.size = size_code == 0 ? here.guess_size() : size_code - 1;
    e.object = stream.objects++;
    stream.bytes += e.size;
    return e;
}

std::uint32_t trace_reader::decode_stack(event_stream& stream) const {
    const auto& guesses = stream.context.guess_stacks(stream.thread);
    const std::uint64_t most = guesses.size() + tables_.call_tree.size() - 1;
    const std::uint64_t code = stream.column(format::column::stack).number(most, "the stack");
    return code < guesses.size() ? guesses[code] : static_cast<std::uint32_t>(code - guesses.size());
}

std::uint64_t trace_reader::decode_object(event_stream& stream, const object_guesses& guesses) const {
    const std::uint8_t guess = stream.column(format::column::guess).byte();
    if (guess > guesses.size()) throw tool_error{"the guess code of its object is unknown"};
    if (guess < guesses.size()) return guesses[guess];
    const std::uint64_t back = stream.column(format::column::object).number();
    if (back >= stream.objects) throw tool_error{"an object is freed that was never allocated"};
    return stream.objects - 1 - back;
}

std::uint64_t trace_reader::decode_time(event_stream& stream) const {
    if (stream.run == 0) {
        stream.tick += static_cast<std::uint64_t>(stream.column(format::column::step).signed_number());
        stream.run = stream.column(format::column::run).number(stream.left, "the number of simultaneous events");
        if (stream.run == 0) throw tool_error{"a group of simultaneous events is empty"};
    }
    --stream.run;
    return stream.tick * format::tick_nanoseconds;
}

/// The next mark, up to the last complete event.
std::optional<mark> trace_reader::take_mark(mark_stream& stream) {
    while (stream.left == 0) {
        if (stream.source.remaining() != 0) damaged("a section of its marks is longer than they need");
        if (stream.chunks == mark_chunks_.size()) {
            if (ended_ && stream.marks != totals_.marks)
                damaged("the number of its marks differs from its end section");
            marks_are_sound_ = true;
            return std::nullopt;
        }
        open_marks(mark_chunks_[stream.chunks++], stream);
    }
    --stream.left;
    const mark next = next_mark(stream);
    if (next.event <= whole_events_) return next;
    marks_are_sound_ = true;
    return std::nullopt;
}

void trace_reader::open_marks(const section& chunk, mark_stream& stream) {
    try {
        stream.payload = payload_of(chunk);
        stream.source = byte_source{stream.payload};
        stream.left = stream.source.number(max_entries(chunk.head, format::marks_per_chunk), "the number of marks");
        if (stream.source.number() != stream.marks) throw tool_error{"they are out of order"};
    } catch (const tool_error& error) {
        damaged("in its marks after mark " + std::to_string(stream.marks) + ", " + error.what());
    }
}

mark trace_reader::next_mark(mark_stream& stream) const {
    try {
        const mark m = decode_mark(stream);
        stream.scopes.pass(m);
        ++stream.marks;
        return m;
    } catch (const tool_error& error) {
        damaged("at mark " + std::to_string(stream.marks) + ", " + error.what());
    }
}

mark trace_reader::decode_mark(mark_stream& stream) const {
    mark m;
    const std::uint8_t kind = stream.source.byte();
    if (kind > static_cast<std::uint8_t>(mark_kind::recording_resumed)) throw tool_error{"its kind is unknown"};
    m.kind = static_cast<mark_kind>(kind);
    const std::uint64_t max_events = ended_ ? totals_.events : ~std::uint64_t{0};
    stream.event += stream.source.number(max_events - stream.event, "the event before it");
    m.event = stream.event;
    stream.tick += static_cast<std::uint64_t>(stream.source.signed_number());
    m.time = stream.tick * format::tick_nanoseconds;
    m.thread = static_cast<std::uint32_t>(stream.source.number(format::max_threads - 1, "the thread"));
    if (m.is_scope()) {
        m.name = static_cast<std::uint32_t>(stream.source.number());
        if (m.name >= tables_.scope_names.size()) throw tool_error{"its scope has no name"};
    }
    return m;
}

void trace_reader::damaged(const std::string& how) const {
    throw tool_error{"'" + path_.string() + "' is damaged: " + how + "; copy it again, or record again"};
}

}  // namespace acre::tool
