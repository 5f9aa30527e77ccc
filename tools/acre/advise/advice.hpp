// An advice: its allocations, the allocator for them with its options, and what it saves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "change_places.hpp"
#include "group.hpp"
#include "replay/interval.hpp"
#include "replay/resident_play.hpp"
#include "reset_passes.hpp"
#include "verdict.hpp"

namespace acre::tool {

/// A site with the number of its objects that an advice is about.
struct site_objects {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

/// Another malloc to preload, and what it saves without any other change.
struct preload_saving {
    std::string name;
    interval nanoseconds;
    std::optional<double> peak_ratio{};  // of the program's memory at its peak; only from runs

    // Names that stand for `acre run`, without a plan and with that of the advice.
    static constexpr std::string_view acre_heap = "acre";
    static constexpr std::string_view acre_plan = "acre + plan";
};

/// The result of replaying only the allocations of an advice.
struct measured_saving {
    bool done = false;
    interval nanoseconds;                            // saved in the whole run, on a clean heap; negative: a loss
    std::optional<interval> fragmented_nanoseconds;  // on a fragmented heap; only where the decision is not `leave`
    std::optional<interval> without_frees;           // on a clean heap, without the single frees that a reset replaces
    std::optional<interval> fragmented_without_frees;  // the same on a fragmented heap
    std::optional<preload_saving> preload;             // of the best malloc to preload, for these allocations
    std::optional<double> share_of_cpu;                // median, of the run's CPU time where that is known
    interval ratio;                                    // the candidate's time to malloc's
    std::uint64_t system_peak_bytes = 0;
    std::uint64_t candidate_peak_bytes = 0;
    std::uint32_t rounds = 0;
    double replayed_share = 1;  // of the events, a sample of them; time and peaks are scaled to all
    std::string failure;        // why the candidate could not be replayed

    double cpu_nanoseconds = 0;  // of the recorded run; 0: not known

    /// Bounds for a program's gain from an advice, relative to the replay on a clean heap (docs/advise.md).
    /// It gains less where malloc's cache misses overlap with other work. It gains more where destructors need not run
    /// and data lies closer together, which a replay does not show.
    static constexpr double min_of_replay = 0.6;
    static constexpr double max_of_replay = 2;

    /// The saving to expect in the program; at most the CPU time of the run.
    interval expected() const noexcept {
        const double low = nanoseconds.low * (nanoseconds.low > 0 ? min_of_replay : 1);
        double high = nanoseconds.high * (nanoseconds.high > 0 ? max_of_replay : 1);
        for (const auto* each : {&fragmented_nanoseconds, &without_frees, &fragmented_without_frees}) {
            if (*each) high = std::max(high, (*each)->high);
        }
        if (cpu_nanoseconds > 0) high = std::max(std::min(high, cpu_nanoseconds), low);
        return {low, (low + high) / 2, high};
    }
};

/// What was saved in runs of the program, without a change to it, by a plan in which only an advice's sites get memory
/// of their own; all others keep the program's malloc.
struct run_saving {
    interval nanoseconds;
    std::string policy;               // of the plan
    bool is_what_is_advised = false;  // the policy gives just what the advice's type gives
    double share_of_cpu = 0;          // median
    double peak_ratio = 1;            // of the program's memory at its peak
};

/// An arena in a function that was refused, since some of its objects lived on where it would have been reset.
struct refused_arena {
    std::uint32_t function = 0;
    reset_passes passes;
    std::uint32_t site = 0;  // of most of the objects that lived on
};

struct advice {
    verdict candidate = verdict::leave;  // by the lives of the objects
    verdict decision = verdict::leave;   // after measuring: the candidate, or leave
    std::string reason;                  // why the decision is `leave`

    change_place place;               // what is changed
    bool of_scope = false;            // about a scope; else about that place
    std::size_t callers = 0;          // of a site: number of callers that distinguish it from its other uses
    std::uint32_t function = 0;       // the scope, or the site's function; 0: unknown
    std::uint32_t site = 0;           // the one with the most allocations
    std::uint32_t stack = 0;          // the one with the most allocations, for a path to show
    std::vector<site_objects> sites;  // all of them, most objects first
    context_set contexts;
    group_figures figures;
    generation_figures generations;
    reset_passes resets;  // of a scope; none is occupied
    std::optional<refused_arena> refused;
    std::vector<site_objects> blockers;  // their objects outlive the scope of the arena
    double share = 0;                    // of all allocations
    std::uint32_t escape_depth = 0;      // largest number of functions that an object leaves before it dies

    std::uint64_t block_bytes = 0;   // of an arena's first block
    std::uint64_t slot_bytes = 0;    // of a pool
    std::uint64_t buffer_bytes = 0;  // of a buffer on the stack
    std::uint64_t arenas = 0;        // of a multi_arena
    std::uint64_t arena_bytes = 0;   // of each of them
    measured_saving saving;
    std::optional<run_saving> in_runs;

    /// What to expect: of runs where there were any, else of a replay.
    interval expected_nanoseconds() const noexcept { return in_runs ? in_runs->nanoseconds : saving.expected(); }

    /// The measured median: of runs where there were any, else of a replay on a clean heap.
    double median_nanoseconds() const noexcept {
        return in_runs ? in_runs->nanoseconds.median : saving.nanoseconds.median;
    }
};

/// How often the recorded command was run again, to measure what it takes without recording.
struct program_runs {
    /// A way in which the program ran; the first is the program as it is.
    struct way {
        std::string name;
        std::vector<double> cpu_seconds{};  // in each round
    };
    std::size_t rounds = 0;
    double seconds = 0;
    bool are_precise = false;
    std::vector<way> ways{};
};

/// A file of the program whose advised sites have no names, for lack of debug information.
struct unnamed_module {
    std::string path;
    std::string build_id;
    std::string package;        // of the system's that has the debug information; empty: not known
    std::string server;         // of debug information, for files of this system
    double share = 0;           // of the run's allocations, by these sites
    bool has_functions = true;  // only files and lines are missing
};

/// The memory that malloc has in a run, and with some sites in memory of their own.
struct pinned_memory {
    resident_result now;
    std::vector<std::uint32_t> group{};        // the sites to separate, most pinned bytes first
    std::optional<resident_result> separated;  // with the group in memory of its own; nothing to separate: none

    /// Whether the program would need noticeably less memory, at its peak or at its end.
    bool is_worth_it() const noexcept;
};

/// The advices for a run.
struct advice_list {
    std::vector<advice> advices;           // most allocations first
    std::uint64_t small_sites = 0;         // each below 1 % of the allocations
    std::uint64_t small_objects = 0;       // of the small sites
    std::uint64_t objects = 0;             // of the run
    std::uint64_t omitted = 0;             // number of advices beyond the requested ones
    std::uint64_t cpu_nanoseconds = 0;     // of the run without its recording; 0: not known
    std::optional<program_runs> runs;      // of the program: CPU time and `preloads` are theirs
    double malloc_nanoseconds = 0;         // for all events of the run with malloc; 0: not measured
    double malloc_share = 1;               // share of the events, a sample of them, replayed for it
    std::vector<preload_saving> preloads;  // of the installed mallocs, in the whole run; largest saving first
    std::uint64_t sampling_period = 1;     // one allocation in this many was recorded

    std::string allocator;           // whose malloc the program used; empty: not known
    std::string baseline;            // the malloc that was measured for comparison, unless it is glibc's
    std::vector<std::string> notes;  // about the measurements

    std::vector<unnamed_module> unnamed;
    std::optional<pinned_memory> pinned;

    bool of_resource = false;  // the allocations are of a resource that the program traced, not of malloc

    bool is_sample() const noexcept { return sampling_period > 1; }

    /// Whether malloc alone takes longer in a replay than the program did: the replay then writes to more pages than
    /// the program, or makes malloc give memory back that the program keeps, and says nothing of what can be saved.
    bool replay_exceeds_run() const noexcept {
        return cpu_nanoseconds != 0 && malloc_nanoseconds > static_cast<double>(cpu_nanoseconds);
    }
};

}  // namespace acre::tool
