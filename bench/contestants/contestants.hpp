// All contestants: one function and one source file each. bench/CMakeLists.txt builds those whose library is installed
// and lists the others as missing.
#pragma once

#include "../harness.hpp"

namespace bench {

void add_loop_alone(suite& entries);
void add_standard(suite& entries);
void add_handwritten(suite& entries);
void add_published(suite& entries);
void add_boost(suite& entries);
void add_foonathan(suite& entries);
void add_mimalloc(suite& entries);
/// jemalloc, tcmalloc, oneTBB, current mimalloc and current snmalloc: those installed.
void add_malloc_libraries(suite& entries);
void add_llvm(suite& entries);
void add_acre(suite& entries);
/// Calls of acre's multi-arenas, whose instructions are counted one by one.
void add_multi_arena_paths(suite& entries);
void add_realtime_heap_paths(suite& entries);
/// acre's pools for threads in shared libraries.
void add_shared_libraries(suite& entries);
/// W6 (c), compiled at two levels of optimisation.
void add_vector_growth_o2(suite& entries);
void add_vector_growth_o3(suite& entries);

/// All contestants in this build.
void add_all(suite& entries);

}  // namespace bench
