// The entries of resources(), by family; each family is a file of its own, for they take long to compile. All of them
// are constants: a process that plays a trial needs them before main.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "resources.hpp"

namespace acre::tool {

std::span<const resource_entry> system_resources();  // the first two are those of system_number and loop_number
std::span<const resource_entry> standard_resources();
std::span<const resource_entry> preloaded_resources();
std::span<const resource_entry> arena_resources();
std::span<const resource_entry> multi_arena_resources();
std::span<const resource_entry> pool_resources();
std::span<const resource_entry> sized_pool_resources();

inline constexpr std::uint64_t max_parameter = std::uint64_t{1} << 40;

/// Bytes of the largest block that the sequence asks for.
inline std::uint64_t largest_request(const sequence_view& sequence) {
    std::uint64_t largest = 1;
    for (const shape& each : sequence.shapes) largest = std::max(largest, each.bytes);
    return largest;
}

inline std::uint64_t largest_alignment(const sequence_view& sequence) {
    std::uint64_t largest = 1;
    for (const shape& each : sequence.shapes) largest = std::max(largest, each.alignment);
    return largest;
}

}  // namespace acre::tool
