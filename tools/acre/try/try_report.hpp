// What `acre try` prints: a table for people, an object for machines.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "contest.hpp"

namespace acre::tool {

/// The numbers of the ways that took part and are no groups, least CPU time first; the program as it is leads its
/// equals.
std::vector<std::size_t> ranking(const contest_result& result);

/// The number of the way that groups are compared with; that of the program as it is where that one failed.
std::size_t base_of_groups(const contest_result& result);

/// The numbers of the groups that took part, least CPU time first.
std::vector<std::size_t> group_ranking(const contest_result& result);

/// Whether any way took part besides the program as it is.
bool has_comparison(const contest_result& result);

/// The tables, with their heads. Without groups that of the groups is empty.
std::vector<std::vector<std::string>> try_rows(const contest_result& result);
std::vector<std::vector<std::string>> try_group_rows(const contest_result& result);

/// What was run and compared, in a line. `command` is the program with its arguments.
std::string try_title(const contest_result& result, const std::vector<std::string>& command);

/// The sentences below the tables.
std::string try_answer(const contest_result& result, const std::vector<std::string>& command);

std::string try_text(const contest_result& result, const std::vector<std::string>& command);

nlohmann::json try_json(const contest_result& result, const std::vector<std::string>& command);

}  // namespace acre::tool
