// Encodes the header and tables of a trace as the payloads of their sections, and decodes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "byte_sink.hpp"
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
void check_tables(const trace_tables& tables);

byte_sink encode_header(const trace_header& header);
encoded_tables encode_tables(const trace_tables& tables);

// Payloads are untrusted: each function throws tool_error if its payload is invalid.
trace_header decode_header(std::span<const std::uint8_t> payload, std::uint32_t version);
std::vector<std::string> decode_strings(std::span<const std::uint8_t> payload);
std::vector<module_info> decode_modules(std::span<const std::uint8_t> payload, const std::vector<std::string>& strings);
std::vector<frame_info> decode_frames(std::span<const std::uint8_t> payload, const std::vector<std::string>& strings,
                                      std::size_t modules);
std::vector<call_node> decode_call_tree(std::span<const std::uint8_t> payload, std::size_t frames);
std::vector<std::string> decode_scope_names(std::span<const std::uint8_t> payload,
                                            const std::vector<std::string>& strings);

}  // namespace acre::tool
