// How the truth program takes memory: TAKE and GIVE name the functions, malloc and free when nothing else is said.
#pragma once

#include <cstddef>
#include <cstdlib>

#ifndef TAKE
#define TAKE std::malloc
#define GIVE std::free
#endif

/// Wrappers as programs have them: named like malloc, and not.
void* xmalloc(std::size_t bytes);
void xfree(void* memory);
void* get_block(std::size_t bytes);
void put_block(void* memory);
