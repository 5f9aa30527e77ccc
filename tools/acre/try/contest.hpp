// Runs a program in several ways in turns, as it is and with other mallocs preloaded, and compares what each costs.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measured_run.hpp"
#include "replay/interval.hpp"
#include "text/text.hpp"

namespace acre::tool {

/// A group of a plan's sites that is measured alone: only its sites get memory of their own.
struct way_group {
    /// A site, as the plan knows it.
    struct site {
        std::string place;
        std::string module;
        std::string build_id;
        std::uint64_t offset = 0;
        std::uint64_t allocations = 0;  // in the recording
    };
    std::string name;
    std::string policy;
    std::uint64_t allocations = 0;
    bool beside_own_malloc = false;  // all other requests go to the program's malloc, not to acre's heap
    std::vector<site> sites{};
};

/// A way to run the program. Without variables it runs as it is.
struct way {
    std::string name;
    std::string description;
    std::vector<std::pair<std::string, std::string>> variables{};  // of its environment
    std::vector<std::string> command{};  // of acre, that runs a program in this way; empty: the variables do
    std::optional<way_group> group{};
    std::optional<std::size_t> beside{};  // the number of the way that it is compared with; none: that of all
    bool huge_pages = true;               // false: the system gives the program none, whatever its malloc asks for
    std::string library{};                // the path of the library that is preloaded; empty: none is
    bool is_linked = false;               // LD_PRELOAD cannot hold that path, and has that of a link to it
};

/// What stands before the program's command to run it in this way; empty for the program as it is.
std::string words_before_command(const way& how);

/// Of a run that left so many processes.
inline std::string left_running_text(std::uint32_t processes) {
    return fmt::format("The program left {} running; what it leaves is ended after each run.",
                       plural(processes, "process", "processes"));
}

/// What two runs must have in common to be compared.
enum class same_result : std::uint8_t {
    output_and_status,  // what it writes to standard output, and the exit status
    status,
    checked,   // a command accepts the output of each run
    unchecked  // nothing
};

/// What two options ask for: a command that accepts an output, empty for none, and to require nothing.
inline same_result required_result(const std::string& check, bool unchecked) {
    if (unchecked) return same_result::unchecked;
    return check.empty() ? same_result::output_and_status : same_result::checked;
}

struct contest_options {
    std::filesystem::path program;
    std::vector<std::string> arguments;  // the first is the name under which it is called
    std::vector<way> ways;               // the first is the program as it is
    // The way that the others are compared with. Not the first one: that runs once, and says what a run must leave.
    std::size_t base = 0;
    std::string input;  // a file for standard input; empty: nothing
    std::string check;  // a shell command that reads the output of a run
    same_result required = same_result::output_and_status;
    bool has_result_options = true;  // the user can say what a run must leave, by --check and --unchecked
    // No more runs of a way that in three rounds cost a tenth more than what it is compared with, each of its runs than
    // each of the other's, or that by a 95 % interval saves less than 2 %: the others get their time.
    bool drops_losers = false;
    double longest_first_run = 0;                // in seconds: a longer one does other work than was recorded; 0: any
    std::uint64_t recorded_cpu_nanoseconds = 0;  // a first run with much less does other work; 0: any
    double budget_seconds = 60;
    double precision = 0.02;  // enough: the width of each interval of CPU time, as a share of that of the base
    std::function<void(double)> progress{};
};

/// What a way cost. The figures are those of the rounds, in the order of the rounds.
struct way_result {
    way how;
    std::vector<measured_run> runs{};
    std::string failure{};      // why it takes no part; empty: it does
    bool was_left_out = false;  // for want of time

    std::vector<double> in_rounds(const std::function<double(const measured_run&)>& figure) const;
    interval of(const std::function<double(const measured_run&)>& figure) const;
};

/// A way after the first round.
struct first_run {
    double cost = 0;                      // CPU time, as a ratio to the way that it is compared with
    std::optional<std::size_t> beside{};  // see way
    bool takes_part = true;
    bool stays = false;  // the others are compared with it
};

/// The ways that are left out where there is time for more rounds of `room` ways only. The two best for the whole
/// program have time first, or the best where there is little room, then groups, then the other ways for the whole
/// program. Of these, those that cost least come first, and groups in their order, but for those that cost much. A
/// group and the way that it is compared with have time together. None where the room is too little to compare
/// anything.
std::vector<std::size_t> ways_without_time(std::span<const first_run> runs, std::size_t room);

struct contest_result {
    std::vector<way_result> ways;  // the first is the program as it is
    std::size_t rounds = 0;
    double seconds = 0;
    same_result compared = same_result::output_and_status;
    double precision = 0.02;  // that was asked for
    bool is_precise = false;  // the intervals are as narrow as that
    bool was_interrupted = false;
    bool each_way_ran = true;          // false: interrupted in the first round
    std::string failure_as_it_is{};    // how the program as it is ended, if not with status 0
    std::string input{};               // the file that each run read
    std::uint32_t left_running = 0;    // processes, by one run at most
    std::vector<std::string> notes{};  // what to say besides the figures

    /// CPU time of a way as a ratio to that of the program as it is, or of another way, without what a round costs all.
    interval cpu_ratio(std::size_t number, std::size_t base = 0) const;

    /// Peak memory of a way as a ratio to the median of the program as it is, or of another way.
    interval peak_ratio(std::size_t number, std::size_t base = 0) const;

    /// Seconds of CPU time that a way takes less than another one, by that ratio.
    interval cpu_saved(std::size_t number, std::size_t base) const;
};

/// The first round checks the results, and counts only if there is no time for another. Throws tool_error if the
/// program cannot be started, or if its own result is refused by the check.
contest_result run_contest(const contest_options& options);

}  // namespace acre::tool
