// Preloaded into a program that uses SQLite: puts all of it on a limited pool, as the program's main would.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/sqlite.hpp>

namespace {

[[gnu::constructor]] void begin() {
    const sqlite3_mem_methods memory = acre::sqlite_memory();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    // Never destroyed: the program frees at its end.
    static auto* use =
        new acre::use_resource(*new acre::limited<acre::multi_pool>{{.limit_bytes = std::size_t{64} << 20}});
    (void)use;
}

}  // namespace
