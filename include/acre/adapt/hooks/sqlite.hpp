// SQLite's memory from this thread's resource (acre::ambient): the methods that SQLITE_CONFIG_MALLOC takes.
//
// Configure them first in main, then call sqlite3_initialize() outside of scopes: what SQLite keeps for the program
// must not lie in a scope's resource. Use acre::limited<acre::multi_pool> for a connection that may use so much memory
// and no more: a statement that needs more ends with SQLITE_NOMEM, and the connection goes on. SQLite's own limit
// (sqlite3_hard_heap_limit64) is one for the whole program, and needs SQLite's statistics, whose lock is taken at each
// allocation; with acre's, SQLITE_CONFIG_MEMSTATUS may be 0.
//
// Cost: that of acre::malloc_face<acre::ambient>, 16 bytes a block. Thread rules: a connection under a resource that
// threads do not share is used and closed in the thread that opened it. Connections to the same file share a record of
// SQLite's, so those of several threads need a resource that threads share; so does SQLite's shared cache.
// acre::ambient refuses what breaks this with a sentence.
//
//     using namespace acre::literals;
//     const sqlite3_mem_methods memory = acre::sqlite_memory();
//     sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);  // first in main
//     sqlite3_initialize();
//     acre::limited<acre::multi_pool> budget{{.limit_bytes = 8_MiB}};
//     acre::use_resource use{budget};
#pragma once

#include <sqlite3.h>

#include <acre/adapt/ambient.hpp>
#include <acre/adapt/malloc_face.hpp>
#include <cstddef>

namespace acre {

/// The methods of an R without state, this thread's resource if none is named. SQLite copies them.
template <stateless_resource R = ambient>
sqlite3_mem_methods sqlite_memory() noexcept {
    sqlite3_mem_methods methods{};
    methods.xMalloc = [](int bytes) noexcept { return malloc_face<R>{}.malloc(static_cast<std::size_t>(bytes)); };
    methods.xFree = [](void* p) noexcept { malloc_face<R>{}.free(p); };
    methods.xRealloc = [](void* p, int bytes) noexcept {
        return malloc_face<R>{}.realloc(p, static_cast<std::size_t>(bytes));
    };
    methods.xSize = [](void* p) noexcept { return static_cast<int>(malloc_face<R>{}.usable_size(p)); };
    // SQLite never asks for more than 2 GiB less 256 bytes.
    methods.xRoundup = [](int bytes) noexcept { return (bytes + 7) / 8 * 8; };
    methods.xInit = [](void*) noexcept { return SQLITE_OK; };
    methods.xShutdown = [](void*) noexcept {};
    return methods;
}

}  // namespace acre
