#include <memory>
#include <nlohmann/json.hpp>

#include "advise/advice_report.hpp"
#include "advise/history.hpp"
#include "advise/measure.hpp"
#include "advise/plan.hpp"
#include "command.hpp"
#include "text/terminal.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

struct advise_options {
    std::string file;
    std::size_t top = 10;
    bool json = false;
    bool plan_only = false;
};

history read_history(trace_reader& reader, const call_paths& paths, const command_context& context) {
    progress_bar bar{"reading", !context.quiet};
    reader.on_progress([&](double done) { bar.show(done); });
    return {reader, paths};
}

void measure(advice_list& list, const history& run, const command_context& context) {
    progress_bar bar{"measuring", !context.quiet};
    measure_advices(*context.host, run, list, [&](double done) { bar.show(done); });
}

int run_advise(const advise_options& options, const command_context& context) {
    trace_reader reader{options.file};
    const call_paths paths{reader.tables()};
    const history run = read_history(reader, paths, context);
    if (run.object_count() == 0) throw tool_error{"'" + options.file + "' has no allocations to advise about"};
    const trace_header& header = reader.header();
    if (!header.stacks_at_free) {
        remark(
            context,
            "the trace has no stacks at frees, so nothing can be said about arenas: record without --no-free-stacks");
    }
    if (header.stacks == stack_method::caller) {
        remark(context,
               "the trace has one frame of each stack, so scopes cannot be told: record with --stacks=trie for advice "
               "about them");
    }
    advice_list list = plan_advices(run, paths, header.sampling_period);
    list.cpu_nanoseconds = header.cpu_microseconds() * 1000;
    if (list.advices.size() > options.top) {
        list.omitted = list.advices.size() - options.top;
        list.advices.resize(options.top);
    }
    if (!options.plan_only && !list.is_sample()) measure(list, run, context);
    if (options.json) {
        print(text_of(advice_json(list, paths, header)));
    } else {
        print(advice_text(list, paths, header));
    }
    return report_missing(reader);
}

}  // namespace

void add_advise_command(CLI::App& app, command_context& context, command_action& action) {
    auto options = std::make_shared<advise_options>();
    CLI::App* command =
        app.add_subcommand("advise", "Says per scope and site what suits it, with the code to write and what it saves");
    command->add_option("FILE", options->file, "The trace")->required();
    command->add_option("--top", options->top, "How many advices to measure and show")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print an object for machines; docs/advise.md names its keys");
    command->add_flag("--no-measure", options->plan_only,
                      "Say only what the lives of the objects suit, not what it saves");
    command->footer(
        "Examples:\n"
        "  acre advise app.acre\n"
        "  acre advise --top 3 app.acre\n"
        "  acre advise --json app.acre | jq '.advices[] | {verdict, file, line}'\n\n"
        "Exit status 3: the trace was cut off; the advice is about what is whole.");
    command->callback([&, options] { action = [&, options] { return run_advise(*options, context); }; });
}

}  // namespace acre::tool
