// The functions that pool_pairs.cpp exports, from the program and from each shared library.
#pragma once

#include <cstddef>

extern "C" {

void acre_static_pool_loop(std::size_t n);
void acre_static_pool_calls(std::size_t n);
void acre_concurrent_pool_loop(std::size_t n);
void acre_concurrent_pool_calls(std::size_t n);
}
