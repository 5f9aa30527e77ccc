// A summary of a trace as text or JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trace_summary.hpp"

namespace acre::tool {

std::string info_text(const trace_reader& reader, const call_paths& paths, const trace_summary& summary,
                      std::size_t max_sites);
nlohmann::json info_json(const trace_reader& reader, const call_paths& paths, const trace_summary& summary,
                         std::size_t max_sites);

}  // namespace acre::tool
