// Whether an arena may be reset where a function frees the last objects of a group: what of the group was live each
// time the program passed that point.
#pragma once

#include <cstdint>
#include <span>

#include "group.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// The passes through a reset point that the trace shows. A reset stands behind the calls in a function that free the
/// last objects, and at the function's end. It was passed when the thread next allocates of the group, or next
/// allocates or frees anything outside that run of the function.
struct reset_passes {
    std::uint64_t count = 0;
    std::uint64_t occupied = 0;  // of the passes: something of the group was live
    context_set lived_on;        // the contexts of which an object was live at a pass

    bool is_safe() const noexcept { return occupied == 0; }
};

/// The passes for the objects of the contexts in `set`. `last_frees`: the stacks of frees in the function behind which
/// the reset stands; none: it stands at the function's end only. The function must not be recursive.
reset_passes study_resets(const history& run, const call_paths& paths, std::uint32_t function, const context_set& set,
                          std::span<const std::uint32_t> last_frees);

}  // namespace acre::tool
