#pragma once
#include <acre/heaps/detail/process_heap.hpp>
