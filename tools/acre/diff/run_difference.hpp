// The difference between two runs of a program: totals, and site by site.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "info/trace_summary.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The figures that are compared.
enum class measure : std::uint8_t { allocations, bytes, peak, never_freed };
inline constexpr std::array all_measures{measure::allocations, measure::bytes, measure::peak, measure::never_freed};

/// The name on the command line.
const char* name_of(measure what);

/// The figures of a site or of a whole run.
struct run_figures {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;       // of all of them
    std::uint64_t peak_bytes = 0;  // peak of live bytes
    std::uint64_t never_freed_bytes = 0;
    std::uint64_t never_freed_objects = 0;

    std::uint64_t of(measure what) const noexcept;
    friend bool operator==(const run_figures&, const run_figures&) = default;
};

/// The change of a figure.
struct growth {
    std::uint64_t before = 0;
    std::uint64_t after = 0;

    bool grew() const noexcept { return after > before; }
    std::uint64_t amount() const noexcept { return grew() ? after - before : before - after; }

    /// Relative to before: 0.1 is a tenth more. Infinite if the figure was 0.
    double share() const noexcept;
};

/// A site in both runs, or in one of them.
struct site_difference {
    enum class presence : std::uint8_t { both, only_before, only_after };

    std::string text;  // "function (file:line)"
    std::string function;
    std::string file;
    std::uint32_t line = 0;    // in the run after, if it has the site; 0: not known
    std::uint64_t offset = 0;  // in the module, if the line is not known
    presence in = presence::both;
    run_figures before;
    run_figures after;

    growth by(measure what) const noexcept { return {before.of(what), after.of(what)}; }
};

struct run_difference {
    run_figures before;
    run_figures after;
    std::vector<site_difference> sites;  // the sites that differ, unsorted
    std::uint64_t equal_sites = 0;

    growth by(measure what) const noexcept { return {before.of(what), after.of(what)}; }
    bool nothing() const noexcept { return sites.empty() && before == after; }

    /// The sites that grew, or shrank, by this measure; largest change first.
    std::vector<const site_difference*> changed(measure what, bool grew) const;
};

/// The parts of a run that are compared.
struct compared_run {
    const trace_tables& tables;
    const call_paths& paths;
    const trace_summary& summary;
};

run_difference compare_runs(const compared_run& before, const compared_run& after);

}  // namespace acre::tool
