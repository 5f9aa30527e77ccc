// An advice: its allocations, the allocator for them with its options, and what it saves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "change_places.hpp"
#include "group.hpp"
#include "growth_figures.hpp"
#include "replay/interval.hpp"
#include "reset_passes.hpp"
#include "resident_play.hpp"
#include "shared_lines.hpp"
#include "verdict.hpp"

namespace acre::tool {

class growing_contexts;

/// A site with the number of its objects that an advice is about.
struct site_objects {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

/// The objects of a site that were allocated by one path of functions: two `new` in one line are one site, and differ
/// in it.
struct path_objects {
    std::uint32_t node = 0;  // of call_paths
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

/// Another malloc to preload, and what it saves without any other change.
struct preload_saving {
    std::string name;
    interval nanoseconds;                // in runs of the program, or in a replay
    std::optional<double> peak_ratio{};  // of the program's memory at its peak; only from runs
    std::string before_command{};  // words to write before the program's command for it; empty: they are not enough

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
    double malloc_nanoseconds = 0;                     // of these allocations in the whole run, on a clean heap
    double copies_nanoseconds = 0;                     // of what growing containers copy, likewise
    std::optional<double> malloc_in_run_nanoseconds;   // less, where the replay of all allocations gives them less
    std::uint64_t system_peak_bytes = 0;
    std::uint64_t candidate_peak_bytes = 0;
    std::uint64_t live_peak_bytes = 0;  // of these objects in the recorded run, as requested
    std::uint32_t rounds = 0;
    double replayed_share = 1;  // of the events, a sample of them; time and peaks are scaled to all
    std::string failure;        // why the candidate could not be replayed

    double cpu_nanoseconds = 0;  // of the recorded run; 0: not known
    bool is_of_fewer = false;    // of allocations that the program need not make

    /// What a program gained that allocates less, relative to what is measured here (bench/results/advice.md): malloc
    /// overlaps with other work in a program, and growing takes more than its calls and copies.
    static constexpr double min_of_fewer = 0.4;
    static constexpr double max_of_fewer = 1.6;

    /// Bounds for a program's gain from an advice, relative to the replay on a clean heap (docs/advise_rules.md).
    /// It gains less where malloc's cache misses overlap with other work. It gains more where destructors need not run
    /// and data lies closer together, which a replay does not show.
    static constexpr double min_of_replay = 0.6;
    static constexpr double max_of_replay = 2;
    /// Objects that no cache of one core holds are also reached sooner where they lie together, and on fewer pages,
    /// which can bring more than malloc takes: so many times the saving, or malloc's time so many times more.
    static constexpr double max_of_large = 6;
    static constexpr double more_of_malloc = 1.5;
    static constexpr std::uint64_t large_peak = std::uint64_t{2} << 20;

    /// The saving to expect in the program; at most the CPU time of the run. The median is that of objects in a cache.
    interval expected() const noexcept {
        if (is_of_fewer) return expected_of_fewer();
        const double low = std::min(times(nanoseconds.low, min_of_replay), most_that_is_sure());
        const double usual = highest(times(nanoseconds.high, max_of_replay), low);
        if (live_peak_bytes <= large_peak) return {low, (low + usual) / 2, usual};
        const double of_malloc = nanoseconds.high + more_of_malloc * malloc_nanoseconds;
        return {low, (low + usual) / 2, highest(std::max(times(nanoseconds.high, max_of_large), of_malloc), low)};
    }

    /// Allocations that are replayed alone may make malloc give memory back that it keeps among all others. No more
    /// is sure than what is gained of the time that malloc takes for them there.
    double most_that_is_sure() const noexcept {
        return malloc_in_run_nanoseconds ? min_of_replay * *malloc_in_run_nanoseconds
                                         : std::numeric_limits<double>::infinity();
    }
    bool exceeds_run() const noexcept { return times(nanoseconds.low, min_of_replay) > most_that_is_sure(); }

    /// Whether only the CPU time of the run bounds the saving, and nothing that was measured.
    bool is_open() const noexcept { return cpu_nanoseconds > 0 && expected().high >= cpu_nanoseconds; }

private:
    interval expected_of_fewer() const noexcept {
        const double most = cpu_nanoseconds > 0 ? cpu_nanoseconds : std::numeric_limits<double>::infinity();
        return {times(nanoseconds.low, min_of_fewer), std::min(nanoseconds.median, most),
                std::min(max_of_fewer * nanoseconds.high, most)};
    }

    /// A loss is what was measured.
    static double times(double saved, double factor) noexcept { return saved > 0 ? factor * saved : saved; }

    double highest(double high, double low) const noexcept {
        for (const auto* each : {&fragmented_nanoseconds, &without_frees, &fragmented_without_frees}) {
            if (*each) high = std::max(high, (*each)->high);
        }
        return cpu_nanoseconds > 0 ? std::max(std::min(high, cpu_nanoseconds), low) : high;
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
    std::size_t rounds = enough_rounds;

    /// With fewer nothing is known about the noise: they neither confirm nor refute what a replay says.
    static constexpr std::size_t enough_rounds = 3;
    bool has_enough_rounds() const noexcept { return rounds >= enough_rounds; }
};

/// An arena in a function that was refused, since some of its objects lived on where it would have been reset.
struct refused_arena {
    std::uint32_t function = 0;
    reset_passes passes;
    std::uint32_t site = 0;  // of most of the objects that lived on
};

/// Sites of which nearly all objects die in the function that allocates them or calls it, and a few live on.
struct rare_escape {
    std::uint32_t function = 0;
    std::uint64_t objects = 0;          // of the sites
    std::uint64_t lived_on = 0;         // at least so many of them
    std::uint32_t site = 0;             // of most of those
    std::uint32_t freed_at = no_stack;  // one of those; none was freed: no_stack
};

/// Another change for the same objects, with which an advice was compared.
struct other_change {
    std::string title;
    interval nanoseconds;
    bool is_of_replay = true;  // else of runs
};

/// Lines of one file, from the first to the last; 0: not known.
struct line_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

/// A function of the program that calls malloc, realloc or free.
struct malloc_caller {
    std::uint32_t function = 0;
    source_location at;         // of one of its calls
    std::uint64_t objects = 0;  // of the advice, that it allocates or frees
    bool by_pointer = false;    // it calls what a pointer is set to: that changes, and not the function
};

/// Objects that are not an advice's, at a site where its own are allocated.
struct others_at_sites {
    std::uint64_t objects = 0;
    std::uint32_t site = 0;   // of most of them
    std::uint32_t stack = 0;  // one call path to it
};

/// What the code of the program's file does with functions of the C library, that no stack of the recording shows.
struct unseen_uses {
    std::vector<source_location> frees;       // functions that call free or realloc
    std::vector<source_location> allocating;  // functions left by a jump to malloc or its like
    std::vector<source_location>
        pointers;  // variables that have the address of such a function, and functions that take it
};

struct advice {
    verdict candidate = verdict::leave;  // by the lives of the objects
    verdict decision = verdict::leave;   // after measuring: the candidate, or leave
    verdict in_plan = verdict::leave;  // the candidate, or what serves the library's memory, which only a plan reaches
    std::string reason;                // why the decision is `leave`

    change_place place;                 // what is changed
    std::vector<change_place> places;   // where its objects are allocated, those of most objects first
    std::vector<std::string> classes;   // of several places that are all classes: each gets a pool of its own
    std::set<std::string> c_functions;  // of the C library, as strdup, in which some objects are allocated
    bool of_scope = false;              // about a scope; else about that place
    bool is_unoptimised = false;        // the file of the site was compiled without optimisation
    std::size_t callers = 0;            // of a site: number of callers that distinguish it from its other uses
    std::uint32_t function = 0;         // the scope, or the site's function; 0: unknown
    std::uint32_t site = 0;             // the one with the most allocations
    std::uint32_t stack = 0;            // the one with the most allocations, for a path to show
    std::vector<site_objects> sites;    // all of them, most objects first
    std::vector<path_objects> by_path;
    context_set contexts;
    group_figures figures;
    std::optional<growth_figures> growth;  // of containers whose buffers the program need not allocate so often
    std::uint64_t grown = 0;               // of its objects: buffers of a std::vector that grows
    std::shared_ptr<const growing_contexts> growing;  // of the run, if some of its containers grow
    generation_figures generations;
    reset_passes resets;  // of a scope; none is occupied
    std::optional<refused_arena> refused;
    std::optional<rare_escape> escape;
    std::vector<line_of_frees> freed_at;        // the lines that free its objects, most objects first
    line_range lines;                           // of the scope or the owner, where its objects are allocated and freed
    std::vector<malloc_caller> malloc_callers;  // in C: all that have to change, if they change as a whole
    unseen_uses unseen;                         // in C
    std::optional<others_at_sites> others;      // reached in other ways than its own objects
    std::vector<site_objects> blockers;         // their objects outlive the scope of the arena
    double share = 0;                           // of all allocations
    std::uint32_t escape_depth = 0;             // largest number of functions that an object leaves before it dies

    std::string variable;            // begins the names in the code; no two advices of a list have the same
    std::uint64_t block_bytes = 0;   // of an arena's first block
    std::uint64_t slot_bytes = 0;    // of a pool
    std::uint64_t buffer_bytes = 0;  // of a buffer on the stack
    std::uint64_t arenas = 0;        // of a multi_arena
    std::uint64_t arena_bytes = 0;   // of each of them
    measured_saving saving;
    std::optional<run_saving> in_runs;
    std::optional<other_change> instead;  // in C: the heap of an arena, or the arena of a heap

    /// Whether runs say what it saves. A plan cannot reset an arena, and counts the objects of its blocks instead:
    /// where that saves less than the arena in a replay, it says little of the arena.
    bool is_known_by_runs() const noexcept {
        if (!in_runs || !saving.done) return in_runs.has_value();
        if (!in_runs->has_enough_rounds()) return false;
        if (in_runs->is_what_is_advised) return true;
        return in_runs->nanoseconds.median >= saving.nanoseconds.median;
    }

    /// What to expect: of runs where they say it, else of a replay.
    interval expected_nanoseconds() const noexcept {
        return is_known_by_runs() ? in_runs->nanoseconds : saving.expected();
    }

    /// The measured median: of runs where they say it, else of a replay on a clean heap.
    double median_nanoseconds() const noexcept {
        return is_known_by_runs() ? in_runs->nanoseconds.median : saving.nanoseconds.median;
    }
};

/// Whether what is recommended allocates less, rather than elsewhere.
inline bool allocates_less(const advice& each) {
    return traits_of(each.candidate).allocates_less;
}

/// The order of recommendations: allocate less, then elsewhere; of each what saves most.
inline bool comes_before(const advice& a, const advice& b) {
    if (allocates_less(a) != allocates_less(b)) return allocates_less(a);
    return a.expected_nanoseconds().median > b.expected_nanoseconds().median;
}

/// A class whose objects come from one pool, unless it is a struct of C.
inline bool may_be_pooled_class(const advice& each) {
    return each.place.kind == place_kind::type && !is_base_by_operator(each.place) && !is_coroutine_frame(each.place) &&
           (each.candidate == verdict::object_pool || each.candidate == verdict::concurrent_object_pool);
}

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
    bool were_interrupted = false;
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
    bool in_threads = false;                   // several threads allocate in the run
    std::vector<malloc_caller> callers{};      // in C: the functions that allocate and free what the group allocates

    /// Whether the program would need noticeably less memory, at its peak or at its end.
    bool is_worth_it() const noexcept;
};

/// The advices for a run.
struct advice_list {
    std::vector<advice> advices;           // most allocations first
    std::vector<advice> heaps_instead;     // in C, each in place of the arenas among its sites, if it saves enough
    std::uint64_t small_sites = 0;         // each below 1 % of the allocations
    std::uint64_t small_objects = 0;       // of the small sites
    std::uint64_t objects = 0;             // of the run
    std::uint64_t bytes = 0;               // allocated in the run
    std::uint64_t omitted = 0;             // number of advices beyond the requested ones
    std::uint64_t cpu_nanoseconds = 0;     // of the run without its recording; 0: not known
    std::optional<program_runs> runs;      // of the program: CPU time and `preloads` are theirs
    double malloc_nanoseconds = 0;         // for all events of the run with malloc; 0: not measured
    double malloc_share = 1;               // share of the events, a sample of them, replayed for it
    std::vector<preload_saving> preloads;  // of the installed mallocs, in the whole run; largest saving first
    std::vector<std::string> untold;       // of these a replay of this run says nothing: see tells_nothing
    std::uint64_t sampling_period = 1;     // one allocation in this many was recorded

    std::string allocator;           // whose malloc the program used; empty: not known
    std::string baseline;            // the malloc that was measured for comparison, unless it is glibc's
    std::vector<std::string> notes;  // about the measurements

    std::vector<unnamed_module> unnamed;
    std::optional<pinned_memory> pinned;

    bool of_resource = false;  // the allocations are of a resource that the program traced, not of malloc

    // How far what a program saves by another malloc is from what the replay says, relative to
    // what_a_replay_judges(): nine in ten lie between (bench/results/advice.md). acre's heap
    // fell short of its replay more rarely than other mallocs did (bench/results/advice.md).
    static constexpr double less_than_replayed = 0.7;
    static constexpr double less_than_replayed_of_acre = 0.3;
    static constexpr double more_than_replayed = 1.5;

    bool is_sample() const noexcept { return sampling_period > 1; }

    /// The time that depends on the malloc: its own in a replay, and a tenth of the CPU time for cache misses on what
    /// it gave out, page faults and loading. In a program that hardly allocates these are less: 2 ms to load a library,
    /// 1 us for each object, 1 ms for 4 MB. 0 where the CPU time is not known.
    double what_a_replay_judges() const noexcept {
        const auto cpu = static_cast<double>(cpu_nanoseconds);
        const double of_objects = 2e6 + 1000 * static_cast<double>(objects) + static_cast<double>(bytes) / 4;
        return cpu == 0 ? 0
                        : malloc_nanoseconds + std::min(0.1 * cpu, of_objects * static_cast<double>(sampling_period));
    }

    /// What to expect of preloading a malloc: as in the runs if there were any, else around what the replay says.
    interval expected_of(const preload_saving& each) const noexcept {
        if (runs || cpu_nanoseconds == 0) return each.nanoseconds;
        const double judged = what_a_replay_judges();
        const double high = each.nanoseconds.high + more_than_replayed * judged;
        const double less = each.name == preload_saving::acre_heap ? less_than_replayed_of_acre : less_than_replayed;
        return {each.nanoseconds.low - less * judged, each.nanoseconds.median,
                std::max(std::min(high, static_cast<double>(cpu_nanoseconds)), each.nanoseconds.median)};
    }

    /// Whether what a replay says of preloading a malloc can say nothing of the program: no program saves more than it
    /// takes, and none was seen to cost half of that more. A sample has few of the largest blocks, whose pages another
    /// malloc gives back and gets anew; scaled to all events they count many times.
    bool tells_nothing(const interval& replayed) const noexcept {
        const auto cpu = static_cast<double>(cpu_nanoseconds);
        return cpu > 0 && (replayed.median > cpu || replayed.median < -cpu / 2);
    }

    /// Whether malloc alone takes longer in a replay than the program did: the replay then writes to more pages than
    /// the program, or makes malloc give memory back that the program keeps, and says nothing of what can be saved.
    bool replay_exceeds_run() const noexcept {
        return cpu_nanoseconds != 0 && malloc_nanoseconds > static_cast<double>(cpu_nanoseconds);
    }
};

}  // namespace acre::tool
