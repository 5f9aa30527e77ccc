// The answer for someone in a hurry: what to do first, how much it saves and what it costs.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advice.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// A step that is worth it, or may be.
struct first_step {
    std::optional<std::size_t> advice;  // position in the list; none: preload a malloc
    std::string what{};                 // the malloc's name, or the advice's title
    interval nanoseconds;               // saved
    bool is_open = false;               // only the CPU time bounds that
    std::optional<double> share{};      // the median, of the CPU time
    double cpu_nanoseconds = 0;         // of the run; 0: not known
    std::string before_command{};       // of a malloc, see preload_saving
    std::string cost{};                 // in code and memory
    bool is_certain = true;             // the measurement excludes that it saves nothing
    bool is_of_replay = false;          // of an advice: what it saves is what a replay says
};

/// All changes of the code that are worth it: each is about other objects, so what they save adds up.
struct all_changes {
    std::vector<std::size_t> advices;  // positions in the list
    interval nanoseconds;              // saved
    double cpu_nanoseconds = 0;        // of the run; 0: not known
    bool is_of_replay = false;         // of one at least
};

/// The steps, the one to begin with first: the malloc that saves most, and the advice that does. Without any that is
/// certainly worth it, the one that may save most, if that is much. Nothing is known if nothing was measured.
struct first_steps {
    bool is_known = false;
    bool of_runs = false;         // what a malloc saves was measured in runs of the program
    bool has_few_rounds = false;  // of runs: nothing is known about the noise
    std::vector<first_step> steps;
    std::optional<all_changes> together{};     // where they save noticeably more than the one among the steps
    std::optional<first_step> not_excluded{};  // without steps: what may be worth it all the same
    bool replay_exceeds_run = false;           // without steps: see advice_list
    std::vector<std::string> untold{};         // likewise

    /// Whether the answer is to leave the program as it is.
    bool leaves() const noexcept {
        return is_known && steps.empty() && !not_excluded && !replay_exceeds_run && untold.empty() && !has_few_rounds;
    }
};

/// What to do for a saving by this malloc: "preload mimalloc", "start it by acre run".
std::string preload_text(const std::string& name);

first_steps first_steps_of(const advice_list& list, const call_paths& paths);

/// None if nothing is known.
std::vector<std::string> first_steps_sentences(const first_steps& of);
/// The sentences, each on lines of its own.
std::string first_steps_text(const first_steps& of);
nlohmann::json first_steps_json(const first_steps& of);
nlohmann::json together_json(const first_steps& of);

}  // namespace acre::tool
