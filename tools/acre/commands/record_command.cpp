#include <algorithm>
#include <csignal>
#include <memory>

#include "command.hpp"
#include "record/record.hpp"
#include "text/text.hpp"
#include "trace/call_paths.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// Options whose values are converted when the command runs.
struct record_texts {
    std::string method = stack_methods.front();
    std::string toggle_signal;
    std::string limit;
    bool no_free_stacks = false;
};

struct finish_options {
    std::string raw;
    std::string output;
};

/// The trace is written in several passes, so it must be a file. Nor may an option be taken for its name.
void check_name_of_trace(const std::string& output) {
    if (output.starts_with("--"))
        throw usage_error{"-o needs the name of a trace, and '" + output + "' looks like an option: write ./" + output +
                          " for a file of that name"};
    if (output == "-")
        throw usage_error{"a trace cannot be written to standard output: name a file with -o (./- for one named '-')"};
}

void tell_result(const command_context& context, const record_result& result) {
    for (const std::string& note : result.notes) remark(context, note);
    for (const auto& trace : result.traces) {
        remark(context, "wrote '" + trace.string() + "': look at it with 'acre info' and 'acre advise'");
    }
    if (!result.why_nothing.empty()) tell("wrote no trace, since " + result.why_nothing);
}

int run_record(record_options options, const command_context& context, bool named) {
    options.command = context.rest;
    if (options.command.empty()) throw usage_error{"a program to record, after --, is required"};
    check_name_of_trace(options.output);
    if (!named) options.output = file_name(options.command.front()) + ".acre";
    progress_bar bar{"writing the trace", !context.quiet};
    options.progress = [&](double done) { bar.show(done); };
    const record_result result = record(options);
    std::signal(SIGPIPE, SIG_IGN);  // nobody may read the remarks any more, which must not cost the program's status
    tell_result(context, result);
    return result.exit_status;
}

}  // namespace

std::string record_program(const command_context& context) {
    record_options options;
    options.command = context.rest;
    options.output = file_name(options.command.front()) + ".acre";
    progress_bar bar{"writing the trace", !context.quiet};
    options.progress = [&](double done) { bar.show(done); };
    const record_result result = record(options);
    for (const std::string& note : result.notes) remark(context, note);
    if (result.exit_status != 0) remark(context, "the program ended with status " + std::to_string(result.exit_status));
    if (!result.why_nothing.empty()) throw tool_error{"there is nothing to advise about: " + result.why_nothing};
    return options.output;
}

namespace {

int run_finish(const finish_options& options, const command_context& context) {
    check_name_of_trace(options.output);
    keep_from_replacing(options.raw, options.output, "-o");
    progress_bar bar{"writing the trace", !context.quiet};
    tell_result(context, finish_raw_log(options.raw, options.output, [&](double done) { bar.show(done); }));
    remark(context, "'" + options.raw + "' is kept: delete it when the program has ended and the trace is good");
    return status_success;
}

constexpr char no_limit[] = "none";

/// Why --limit refuses the text; empty when it is fine.
std::string check_limit(const std::string& text) {
    const std::optional<std::uint64_t> bytes = parse_bytes(text);
    if (text == no_limit || (bytes && *bytes >= min_limit_bytes)) return {};
    return "'" + text + "' is not a size of " + bytes_text(min_limit_bytes) +
           " or more: write digits, and K, M, G or T for powers of 1024, as in 500M, or 'none'";
}

/// Nothing without the option, 0 without a limit.
std::optional<std::uint64_t> limit_of(const std::string& text) {
    return text == no_limit ? 0 : parse_bytes(text);
}

stack_method method_of(const std::string& name) {
    return static_cast<stack_method>(std::find(stack_methods.begin(), stack_methods.end(), name) -
                                     stack_methods.begin());
}

constexpr std::uint32_t max_sampling = 1'000'000;

/// The number of a signal that may pause a recording, with or without SIG; 0 for any other.
int signal_of(std::string name) {
    if (name.starts_with("SIG")) name.erase(0, 3);
    if (name == "USR1") return SIGUSR1;
    if (name == "USR2") return SIGUSR2;
    const std::string real_time = "RTMIN+";
    if (!name.starts_with(real_time)) return 0;
    const std::optional<std::uint64_t> offset = parse_bytes(name.substr(real_time.size()));
    const int max = SIGRTMAX - SIGRTMIN;
    return offset && *offset <= static_cast<std::uint64_t>(max) ? SIGRTMIN + static_cast<int>(*offset) : 0;
}

std::string check_signal(const std::string& name) {
    if (signal_of(name) != 0) return {};
    return "'" + name + "' is not a signal that can pause a recording: USR1, USR2, or RTMIN+0 to RTMIN+" +
           std::to_string(SIGRTMAX - SIGRTMIN);
}

}  // namespace

void add_record_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<record_options>();
    auto texts = std::make_shared<record_texts>();
    subcommand command{line, "record", "Runs a program (after --) and records what it allocates; no rebuild needed"};
    const option output =
        command.trace("-o,--output", options->output, "The trace to write").default_is("PROGRAM.acre");
    command.flag("--children", options->children, "Also record the processes that it starts, one trace each");
    command
        .one_of("--stacks", texts->method, stack_methods,
                "How to find stacks: unwind (by unwind tables, complete), fp (by frame pointers), caller (one frame)")
        .shows_default();
    command.flag("--no-free-stacks", texts->no_free_stacks,
                 "Record no call stacks at frees: faster, but no advice about arenas");
    command.flag("--paused", options->paused, "Record nothing until the program or a signal resumes the recording");
    command
        .text("--toggle-signal", texts->toggle_signal, "SIGNAL",
              "Pause and resume at this signal: USR1, USR2 or RTMIN+n; the program must not use it")
        .check(check_signal);
    command.whole_number("--sample", options->sampling_period, 1, max_sampling,
                         "Record one allocation in N on average, and its free: for long runs");
    command
        .text("--limit", texts->limit, "SIZE",
              "Stop recording when the logs reach SIZE (256K or more; K, M, G or T), or none")
        .default_is("10G, or half of the free disk if that is less")
        .check(check_limit);
    command.footer(
        "Examples:\n"
        "  acre record -o app.acre -- ./app input.txt\n"
        "  acre record --limit 2G -o server.acre -- ./server --port 8080\n"
        "  acre record --paused --toggle-signal USR2 -o server.acre -- ./server\n"
        "  acre record --sample 100 -o server.acre -- ./server\n\n"
        "Exit status: the program's own, 128 + N if signal N ended it, or 1 when it could not be recorded; 2 for a\n"
        "wrong command line.");
    command.runs([&, options, texts, output] {
        options->stacks_at_free = !texts->no_free_stacks;
        options->stacks = method_of(texts->method);
        options->toggle_signal = signal_of(texts->toggle_signal);
        options->limit_bytes = limit_of(texts->limit);
        return run_record(*options, context, output.given());
    });
}

void add_finish_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<finish_options>();
    subcommand command{line, "finish", "Makes a trace of the raw log that a killed 'acre record' left behind"};
    command.file("RAW", options->raw, "The directory TRACE.raw-XXXXXX, or a file in it").required();
    command.trace("-o,--output", options->output, "The trace to write").required();
    command.footer("Example:\n  acre finish app.acre.raw-Xy12Zq -o app.acre");
    command.runs([&, options] { return run_finish(*options, context); });
}

}  // namespace acre::tool
