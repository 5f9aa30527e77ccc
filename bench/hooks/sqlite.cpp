// A database in memory is made, changed and asked, under a hard limit. The argument names the memory.
#include <sqlite3.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/sqlite.hpp>

#include "measure.hpp"

namespace {

constexpr long limit_bytes = 64 << 20;

constexpr const char* once = R"(
    CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT, size INT);
    BEGIN;
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
        INSERT INTO words SELECT n, 'word ' || hex(n * 7919), n % 997 FROM numbers;
    CREATE INDEX by_size ON words(size);
    COMMIT;
    UPDATE words SET word = word || word WHERE size % 7 = 3;
    SELECT size, group_concat(word) FROM words GROUP BY size ORDER BY 2;
)";

// And short statements, prepared each time, as most programs do.
void work() {
    sqlite3* database = nullptr;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK) std::exit(1);
    if (sqlite3_exec(database, once, nullptr, nullptr, nullptr) != SQLITE_OK) std::exit(1);
    for (int i = 0; i < 3000; ++i) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(database, "SELECT word, size FROM words WHERE id = ?1 AND size < 2000", -1, &statement,
                               nullptr) != SQLITE_OK) {
            std::exit(1);
        }
        sqlite3_bind_int(statement, 1, i * 5 + 1);
        if (sqlite3_step(statement) != SQLITE_ROW) std::exit(1);
        sqlite3_finalize(statement);
    }
    sqlite3_close(database);
}

}  // namespace

int main(int, char** arguments) {
    const std::string_view memory = arguments[1];
    if (memory == "default" || memory == "default_limited") {
        if (memory == "default_limited") sqlite3_hard_heap_limit64(limit_bytes);
        return acre_bench::measure(work);
    }
    const sqlite3_mem_methods methods = acre::sqlite_memory();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    // The limit is acre's, so that SQLite need not count.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize();
    if (memory == "limited_multi_pool") {
        acre::limited<acre::multi_pool> budget{{.limit_bytes = limit_bytes}};
        const acre::use_resource use{budget};
        return acre_bench::measure(work);
    }
    if (memory == "heap") return acre_bench::measure(work);
    acre_bench::unknown(memory);
}
