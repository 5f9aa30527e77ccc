// Advices as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "advice.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

std::string advice_text(const advice_list& list, const call_paths& paths, const trace_header& header);
/// The entry of one recommendation, from 0 on: where, what it saves, the figures behind it, its conditions and its
/// code.
std::string explanation_text(const advice_list& list, std::size_t number, const call_paths& paths);
nlohmann::json advice_json(const advice_list& list, const call_paths& paths, const trace_header& header);

}  // namespace acre::tool
