#include <fmt/format.h>

#include <memory>

#include "command.hpp"
#include "plan/plan_making.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"

namespace acre::tool {

namespace {

struct plan_options {
    std::string file;
    std::string output;
    plan_choice choice = plan_choice::advice;
    bool leaves_to_malloc_below = false;
};

const std::map<std::string, plan_choice>& choices() {
    static const std::map<std::string, plan_choice> known(plan_choices.begin(), plan_choices.end());
    return known;
}

const std::map<std::string, bool>& malloc_choices() {
    static const std::map<std::string, bool> known{{"acre", false}, {"below", true}};
    return known;
}

void write_plan(const site_plan& plan, const std::string& output) {
    const std::string text = plan_text(plan);
    if (output.empty()) return print(text);
    replacing_file file{output};
    file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    file.finish();
}

int run_plan(const plan_options& options, const command_context& context) {
    trace_reader reader{options.file};
    if (!options.output.empty()) keep_from_replacing(options.file, options.output, "-o");
    const call_paths paths{reader.tables()};
    const made_plan made = [&] {
        const reading_progress bar{"reading", reader, context};
        return make_plan(reader, paths, options.choice, options.leaves_to_malloc_below);
    }();
    clear_progress();
    write_plan(made.plan, options.output);
    std::size_t routed = 0;
    for (std::size_t i = 0; i < made.plan.modules.size(); ++i) routed += made.plan.routed_sites_of(i);
    remark(context, fmt::format("{} of {} are planned, with {} of the allocations", count_text(routed),
                                plural(made.plan.sites.size(), "site", "sites"),
                                percent_text(static_cast<double>(made.routed_allocations) /
                                             static_cast<double>(std::max<std::uint64_t>(made.allocations, 1)))));
    if (made.without_build_id != 0) {
        remark(context, fmt::format("{} are in files without a build id, by which a plan knows them: link with "
                                    "-Wl,--build-id",
                                    plural(made.without_build_id, "allocation", "allocations")));
    }
    return report_missing(reader);
}

}  // namespace

void add_plan_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<plan_options>();
    subcommand command{line, "plan", "Plans which sites get memory of their own, for 'acre run --plan'"};
    command.trace("FILE", options->file, "The trace").required();
    command.file("-o,--output", options->output, "The plan to write; without it standard output");
    command.one_of("--policy", options->choice, choices(), "advice",
                   "How a policy is chosen for each site: by the advice, or the same one for all; inverted and "
                   "shuffled make wrong plans, for tests");
    command.one_of("--left-to", options->leaves_to_malloc_below, malloc_choices(), "acre",
                   "What serves the requests that are not planned: acre's heap, or the malloc below, which is the one "
                   "that the program has without acre, linked or preloaded");
    command.footer(
        "The plan is JSON: each site has a policy (leave, pool, counted or separate) and a group, and both may be\n"
        "changed by hand. docs/plan.md says what they mean.\n\n"
        "Examples:\n"
        "  acre plan app.acre -o app.plan\n"
        "  acre run --plan app.plan -- ./app input.txt\n"
        "  acre try --plan app.plan -- ./app input.txt\n\n"
        "Exit status 3: the trace was cut off; the plan is about its complete part.");
    command.runs([&, options] { return run_plan(*options, context); });
}

}  // namespace acre::tool
