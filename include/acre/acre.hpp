// All of acre. Including single headers instead compiles faster; every header stands alone.
#pragma once

#include <acre/adapt/allocator.hpp>
#include <acre/adapt/pmr.hpp>
#include <acre/adapt/smart_ptr.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/arenas/inline_arena.hpp>
#include <acre/arenas/reset_policy.hpp>
#include <acre/arenas/scratch.hpp>
#include <acre/arenas/typed_arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/exhaustion.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/core/size_literals.hpp>
#include <acre/memory/buffer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/memory/inline_buffer.hpp>
#include <acre/memory/no_memory.hpp>
#include <acre/memory/pmr_upstream.hpp>
#include <acre/observe/statistics.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/object_pool.hpp>
#include <acre/pools/pool.hpp>
