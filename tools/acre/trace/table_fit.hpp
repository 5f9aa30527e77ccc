// Leaves out of the tables of a trace what exceeds the limits of the format, so that a reader takes what is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "format.hpp"
#include "model.hpp"

namespace acre::tool {

/// How much of the tables fits. Stacks that do not fit become their nearest caller that does.
class table_fit {
public:
    /// The tables must be consistent.
    explicit table_fit(const trace_tables& tables, const format::table_limits& limits = {});

    bool is_whole() const noexcept { return whole_; }

    /// Numbers of what stays, which is always the first part.
    std::size_t nodes() const noexcept { return nodes_; }
    std::size_t scope_names() const noexcept { return scope_names_; }

    /// Leaves out of these tables, which must be those given to the constructor, what does not fit. Returns sentences
    /// that say how much, none if all fits.
    std::vector<std::string> cut(trace_tables& tables) const;

private:
    /// The part of the weight that may be used once something has been added; the rest is for what comes later.
    enum class share : std::uint8_t { modules = 1, scopes = 2, locations = 4, frames = 6, nodes = 8 };

    void count_texts();
    std::uint64_t keep_text(std::string_view text);
    bool is_kept(std::string_view text) const;
    void fit_modules();
    void fit_scope_names();
    void fit_frames();
    bool fit_locations(const frame_info& frame);
    void fit_nodes();
    bool add_weight(std::uint64_t weight, share of);
    void cut_names(trace_tables& tables, std::uint64_t& cut) const;

    const trace_tables& tables_;
    format::table_limits limits_;
    bool counts_texts_ = false;  // there may be too many
    std::unordered_set<std::string_view> texts_;
    std::uint64_t texts_bytes_ = 0;
    std::uint64_t weight_ = 0;
    std::uint64_t locations_ = 0;
    std::size_t modules_ = 0;
    std::size_t scope_names_ = 0;
    std::size_t frames_ = 0;
    std::size_t located_frames_ = 0;  // later ones lose their locations
    std::size_t nodes_ = 0;
    bool whole_ = true;
};

/// Shortens the header's command to what a trace holds. Returns whether it had to.
bool fit_command(trace_header& header);

}  // namespace acre::tool
