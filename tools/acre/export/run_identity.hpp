// Which run a trace is of, so that those of many machines can lie side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/reader.hpp"

namespace acre::tool {

struct run_identity {
    std::string id;    // 16 hexadecimal digits: the same for the same trace, another for another
    std::string host;  // as the user calls it; empty when not known
    std::string program;
    std::string command;                      // with its arguments, separated by spaces
    std::string build_id;                     // of the program's file; empty when not known
    std::optional<std::uint32_t> module;      // the program's file
    std::optional<std::int64_t> recorded_at;  // microseconds since 1970, UTC
};

run_identity identify(const trace_reader& reader, const std::string& host);

}  // namespace acre::tool
