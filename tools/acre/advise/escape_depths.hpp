// How far objects get before they die: how many functions lie between the one that allocates and the one that owns
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "group.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// Wrappers of malloc do not count, whatever their names: functions that own nothing of what they allocate and that
/// several others call.
class escape_depths {
public:
    escape_depths(const history& run, const call_paths& paths);

    /// The largest of the contexts, or `escapes`.
    std::uint32_t of(const context_set& set) const;

private:
    std::uint32_t of(const allocation_context& context) const;
    void find_wrappers();

    const history& run_;
    const call_paths& paths_;
    std::vector<bool> is_wrapper_;  // by function
};

}  // namespace acre::tool
