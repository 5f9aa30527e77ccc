// The page of a report: one HTML file that needs nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace acre::tool {

/// The page with the data of report_json in it. Nothing in the data can end the element that it is in, nor be taken for
/// anything but text by the page.
std::string page_of(const nlohmann::json& data);

}  // namespace acre::tool
