// The contenders that a user names, as in "arena,multi_arena:count=64,bytes=16K,peers", and the list of all there are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comparison.hpp"
#include "sequence.hpp"

namespace acre::tool {

/// A contender. `by_name`: the user named it, not only its group. Members of a group that cannot play are left out.
struct named_contender {
    contender which;
    bool by_name = true;
};

/// `list`: names of resources and groups, separated by commas. A resource's parameters follow a colon and are separated
/// by commas as well. Duplicates are dropped, and so is the system's malloc, which takes part in every replay. Throws
/// tool_error.
std::vector<named_contender> parse_contenders(const std::string& list);

/// The contenders of a list that are installed here. With "preloads": all installed mallocs but the system's.
std::vector<contender> installed_contenders(const std::string& list);

/// A contender as it is written in a list: "multi_arena:count=64,bytes=16K".
std::string contender_text(const contender& which);

/// The names of all groups and resources, each with its description.
std::vector<std::pair<std::string_view, std::string_view>> contender_names();

/// The groups with their descriptions, one line each.
std::string groups_text();

/// Why a contender cannot be played on this machine, or cannot play the sequence; empty if it can.
std::string not_here(const contender& which);
std::string not_for(const contender& which, const sequence_view& sequence);

/// What `acre replay --list` prints: every resource, and whether it can play the sequence. Null: no sequence.
std::string resources_text(const sequence_view* sequence);
nlohmann::json resources_json(const sequence_view* sequence);

}  // namespace acre::tool
