#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "advise/advice_report.hpp"
#include "advise/advised_events.hpp"
#include "advise/candidates.hpp"
#include "advise/debug_packages.hpp"
#include "advise/history.hpp"
#include "advise/measure.hpp"
#include "advise/pinned_pages.hpp"
#include "advise/unseen_uses.hpp"
#include "command.hpp"
#include "info/info_report.hpp"
#include "replay/contender_list.hpp"
#include "replay/replay_report.hpp"
#include "report/fits.hpp"
#include "report/page.hpp"
#include "report/run_picture.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"
#include "trace/event_relay.hpp"
#include "trace/replacing_file.hpp"
#include "try/advised_runs.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t sites_shown = 25;
constexpr double seconds_of_replay = 0.4;            // for each that measuring the advices takes
constexpr double plays_of_replay = 4;                // of each allocator, one of them for its memory
constexpr std::uint64_t shortest_trial = 2'000'000;  // nanoseconds

constexpr std::uint32_t max_live_for_two = 1'000'000;  // objects; with more, two passes at a time take much memory

// In a thread of its own; deferred where the system refuses a thread.
constexpr std::launch beside = std::launch::async | std::launch::deferred;

struct report_options {
    std::string file;
    std::string output;
    std::size_t top = 10;
    std::vector<std::string> fits;  // files
    std::string run_time;           // empty: do not run it
    std::string input;
    bool no_measure = false;
    bool no_fit = false;
};

/// Measuring may replace several advices about sites by one for all of them, so the lanes look for their scopes again.
void find_advices(lane_list& generations, const std::vector<advice>& when_drawn, const std::vector<advice>& now) {
    for (named_lane& each : generations.lanes) {
        const auto is_same = [&](const advice& other) {
            return other.of_scope && other.function == when_drawn[each.advice].function;
        };
        each.advice = static_cast<std::size_t>(std::ranges::find_if(now, is_same) - now.begin());
    }
    std::erase_if(generations.lanes, [&](const named_lane& each) { return each.advice == now.size(); });
}

/// Makes the report of one trace. Beside measurements only the plays for pinned pages and the drawing run, of which
/// nothing is timed.
class reporter {
public:
    reporter(const report_options& options, const command_context& context)
        : options_{options}, context_{context}, reader_{options.file}, paths_{reader_.tables()} {}

    int run() {
        for (const std::string& file : options_.fits) {
            parts_.fit.push_back(read_fit(file));
            require_same_recording(parts_.fit.back(), file, reader_.header());
        }
        trace_summary summary;
        history run = pass("reading", [&] {
            const auto read = [&](const auto& visit) { summary = summarise(reader_, paths_, visit); };
            return history{[&](const auto& visit) { event_relay::run(read, visit); }, paths_};
        });
        parts_.info = info_json(reader_, paths_, summary, sites_shown);
        pinned_study pinned;
        if (is_to_measure(summary)) {
            pinned = std::async(beside, [&] { return study_pinned_pages(run, paths_, reader_.header().allocator); });
        }
        advice_list list = plan(run);
        if (!options_.run_time.empty()) run_again(list);
        for (const unnamed_module& each : list.unnamed) parts_.info["notes"].push_back(unnamed_text(each));
        const bool draws_beside = run.slots() <= max_live_for_two;
        const run_picture picture =
            draws_beside ? study_and_draw(list, run, summary, pinned) : study_then_draw(list, run, summary, pinned);
        find_unseen_uses(list, run, paths_);
        parts_.advice = advice_json(list, paths_, reader_.header());
        write(page_of(report_json(picture, paths_, reader_.header(), std::move(parts_))));
        return report_missing(reader_);
    }

private:
    using pinned_study = std::future<std::optional<pinned_memory>>;

    run_picture study_and_draw(advice_list& list, const history& run, const trace_summary& summary,
                               pinned_study& pinned) {
        const std::vector<advice> when_drawn = list.advices;
        std::future<run_picture> drawing = std::async(beside, [&] {
            if (pinned.valid()) pinned.wait();
            return draw(when_drawn, run, summary);
        });
        if (is_to_measure(summary)) measure(list, run, summary);
        fit_sizes(list, run);
        run_picture picture = drawing.get();
        find_advices(picture.generations, when_drawn, list.advices);
        if (pinned.valid()) list.pinned = pinned.get();
        return picture;
    }

    /// For very many live objects: draws when the memory of the events is free again.
    run_picture study_then_draw(advice_list& list, history& run, const trace_summary& summary, pinned_study& pinned) {
        if (is_to_measure(summary)) measure(list, run, summary);
        if (pinned.valid()) list.pinned = pinned.get();
        fit_sizes(list, run);
        run.forget_events();
        return pass("drawing", [&] { return draw(list.advices, run, summary); });
    }

    run_picture draw(const std::vector<advice>& advices, const history& run, const trace_summary& summary) {
        return draw_run(reader_, paths_, recorded_peak(summary), run, advices);
    }

    /// The summary of a sample is scaled to the whole run; this is the sample's own peak.
    std::uint64_t recorded_peak(const trace_summary& summary) const {
        return summary.peak_bytes / std::max<std::uint64_t>(reader_.header().sampling_period, 1);
    }

    void write(const std::string& page) const {
        if (options_.output == "-") return print(page);
        write_file(options_.output, page);
        remark(context_, "wrote '" + options_.output + "': open it in a browser");
    }

    /// A sample cannot be replayed.
    bool is_to_measure(const trace_summary& summary) const {
        return !options_.no_measure && !is_interrupted_ && summary.events != 0 && !reader_.header().is_sampled();
    }

    /// Sizes found for a sample would not fit the whole run.
    bool is_to_fit() const { return !options_.no_fit && !is_interrupted_ && !reader_.header().is_sampled(); }

    /// Appends to the fits that were read from files.
    void fit_sizes(const advice_list& list, const history& run) {
        if (!is_to_fit()) return;
        for (nlohmann::json& each : fit_advices(run, list.advices, paths_, reader_.header())) {
            parts_.fit.push_back(std::move(each));
        }
    }

    template <typename Work>
    std::invoke_result_t<Work> pass(const char* label, Work work) {
        const reading_progress bar{label, reader_, context_};
        return work();
    }

    advice_list plan(const history& run) {
        if (run.object_count() == 0) return {};
        advice_list list = find_candidates(run, paths_, reader_.header().sampling_period);
        list.allocator = reader_.header().allocator;
        list.cpu_nanoseconds = recorded_cpu_nanoseconds(reader_);
        if (list.advices.size() > options_.top) {
            list.omitted = list.advices.size() - options_.top;
            list.advices.resize(options_.top);
        }
        list.unnamed = unnamed_modules(list, paths_, reader_.tables());
        return list;
    }

    void run_again(advice_list& list) {
        progress_bar bar{"running the program", !context_.quiet};
        run_for_advice(
            list, reader_, paths_,
            {parse_seconds(options_.run_time).value(), options_.input, [&](double done) { bar.show(done); }});
        is_interrupted_ = list.runs->were_interrupted;
        clear_progress();
    }

    void measure(advice_list& list, const history& run, const trace_summary& summary) {
        if (run.object_count() != 0) {
            progress_bar bar{"measuring", !context_.quiet};
            measure_advices(context_.host(), run, paths_, list, [&](double done) { bar.show(done); });
        }
        const replay_outcome outcome = replay(run, summary);
        parts_.replay = replay_json(outcome, replay_failures(outcome));
        parts_.measured = true;
    }

    /// Replays the run over the resources that users choose from most often.
    replay_outcome replay(const history& run, const trace_summary& summary) {
        replay_outcome outcome;
        outcome.trace = options_.file;
        outcome.recorded_events = summary.events;
        outcome.threads = summary.threads;
        outcome.contenders = installed_contenders("peers,arena,multi_arena,pool,multi_pool,concurrent_multi_pool");
        comparison_options how;
        how.max_seconds = seconds_of_replay * seconds_to_measure(run.event_count(), run.slots());
        how.latest_seconds = how.max_seconds;
        how.shortest_trial = shortest_trial;
        const double plays = plays_of_replay * static_cast<double>(outcome.contenders.size() + 1);
        const sequence steps = steps_of(run, timed_window(how.max_seconds, plays));
        outcome.is_sample = true;
        outcome.events = steps.steps.size();
        outcome.touched = steps.touched;
        outcome.reserved_blocks = steps.reserved_blocks;
        outcome.peak_bytes = steps.peak_bytes;
        progress_bar bar{"replaying", !context_.quiet};
        how.progress = [&](double done) { bar.show(done); };
        outcome.heaps.push_back({0, compare(context_.host(), steps.view(), outcome.contenders, how)});
        return outcome;
    }

    const report_options& options_;
    const command_context& context_;
    trace_reader reader_;
    const call_paths paths_;
    report_parts parts_;
    bool is_interrupted_ = false;
};

int run_report(report_options options, const command_context& context, bool named) {
    if (!named) options.output = std::filesystem::path{options.file}.filename().replace_extension(".html").string();
    if (options.output.empty()) throw tool_error{"the report to write has no name: give one after -o"};
    keep_from_replacing(options.file, options.output, "-o");
    for (const std::string& each : options.fits) keep_from_replacing(each, options.output, "-o");
    return reporter{options, context}.run();
}

}  // namespace

void add_report_command(command_line& line, const command_context& context) {
    auto options = std::make_shared<report_options>();
    subcommand command{line, "report", "Writes a trace as one HTML page: plots, flame graph, advice"};
    command.trace("FILE", options->file, "The trace").required();
    const option output = command.file("-o,--output", options->output, "The page to write, - for standard output")
                              .default_is("TRACE.html");
    command.whole_number("--top", options->top, 1, max_shown, "How many advices to measure and show").shows_default();
    command.files("--fit", options->fits, "Also show this output of 'acre fit --json'").one_value_each();
    const option run = command
                           .text("--run", options->run_time, "TIME",
                                 "Run the recorded command again for TIME, in s, m or h, as 'acre advise --run' does, "
                                 "each way at least once, however long that takes: the savings are then those of runs")
                           .check(refusal_of_time);
    command.file("--stdin", options->input, "With --run: the file that each run reads from standard input")
        .default_is("/dev/null")
        .needs(run);
    command.flag("--no-measure", options->no_measure, "Replay nothing: fast and reproducible, but without savings");
    command.flag("--no-fit", options->no_fit, "Do not find the sizes of the advised arenas and pools");
    command.footer(
        "Examples:\n"
        "  acre report app.acre -o app.html\n"
        "  acre report --run 60 app.acre\n"
        "  acre report --no-measure app.acre\n"
        "  acre fit --json app.acre > fit.json; acre report app.acre --fit fit.json\n\n"
        "Exit status 3: the trace was cut off; the report is about its complete part, and states this.");
    command.runs([&, options, output] { return run_report(*options, context, output.given()); });
}

}  // namespace acre::tool
