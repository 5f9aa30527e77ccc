// Whether advices were followed, and whether what they promised came: a run before against a run after.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "replay/interval.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// How far an advice was followed, by how many of its allocations are gone.
enum class follow_up : std::uint8_t { applied, in_part, not_applied };

const char* name_of(follow_up state);

struct checked_advice {
    std::size_t number = 0;  // in the list of advices
    std::uint64_t objects_before = 0;
    std::uint64_t objects_after = 0;
    follow_up state = follow_up::not_applied;
    interval predicted;  // nanoseconds, for what is gone; 0 where nothing was measured

    double gone_share() const noexcept {
        if (objects_after >= objects_before) return 0;
        return 1 - static_cast<double>(objects_after) / static_cast<double>(objects_before);
    }
};

/// Nanoseconds of CPU time before and after.
struct cpu_times {
    double before = 0;
    double after = 0;
    bool recorded = false;  // of the recorded runs, less what their recording took, which is an estimate

    double saved() const noexcept { return before - after; }
};

/// How what was obtained lies to what was predicted.
enum class prediction_outcome : std::uint8_t { below, inside, above, unknown };

const char* name_of(prediction_outcome outcome);

struct apply_check {
    std::uint64_t objects_before = 0;
    std::uint64_t objects_after = 0;
    std::vector<checked_advice> advices;
    interval predicted;  // of all that was followed
    std::optional<cpu_times> cpu;
    prediction_outcome outcome = prediction_outcome::unknown;

    std::size_t followed() const;

    /// Something was followed, and it did not save less than predicted.
    bool held() const { return followed() != 0 && outcome != prediction_outcome::below; }
};

/// `list` are the advices for the run before. Sites are found again by their functions' names and those of their
/// callers, since lines move.
apply_check check_application(const advice_list& list, const history& before, const call_paths& paths_before,
                              const history& after, const call_paths& paths_after, std::optional<cpu_times> cpu);

}  // namespace acre::tool
