// The rules: the candidate for a group of allocations, by the figures of their lives (docs/advise_rules.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "advice.hpp"
#include "group.hpp"
#include "thresholds.hpp"

namespace acre::tool {

struct ruling {
    verdict candidate = verdict::leave;
    std::string reason;  // why the candidate is `leave`
};

/// The escape depth is the number of functions between the allocating one and the owner of the lifetimes. This value
/// stands for objects that are never freed or have no owner.
inline constexpr std::uint32_t no_owner = std::numeric_limits<std::uint32_t>::max();

/// Objects that hardly use memory again and that no arena suits: neither short-lived, nor kept to the end.
bool has_no_pattern(const group_figures& figures);

/// For allocations that no scope serves. `escape_depth` is the largest of the group.
ruling rule_for_site(const group_figures& figures, std::uint32_t escape_depth);

/// For allocations that a function owns, with regular generations.
ruling rule_for_scope(const group_figures& figures, const generation_figures& generations, std::uint32_t escape_depth);

/// For containers that grow, or are made anew again and again. `may_be_kept`: one at a time, and in one function.
/// `leave` without a reason where the program has nothing to leave out.
ruling rule_for_buffers(const growth_figures& figures, bool may_be_kept);

/// For a sample of the allocations: only the rules that do not need all of them.
ruling rule_for_sample(const group_figures& figures);

}  // namespace acre::tool
