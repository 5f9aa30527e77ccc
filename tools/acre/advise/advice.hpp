// An advice: which allocations, what suits them, with which options, and what it is worth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "group.hpp"
#include "replay/interval.hpp"

namespace acre::tool {

enum class verdict : std::uint8_t {
    arena,                   // with a reset in the function that owns the lifetimes
    scratch,                 // last in, first out, within a function
    stack_buffer,            // small, and gone before its function returns
    object_pool,             // one size, much coming and going
    multi_pool,              // several sizes, much coming and going
    multi_arena,             // several sizes that live about equally long
    monotonic_arena,         // never freed
    phase_arena,             // freed, but at the end of a phase in which little else happens
    concurrent_object_pool,  // one size, freed by other threads than allocated them
    concurrent_multi_pool,   // several sizes, freed by other threads than allocated them
    leave,                   // as it is
};

const char* name_of(verdict v);

/// True for what stands in the function that owns the lifetimes.
bool lies_in_owner(verdict v);

/// Where several threads do what is advised each has an arena or a pool of its own.
bool is_of_each_thread(verdict v);

/// A site, and how many objects of it an advice is about.
struct site_part {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;
};

/// Another malloc, put in the place of the system's, and what that alone saves.
struct preload_saving {
    std::string name;
    interval nanoseconds;
};

/// What the replay of just these allocations gave.
struct measured_saving {
    bool done = false;
    interval nanoseconds;  // saved in the whole run, on a clean heap; less than 0: it costs
    std::optional<interval>
        littered_nanoseconds;  // the same on a heap that is fragmented; where it is worth the change
    std::optional<interval>
        frees_left_out;  // the same as the first, where what is freed as a whole is not freed singly
    std::optional<interval> littered_frees_left_out;  // that on a heap that is fragmented
    std::optional<preload_saving> preload;            // what the best malloc to preload saves of these allocations
    std::optional<double> share_of_cpu;               // of the run's CPU time where that is known, at the median
    interval ratio;                                   // candidate's time to the system's
    std::uint64_t system_peak_bytes = 0;
    std::uint64_t candidate_peak_bytes = 0;
    std::uint32_t rounds = 0;
    double replayed_share = 1;  // of the events, the first ones; the time is scaled to all of them
    std::string failure;        // why the candidate could not be replayed

    double cpu_nanoseconds = 0;  // of the recorded run; 0: not known

    /// How the gains of programs that followed an advice compare with the replay on a clean heap, as docs/advise.md
    /// says: less, where a program did other work while malloc waited for memory; more, where destructors need not run
    /// and data lies closer together, which is not in the replay.
    static constexpr double min_of_replay = 0.6;
    static constexpr double max_of_replay = 2;

    /// What the program may expect: no more than there is.
    interval expected() const noexcept {
        const double least = nanoseconds.low * (nanoseconds.low > 0 ? min_of_replay : 1);
        double most = nanoseconds.high * (nanoseconds.high > 0 ? max_of_replay : 1);
        for (const auto* each : {&littered_nanoseconds, &frees_left_out, &littered_frees_left_out}) {
            if (*each) most = std::max(most, (*each)->high);
        }
        if (cpu_nanoseconds > 0) most = std::max(std::min(most, cpu_nanoseconds), least);
        return {least, (least + most) / 2, most};
    }
};

struct advice {
    verdict suits = verdict::leave;  // what the lives of the objects suit
    verdict says = verdict::leave;   // after measuring: `suits`, or leave
    std::string reason;              // of `leave`

    bool of_scope = false;
    std::size_t callers = 0;       // of a site, by which it is told apart from its other calls
    std::uint32_t function = 0;    // the scope, or that of the site; 0: unknown
    std::uint32_t site = 0;        // of the most allocations
    std::uint32_t stack = 0;       // of the most allocations, for a path to show
    std::vector<site_part> parts;  // all of them, most allocations first
    context_set contexts;
    group_figures figures;
    generation_figures generations;
    std::vector<site_part> blockers;  // their objects outlive the scope that an arena would serve
    double share = 0;                 // of all allocations
    std::uint32_t escape_depth = 0;   // functions that the objects leave before they die, at most

    std::uint64_t block_bytes = 0;   // of an arena's first block
    std::uint64_t slot_bytes = 0;    // of a pool
    std::uint64_t buffer_bytes = 0;  // of a buffer on the stack
    std::uint64_t arenas = 0;        // of a multi_arena
    std::uint64_t arena_bytes = 0;   // of each of them
    measured_saving saving;
};

/// What was found about a run.
struct advice_list {
    std::vector<advice> advices;        // most allocations first
    std::uint64_t small_sites = 0;      // each under 1 % of the allocations
    std::uint64_t small_objects = 0;    // theirs
    std::uint64_t objects = 0;          // of the run
    std::uint64_t omitted = 0;          // advices beyond the wanted number
    std::uint64_t cpu_nanoseconds = 0;  // of the run without its recording; 0: not known
    double malloc_nanoseconds = 0;      // of replaying all of its events with malloc; 0: not measured
    double malloc_share = 1;            // of the events that were replayed for it, the first ones; it is scaled to all
    std::vector<preload_saving> preloads;  // of the installed mallocs, in the whole run, most first
    std::uint64_t sampling_period = 1;     // one allocation in so many was recorded

    bool of_resource = false;  // traced by the program, in place of malloc

    bool is_sample() const noexcept { return sampling_period > 1; }
};

}  // namespace acre::tool
