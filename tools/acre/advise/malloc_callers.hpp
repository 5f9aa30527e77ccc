// The functions of a program that call malloc, realloc and free: in C one change in each of them puts what they
// allocate elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "recorded_code.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

class malloc_callers {
public:
    /// The arguments must outlive this object.
    malloc_callers(const history& run, const call_paths& paths);

    /// The functions that have to change where all calls of malloc change in the functions that allocate these: those,
    /// and all that free what they allocate, also for others. Those that call by a pointer come last; most objects
    /// first. Reads the program's files where they are those of the recording.
    std::vector<malloc_caller> of(const context_set& contexts) const;

    /// The functions that allocate or free a noticeable part of these themselves.
    std::set<std::uint32_t> of_most(const context_set& contexts) const;

private:
    struct freeing {
        std::uint32_t context = 0;
        std::uint32_t stack = 0;
        std::uint32_t function = 0;
        std::uint64_t objects = 0;
    };

    bool calls_by_pointer(std::uint32_t stack) const;

    const history& run_;
    const call_paths& paths_;
    std::vector<std::uint32_t> allocates_;  // by context: the innermost function of the program; 0: unknown
    std::vector<freeing> freeings_;
    mutable recorded_code code_;
    mutable std::map<std::uint32_t, bool> by_pointer_;  // by frame, where it was asked for
};

/// Those whose own calls change.
inline std::span<const malloc_caller> direct_callers(const std::vector<malloc_caller>& callers) {
    return {callers.begin(), std::ranges::find_if(callers, &malloc_caller::by_pointer)};
}

/// Those that call what a pointer is set to.
inline std::span<const malloc_caller> pointer_callers(const std::vector<malloc_caller>& callers) {
    return std::span{callers}.subspan(direct_callers(callers).size());
}

/// Those that a title names: those whose own calls change, or all if there is none.
inline std::span<const malloc_caller> callers_to_name(const std::vector<malloc_caller>& callers) {
    const std::span<const malloc_caller> direct = direct_callers(callers);
    return direct.empty() ? std::span{callers} : direct;
}

}  // namespace acre::tool
