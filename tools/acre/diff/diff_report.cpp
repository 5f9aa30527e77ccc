#include "diff_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/terminal.hpp"
#include "text/text.hpp"

namespace acre::tool {

namespace {

std::string number_text(measure what, std::uint64_t number) {
    return what == measure::allocations ? count_text(number) : bytes_text(number);
}

std::string change_text(measure what, const growth& by) {
    if (by.amount() == 0) return "0";
    return (by.grew() ? "+" : "-") + number_text(what, by.amount());
}

std::string share_text(const growth& by) {
    if (by.amount() == 0) return "";
    if (by.before == 0) return "new";
    if (by.after == 0) return "gone";
    return (by.grew() ? "+" : "-") + percent_text(by.grew() ? by.share() : -by.share());
}

std::vector<std::string> cells(std::string name, measure what, const growth& by) {
    return {std::move(name), number_text(what, by.before), number_text(what, by.after), change_text(what, by),
            share_text(by)};
}

std::string totals_table(const run_difference& difference) {
    std::vector<std::vector<std::string>> rows{{"", "before", "after", "change", ""}};
    for (const measure what : all_measures) rows.push_back(cells(title_of(what), what, difference.by(what)));
    return table_text(rows, {0});
}

/// The share of the site in its run, before and after.
std::string share_of_run(const run_difference& difference, measure what, const growth& by) {
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    return percent_text(share(by.before, difference.before.of(what))) + " -> " +
           percent_text(share(by.after, difference.after.of(what)));
}

std::string sites_table(const run_difference& difference, const diff_view& view, bool grew) {
    const auto sites = difference.changed(view.by, grew);
    if (sites.empty()) return {};
    const std::size_t shown = std::min(view.max_sites, sites.size());
    std::string text = "\n" +
                       styled(fmt::format("What {}, by {} ({} of {})", grew ? "grew" : "shrank", title_of(view.by),
                                          shown, plural(sites.size(), "site", "sites")),
                              style::bold) +
                       "\n";
    std::vector<std::vector<std::string>> rows{{"before", "after", "change", "", "of the run", "site"}};
    for (std::size_t i = 0; i < shown; ++i) {
        const growth by = sites[i]->by(view.by);
        rows.push_back({number_text(view.by, by.before), number_text(view.by, by.after), change_text(view.by, by),
                        share_text(by), share_of_run(difference, view.by, by), sites[i]->text});
    }
    return text + table_text(rows, {5});
}

std::string run_line(const char* name, const trace_reader& run) {
    const trace_header& header = run.header();
    std::string text =
        fmt::format("{:<8}{}: {}, {}\n", name, printable(run.path().string()), command_text(header), header.date);
    for (const std::string& note : header.notes) text += wrapped("Note: " + note, 8);
    return text;
}

nlohmann::json growth_json(const growth& by) {
    const nlohmann::json share = by.before == 0 && by.after != 0 ? nlohmann::json(nullptr) : nlohmann::json(by.share());
    return {{"before", by.before}, {"after", by.after}, {"growth", share}};
}

/// All measures, by name.
template <typename Of>
nlohmann::json measures_json(const Of& of) {
    nlohmann::json object;
    for (const measure what : all_measures) object[name_of(what)] = growth_json(of.by(what));
    object["never_freed_objects"] = growth_json({of.before.never_freed_objects, of.after.never_freed_objects});
    return object;
}

nlohmann::json sites_json(const run_difference& difference, const diff_view& view, bool grew) {
    constexpr const char* presence_names[] = {"both", "before", "after"};
    nlohmann::json sites = nlohmann::json::array();
    for (const site_difference* each : difference.changed(view.by, grew)) {
        if (sites.size() == view.max_sites) break;
        nlohmann::json site = measures_json(*each);
        site["function"] = each->function;
        site["file"] = each->file;
        site["line"] = each->line;
        site["in"] = presence_names[static_cast<std::size_t>(each->in)];
        sites.push_back(std::move(site));
    }
    return sites;
}

nlohmann::json run_json(const trace_reader& run) {
    return {{"trace", run.path().string()},
            {"command", run.header().command},
            {"date", run.header().date},
            {"notes", run.header().notes},
            {"missing", run.missing()}};
}

std::uint64_t count_in(const run_difference& difference, site_difference::presence in) {
    return static_cast<std::uint64_t>(std::count_if(difference.sites.begin(), difference.sites.end(),
                                                    [&](const site_difference& each) { return each.in == in; }));
}

}  // namespace

const char* title_of(measure what) {
    switch (what) {
        case measure::allocations:
            return "allocations";
        case measure::bytes:
            return "bytes";
        case measure::peak:
            return "bytes at the peak";
        case measure::never_freed:
            return "bytes never freed";
    }
    return "";
}

std::string diff_text(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                      const diff_view& view) {
    using presence = site_difference::presence;
    std::string text = run_line("before", before) + run_line("after", after) + "\n" + totals_table(difference);
    if (difference.nothing()) return text + "\nNo difference.\n";
    text += sites_table(difference, view, true) + sites_table(difference, view, false);
    text += fmt::format("\n{}, {} gone, {} otherwise changed, {} unchanged.\n",
                        plural(count_in(difference, presence::only_after), "new site", "new sites"),
                        count_text(count_in(difference, presence::only_before)),
                        count_text(count_in(difference, presence::both)), count_text(difference.equal_sites));
    return text;
}

nlohmann::json diff_json(const run_difference& difference, const trace_reader& before, const trace_reader& after,
                         const diff_view& view) {
    using presence = site_difference::presence;
    return {{"before", run_json(before)},
            {"after", run_json(after)},
            {"different", !difference.nothing()},
            {"totals", measures_json(difference)},
            {"by", name_of(view.by)},
            {"sites",
             {{"new", count_in(difference, presence::only_after)},
              {"gone", count_in(difference, presence::only_before)},
              {"changed", count_in(difference, presence::both)},
              {"equal", difference.equal_sites}}},
            {"grew", sites_json(difference, view, true)},
            {"shrank", sites_json(difference, view, false)}};
}

}  // namespace acre::tool
