#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "info/info_report.hpp"

namespace acre::tool {

namespace {

struct info_options {
    std::string file;
    std::size_t top = 10;
    bool json = false;
};

int run_info(const info_options& options, const command_context& context) {
    trace_reader reader{options.file};
    const call_paths paths{reader.tables()};
    const reading_progress bar{"reading", reader, context};
    const trace_summary summary = summarise(reader, paths);
    if (options.json) {
        print(text_of(info_json(reader, paths, summary, options.top)));
    } else {
        print(info_text(reader, paths, summary, options.top));
    }
    return report_missing(reader);
}

}  // namespace

void add_info_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<info_options>();
    subcommand command{line, "info", "Shows what is in a trace: counts, sizes, lifetimes, scopes, the top sites"};
    command.trace("FILE", options->file, "The trace").required();
    command.whole_number("--top", options->top, 1, max_shown, "How many sites and scopes to show").shows_default();
    command.flag("--json", options->json, "Print an object for machines; docs/command.md names its keys");
    command.footer(
        "Examples:\n"
        "  acre info sqlite3.acre\n"
        "  acre info --top 30 sqlite3.acre\n"
        "  acre info --json sqlite3.acre | jq .peak_bytes\n\n"
        "Exit status 3: the trace was cut off; its complete part is shown, and a message says what is missing.");
    command.runs([&, options] { return run_info(*options, context); });
}

}  // namespace acre::tool
