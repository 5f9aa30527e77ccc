// The resources of include/acre/heaps.
#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/heaps/general_heap.hpp>
#endif

#include "conformance/worlds.hpp"

namespace acre_test {

std::vector<subject_case> heap_subjects() {
#if ACRE_HAS_GENERAL_HEAP
    return {make_case<alone<acre::general_heap>>("general_heap")};
#else
    return {};
#endif
}

}  // namespace acre_test
