// Included in front of a foreign test of the pool resources of std::pmr (g++ -include): the test then tests acre's.
//
// Such a test names the types in full, and also derives from them by their own names. Only macros reach both uses, and
// acre's types must be declared under these names.
#pragma once

#include <memory_resource>

#define unsynchronized_pool_resource acre_unsynchronized_pool_resource
#define synchronized_pool_resource acre_synchronized_pool_resource
#include <acre/adapt/pool_resource.hpp>

namespace std::pmr {
using ::acre::acre_synchronized_pool_resource;
using ::acre::acre_unsynchronized_pool_resource;
}  // namespace std::pmr
