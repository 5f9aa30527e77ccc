// All of acre that the target has, but for what would make this header slow to compile:
//   acre/adapt/containers.hpp and acre/adapt/smart_ptr.hpp include the standard's containers and <memory>
//   acre/observe/checked*.hpp are for builds that look for misuse
//   acre/observe/describe.hpp, dump.hpp and gdb_printers.hpp show a resource in a log or a debugger
//   acre/adapt/ambient*.hpp, malloc_face.hpp and hooks/ are for other people's code
//   acre/memory/virtual_memory*.hpp, system_refused.hpp and acre/pools/hardened_*.hpp are for programs with special
//   needs of their memory
//   acre/heaps/general_heap.hpp needs the system's own headers
// Including single headers instead compiles faster; every header stands alone.
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/pool_resource.hpp>
#include <acre/adapt/pooled_frames.hpp>
#include <acre/adapt/string_hash.hpp>
#include <acre/adapt/unique_resource.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/arena_string.hpp>
#include <acre/arenas/arena_vector.hpp>
#include <acre/arenas/cursor.hpp>
#include <acre/arenas/fit_multi_arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/multi_arena.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/combine/fallback.hpp>
#include <acre/combine/limited.hpp>
#include <acre/combine/recycling.hpp>
#include <acre/combine/segregate.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/arguments_missing.hpp>
#include <acre/core/detail/left_out.hpp>
#include <acre/core/error.hpp>
#include <acre/core/exhaustion.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/realtime_heap.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/live_map.hpp>
#include <acre/observe/logged.hpp>
#include <acre/observe/recording.hpp>
#include <acre/observe/size_histogram.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/observe/traced.hpp>
#include <acre/pools/chunk_pool.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <acre/version.hpp>

#if ACRE_HAS_THREADS
#include <acre/adapt/pooled.hpp>
#include <acre/adapt/program_pools.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/thread_scratch.hpp>
#include <acre/combine/synchronized.hpp>
#include <acre/pools/concurrent_multi_pool.hpp>
#include <acre/pools/concurrent_object_pool.hpp>
#include <acre/pools/concurrent_pool.hpp>
#include <acre/pools/static_pool.hpp>
#include <acre/pools/wait_free_object_pool.hpp>
#include <acre/pools/wait_free_pool.hpp>
#endif
