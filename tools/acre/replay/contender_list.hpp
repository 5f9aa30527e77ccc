// The contenders that a person names: "arena,multi_arena:count=64,bytes=16K,peers".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comparison.hpp"

namespace acre::tool {

/// A contender, and whether it was named itself; else it is there with its group, which is no reason to fail without
/// it.
struct named_contender {
    contender which;
    bool by_name = true;
};

/// Names of resources and groups, separated by commas; after a colon the parameters of a resource, separated by commas
/// as well. What is named twice is there once, and the system's malloc, which takes part in every replay, is not.
/// Throws tool_error with a sentence.
std::vector<named_contender> parse_contenders(const std::string& list);

/// What the list names, less what is not installed here: installed_contenders("preloads") are the other mallocs there
/// are.
std::vector<contender> installed_contenders(const std::string& list);

/// The name as it would be written there: "multi_arena:count=64,bytes=16K".
std::string contender_text(const contender& which);

/// All names that can be listed, of groups and of resources, each with what it stands for.
std::vector<std::pair<std::string_view, std::string_view>> contender_names();

/// The groups and what they stand for, a line each.
std::string groups_text();

}  // namespace acre::tool
