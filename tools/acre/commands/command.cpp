#include "command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trace/error.hpp"

namespace acre::tool {

int report_missing(const trace_reader& reader) {
    if (reader.missing().empty()) return status_success;
    tell(reader.missing());
    return status_incomplete;
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    throw tool_error{std::string{"cannot write to standard output: "} + std::strerror(errno)};
}

std::string text_of(const nlohmann::json& object) {
    return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void tell(const std::string& sentence) {
    // Not fmt::print, which throws when it cannot write.
    std::fputs(("acre: " + sentence + "\n").c_str(), stderr);
}

void remark(const command_context& context, const std::string& sentence) {
    if (!context.quiet) tell(sentence);
}

}  // namespace acre::tool
