// SQLite on acre: databases, limited connections, and every request may fail.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/sqlite.hpp>
#include <string>
#include <thread>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

class sqlite_on_acre : public testing::Environment {
public:
    void SetUp() override {
        const sqlite3_mem_methods memory = acre::sqlite_memory();
        ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &memory), SQLITE_OK);
        ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0), SQLITE_OK);
        ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
    }
    void TearDown() override { sqlite3_shutdown(); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new sqlite_on_acre);

constexpr const char* statements = R"(
    CREATE TABLE words(id INTEGER PRIMARY KEY, word TEXT, size INT);
    BEGIN;
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)
        INSERT INTO words SELECT n, 'word ' || hex(n * 7919), n % 17 FROM numbers;
    CREATE INDEX by_word ON words(word);
    COMMIT;
    UPDATE words SET word = word || word WHERE size = 3;
    DELETE FROM words WHERE size = 4;
    SELECT a.word, count(*) FROM words a JOIN words b ON a.size = b.size GROUP BY a.word ORDER BY 2, 1;
)";

// SQLITE_OK, or what SQLite says where memory ends.
int work(const char* text = statements) {
    sqlite3* database = nullptr;
    int result = sqlite3_open(":memory:", &database);
    if (result == SQLITE_OK) result = sqlite3_exec(database, text, nullptr, nullptr, nullptr);
    EXPECT_EQ(sqlite3_close(database), SQLITE_OK);
    return result;
}

template <class R>
class sqlite : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, checking_upstream>;
TYPED_TEST_SUITE(sqlite, resources);

TYPED_TEST(sqlite, works_in_a_scope) {
    TypeParam memory;
    const acre::use_resource use{memory};
    EXPECT_EQ(work(), SQLITE_OK);
}

TEST(sqlite_connection, a_hard_limit_for_each) {
    using budget = acre::limited<acre::multi_pool>;
    budget small{{.limit_bytes = 70'000}};
    budget large{{.limit_bytes = 10'000'000}};
    {
        const acre::use_resource use{large};
        EXPECT_EQ(work(), SQLITE_OK);
    }
    {
        const acre::use_resource use{small};
        EXPECT_EQ(work(), SQLITE_NOMEM);
        EXPECT_EQ(work("SELECT 1"), SQLITE_OK) << "SQLite goes on";
    }
    EXPECT_LE(small.peak_bytes(), 70'000u);
    EXPECT_EQ(small.live_bytes(), 0u);
    EXPECT_EQ(large.live_bytes(), 0u);
}

TEST(sqlite_connection, one_resource_in_each_thread) {
    const auto in_a_thread = [] {
        acre::multi_pool memory;
        {
            const acre::use_resource use{memory};
            for (int round = 0; round < 3; ++round) EXPECT_EQ(work(), SQLITE_OK);
        }
        EXPECT_EQ(memory.live(), 0u);
    };
    std::thread other{in_a_thread};
    in_a_thread();
    other.join();
}

TEST(sqlite_connection, each_request_fails) {
    acre_test::each_request_fails([](checking_upstream& memory) {
        const acre::use_resource use{memory};
        const int result = work();
        EXPECT_TRUE(result == SQLITE_OK || result == SQLITE_NOMEM) << result;
    });
}

}  // namespace
