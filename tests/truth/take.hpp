// How the truth program takes memory: TAKE and GIVE name the functions, by default malloc and free.
#pragma once

#include <cstddef>
#include <cstdlib>

#ifndef TAKE
#define TAKE std::malloc
#define GIVE std::free
#endif

/// Wrappers as programs have them: one pair named like malloc, one pair not.
void* xmalloc(std::size_t bytes);
void xfree(void* memory);
void* get_block(std::size_t bytes);
void put_block(void* memory);
