// What `acre fit --json` printed, read back from a file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace acre::tool {

/// Throws tool_error where the file is not that: what the page shows of it is there and of the right kind.
nlohmann::json read_fit(const std::string& path);

}  // namespace acre::tool
