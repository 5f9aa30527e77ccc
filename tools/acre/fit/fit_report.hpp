// What `acre fit` prints: tables, a plot, sentences and code; or an object for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fit.hpp"
#include "fit_check.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// The types to find sizes for.
struct fit_targets {
    bool multi_arena = false;
    bool concurrent_multi_arena = false;
    bool arena = false;
    bool pool = false;
    bool typed_arena = false;
    bool realtime_heap = false;
};

/// Everything that is printed.
struct fit_outcome {
    fit_targets targets;
    fit_result result;
    fit_checks checks;
    std::string selected;  // selection_options::text()
};

std::string fit_text(const fit_outcome& of, const call_paths& paths, const trace_header& header);
nlohmann::json fit_json(const fit_outcome& of, const call_paths& paths, const trace_header& header);

}  // namespace acre::tool
