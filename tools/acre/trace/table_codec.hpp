// Encodes the header and tables of a trace as the payloads of their sections, and decodes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_sink.hpp"
#include "byte_source.hpp"
#include "format.hpp"
#include "model.hpp"

namespace acre::tool {

/// The payloads of the five sections with the tables.
struct encoded_tables {
    byte_sink strings;
    byte_sink modules;
    byte_sink frames;
    byte_sink call_tree;
    byte_sink scopes;
};

/// Throws tool_error if an index is out of range, the tree has a cycle or a limit is exceeded.
void check_tables(const trace_tables& tables, const format::table_limits& limits = {});

byte_sink encode_header(const trace_header& header);
encoded_tables encode_tables(const trace_tables& tables);

// Payloads are untrusted: each function throws tool_error if its payload is invalid.
trace_header decode_header(std::span<const std::uint8_t> payload, std::uint32_t version);

/// Decodes the tables, in the order of their sections, and keeps to the limits.
class table_decoder {
public:
    explicit table_decoder(trace_tables& tables, const format::table_limits& limits = {})
        : tables_{tables}, limits_{limits} {}

    /// Keeps the payload.
    void strings(std::vector<std::uint8_t> payload);
    void modules(std::span<const std::uint8_t> payload);
    void frames(std::span<const std::uint8_t> payload);
    void call_tree(std::span<const std::uint8_t> payload);
    void scope_names(std::span<const std::uint8_t> payload);

private:
    void weigh(std::uint64_t weight);
    std::string text(byte_source& source);
    frame_info frame(byte_source& source);

    trace_tables& tables_;
    format::table_limits limits_;
    std::vector<std::uint8_t> payload_;
    std::vector<std::string_view> strings_;
    std::uint64_t locations_ = 0;
    std::uint64_t weight_ = 0;
};

}  // namespace acre::tool
