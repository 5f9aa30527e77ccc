#include <sqlite3.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/sqlite.hpp>
#include <cstdio>

using namespace acre::literals;

int main() {
    const sqlite3_mem_methods memory = acre::sqlite_memory();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);  // acre counts
    sqlite3_initialize();                        // what SQLite keeps lies in the heap

    acre::limited<acre::multi_pool> budget{{.limit_bytes = 1_MiB}};
    {
        const acre::use_resource use{budget};
        sqlite3* database = nullptr;
        sqlite3_open(":memory:", &database);
        const int small =
            sqlite3_exec(database, "CREATE TABLE t(x); INSERT INTO t VALUES (1)", nullptr, nullptr, nullptr);
        const int large = sqlite3_exec(database, "SELECT zeroblob(10000000)", nullptr, nullptr, nullptr);
        std::printf("a small statement: %s\na large statement: %s\n", sqlite3_errstr(small), sqlite3_errstr(large));
        sqlite3_close(database);
    }
    std::printf("%zu bytes live at the end\n", budget.live_bytes());
    sqlite3_shutdown();
}
