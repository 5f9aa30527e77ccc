#include "command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

int report_missing(const trace_reader& reader) {
    if (reader.missing().empty()) return status_success;
    tell(reader.missing());
    return status_incomplete;
}

void keep_from_replacing(const std::string& source, const std::string& output, std::string_view option) {
    std::error_code ignored;
    if (!std::filesystem::equivalent(source, output, ignored)) return;
    throw tool_error{fmt::format("'{}' is the input: name another file with {}", output, option)};
}

std::string refusal_of_time(const std::string& text) {
    if (parse_seconds(text)) return {};
    return "'" + text + "' is not a time: write digits, and s, m or h, as in 90s or 5m";
}

void print(std::string_view text) {
    clear_progress();
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    throw tool_error{std::string{"cannot write to standard output: "} + reason_of(errno)};
}

std::string text_of(const nlohmann::json& object) {
    return printable_json(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n";
}

void tell(const std::string& sentence) {
    write_message("acre: " + printable(sentence));
}

void remark(const command_context& context, const std::string& sentence) {
    if (!context.quiet) tell(sentence);
}

void remark_allocator(const command_context& context, const trace_header& header) {
    if (header.allocator.empty() || header.allocator == trace_header::glibc) return;
    remark(context, "the program used the malloc of " + header.allocator + "; the comparison is with glibc's malloc");
}

}  // namespace acre::tool
