// The resources that a trace can be replayed over, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sequence.hpp"
#include "trial.hpp"

namespace acre::tool {

/// A resource under its name.
struct resource_entry {
    std::string_view name;
    std::string_view description;
    trial_result (*play)(const sequence_view&, const trial_request&);
};

/// All of them; the first is the system's malloc, the second the empty loop.
std::span<const resource_entry> resources();

inline constexpr std::uint32_t system_number = 0;
inline constexpr std::uint32_t loop_number = 1;

/// Number of the resource of that name; throws tool_error with the known names where there is none.
std::uint32_t resource_number(std::string_view name);

}  // namespace acre::tool
