// The page of a report, and its data as one JSON object.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run_picture.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The parts with the keys of other commands; null where a part is missing.
struct report_parts {
    nlohmann::json info;                           // as `acre info --json`
    nlohmann::json advice;                         // as `acre advise --json`
    nlohmann::json replay;                         // as `acre replay --json`
    nlohmann::json fit = nlohmann::json::array();  // each as `acre fit --json`
    bool measured = false;
};

/// All that the page shows.
nlohmann::json report_json(const run_picture& picture, const call_paths& paths, const trace_header& header,
                           report_parts parts);

/// The page as one HTML file that needs no other, with the data of report_json. The data cannot end its element, and
/// the page treats it only as text.
std::string page_of(const nlohmann::json& data);

}  // namespace acre::tool
