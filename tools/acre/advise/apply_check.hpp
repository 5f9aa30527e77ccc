// Whether advices were followed and saved what was predicted: compares a run before with a run after.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "replay/interval.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// How far an advice was followed, by the share of its allocations that are gone.
enum class follow_up : std::uint8_t { applied, in_part, not_applied };

const char* name_of(follow_up state);

struct checked_advice {
    std::size_t number = 0;  // in the list of advices
    std::uint64_t objects_before = 0;
    std::uint64_t objects_after = 0;
    std::string most_remain;  // the class or function of most that are still allocated; none are: empty
    follow_up state = follow_up::not_applied;
    interval predicted;  // nanoseconds, for the allocations that are gone; 0 where nothing was measured

    double gone_share() const noexcept {
        if (objects_after >= objects_before) return 0;
        return 1 - static_cast<double>(objects_after) / static_cast<double>(objects_before);
    }
};

/// Nanoseconds of CPU time before and after.
struct cpu_times {
    double before = 0;
    double after = 0;
    bool recorded = false;  // of recorded runs, minus an estimate for the recording

    double saved() const noexcept { return before - after; }
};

/// The saving relative to the predicted interval.
enum class prediction_outcome : std::uint8_t { below, inside, above, unknown };

const char* name_of(prediction_outcome outcome);

struct apply_check {
    std::uint64_t objects_before = 0;
    std::uint64_t objects_after = 0;
    std::uint64_t peak_bytes_before = 0;  // live at a time, as requested
    std::uint64_t peak_bytes_after = 0;
    std::vector<checked_advice> advices;
    interval predicted;       // of all followed advices
    bool in_threads = false;  // several threads allocated what an advice was followed for
    std::optional<cpu_times> cpu;
    prediction_outcome outcome = prediction_outcome::unknown;

    std::size_t followed() const;

    /// Whether far more lives at a time than before: as where an arena is not reset, or each source file has its own.
    bool takes_far_more() const noexcept;

    /// At least one advice was followed, no less was saved than predicted, and the program does not take far more
    /// memory.
    bool held() const { return followed() != 0 && outcome != prediction_outcome::below && !takes_far_more(); }
};

/// Whether two runs have a function of the program's own besides main in common. A program in which all advice was
/// followed may allocate in none of its functions, and has none in common with the run before.
bool have_common_functions(const call_paths& before, const call_paths& after);

/// `list` has the advices for the run before. Sites are matched by the names of their functions and callers, since
/// lines move, and by the class or container that they allocate.
apply_check check_application(const advice_list& list, const history& before, const call_paths& paths_before,
                              const history& after, const call_paths& paths_after, std::optional<cpu_times> cpu);

/// `paths` are those of the run before.
std::string apply_text(const apply_check& check, const advice_list& list, const call_paths& paths);
nlohmann::json apply_json(const apply_check& check, const advice_list& list, const call_paths& paths);

}  // namespace acre::tool
