#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "command.hpp"
#include "export/export.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct export_choices {
    std::string file;
    std::string format;
    std::string output;
    std::string table;
    std::string weight;
    std::string host;
};

const std::map<std::string, export_format> formats{{"parquet", export_format::parquet},
                                                   {"pprof", export_format::pprof},
                                                   {"collapsed", export_format::collapsed},
                                                   {"dhat", export_format::dhat},
                                                   {"csv", export_format::csv}};
const std::map<std::string, trace_table> tables{
    {"events", trace_table::events}, {"sites", trace_table::sites}, {"stacks", trace_table::stacks}};
const std::map<std::string, stack_weight> weights{{"bytes", stack_weight::bytes},
                                                  {"allocations", stack_weight::allocations},
                                                  {"peak", stack_weight::peak},
                                                  {"lifetime", stack_weight::lifetime}};

/// The formats by the file name extension of the output.
constexpr std::array<std::pair<std::string_view, export_format>, 10> name_ends{
    {{".parquet", export_format::parquet},
     {"/", export_format::parquet},
     {".pb.gz", export_format::pprof},
     {".pprof", export_format::pprof},
     {".collapsed", export_format::collapsed},
     {".folded", export_format::collapsed},
     {".dhat", export_format::dhat},
     {".dhat.json", export_format::dhat},
     {".json", export_format::dhat},
     {".csv", export_format::csv}}};

export_format format_of(const export_choices& choices) {
    if (!choices.format.empty()) return formats.at(choices.format);
    for (const auto& [end, format] : name_ends) {
        if (choices.output.ends_with(end)) return format;
    }
    throw usage_error{"the file name extension of '" + choices.output +
                      "' does not tell the format: name it with --format"};
}

/// Throws usage_error for choices that do not go together.
export_options options_of(const export_choices& choices) {
    export_options options{.format = format_of(choices),
                           .output = choices.output,
                           .table = {},
                           .weight = stack_weight::bytes,
                           .host = choices.host};
    const bool has_tables = options.format == export_format::parquet || options.format == export_format::csv;
    if (!choices.table.empty()) {
        if (!has_tables) throw usage_error{"--table needs --format parquet or csv"};
        options.table = tables.at(choices.table);
    }
    if (!choices.weight.empty()) {
        if (options.format != export_format::collapsed) {
            throw usage_error{"--weight needs --format collapsed"};
        }
        options.weight = weights.at(choices.weight);
    }
    if (needs_folder(options) && (choices.output == "-" || choices.output.ends_with(".parquet"))) {
        throw usage_error{"one file of parquet has one table: say which with --table, or name a folder"};
    }
    if (!needs_folder(options) && choices.output.ends_with('/')) {
        throw usage_error{choices.table.empty()
                              ? "only parquet is written as a folder: name a file instead of '" + choices.output + "'"
                              : "--table writes one file, and '" + choices.output +
                                    "' is a folder: name a file, or leave --table out to write all tables there"};
    }
    return options;
}

void check_output(const export_choices& choices, const export_options& options) {
    if (choices.output != "-") return keep_from_replacing(choices.file, choices.output, "-o");
    const bool is_text = options.format != export_format::parquet && options.format != export_format::pprof;
    if (is_text || ::isatty(STDOUT_FILENO) == 0) return;
    throw tool_error{"this format is not for a terminal: name a file with -o, or redirect standard output"};
}

int run_export(const export_choices& choices, const command_context& context) {
    const export_options options = options_of(choices);
    check_output(choices, options);
    trace_reader reader{choices.file};
    const call_paths paths{reader.tables()};
    {
        // Progress would come between the lines of the output.
        const bool is_on_terminal = choices.output == "-" && ::isatty(STDOUT_FILENO) != 0;
        const reading_progress bar{"exporting", reader, !context.quiet && !is_on_terminal};
        export_trace(reader, paths, options);
    }
    if (reader.header().is_sampled()) {
        remark(context, "one allocation in " + std::to_string(reader.header().sampling_period) +
                            " was recorded: figures are scaled to all, events are those that were recorded");
    }
    return report_missing(reader);
}

}  // namespace

void add_export_command(command_line& line, const command_context& context) {
    auto choices = std::make_shared<export_choices>();
    subcommand command{line, "export", "Writes a trace as a file that other tools read"};
    command.trace("FILE", choices->file, "The trace").required();
    command.file("-o,--output", choices->output, "The file to write, a folder for parquet, - for standard output")
        .required();
    command.one_of("--format", choices->format, names_of(formats), "The format of the output")
        .default_is("by the file name extension");
    command.one_of("--table", choices->table, names_of(tables), "For parquet and csv: one table, as one file");
    command
        .one_of("--weight", choices->weight, names_of(weights),
                "For collapsed: what to count; lifetime is in microseconds")
        .default_is("bytes");
    command.text("--host", choices->host, "NAME", "The recording machine's name in the table of sites");
    command.footer(
        "Examples:\n"
        "  acre export -o run/ run.acre                      a folder of Parquet: events, sites, stacks\n"
        "  acre export -o sites.csv run.acre\n"
        "  acre export -o run.pb.gz run.acre                 then: go tool pprof -http=: run.pb.gz\n"
        "  acre export -o - --format collapsed --weight peak run.acre | flamegraph.pl > run.svg\n"
        "  acre export -o run.dhat.json run.acre             for valgrind's dh_view.html\n\n"
        "File name extensions: / (parquet), .parquet, .pb.gz, .pprof, .collapsed, .folded, .json, .dhat, .csv.\n"
        "Exit status 3: the trace was cut off; its complete part is exported, and a message says what is missing.");
    command.runs([&, choices] { return run_export(*choices, context); });
}

}  // namespace acre::tool
