#include "table_codec.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "byte_source.hpp"
#include "error.hpp"
#include "format.hpp"
#include "table_fit.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

/// Numbers texts from 0 in the order of their first use.
class string_numbers {
public:
    explicit string_numbers(byte_sink& sink) : sink_{sink} {}

    std::uint64_t operator()(std::string_view text) {
        const auto [place, added] = numbers_.try_emplace(text, numbers_.size());
        if (added) sink_.text(text);
        return place->second;
    }

private:
    byte_sink& sink_;
    std::unordered_map<std::string_view, std::uint64_t> numbers_;
};

void encode_texts(byte_sink& sink, const std::vector<std::string>& texts) {
    sink.number(texts.size());
    for (const std::string& text : texts) sink.text(text);
}

std::vector<std::string> decode_texts(byte_source& source) {
    std::vector<std::string> texts;
    for (auto left = source.count(format::max_header_texts, "a count of texts"); left > 0; --left) {
        texts.emplace_back(source.text());
    }
    return texts;
}

void encode_frame(byte_sink& sink, const frame_info& frame, string_numbers& number) {
    sink.number(frame.module == frame_info::no_module ? 0 : std::uint64_t{frame.module} + 1);
    sink.number(frame.module_offset);
    sink.number(frame.locations.size());
    for (const source_location& location : frame.locations) {
        sink.number(number(location.function));
        sink.number(number(location.file));
        sink.number(location.line);
    }
}

void check_call_tree(const trace_tables& tables) {
    const auto& tree = tables.call_tree;
    if (tree.empty()) throw tool_error{"the call tree has no root"};
    for (std::size_t i = 1; i < tree.size(); ++i) {
        if (tree[i].parent >= i) throw tool_error{"a node of the call tree comes before its parent"};
        if (tree[i].frame >= tables.frames.size()) throw tool_error{"a node of the call tree has no frame"};
    }
}

}  // namespace

void check_tables(const trace_tables& tables, const format::table_limits& limits) {
    check_call_tree(tables);
    for (const frame_info& frame : tables.frames) {
        if (frame.module != frame_info::no_module && frame.module >= tables.modules.size()) {
            throw tool_error{"a frame is in a module that is not in the table"};
        }
    }
    if (!table_fit{tables, limits}.is_whole()) throw tool_error{"the tables are too large for a trace"};
}

byte_sink encode_header(const trace_header& header) {
    byte_sink sink;
    encode_texts(sink, header.command);
    sink.text(header.date);
    sink.text(header.machine);
    sink.signed_number(header.exit_status);
    sink.number(header.duration);
    sink.number(header.user_time);
    sink.number(header.system_time);
    sink.number(header.recording_time);
    sink.number(header.unmatched_frees);
    sink.byte(header.stacks_at_free ? 1 : 0);
    sink.byte(static_cast<std::uint8_t>(header.stacks));
    sink.number(header.sampling_period);
    sink.text(header.allocator);
    encode_texts(sink, header.notes);
    return sink;
}

trace_header decode_header(std::span<const std::uint8_t> payload, std::uint32_t version) {
    byte_source source{payload};
    trace_header header;
    header.command = decode_texts(source);
    // Sentences are made printable here; the command stays as it was, so that it can be run again.
    header.date = printable(source.text());
    header.machine = printable(source.text());
    header.exit_status = static_cast<std::int32_t>(source.signed_number());
    header.duration = source.number();
    header.user_time = source.number();
    header.system_time = source.number();
    header.recording_time = source.number();
    header.unmatched_frees = source.number();
    header.stacks_at_free = source.byte() != 0;
    const std::uint8_t stacks = source.byte();
    if (stacks > static_cast<std::uint8_t>(stack_method::caller)) throw tool_error{"the kind of its stacks is unknown"};
    header.stacks = static_cast<stack_method>(stacks);
    header.sampling_period = source.number();
    if (header.sampling_period == 0) throw tool_error{"the sampling period is 0"};
    if (version > format::oldest_version) header.allocator = printable(source.text());
    header.notes = decode_texts(source);
    std::ranges::transform(header.notes, header.notes.begin(), printable);
    source.expect_end();
    return header;
}

encoded_tables encode_tables(const trace_tables& tables) {
    encoded_tables encoded;
    string_numbers number{encoded.strings};
    encoded.modules.number(tables.modules.size());
    for (const module_info& module : tables.modules) {
        encoded.modules.number(number(module.path));
        encoded.modules.number(number(module.build_id));
        encoded.modules.number(module.load_bias);
    }
    encoded.frames.number(tables.frames.size());
    for (const frame_info& frame : tables.frames) encode_frame(encoded.frames, frame, number);
    encoded.call_tree.number(tables.call_tree.size());
    for (std::size_t i = 1; i < tables.call_tree.size(); ++i) {
        encoded.call_tree.number(i - tables.call_tree[i].parent);
        encoded.call_tree.number(tables.call_tree[i].frame);
    }
    encoded.scopes.number(tables.scope_names.size());
    for (const std::string& name : tables.scope_names) encoded.scopes.number(number(name));
    return encoded;
}

void table_decoder::weigh(std::uint64_t weight) {
    weight_ += weight;
    if (weight_ > limits_.weight) throw tool_error{"the tables would take too much memory"};
}

std::string table_decoder::text(byte_source& source) {
    const std::uint64_t number = source.number();
    if (number >= strings_.size()) throw tool_error{"a text is not in the table of texts"};
    const std::string_view text = strings_[static_cast<std::size_t>(number)];
    weigh(format::text_weight(text.size()));
    return std::string{text};
}

void table_decoder::strings(std::vector<std::uint8_t> payload) {
    payload_ = std::move(payload);
    byte_source source{payload_};
    std::uint64_t bytes = 0;
    while (source.remaining() != 0) {
        if (strings_.size() == limits_.texts) throw tool_error{"there are too many texts"};
        strings_.push_back(source.text());
        if (strings_.back().size() > limits_.text_bytes) throw tool_error{"a text is too long"};
        bytes += strings_.back().size();
        if (bytes > limits_.texts_bytes) throw tool_error{"the texts are too long"};
    }
}

void table_decoder::modules(std::span<const std::uint8_t> payload) {
    byte_source source{payload};
    for (auto left = source.count(limits_.modules, "the number of modules"); left > 0; --left) {
        weigh(format::module_weight);
        module_info& module = tables_.modules.emplace_back();
        module.path = text(source);
        module.build_id = text(source);
        module.load_bias = source.number();
    }
    source.expect_end();
}

void table_decoder::frames(std::span<const std::uint8_t> payload) {
    byte_source source{payload};
    const std::uint64_t count = source.count(limits_.frames, "the number of frames");
    weigh(count * format::frame_weight);
    tables_.frames.reserve(static_cast<std::size_t>(count));
    for (auto left = count; left > 0; --left) tables_.frames.push_back(frame(source));
    source.expect_end();
}

frame_info table_decoder::frame(byte_source& source) {
    frame_info frame;
    const std::uint64_t module = source.number(tables_.modules.size(), "a frame's module");
    frame.module = module == 0 ? frame_info::no_module : static_cast<std::uint32_t>(module - 1);
    frame.module_offset = source.number();
    const std::uint64_t count = source.count(limits_.locations - locations_, "the number of a frame's locations");
    locations_ += count;
    weigh(count * format::location_weight);
    frame.locations.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
        source_location& location = frame.locations.emplace_back();
        location.function = text(source);
        location.file = text(source);
        location.line = static_cast<std::uint32_t>(source.number(0xffff'ffff, "a line"));
    }
    return frame;
}

void table_decoder::call_tree(std::span<const std::uint8_t> payload) {
    byte_source source{payload};
    const std::uint64_t count = source.number(limits_.nodes, "the number of nodes");
    if (count == 0) throw tool_error{"the call tree has no root"};
    // A node takes at least two bytes.
    if (count - 1 > source.remaining() / 2) throw tool_error{"the number of nodes is out of range"};
    std::vector<call_node>& tree = tables_.call_tree;
    tree.reserve(static_cast<std::size_t>(count));
    tree.emplace_back();
    for (std::uint64_t i = 1; i < count; ++i) {
        const std::uint64_t up = source.number(i, "a node's parent");
        if (up == 0) throw tool_error{"a node of the call tree is its own parent"};
        const std::uint64_t frame = source.number();
        if (frame >= tables_.frames.size()) throw tool_error{"a node of the call tree has no frame"};
        weigh(format::node_weight(tables_.frames[static_cast<std::size_t>(frame)].locations.size()));
        tree.push_back({static_cast<std::uint32_t>(i - up), static_cast<std::uint32_t>(frame)});
    }
    source.expect_end();
}

void table_decoder::scope_names(std::span<const std::uint8_t> payload) {
    byte_source source{payload};
    for (auto left = source.count(limits_.scope_names, "the number of scopes"); left > 0; --left) {
        weigh(format::scope_weight);
        tables_.scope_names.push_back(text(source));
    }
    source.expect_end();
}

}  // namespace acre::tool
