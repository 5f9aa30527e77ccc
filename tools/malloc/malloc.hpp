// What the files of libacre-malloc share.
#pragma once

#include <acre/heaps/detail/process_heap.hpp>

#define ACRE_EXPORTED [[gnu::visibility("default")]]
