// Tells to a person or to a machine whether advices were followed and what came of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "advice.hpp"
#include "apply_check.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// `paths` are those of the run before, which `list` is about.
std::string apply_text(const apply_check& check, const advice_list& list, const call_paths& paths);
nlohmann::json apply_json(const apply_check& check, const advice_list& list, const call_paths& paths);

}  // namespace acre::tool
