// What the page of a report is made of, as one JSON object.
#pragma once

#include <nlohmann/json.hpp>

#include "run_picture.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The parts that other commands tell as well, in their own keys; null where there is none.
struct report_parts {
    nlohmann::json info;                           // as `acre info --json`
    nlohmann::json advice;                         // as `acre advise --json`
    nlohmann::json replay;                         // as `acre replay --json`
    nlohmann::json fit = nlohmann::json::array();  // each as `acre fit --json`
    bool measured = false;
};

nlohmann::json report_json(const run_picture& picture, const call_paths& paths, const trace_header& header,
                           report_parts parts);

}  // namespace acre::tool
