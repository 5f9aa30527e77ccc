#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "fit/event_source.hpp"
#include "fit/fit.hpp"
#include "fit/fit_check.hpp"
#include "fit/fit_report.hpp"
#include "fit/front_plot.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/replacing_file.hpp"
#include "trace/selection.hpp"

namespace acre::tool {

namespace {

struct fit_command_options {
    std::string file;
    std::vector<std::string> types;
    fit_targets targets;
    selection_options selected;
    std::string sizes;
    std::int64_t thread = -1;
    std::size_t open = 0;
    std::string plot;
    bool without_check = false;
    bool json = false;
};

/// The types by name; some share a fit.
struct target_name {
    const char* name;
    bool fit_targets::* wanted;
};
constexpr std::array target_names{
    target_name{"multi_arena", &fit_targets::multi_arena},
    target_name{"inline_multi_arena", &fit_targets::multi_arena},
    target_name{"concurrent_multi_arena", &fit_targets::concurrent_multi_arena},
    target_name{"inline_concurrent_multi_arena", &fit_targets::concurrent_multi_arena},
    target_name{"arena", &fit_targets::arena},
    target_name{"inline_arena", &fit_targets::arena},
    target_name{"pool", &fit_targets::pool},
    target_name{"object_pool", &fit_targets::pool},
    target_name{"typed_arena", &fit_targets::typed_arena},
    target_name{"realtime_heap", &fit_targets::realtime_heap},
};

fit_targets everything() {
    fit_targets all;
    for (const target_name& each : target_names) all.*each.wanted = true;
    return all;
}

bool is_everything(const std::vector<std::string>& names) {
    return names.empty() || std::find(names.begin(), names.end(), "all") != names.end();
}

fit_targets targets_of(const std::vector<std::string>& names) {
    if (is_everything(names)) return everything();
    fit_targets wanted;
    for (const std::string& name : names) {
        const auto found = std::find_if(target_names.begin(), target_names.end(),
                                        [&](const target_name& each) { return name == each.name; });
        if (found == target_names.end()) {
            std::string known = "all";
            for (const target_name& each : target_names) known.append(", ").append(each.name);
            throw usage_error{"--for: there is no '" + name + "' to fit: there are " + known};
        }
        wanted.*found->wanted = true;
    }
    return wanted;
}

std::string targets_text() {
    std::string names;
    for (const target_name& each : target_names) names += std::string{each.name} + ", ";
    return names + "separated by commas, or all";
}

std::vector<described_word> target_words() {
    std::vector<described_word> words{{"all", {}}};
    for (const target_name& each : target_names) words.push_back({each.name, {}});
    return words;
}

/// "16..256", "16..", "..4K" or "64".
void set_sizes(const std::string& text, selection_options& selected) {
    const std::size_t dots = text.find("..");
    const std::string min = text.substr(0, dots);
    const std::string max = dots == std::string::npos ? min : text.substr(dots + 2);
    selected.min_bytes = parse_bytes(min);
    selected.max_bytes = parse_bytes(max);
    const bool wrong = (!min.empty() && !selected.min_bytes) || (!max.empty() && !selected.max_bytes) ||
                       (min.empty() && max.empty()) ||
                       selected.min_bytes.value_or(0) > selected.max_bytes.value_or(~std::uint64_t{0});
    if (wrong) throw usage_error{"--sizes: '" + text + "' is not a range of sizes such as 16..256, ..4K or 64"};
}

/// A trace reduced to the selected events.
class selected_trace {
public:
    selected_trace(trace_reader& reader, const call_paths& paths, const selection_options& options)
        : reader_{reader}, selection_{options, paths, reader.tables()}, whole_{options.empty()} {}

    event_source events() {
        return [this](const std::function<void(const event&)>& visit) {
            small_numbers numbers;
            const auto visit_numbered = [&](event e) {
                numbers.renumber(e);
                visit(e);
            };
            if (whole_) return reader_.for_each(visit_numbered);
            selected_events passing{selection_};
            reader_.for_each([&](const event& e) { passing.pass(e, visit_numbered); },
                             [&](const mark& m) { passing.pass(m); });
        };
    }

private:
    trace_reader& reader_;
    selection selection_;
    bool whole_;
};

void refuse_what_cannot_be_fitted(const trace_reader& reader) {
    if (reader.header().is_sampled()) {
        throw tool_error{"'" + reader.path().string() +
                         "' is a sample of its program's allocations, from which no size can be told: record it whole"};
    }
}

/// True when the events are read more than once: for the census, then for the fits.
bool takes_several_passes(const fit_command_options& options) {
    const fit_targets& wanted = options.targets;
    return wanted.multi_arena || wanted.concurrent_multi_arena || wanted.realtime_heap ||
           (wanted.arena && !options.without_check);
}

int run_fit(const fit_command_options& options, const command_context& context) {
    if (options.plot == "-") throw usage_error{"--plot: standard output has the sizes: name a file for the picture"};
    keep_from_replacing(options.file, options.plot, "--plot");
    fit_outcome outcome;
    outcome.targets = options.targets;
    outcome.selected = options.selected.text();
    trace_reader reader{options.file};
    refuse_what_cannot_be_fitted(reader);
    const call_paths paths{reader.tables()};
    selected_trace trace{reader, paths, options.selected};
    event_source events = trace.events();
    std::optional<kept_events> kept;
    if (takes_several_passes(options)) {
        const reading_progress bar{"reading", reader, context};
        kept.emplace(events);
    }
    {
        reading_progress bar{"fitting", reader, context};
        const auto tell = [&](double done) { bar.show(done); };
        if (kept) events = kept->source(tell);
        const fit_request request{.open = options.open,
                                  .multi_arena = outcome.targets.multi_arena,
                                  .blockers = outcome.targets.multi_arena,
                                  .concurrent_multi_arena = outcome.targets.concurrent_multi_arena,
                                  .only_for_threads = is_everything(options.types),
                                  .realtime_heap = outcome.targets.realtime_heap};
        outcome.result = fit(events, request, [&](std::uint32_t stack) { return paths.site(stack); });
        if (outcome.result.figures.objects == 0)
            throw tool_error{"'" + options.file + "' has no such allocations to fit anything to"};
        if (!options.without_check) outcome.checks = check_sizes(events, outcome.result, outcome.targets.arena);
    }
    if (!options.plot.empty()) {
        if (outcome.result.multi_arena.empty()) throw tool_error{"there is no front of multi_arena to plot"};
        write_file(options.plot, plot_svg({outcome.result.multi_arena, arena_sharing::one_thread,
                                           outcome.result.figures.peak_bytes}));
    }
    if (options.json) {
        print(text_of(fit_json(outcome, paths, reader.header())));
    } else {
        print(fit_text(outcome, paths, reader.header()));
    }
    return report_missing(reader);
}

void add_selection_options(subcommand& command, fit_command_options& options) {
    const auto list = [&](const char* name, std::vector<std::string>& names, const char* value, const char* text) {
        command.texts(name, names, value, text).one_value_each();
    };
    list("--function", options.selected.functions, "NAME", "Only what this function allocates, itself or in its calls");
    list("--scope", options.selected.scopes, "NAME", "Only what a thread allocates within this scope of the program");
    list("--site", options.selected.sites, "SITE", "Only what is allocated at FILE:LINE, or directly in a function");
    list("--without", options.selected.without, "SITE", "Not what is allocated at this site");
    command.text("--sizes", options.sizes, "RANGE", "Only sizes in this range of bytes: 16..256, ..4K or 64");
    command.whole_number("--thread", options.thread, 0, 0xffff'ffff, "Only what this thread allocates; the first is 0");
}

}  // namespace

void add_fit_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<fit_command_options>();
    subcommand command{line, "fit", "Finds how large arenas and pools must be for a trace, or for a part of it"};
    command.trace("FILE", options->file, "The trace").required();
    command.list_of("--for", options->types, target_words(), targets_text()).separated_by_commas();
    add_selection_options(command, *options);
    command.whole_number("--open", options->open, 0, acre::multi_arena::max_open,
                         "Arenas that a multi_arena keeps open besides the one in use");
    command.file("--plot", options->plot, "Write a picture of multi_arena's front to this SVG file");
    command.flag("--no-check", options->without_check, "Do not check the found sizes by a replay");
    command.flag("--json", options->json, "Print an object for machines; docs/fit.md names its keys");
    command.footer(
        "Examples:\n"
        "  acre fit app.acre\n"
        "  acre fit app.acre --for multi_arena --function handle_request --plot front.svg\n"
        "  acre fit app.acre --for pool --site orc.cpp:42\n"
        "  acre fit --json app.acre --sizes ..4K | jq .multi_arena.least\n\n"
        "Exit status 3: the trace was cut off; the sizes are for its complete part.");
    command.runs([&, options] {
        options->targets = targets_of(options->types);
        if (!options->sizes.empty()) set_sizes(options->sizes, options->selected);
        if (options->thread >= 0) options->selected.thread = static_cast<std::uint32_t>(options->thread);
        return run_fit(*options, context);
    });
}

}  // namespace acre::tool
