#include "command.hpp"

#include <fmt/format.h>

namespace acre::tool {

int report_missing(const trace_reader& reader) {
    if (reader.missing().empty()) return status_success;
    fmt::print(stderr, "acre: {}\n", reader.missing());
    return status_incomplete;
}

void remark(const command_context& context, const std::string& sentence) {
    if (!context.quiet) fmt::print(stderr, "acre: {}\n", sentence);
}

}  // namespace acre::tool
