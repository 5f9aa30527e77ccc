// Sentences about the processes of a recording that left no log.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "recording_memory.hpp"

namespace acre::tool {

/// For each process number, how many programs executed as it left a log.
using executed_logs = std::map<std::uint32_t, std::size_t>;

/// `started`: the number of the process that acre started. `with_children`: whether all processes were to be recorded.
std::vector<std::string> notes_about(const process_reports& reports, const executed_logs& logs, std::uint32_t started,
                                     bool with_children);

}  // namespace acre::tool
