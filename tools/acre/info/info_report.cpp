#include "info_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/terminal.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr std::array lifetime_names{"< 1 us",   "< 10 us", "< 100 us", "< 1 ms",  "< 10 ms",
                                    "< 100 ms", "< 1 s",   "< 10 s",   "< 100 s", "longer"};
static_assert(lifetime_names.size() == trace_summary::lifetime_classes);

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string size_class_name(std::size_t number) {
    if (number <= 1) return number == 0 ? "0 B" : "1 B";
    const std::uint64_t from = std::uint64_t{1} << (number - 1);
    return fmt::format("{} .. {}", bytes_text(from), bytes_text(from * 2 - 1));
}

std::string bar(double part) {
    return std::string(static_cast<std::size_t>(std::lround(part * 40)), '#');
}

std::vector<std::string> histogram_row(std::string name, const tally& part, std::uint64_t whole) {
    const double portion = share(part.count, whole);
    return {std::move(name), count_text(part.count), percent_text(portion), bytes_text(part.bytes), bar(portion)};
}

std::string sizes_table(const trace_summary& summary) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < summary.sizes.size(); ++i) {
        if (summary.sizes[i].count == 0) continue;
        rows.push_back(histogram_row(size_class_name(i), summary.sizes[i], summary.allocated.count));
    }
    return table_text(rows, {0, 4});
}

std::string lifetimes_table(const trace_summary& summary) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < summary.lifetimes.size(); ++i) {
        if (summary.lifetimes[i].count == 0) continue;
        rows.push_back(histogram_row(lifetime_names[i], summary.lifetimes[i], summary.allocated.count));
    }
    if (summary.never_freed.count != 0) {
        rows.push_back(histogram_row("never freed", summary.never_freed, summary.allocated.count));
    }
    return table_text(rows, {0, 4});
}

std::string site_lines(const call_paths& paths, const trace_summary& summary, const site_summary& site) {
    const std::string sizes = site.smallest == site.largest
                                  ? bytes_text(site.largest)
                                  : fmt::format("{} .. {}", bytes_text(site.smallest), bytes_text(site.largest));
    std::string text = fmt::format(
        "  {}\n      {} ({}), {} ({}), sizes {}, at most {} at a time", styled(paths.site_text(site.site), style::bold),
        plural(site.allocated.count, "allocation", "allocations"),
        percent_text(share(site.allocated.count, summary.allocated.count)), bytes_text(site.allocated.bytes),
        percent_text(share(site.allocated.bytes, summary.allocated.bytes)), sizes, bytes_text(site.peak_bytes));
    if (site.never_freed.count != 0) text += fmt::format(", {} never freed", count_text(site.never_freed.count));
    const std::string path = paths.path_text(site.stack, 5);
    if (path.find(" < ") != std::string::npos) text += "\n      " + styled("for example " + path, style::dim);
    return text + "\n";
}

/// As `acre record --stacks` has it.
const char* name_of(stack_method method) {
    switch (method) {
        case stack_method::unwind_tables:
            return "unwind";
        case stack_method::frame_pointers:
            return "fp";
        case stack_method::caller:
            break;
    }
    return "caller";
}

std::string stacks_in_words(const trace_header& header) {
    std::string text;
    switch (header.stacks) {
        case stack_method::unwind_tables:
            text = "complete, by unwind tables";
            break;
        case stack_method::frame_pointers:
            text = "by frame pointers: functions without them are missing";
            break;
        case stack_method::caller:
            text = "only the caller of the allocating function";
            break;
    }
    return text + (header.stacks_at_free ? "; at allocations and at frees" : "; at allocations, not at frees");
}

std::string left_text(const scope_summary& scope) {
    if (scope.runs_leaving == 0) return "all of it is freed before its run ends";
    return fmt::format("{} ({}, in {})",
                       plural(scope.left.count, "object outlives its run", "objects outlive their run"),
                       bytes_text(scope.left.bytes), plural(scope.runs_leaving, "run", "runs"));
}

std::string scope_lines(const scope_summary& scope) {
    return fmt::format("  {}\n      {} in {}, {}, {}; a run: median {}, 99 % up to {}, at most {}\n      {}\n",
                       styled(scope.name, style::bold), plural(scope.runs, "run", "runs"),
                       plural(scope.threads, "thread", "threads"),
                       plural(scope.allocated.count, "allocation", "allocations"), bytes_text(scope.allocated.bytes),
                       bytes_text(scope.bytes.percentile(0.5)), bytes_text(scope.bytes.percentile(0.99)),
                       bytes_text(scope.bytes.largest()), left_text(scope));
}

std::string scopes_text(const trace_summary& summary, std::size_t most) {
    if (summary.scopes.empty()) return {};
    const std::size_t shown = std::min(most, summary.scopes.size());
    std::string text =
        "\n" +
        styled(fmt::format("Scopes that the program marks, most bytes first ({} of {})", shown, summary.scopes.size()),
               style::bold) +
        "\n";
    for (std::size_t i = 0; i < shown; ++i) text += scope_lines(summary.scopes[i]);
    return text;
}

/// Null if the end of the program was not observed.
template <typename Number>
nlohmann::json known_of_end(const trace_header& header, Number value) {
    return header.end_is_known() ? nlohmann::json(value) : nullptr;
}

std::string cpu_in_words(const trace_header& header) {
    const auto microseconds_text = [](std::uint64_t time) { return time_text(static_cast<double>(time) * 1000); };
    return fmt::format("{}, of which about {} by the recording", microseconds_text(header.cpu_microseconds()),
                       microseconds_text(header.recording_microseconds()));
}

std::string figures(const trace_reader& reader, const trace_summary& summary) {
    const trace_header& header = reader.header();
    std::string text;
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("{:<14}{}\n", name, value);
    };
    line("program", command_text(header));
    const bool known = header.end_is_known();
    line("recorded", fmt::format("{}, {}, exit status {}", header.date, header.machine,
                                 known ? std::to_string(header.exit_status) : "not known"));
    line("time", fmt::format("{}, CPU {}", time_text(static_cast<double>(header.duration)),
                             known ? cpu_in_words(header) : "not known"));
    if (!header.allocator.empty()) line("allocator", header.allocator);
    line("events",
         fmt::format("{} in {}, {:.2f} bytes each in the file", count_text(summary.events),
                     plural(summary.threads, "thread", "threads"), share(reader.file_bytes(), summary.events)));
    line("stacks", stacks_in_words(header));
    if (header.is_sampled()) {
        line("sampled",
             fmt::format("one allocation in {0} on average; the figures below are estimates: {0} times what was "
                         "recorded",
                         count_text(header.sampling_period)));
    }
    line("allocations",
         fmt::format("{}, of which {} by realloc", count_text(summary.allocated.count), count_text(summary.reallocs)));
    std::string freed = count_text(summary.frees);
    if (summary.freed_by_other_thread != 0) {
        freed += fmt::format(", {} of them by another thread than the allocating one",
                             count_text(summary.freed_by_other_thread));
    }
    line("frees", freed);
    line("bytes", fmt::format("{} in all; at most {}, and at most {}, at a time", bytes_text(summary.allocated.bytes),
                              bytes_text(summary.peak_bytes), plural(summary.peak_objects, "object", "objects")));
    line("never freed",
         fmt::format("{}, {}{}", plural(summary.never_freed.count, "object", "objects"),
                     bytes_text(summary.never_freed.bytes),
                     reader.missing().empty() ? "" : "; their frees may be in the part that is missing"));
    if (header.unmatched_frees != 0) {
        line("unmatched", plural(header.unmatched_frees, "free", "frees") + " of memory whose allocation was not seen");
    }
    for (const std::string& note : header.notes) line("note", note);
    return text;
}

nlohmann::json tally_json(const tally& part) {
    return {{"count", part.count}, {"bytes", part.bytes}};
}

nlohmann::json site_json(const call_paths& paths, const site_summary& site) {
    const site_info& info = paths.sites()[site.site];
    return {{"function", paths.functions()[info.function].name},
            {"file", info.file},
            {"line", info.line},
            {"path", paths.path_text(site.stack, 8)},
            {"allocations", site.allocated.count},
            {"bytes", site.allocated.bytes},
            {"peak_bytes", site.peak_bytes},
            {"smallest", site.smallest},
            {"largest", site.largest},
            {"never_freed", tally_json(site.never_freed)}};
}

nlohmann::json scope_json(const scope_summary& scope) {
    return {
        {"name", scope.name},
        {"runs", scope.runs},
        {"threads", scope.threads},
        {"allocations", scope.allocated.count},
        {"bytes", scope.allocated.bytes},
        {"run_bytes",
         {{"p50", scope.bytes.percentile(0.5)}, {"p99", scope.bytes.percentile(0.99)}, {"max", scope.bytes.largest()}}},
        {"left", tally_json(scope.left)},
        {"runs_leaving", scope.runs_leaving}};
}

}  // namespace

std::string info_text(const trace_reader& reader, const call_paths& paths, const trace_summary& summary,
                      std::size_t max_sites) {
    std::string text = figures(reader, summary);
    if (summary.allocated.count == 0) return text + scopes_text(summary, max_sites);
    text += "\n" + styled("Sizes", style::bold) + "\n" + sizes_table(summary);
    text += "\n" + styled("Lifetimes", style::bold) + "\n" + lifetimes_table(summary);
    text += scopes_text(summary, max_sites);
    const std::size_t shown = std::min(max_sites, summary.sites.size());
    text += "\n" + styled(fmt::format("Sites, most bytes first ({} of {})", shown, summary.sites.size()), style::bold) +
            "\n";
    for (std::size_t i = 0; i < shown; ++i) text += site_lines(paths, summary, summary.sites[i]);
    return text;
}

nlohmann::json info_json(const trace_reader& reader, const call_paths& paths, const trace_summary& summary,
                         std::size_t max_sites) {
    const trace_header& header = reader.header();
    nlohmann::json sizes = nlohmann::json::array();
    for (std::size_t i = 0; i < summary.sizes.size(); ++i) {
        if (summary.sizes[i].count == 0) continue;
        nlohmann::json entry = tally_json(summary.sizes[i]);
        entry["from"] = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
        sizes.push_back(std::move(entry));
    }
    nlohmann::json lifetimes = nlohmann::json::array();
    for (std::size_t i = 0; i < summary.lifetimes.size(); ++i) {
        nlohmann::json entry = tally_json(summary.lifetimes[i]);
        entry["lifetime"] = lifetime_names[i];
        lifetimes.push_back(std::move(entry));
    }
    nlohmann::json sites = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(max_sites, summary.sites.size()); ++i) {
        sites.push_back(site_json(paths, summary.sites[i]));
    }
    nlohmann::json scopes = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(max_sites, summary.scopes.size()); ++i) {
        scopes.push_back(scope_json(summary.scopes[i]));
    }
    return {{"trace", reader.path().string()},
            {"command", header.command},
            {"date", header.date},
            {"machine", header.machine},
            {"exit_status", known_of_end(header, header.exit_status)},
            {"duration_ns", header.duration},
            {"cpu_us", known_of_end(header, header.cpu_microseconds())},
            {"recording_us", known_of_end(header, header.recording_microseconds())},
            {"stacks", name_of(header.stacks)},
            {"stacks_at_free", header.stacks_at_free},
            {"sampling_period", header.sampling_period},
            {"allocator", header.allocator},
            {"notes", header.notes},
            {"missing", reader.missing()},
            {"file_bytes", reader.file_bytes()},
            {"events", summary.events},
            {"threads", summary.threads},
            {"allocations", summary.allocated.count},
            {"reallocations", summary.reallocs},
            {"frees", summary.frees},
            {"freed_by_other_thread", summary.freed_by_other_thread},
            {"unmatched_frees", header.unmatched_frees},
            {"bytes", summary.allocated.bytes},
            {"peak_bytes", summary.peak_bytes},
            {"peak_objects", summary.peak_objects},
            {"never_freed", tally_json(summary.never_freed)},
            {"sizes", sizes},
            {"lifetimes", lifetimes},
            {"scopes", scopes},
            {"sites", sites}};
}

}  // namespace acre::tool
