// The entries of resources(), by the file that has them.
#pragma once

#include <span>

namespace acre::tool {

struct resource_entry;

std::span<const resource_entry> other_resources();  // not acre's; begins with those of system_number and loop_number
std::span<const resource_entry> arena_resources();
std::span<const resource_entry> multi_arena_resources();
std::span<const resource_entry> pool_resources();
std::span<const resource_entry> slot_pool_resources();

}  // namespace acre::tool
