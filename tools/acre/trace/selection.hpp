// A part of a trace: the allocations of some functions, sites, sizes or threads, and their frees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call_paths.hpp"
#include "live_table.hpp"
#include "model.hpp"

namespace acre::tool {

/// All that is said must hold; of several functions, or several sites, one.
struct selection_options {
    std::vector<std::string> functions;  // on the path of the allocation
    std::vector<std::string> sites;      // FILE:LINE or a function
    std::vector<std::string> without;    // sites
    std::optional<std::uint64_t> least_bytes;
    std::optional<std::uint64_t> most_bytes;
    std::optional<std::uint32_t> thread;

    bool empty() const noexcept;

    /// "through parse, of 16 to 256 bytes"; empty for the whole trace.
    std::string text() const;
};

class selection {
public:
    /// Throws tool_error for a function or a site that is not in the trace.
    selection(const selection_options& options, const call_paths& paths, std::size_t stacks);

    /// Whether an allocation belongs to it.
    bool takes(const event& allocation) const noexcept;

private:
    selection_options options_;
    std::vector<bool> takes_stack_;
};

/// Passes on what belongs to a selection, the frees by their objects.
class selected_events {
public:
    explicit selected_events(const selection& of) : of_{of} {}

    template <typename Visit>
    void pass(const event& e, Visit&& visit) {
        none gone;
        if (e.allocates) {
            if (!of_.takes(e)) return;
            live_.insert(e.object, {});
        } else if (!live_.take(e.object, gone)) {
            return;
        }
        visit(e);
    }

private:
    struct none {};

    const selection& of_;
    live_table<none> live_;
};

}  // namespace acre::tool
