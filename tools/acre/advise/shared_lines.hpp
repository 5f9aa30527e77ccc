// Lines of the program that allocate or free objects of several groups: code there cannot tell them apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "group.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

/// A line at which objects of a group are freed, or passed to realloc.
struct line_of_frees {
    std::uint32_t site = 0;
    std::uint64_t objects = 0;  // of the group
    std::uint64_t others = 0;   // freed there as well
    std::uint32_t other = 0;    // the site of most of those

    double share_of_others() const noexcept {
        return static_cast<double>(others) / static_cast<double>(std::max<std::uint64_t>(objects + others, 1));
    }
    bool is_shared() const noexcept;
};

class shared_lines {
public:
    /// The arguments must outlive this object.
    shared_lines(const history& run, const call_paths& paths);

    /// The lines that free the objects of a group, most objects first. Where the innermost line frees others as well,
    /// its caller stands for it if that frees fewer: free may have a wrapper. `other` is found only on request: it
    /// takes time.
    std::vector<line_of_frees> frees_of(const context_set& group, bool names_others) const;

    /// The line at which most objects of others are allocated, if these are noticeably many among what the group's
    /// lines allocate; `objects` are those of the group there.
    std::optional<line_of_frees> allocates_others(const context_set& group) const;

private:
    using counts = std::map<std::uint32_t, std::uint64_t>;  // objects by site

    /// 0: not known.
    struct two_lines {
        std::uint32_t inner = 0;
        std::uint32_t caller = 0;
    };

    two_lines lines_of(std::uint32_t stack) const;
    std::uint32_t line_of(std::uint32_t stack) const;
    std::uint32_t busiest_other(std::uint32_t line, const std::vector<bool>& is_of_group) const;

    const history& run_;
    const call_paths& paths_;
    std::vector<two_lines> lines_;                        // by freeing
    std::vector<std::vector<std::uint32_t>> by_context_;  // numbers of freeings
    counts inner_;                                        // of all objects, by the innermost line of their frees
    counts caller_;                                       // by its caller
    counts allocated_;                                    // by the line of their allocation
};

/// Whether a noticeable share of a group's frees are at lines that free others as well.
bool are_freed_with_others(const std::vector<line_of_frees>& lines);

}  // namespace acre::tool
