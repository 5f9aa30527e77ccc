#include "run_difference.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "site_match.hpp"

namespace acre::tool {

namespace {

run_figures figures_of(const site_summary& site) {
    return {site.allocated.count, site.allocated.bytes, site.peak_bytes, site.never_freed.bytes,
            site.never_freed.count};
}

run_figures figures_of(const trace_summary& run) {
    return {run.allocated.count, run.allocated.bytes, run.peak_bytes, run.never_freed.bytes, run.never_freed.count};
}

std::uint64_t module_offset(const compared_run& run, const site_info& site) {
    return site.stack == no_stack ? 0 : run.tables.frames[run.tables.call_tree[site.stack].frame].module_offset;
}

std::vector<site_position> positions_of(const compared_run& run) {
    std::vector<site_position> positions;
    for (const site_summary& each : run.summary.sites) {
        const site_info& site = run.paths.sites()[each.site];
        const std::uint64_t position = site.line != 0 ? site.line : module_offset(run, site);
        positions.push_back({run.paths.functions()[site.function].name, file_name(site.file), position,
                             each.allocated.count, each.allocated.bytes});
    }
    return positions;
}

site_difference described(const compared_run& run, const site_summary& summary) {
    const site_info& site = run.paths.sites()[summary.site];
    site_difference described;
    described.text = run.paths.site_text(summary.site);
    described.function = run.paths.functions()[site.function].name;
    described.file = site.file;
    described.line = site.line;
    described.offset = site.line == 0 ? module_offset(run, site) : 0;
    return described;
}

}  // namespace

const char* name_of(measure what) {
    switch (what) {
        case measure::allocations:
            return "allocations";
        case measure::bytes:
            return "bytes";
        case measure::peak:
            return "peak";
        case measure::never_freed:
            return "never_freed";
    }
    return "";
}

std::uint64_t run_figures::of(measure what) const noexcept {
    switch (what) {
        case measure::allocations:
            return allocations;
        case measure::bytes:
            return bytes;
        case measure::peak:
            return peak_bytes;
        case measure::never_freed:
            return never_freed_bytes;
    }
    return 0;
}

double growth::share() const noexcept {
    if (before == after) return 0;
    if (before == 0) return std::numeric_limits<double>::infinity();
    const double part = static_cast<double>(amount()) / static_cast<double>(before);
    return grew() ? part : -part;
}

std::vector<const site_difference*> run_difference::changed(measure what, bool grew) const {
    std::vector<const site_difference*> found;
    for (const site_difference& each : sites) {
        const growth by = each.by(what);
        if (by.amount() != 0 && by.grew() == grew) found.push_back(&each);
    }
    std::sort(found.begin(), found.end(), [&](const site_difference* a, const site_difference* b) {
        const std::uint64_t of_a = a->by(what).amount();
        const std::uint64_t of_b = b->by(what).amount();
        if (of_a != of_b) return of_a > of_b;
        return std::tie(a->function, a->file, a->line, a->offset) < std::tie(b->function, b->file, b->line, b->offset);
    });
    return found;
}

run_difference compare_runs(const compared_run& before, const compared_run& after) {
    run_difference result;
    result.before = figures_of(before.summary);
    result.after = figures_of(after.summary);
    for (const site_pair& each : match_sites(positions_of(before), positions_of(after))) {
        using enum site_difference::presence;
        site_difference site = each.after != no_site ? described(after, after.summary.sites[each.after])
                                                     : described(before, before.summary.sites[each.before]);
        if (each.before != no_site) site.before = figures_of(before.summary.sites[each.before]);
        if (each.after != no_site) site.after = figures_of(after.summary.sites[each.after]);
        site.in = each.before == no_site ? only_after : each.after == no_site ? only_before : both;
        if (site.before == site.after) {
            ++result.equal_sites;
        } else {
            result.sites.push_back(std::move(site));
        }
    }
    return result;
}

}  // namespace acre::tool
