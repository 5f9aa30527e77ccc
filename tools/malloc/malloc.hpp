// What the files of libacre-malloc and of libacre-plan share. The folders plain and planned each have a heap.hpp.
#pragma once

#include "heap.hpp"

#define ACRE_EXPORTED [[gnu::visibility("default")]]
