#include "writer.hpp"

#include <algorithm>

#include "error.hpp"
#include "table_codec.hpp"

namespace acre::tool {

trace_writer::trace_writer(const std::filesystem::path& path, const trace_header& header, const trace_tables& tables)
    : file_{path, written_file::trace} {
    check_tables(tables);
    byte_sink head;
    head.append(format::magic);
    head.little_endian(format::version, 4);
    while (head.bytes().size() < format::file_head_bytes) head.byte(0);
    write(head.bytes());
    const encoded_tables encoded = encode_tables(tables);
    write_section(format::section_kind::header, encode_header(header));
    write_section(format::section_kind::strings, encoded.strings);
    write_section(format::section_kind::modules, encoded.modules);
    write_section(format::section_kind::frames, encoded.frames);
    write_section(format::section_kind::call_tree, encoded.call_tree);
    write_section(format::section_kind::scopes, encoded.scopes);
    events_.emplace([this](std::span<const std::uint8_t> section) { write(section); }, tables.call_tree.size(),
                    tables.scope_names.size(), file_bytes_);
}

void trace_writer::add(const event& e) {
    std::uint32_t place = 0;
    if (e.allocates) {
        place = free_.take();
        events_->add(e, place);
        places_.insert(e.object, place);
    } else {
        if (!places_.take(e.object, place)) throw tool_error{"an event frees an object that is not live"};
        events_->add(e, place);
        free_.give_back(place);
    }
}

void trace_writer::write(std::span<const std::uint8_t> bytes) {
    file_.write(bytes);
    file_bytes_ += bytes.size();
}

void trace_writer::write_section(format::section_kind kind, const byte_sink& payload) {
    const section_packer::frame frames[] = {payload.bytes()};
    write(packer_.pack(kind, frames, 0));
}

void trace_writer::finish() {
    events_->finish();
    file_.finish();
}

void trace_writer::finish(const made_sections& sections) {
    sections.for_each([this](std::span<const std::uint8_t> bytes) { write(bytes); });
    file_.finish();
}

}  // namespace acre::tool
