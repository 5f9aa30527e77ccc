// Where the game's memory comes from: the only difference between the two programs.
//
//   orcs_vs_elves        new, delete and the standard containers' own allocator
//   orcs_vs_elves_acre   the types that `acre advise` names for orcs_vs_elves
//
// Both define the same names: GAME_POOLED(T), frame_memory, frame_vector<T> and frame_string.
#pragma once

#ifdef GAME_WITH_ACRE
#include "memory_acre.hpp"
#else
#include "memory_plain.hpp"
#endif
