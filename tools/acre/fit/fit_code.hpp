// The code to paste for what was found, in C++.
#pragma once

#include <string>

#include "fit.hpp"

namespace acre::tool {

/// Whether an arena that is reset whenever nothing is left in it serves nearly all; if not, it is never reset.
bool dies_together(const census& of);

/// `first_block_bytes` of the arena that suits.
std::uint64_t arena_block_bytes(const census& of);

std::string multi_arena_code(const acre::multi_arena_fit& pair, bool several_threads);
std::string concurrent_multi_arena_code(const acre::multi_arena_fit& pair);
std::string arena_code(const census& of);

/// Of the size that takes most.
std::string pool_code(const size_use& of);
std::string typed_arena_code(const size_use& of);

}  // namespace acre::tool
