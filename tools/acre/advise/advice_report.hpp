// Advices as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "advice.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

std::string advice_text(const advice_list& list, const call_paths& paths, const trace_header& header);
nlohmann::json advice_json(const advice_list& list, const call_paths& paths, const trace_header& header);

}  // namespace acre::tool
