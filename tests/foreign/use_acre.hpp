// Put in front of a foreign test of std::pmr::unsynchronized_pool_resource (g++ -include): it then tests acre's.
//
// Such a test names the type in full and derives from it by its own name: only a macro reaches both, and acre's type must
// be declared under it.
#pragma once

#include <memory_resource>

#define unsynchronized_pool_resource acre_unsynchronized_pool_resource
#include <acre/adapt/pool_resource.hpp>

namespace std::pmr {
using ::acre::acre_unsynchronized_pool_resource;
}
