#include "advice_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "advice_code.hpp"
#include "debug_packages.hpp"
#include "first_steps.hpp"
#include "pinned_pages.hpp"
#include "rules.hpp"
#include "text/terminal.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

constexpr std::size_t label_width = 11;

/// A label, and the text in lines beside it.
std::string labelled(std::string_view label, const std::string& text) {
    std::string lines = wrapped(text, 3 + label_width, 110);
    lines.replace(3, label.size(), label);
    return lines;
}

/// Labelled by its first word where that is "costs", as in "costs up to 5 ms or saves up to 9 ms".
std::string labelled_saving(const advice& each) {
    const std::string text = saving_of(each);
    constexpr std::string_view costs = "costs ";
    return text.starts_with(costs) ? labelled("costs", text.substr(costs.size())) : labelled("saves", text);
}

std::string entry_text(std::size_t number, const advice& each, const call_paths& paths) {
    const bool leave = each.decision == verdict::leave;
    std::string text = fmt::format("{}. {}\n", number, styled(title_of(each, paths), leave ? style::dim : style::bold));
    text += labelled("where", location_of(each, paths));
    if (!leave && (each.saving.done || each.in_runs)) text += labelled_saving(each);
    text += labelled("evidence", evidence_of(each, paths));
    if (leave) {
        std::string why = each.reason;
        if (each.candidate != verdict::leave) {
            why = title_of(each.candidate, each, paths) + " would fit, but " + why;
            if (each.saving.done || each.in_runs) why += " (" + saving_of(each) + ")";
        }
        return text + labelled("because", why);
    }
    for (const std::string& caution : cautions_of(each, paths)) text += labelled("caution", caution);
    const std::string code = code_of(each, paths);
    if (!code.empty()) text += labelled("write", "") + indented(code, code_indent);
    return text;
}

/// The saving without any change to the program, for comparison.
std::string what_preloading_saves(const advice_list& list) {
    std::string untold = list.untold.empty() ? "" : wrapped(untold_text(list.untold) + ": acre try can.", 0, 110);
    if (list.preloads.empty()) return untold;
    std::string text = list.runs ? "In these runs" : "In a replay";
    text += ", without any change to the program:";
    for (const preload_saving& each : list.preloads) {
        const bool costs = each.nanoseconds.median < 0;
        text += fmt::format("{} {} {} {}", &each == &list.preloads.front() ? "" : ",", way_text(each.name),
                            costs ? "costs" : "saves", time_text(std::abs(each.nanoseconds.median)));
    }
    if (!list.runs) {
        text += ". A replay sees neither where data lies nor page faults";
        if (const double judged = list.what_a_replay_judges(); judged > 0) {
            text += fmt::format(
                ": of ten such figures nine were within {} less ({} by acre run) and {} more in the programs",
                time_text(advice_list::less_than_replayed * judged),
                time_text(advice_list::less_than_replayed_of_acre * judged),
                time_text(advice_list::more_than_replayed * judged));
        }
        text += ". acre advise --run, or acre try, measures them";
    }
    text += ".";
    return wrapped(text, 0, 110) + untold;
}

std::string what_there_is_to_save(const advice_list& list) {
    std::string text =
        fmt::format("In a replay, all its allocations and frees take {} with {}", time_text(list.malloc_nanoseconds),
                    list.baseline.empty() ? "malloc" : list.baseline + ", which the program uses");
    if (list.cpu_nanoseconds != 0) {
        text += list.replay_exceeds_run()
                    ? ", more than that CPU time: the replay writes to more pages than the program does, or keeps less "
                      "memory"
                    : fmt::format(", {} of that CPU time",
                                  percent_text(list.malloc_nanoseconds / static_cast<double>(list.cpu_nanoseconds)));
    }
    if (list.malloc_share < 1) {
        text += fmt::format(" (scaled from a sample of {} of them)", percent_text(list.malloc_share));
    }
    return wrapped(text + ".", 0, 110) + what_preloading_saves(list);
}

nlohmann::json interval_json(const interval& value) {
    return {{"low", value.low}, {"median", value.median}, {"high", value.high}};
}

nlohmann::json number_or_null(const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json preload_json(const preload_saving& saving) {
    return {{"name", saving.name},
            {"nanoseconds", interval_json(saving.nanoseconds)},
            {"peak_ratio", number_or_null(saving.peak_ratio)}};
}

nlohmann::json preloads_json(const advice_list& list) {
    nlohmann::json preloads = nlohmann::json::array();
    for (const preload_saving& each : list.preloads) {
        preloads.push_back(preload_json(each));
        preloads.back()["expected_nanoseconds"] = interval_json(list.expected_of(each));
    }
    return preloads;
}

nlohmann::json in_runs_json(const advice& each) {
    const std::optional<run_saving>& saving = each.in_runs;
    if (!saving) return nullptr;
    return {{"nanoseconds", interval_json(saving->nanoseconds)},
            {"decides", each.is_known_by_runs()},
            {"rounds", saving->rounds},
            {"policy", saving->policy},
            {"share_of_cpu", saving->share_of_cpu},
            {"peak_ratio", saving->peak_ratio}};
}

nlohmann::json saving_json(const measured_saving& saving) {
    if (!saving.done) return nullptr;
    const auto or_null = [](const std::optional<interval>& each) { return each ? interval_json(*each) : nullptr; };
    return {{"expected_nanoseconds", interval_json(saving.expected())},
            {"open", saving.is_open()},
            {"fragmented_nanoseconds", or_null(saving.fragmented_nanoseconds)},
            {"without_frees_nanoseconds", or_null(saving.without_frees)},
            {"fragmented_without_frees_nanoseconds", or_null(saving.fragmented_without_frees)},
            {"preload", saving.preload ? preload_json(*saving.preload) : nullptr},
            {"malloc_ns", saving.malloc_nanoseconds},
            {"copies_ns", saving.copies_nanoseconds},
            {"malloc_in_run_ns", number_or_null(saving.malloc_in_run_nanoseconds)},
            {"nanoseconds", interval_json(saving.nanoseconds)},
            {"share_of_cpu", number_or_null(saving.share_of_cpu)},
            {"time_ratio", interval_json(saving.ratio)},
            {"system_peak_bytes", saving.system_peak_bytes},
            {"peak_bytes", saving.candidate_peak_bytes},
            {"rounds", saving.rounds},
            {"replayed_share", saving.replayed_share}};
}

nlohmann::json runs_json(const program_runs& runs) {
    nlohmann::json ways = nlohmann::json::array();
    for (const program_runs::way& each : runs.ways)
        ways.push_back({{"name", each.name}, {"cpu_seconds_in_rounds", each.cpu_seconds}});
    return {{"rounds", runs.rounds}, {"seconds", runs.seconds}, {"precise", runs.are_precise}, {"ways", ways}};
}

/// Null for an endless life.
nlohmann::json life_json(std::uint64_t life) {
    return life == life_histogram::endless ? nlohmann::json() : nlohmann::json(life);
}

nlohmann::json resets_json(const reset_passes& passes) {
    return {{"passes", passes.count}, {"empty", passes.count - passes.occupied}};
}

nlohmann::json evidence_json(const advice& each, const call_paths& paths) {
    const group_figures& figures = each.figures;
    nlohmann::json evidence{
        {"allocations", figures.objects},
        {"bytes", figures.bytes},
        {"peak_objects", figures.peak_objects},
        {"peak_bytes", figures.peak_bytes},
        {"sizes", figures.sizes},
        {"top_size", figures.top_size},
        {"top_size_share", figures.top_size_share()},
        {"churn", figures.churn()},
        {"lifo_share", figures.lifo_share()},
        {"fifo_share", figures.fifo_share()},
        {"solo_share", figures.solo_share()},
        {"escape_depth", each.escape_depth == no_owner ? nlohmann::json() : nlohmann::json(each.escape_depth)},
        {"life_in_thread_bytes", life_json(figures.thread_life)},
        {"life_in_group_bytes", life_json(figures.group_life)},
        {"never_freed_share", figures.never_freed_share()},
        {"freed_by_other_thread_share", figures.elsewhere_share()},
        {"threads", figures.threads}};
    if (each.of_scope) {
        evidence["generations"] = {
            {"count", each.generations.count},         {"objects", each.generations.objects},
            {"p50_bytes", each.generations.p50_bytes}, {"p99_bytes", each.generations.p99_bytes},
            {"max_bytes", each.generations.max_bytes}, {"expansion", each.generations.expansion()},
            {"drag", each.generations.drag()}};
        evidence["resets"] = resets_json(each.resets);
    }
    if (each.refused) {
        evidence["refused"] = resets_json(each.refused->passes);
        evidence["refused"]["function"] = paths.functions()[each.refused->function].name;
        evidence["refused"]["lived_on"] = paths.site_text(each.refused->site);
    }
    if (each.escape) {
        evidence["escape"] = {{"function", paths.functions()[each.escape->function].name},
                              {"objects", each.escape->objects},
                              {"lived_on", each.escape->lived_on},
                              {"site", paths.site_text(each.escape->site)}};
    }
    return evidence;
}

/// Null where nothing is said of containers that grow, or are made anew.
nlohmann::json growth_json(const advice& each) {
    if (!each.growth) return nullptr;
    const growth_figures& of = *each.growth;
    return {{"containers", of.containers},
            {"replaced", of.replaced},
            {"copied_bytes", of.copied_bytes},
            {"most_alive", of.most_alive},
            {"element_bytes", of.element_bytes == 0 ? nlohmann::json() : nlohmann::json(of.element_bytes)},
            {"median_bytes", of.median_bytes},
            {"p99_bytes", of.p99_bytes},
            {"largest_bytes", of.largest_bytes},
            {"reserve_bytes", of.bytes_to_reserve()}};
}

nlohmann::json options_json(const advice& each) {
    switch (traits_of(each.candidate).size) {
        case sized_by::first_block:
            return {{"first_block_bytes", each.block_bytes}};
        case sized_by::slot:
            return {{"slot_bytes", each.slot_bytes}};
        case sized_by::buffer:
            return {{"buffer_bytes", each.buffer_bytes}};
        case sized_by::arenas:
            return {{"arenas", each.arenas}, {"arena_bytes", each.arena_bytes}};
        case sized_by::nothing:
            break;
    }
    return nlohmann::json::object();
}

nlohmann::json sites_json(const std::vector<site_objects>& sites, const call_paths& paths) {
    nlohmann::json list = nlohmann::json::array();
    for (const site_objects& each : sites) {
        const site_info& site = paths.sites()[each.site];
        list.push_back({{"function", paths.functions()[site.function].name},
                        {"file", site.file},
                        {"line", site.line},
                        {"objects", each.objects}});
    }
    return list;
}

nlohmann::json group_json(const advice& each, const call_paths& paths) {
    const bool is_scope = each.of_scope;
    return {{"kind", is_scope ? "scope" : name_of(each.place.kind)}, {"name", subject_of(each, paths)}};
}

nlohmann::json instead_json(const advice& each) {
    if (!each.instead) return nullptr;
    return {{"title", each.instead->title},
            {"nanoseconds", interval_json(each.instead->nanoseconds)},
            {"of_replay", each.instead->is_of_replay}};
}

nlohmann::json entry_json(const advice& each, const call_paths& paths) {
    const site_info& site = paths.sites()[each.site];
    return {{"verdict", name_of(each.decision)},
            {"candidate", name_of(each.candidate)},
            {"group", group_json(each, paths)},
            {"subject", paths.functions()[each.function].short_name},
            {"title", title_of(each, paths)},
            {"scope", each.of_scope || traits_of(each.candidate).in_owner ? paths.functions()[each.function].name : ""},
            {"function", paths.functions()[site.function].name},
            {"file", site.file},
            {"line", site.line},
            {"path", paths.path_text(each.stack, 8)},
            {"share", each.share},
            {"options", options_json(each)},
            {"code", each.decision == verdict::leave ? "" : code_of(each, paths)},
            {"saving", saving_json(each.saving)},
            {"in_runs", in_runs_json(each)},
            {"instead", instead_json(each)},
            {"growth", growth_json(each)},
            {"evidence", evidence_json(each, paths)},
            {"sites", sites_json(each.sites, paths)},
            {"blockers", sites_json(each.blockers, paths)},
            {"cautions", cautions_of(each, paths)},
            {"reason", each.reason}};
}

std::string cpu_text(const advice_list& list) {
    if (list.cpu_nanoseconds == 0) return "not known";
    const std::string time = time_text(static_cast<double>(list.cpu_nanoseconds));
    if (!list.runs) return "about " + time + " without the recording, by an estimate";
    return fmt::format("{} (median of {} without recording)", time, plural(list.runs->rounds, "run", "runs"));
}

/// Those about the recording, then those about the measurements.
std::vector<std::string> all_notes(const advice_list& list, const trace_header& header) {
    std::vector<std::string> notes = header.notes;
    notes.insert(notes.end(), list.notes.begin(), list.notes.end());
    for (const unnamed_module& each : list.unnamed) notes.push_back(unnamed_text(each));
    return notes;
}

/// What was recorded, where that is not all of a program's use of malloc.
std::string scope_of_recording(const advice_list& list) {
    std::string text;
    if (list.of_resource) {
        text += wrapped(
            "These are the allocations of a resource that the program traced. Savings are relative to malloc in its "
            "place, not to the resource.",
            0, 110);
    }
    if (list.is_sample()) {
        text += wrapped(
            fmt::format(
                "One allocation in {} was recorded: nothing is measured, and nothing that needs all allocations is "
                "advised. Counts and bytes are those of the sample.",
                count_text(list.sampling_period)),
            0, 110);
    }
    return text;
}

std::string entries_text(const advice_list& list, const call_paths& paths) {
    std::string text;
    std::size_t number = 0;
    for (const advice& each : list.advices) text += "\n" + entry_text(++number, each, paths);
    if (!list.pinned) return text;
    const std::string pinned = pinned_text(*list.pinned, paths);
    return pinned.empty() ? text : text + "\n" + pinned;
}

/// The sites without an entry.
std::string others_text(const advice_list& list) {
    std::string text;
    if (list.omitted != 0) text += plural(list.omitted, "more entry is", "more entries are") + " shown with --top.\n";
    if (list.small_sites == 0) return text;
    const double share = static_cast<double>(list.small_objects) / static_cast<double>(list.objects);
    if (list.small_sites == 1) {
        return text +
               fmt::format("Leave one other site as it is: it makes {} of the allocations.\n", percent_text(share));
    }
    return text +
           fmt::format("Leave {} other sites as they are: each makes less than 1 % of the allocations, together {}.\n",
                       count_text(list.small_sites), percent_text(share));
}

const char* how_it_was_measured(const advice_list& list) {
    if (list.malloc_nanoseconds <= 0) return "";
    return list.runs
               ? "What was not run was measured just now, by replaying only the allocations of an advice; a program "
                 "may\n"
                 "also gain from better locality and skipped destructors.\n"
               : "Savings were measured just now, by replaying only those allocations; a program may also gain from\n"
                 "better locality and skipped destructors.\n";
}

}  // namespace

std::string advice_text(const advice_list& list, const call_paths& paths, const trace_header& header) {
    std::string text = fmt::format("{}: {}, CPU time {}\n", command_text(header),
                                   plural(list.objects, "allocation", "allocations"), cpu_text(list));
    text += first_steps_text(first_steps_of(list, paths));
    for (const std::string& note : all_notes(list, header)) text += wrapped("Note: " + note, 0, 110);
    if (list.malloc_nanoseconds > 0) text += what_there_is_to_save(list);
    return text + scope_of_recording(list) + entries_text(list, paths) + "\n" + others_text(list) +
           how_it_was_measured(list);
}

std::string explanation_text(const advice_list& list, std::size_t number, const call_paths& paths) {
    return entry_text(number + 1, list.advices[number], paths);
}

nlohmann::json advice_json(const advice_list& list, const call_paths& paths, const trace_header& header) {
    nlohmann::json advices = nlohmann::json::array();
    for (const advice& each : list.advices) advices.push_back(entry_json(each, paths));
    const first_steps first = first_steps_of(list, paths);
    return {{"command", header.command},
            {"answer", first_steps_sentences(first)},
            {"first", first_steps_json(first)},
            {"together", together_json(first)},
            {"leave", first.leaves()},
            {"runs", list.runs ? runs_json(*list.runs) : nlohmann::json()},
            {"allocator", list.allocator},
            {"baseline", list.baseline.empty() ? trace_header::glibc : list.baseline},
            {"allocations", list.objects},
            {"notes", all_notes(list, header)},
            {"unnamed", unnamed_json(list.unnamed)},
            {"pinned", pinned_json(list.pinned, paths)},
            {"cpu_ns", list.cpu_nanoseconds != 0 ? nlohmann::json(list.cpu_nanoseconds) : nullptr},
            {"malloc_ns", list.malloc_nanoseconds},
            {"preloads", preloads_json(list)},
            {"untold_preloads", list.untold},
            {"sampling_period", list.sampling_period},
            {"of_resource", list.of_resource},
            {"malloc_replayed_share", list.malloc_share},
            {"advices", advices},
            {"omitted", list.omitted},
            {"small_sites", {{"count", list.small_sites}, {"allocations", list.small_objects}}}};
}

}  // namespace acre::tool
