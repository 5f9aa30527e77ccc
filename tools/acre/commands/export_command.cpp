#include <unistd.h>

#include <array>
#include <csignal>
#include <map>
#include <memory>
#include <utility>

#include "command.hpp"
#include "export/export.hpp"
#include "reading_progress.hpp"
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

/// Ends of names, and the formats they stand for.
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
    throw CLI::ValidationError{"the end of '" + choices.output + "' does not tell the format: name it with --format"};
}

/// Throws what a wrong command line throws.
export_options options_of(const export_choices& choices) {
    export_options options{.format = format_of(choices),
                           .output = choices.output,
                           .table = {},
                           .weight = stack_weight::bytes,
                           .host = choices.host};
    const bool has_tables = options.format == export_format::parquet || options.format == export_format::csv;
    if (!choices.table.empty()) {
        if (!has_tables) throw CLI::ValidationError{"--table goes with --format parquet and csv"};
        options.table = tables.at(choices.table);
    }
    if (!choices.weight.empty()) {
        if (options.format != export_format::collapsed) {
            throw CLI::ValidationError{"--weight goes with --format collapsed"};
        }
        options.weight = weights.at(choices.weight);
    }
    if (needs_folder(options) && (choices.output == "-" || choices.output.ends_with(".parquet"))) {
        throw CLI::ValidationError{"one file of parquet has one table: say which with --table, or name a folder"};
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
    // An output that grows beyond the system's limit of file sizes is a failure to tell, not a signal to die of.
    std::signal(SIGXFSZ, SIG_IGN);
    const export_options options = options_of(choices);
    check_output(choices, options);
    trace_reader reader{choices.file};
    const call_paths paths{reader.tables()};
    {
        const reading_progress bar{"exporting", reader, context};
        export_trace(reader, paths, options);
    }
    if (reader.header().is_sampled()) {
        remark(context, "one allocation in " + std::to_string(reader.header().sampling_period) +
                            " was recorded: figures are scaled to all, events are those that were recorded");
    }
    return report_missing(reader);
}

}  // namespace

void add_export_command(CLI::App& app, command_context& context, command_action& action) {
    auto choices = std::make_shared<export_choices>();
    CLI::App* command = app.add_subcommand("export", "Writes a trace as a file that other tools read");
    option_values& values = context.values;
    values.trace(command->add_option("FILE", choices->file, "The trace")->required());
    values.file(command
                    ->add_option("-o,--output", choices->output,
                                 "The file to write, for parquet a folder; - is standard output")
                    ->required());
    values.one_of(command->add_option("--format", choices->format, "Without: as the end of the output's name tells"),
                  names_of(formats));
    values.one_of(command->add_option("--table", choices->table, "Of parquet and csv: one table, as one file"),
                  names_of(tables));
    values.one_of(command->add_option("--weight", choices->weight,
                                      "Of collapsed: what to count, without it bytes; lifetime is in microseconds"),
                  names_of(weights));
    values.text(command->add_option("--host", choices->host,
                                    "What to call the machine of the recording, in the table of sites"),
                "NAME");
    command->footer(
        "Examples:\n"
        "  acre export -o run/ run.acre                      a folder of Parquet: events, sites, stacks\n"
        "  acre export -o sites.csv run.acre\n"
        "  acre export -o run.pb.gz run.acre                 then: go tool pprof -http=: run.pb.gz\n"
        "  acre export -o - --format collapsed --weight peak run.acre | flamegraph.pl > run.svg\n"
        "  acre export -o run.dhat.json run.acre             for valgrind's dh_view.html\n\n"
        "Ends of names: / (parquet), .parquet, .pb.gz, .pprof, .collapsed, .folded, .json, .dhat, .csv.\n"
        "Exit status 3: the trace was cut off; what is whole is exported and what is missing is said.");
    command->callback([&, choices] { action = [&, choices] { return run_export(*choices, context); }; });
}

}  // namespace acre::tool
