// Identifies the run of a trace, so that exports from many machines can be combined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/reader.hpp"

namespace acre::tool {

struct run_identity {
    std::string id;    // 16 hexadecimal digits, a checksum of the trace's header
    std::string host;  // as the user named it; empty when not known
    std::string program;
    std::string command;                      // program and arguments, separated by spaces
    std::string build_id;                     // of the program's executable; empty when not known
    std::optional<std::uint32_t> module;      // the program's executable
    std::optional<std::int64_t> recorded_at;  // microseconds since 1970, UTC
};

run_identity identify(const trace_reader& reader, const std::string& host);

}  // namespace acre::tool
