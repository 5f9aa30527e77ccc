// What one run of a program did otherwise than another: its totals, and site by site.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "info/trace_summary.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// What can grow.
enum class measure : std::uint8_t { allocations, bytes, peak, leaked };
inline constexpr std::array all_measures{measure::allocations, measure::bytes, measure::peak, measure::leaked};

/// As the command line has it.
const char* name_of(measure what);

/// The figures of a site or of a whole run.
struct run_figures {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;           // of all of them
    std::uint64_t peak_bytes = 0;      // most that lived at a time
    std::uint64_t leaked_bytes = 0;    // never freed
    std::uint64_t leaked_objects = 0;  // never freed

    std::uint64_t of(measure what) const noexcept;
    friend bool operator==(const run_figures&, const run_figures&) = default;
};

/// How much more there is after than before; less than 0 when there is less.
struct growth {
    std::uint64_t before = 0;
    std::uint64_t after = 0;

    bool grew() const noexcept { return after > before; }
    std::uint64_t amount() const noexcept { return grew() ? after - before : before - after; }

    /// Of what was before: 0.1 is a tenth more. Infinite when there was nothing.
    double share() const noexcept;
};

/// A site in both runs, or in one of them.
struct site_difference {
    enum class presence : std::uint8_t { both, only_before, only_after };

    std::string text;  // "function (file:line)"
    std::string function;
    std::string file;
    std::uint32_t line = 0;    // in the run after, if it is there; 0: not known
    std::uint64_t offset = 0;  // in the module, where the line is not known
    presence in = presence::both;
    run_figures before;
    run_figures after;

    growth by(measure what) const noexcept { return {before.of(what), after.of(what)}; }
};

struct run_difference {
    run_figures before;
    run_figures after;
    std::vector<site_difference> sites;  // those that differ, in no particular order
    std::uint64_t equal_sites = 0;

    growth by(measure what) const noexcept { return {before.of(what), after.of(what)}; }
    bool nothing() const noexcept { return sites.empty() && before == after; }

    /// The sites that grew, or that shrank, by that measure, those that did so most first.
    std::vector<const site_difference*> changed(measure what, bool grew) const;
};

/// A run as far as it is compared.
struct compared_run {
    const trace_tables& tables;
    const call_paths& paths;
    const trace_summary& summary;
};

run_difference compare_runs(const compared_run& before, const compared_run& after);

}  // namespace acre::tool
