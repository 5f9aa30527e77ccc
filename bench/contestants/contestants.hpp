// Everyone who enters: one function and one source file each. bench/CMakeLists.txt builds those whose library is
// installed and lists the others as missing.
#pragma once

#include "../harness.hpp"

namespace bench {

void enter_loop_alone(suite& entries);
void enter_standard(suite& entries);
void enter_handwritten(suite& entries);
void enter_published(suite& entries);
void enter_boost(suite& entries);
void enter_foonathan(suite& entries);
void enter_mimalloc(suite& entries);
/// jemalloc, tcmalloc, oneTBB, and mimalloc and snmalloc of today: those that are there.
void enter_malloc_libraries(suite& entries);
void enter_llvm(suite& entries);
void enter_acre(suite& entries);
/// Calls of acre's multi-arenas whose instructions are counted one by one.
void enter_multi_arena_paths(suite& entries);
/// acre's pools for threads in shared libraries.
void enter_shared_libraries(suite& entries);
/// W6 (c), compiled at two levels of optimisation.
void enter_vector_growth_o2(suite& entries);
void enter_vector_growth_o3(suite& entries);

/// Everybody that this build has.
void enter_all(suite& entries);

}  // namespace bench
