// A part of a trace: the allocations of certain functions, scopes, sites, sizes or threads, and their frees.
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

/// All given conditions must hold; of several functions, scopes or sites, one of them.
struct selection_options {
    std::vector<std::string> functions{};  // on the path of the allocation
    std::vector<std::string> scopes{};     // that the program has named, and the thread is in
    std::vector<std::string> sites{};      // FILE:LINE or a function
    std::vector<std::string> without{};    // sites
    std::optional<std::uint64_t> min_bytes{};
    std::optional<std::uint64_t> max_bytes{};
    std::optional<std::uint32_t> thread{};

    bool empty() const noexcept;

    /// "through parse, of 16 to 256 bytes"; empty for the whole trace.
    std::string text() const;
};

class selection {
public:
    /// Throws tool_error if a function, scope or site is not in the trace.
    selection(const selection_options& options, const call_paths& paths, const trace_tables& tables);

    /// Whether an allocation belongs to the selection, apart from scopes.
    bool takes(const event& allocation) const noexcept;

    bool has_scopes() const noexcept { return !options_.scopes.empty(); }
    bool is_scope(std::uint32_t name) const noexcept { return takes_scope_[name]; }

private:
    selection_options options_;
    std::vector<bool> takes_stack_;
    std::vector<bool> takes_scope_;  // by name
};

/// Filters events: passes on the selected allocations and the frees of their objects.
class selected_events {
public:
    explicit selected_events(const selection& of) : of_{of} {}

    template <typename Visit>
    void pass(const event& e, Visit&& visit) {
        none gone;
        if (e.allocates) {
            if (!of_.takes(e) || (of_.has_scopes() && !is_in_scope(e.thread))) return;
            live_.insert(e.place, {});
        } else if (!live_.take(e.place, gone)) {
            return;
        }
        visit(e);
    }

    /// To be called with the marks between the events.
    void pass(const mark& m) {
        if (!m.is_scope() || !of_.is_scope(m.name)) return;
        if (m.thread >= depths_.size()) depths_.resize(m.thread + std::size_t{1});
        if (m.kind == mark_kind::scope_begin) {
            ++depths_[m.thread];
        } else if (depths_[m.thread] != 0) {
            --depths_[m.thread];
        }
    }

private:
    struct none {};

    bool is_in_scope(std::uint32_t thread) const noexcept { return thread < depths_.size() && depths_[thread] != 0; }

    const selection& of_;
    live_array<none> live_;
    std::vector<std::uint32_t> depths_;  // by thread: in how many of the scopes it is
};

}  // namespace acre::tool
