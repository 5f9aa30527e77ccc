#include "run_identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "trace/call_paths.hpp"
#include "trace/format.hpp"
#include "trace/table_codec.hpp"

namespace acre::tool {

namespace {

/// The module of the executable. The command's name may be a link (python3), so the first module that is no library is
/// the fallback.
std::optional<std::uint32_t> program_of(const trace_header& header, const trace_tables& tables) {
    const auto& modules = tables.modules;
    const std::string name = header.command.empty() ? "" : file_name(header.command.front());
    const auto named = std::find_if(modules.begin(), modules.end(),
                                    [&](const module_info& each) { return file_name(each.path) == name; });
    if (named != modules.end()) return static_cast<std::uint32_t>(named - modules.begin());
    const auto no_library = std::find_if(modules.begin(), modules.end(), [](const module_info& each) {
        return !each.path.empty() && file_name(each.path).find(".so") == std::string::npos;
    });
    if (no_library == modules.end()) return {};
    return static_cast<std::uint32_t>(no_library - modules.begin());
}

std::optional<std::int64_t> microseconds_of(const std::string& date) {
    std::tm fields{};
    const char* end = ::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields);
    if (end == nullptr || *end != '\0') return {};
    return static_cast<std::int64_t>(::timegm(&fields)) * 1'000'000;
}

}  // namespace

run_identity identify(const trace_reader& reader, const std::string& host) {
    const trace_header& header = reader.header();
    run_identity run;
    // The header distinguishes runs: it has date, machine, command and times to the microsecond.
    run.id = fmt::format("{:016x}", format::checksum(encode_header(header).bytes()));
    run.host = host;
    run.command = fmt::format("{}", fmt::join(header.command, " "));
    if (!header.command.empty()) run.program = file_name(header.command.front());
    run.module = program_of(header, reader.tables());
    if (run.module) run.build_id = reader.tables().modules[*run.module].build_id;
    run.recorded_at = microseconds_of(header.date);
    return run;
}

}  // namespace acre::tool
