// The rules: what suits a group of allocations, by what their lives look like. docs/advise.md says them in words.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "advice.hpp"
#include "group.hpp"

namespace acre::tool {

/// What a rule says, and of `leave` why.
struct ruling {
    verdict suits = verdict::leave;
    std::string reason;
};

/// Functions between the place that allocates and the one that owns the lifetimes; of what is never freed, this.
inline constexpr std::uint32_t escapes = std::numeric_limits<std::uint32_t>::max();

/// What suits allocations that no scope serves. `escape_depth` is the largest of them.
ruling rule_for_site(const group_figures& figures, std::uint32_t escape_depth);

/// What suits the allocations that a function owns, whose generations are known to be regular.
ruling rule_for_scope(const group_figures& figures, const generation_figures& generations, std::uint32_t escape_depth);

/// The rules that also hold for a sample of the allocations.
ruling rule_for_sample(const group_figures& figures);

}  // namespace acre::tool
