#include <algorithm>
#include <csignal>
#include <memory>

#include "command.hpp"
#include "record/record.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"
#include "trace/call_paths.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct finish_options {
    std::string raw;
    std::string output;
};

void tell_result(const command_context& context, const record_result& result) {
    for (const std::string& note : result.notes) remark(context, note);
    for (const auto& trace : result.traces) {
        remark(context, "wrote '" + trace.string() + "': look at it with 'acre info' and 'acre advise'");
    }
}

int run_record(record_options options, const command_context& context, bool named) {
    options.command = context.rest;
    if (options.command.empty()) throw CLI::RequiredError{"a program to record, after --,"};
    if (!named) options.output = file_name(options.command.front()) + ".acre";
    progress_bar bar{"writing the trace", !context.quiet};
    options.progress = [&](double done) { bar.show(done); };
    const record_result result = record(options);
    tell_result(context, result);
    return result.exit_status;
}

int run_finish(const finish_options& options, const command_context& context) {
    keep_from_replacing(options.raw, options.output, "-o");
    progress_bar bar{"writing the trace", !context.quiet};
    tell_result(context, finish_raw_log(options.raw, options.output, [&](double done) { bar.show(done); }));
    remark(context,
           "'" + options.raw + "' is left as it is: delete it when the program has ended and the trace is good");
    return status_success;
}

/// What --max-size is given, as CLI11 wants it checked: replaced by plain bytes, or a sentence.
std::string to_bytes(std::string& text) {
    const std::optional<std::uint64_t> bytes = parse_bytes(text);
    if (!bytes || *bytes < min_max_bytes) {
        return "'" + text + "' is not a size of " + bytes_text(min_max_bytes) +
               " or more: write digits, and K, M, G or T for powers of 1024, as in 500M";
    }
    text = std::to_string(*bytes);
    return {};
}

stack_method method_of(const std::string& name) {
    return static_cast<stack_method>(std::find(stack_methods.begin(), stack_methods.end(), name) -
                                     stack_methods.begin());
}

constexpr std::uint32_t max_sampling = 1'000'000;

/// The number of a signal that a recording may be paused by, 0 of any other; with or without SIG.
int signal_of(std::string name) {
    if (name.starts_with("SIG")) name.erase(0, 3);
    if (name == "USR1") return SIGUSR1;
    if (name == "USR2") return SIGUSR2;
    const std::string real_time = "RTMIN+";
    if (!name.starts_with(real_time)) return 0;
    const std::optional<std::uint64_t> offset = parse_bytes(name.substr(real_time.size()));
    const int most = SIGRTMAX - SIGRTMIN;
    return offset && *offset <= static_cast<std::uint64_t>(most) ? SIGRTMIN + static_cast<int>(*offset) : 0;
}

std::string check_signal(const std::string& name) {
    if (signal_of(name) != 0) return {};
    return "'" + name + "' is not a signal that a recording can be paused by: USR1, USR2, or RTMIN+0 to RTMIN+" +
           std::to_string(SIGRTMAX - SIGRTMIN);
}

}  // namespace

void add_record_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<record_options>();
    auto no_free_stacks = std::make_shared<bool>(false);
    auto method = std::make_shared<std::string>(stack_methods.front());
    auto toggle_signal = std::make_shared<std::string>();
    CLI::App* command =
        app.add_subcommand("record", "Runs a program (after --) and records what it allocates; nothing is rebuilt");
    option_values& values = context.values;
    const CLI::Option* output = values.trace(
        command->add_option("-o,--output", options->output, "The trace to write; without it PROGRAM.acre"));
    command->add_flag("--children", options->children, "Record the processes that it starts too, a trace each");
    values
        .one_of(command->add_option("--stacks", *method,
                                    "How stacks are found: trie (by unwind tables, whole), fp (by frame pointers), "
                                    "caller (one frame)"),
                stack_methods)
        ->capture_default_str();
    command->add_flag("--no-free-stacks", *no_free_stacks,
                      "Record no call stacks at frees: faster, but no advice about arenas");
    command->add_flag("--paused", options->paused, "Record nothing until the program or a signal resumes");
    values
        .text(command->add_option("--toggle-signal", *toggle_signal,
                                  "Pause and resume at this signal: USR1, USR2 or RTMIN+n, one that the program does "
                                  "not use"),
              "SIGNAL")
        ->check(CLI::Validator{check_signal, ""});
    values.whole_number(command->add_option("--sample", options->sampling_period,
                                            "Record one allocation in N on average, and its free: for long runs"),
                        "N", 1, max_sampling);
    values
        .text(command->add_option("--max-size", options->max_bytes,
                                  "Stop recording when so many bytes are logged: 256K or more, in K, M, G or T"),
              "SIZE")
        ->transform(CLI::Validator{to_bytes, ""});
    command->footer(
        "Examples:\n"
        "  acre record -o app.acre -- ./app input.txt\n"
        "  acre record --max-size 2G -o server.acre -- ./server --port 8080\n"
        "  acre record --paused --toggle-signal USR2 -o server.acre -- ./server\n"
        "  acre record --sample 100 -o server.acre -- ./server\n\n"
        "Exit status: the program's own, or 1 when it could not be recorded.");
    command->callback([&, options, no_free_stacks, method, toggle_signal, output] {
        options->stacks_at_free = !*no_free_stacks;
        options->stacks = method_of(*method);
        options->toggle_signal = signal_of(*toggle_signal);
        action = [&, options, output] { return run_record(*options, context, output->count() > 0); };
    });
}

void add_finish_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<finish_options>();
    CLI::App* command =
        app.add_subcommand("finish", "Makes a trace of what 'acre record' left behind when it was killed itself");
    context.values.file(
        command->add_option("RAW", options->raw, "The directory TRACE.raw-XXXXXX, or a file in it")->required());
    context.values.trace(command->add_option("-o,--output", options->output, "The trace to write")->required());
    command->footer("Example:\n  acre finish app.acre.raw-Xy12Zq -o app.acre");
    command->callback([&, options] { action = [&, options] { return run_finish(*options, context); }; });
}

}  // namespace acre::tool
