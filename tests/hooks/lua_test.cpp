// Lua on acre: scripts run, memory is limited, and every request may fail.
#include <gtest/gtest.h>

#include <acre/acre.hpp>
#include <acre/adapt/hooks/lua.hpp>
#include <lua5.4/lua.hpp>
#include <string>

#include "hooks/each_request_fails.hpp"

namespace {

using acre_test::checking_upstream;

// Tables, closures, strings, coroutines, userdata, errors and the collector.
constexpr const char* script = R"(
    local words = {}
    for i = 1, 300 do words[i] = ("word %d"):format(i) end
    local joined = table.concat(words, " ")
    local counts = {}
    for word in joined:gmatch("%a+ %d+") do counts[word] = (counts[word] or 0) + #word end
    local squares = coroutine.wrap(function() for i = 1, 20 do coroutine.yield(i * i) end end)
    local sum = 0
    for _ = 1, 20 do sum = sum + squares() end
    assert(not pcall(error, { reason = "meant" }))
    collectgarbage()
    local n = 0
    for _ in pairs(counts) do n = n + 1 end
    return n, sum, #joined
)";

int run_script(lua_State* state) {
    luaL_openlibs(state);
    if (luaL_loadstring(state, script) != LUA_OK) return lua_error(state);
    lua_call(state, 0, 3);
    return 3;
}

// LUA_OK, or what Lua says where memory ends.
template <class R>
int play(R& memory) {
    lua_State* state = lua_newstate(acre::lua_allocate<R>, &memory);
    if (state == nullptr) return LUA_ERRMEM;
    lua_pushcfunction(state, run_script);
    const int result = lua_pcall(state, 0, 3, 0);
    if (result == LUA_OK) {
        EXPECT_EQ(lua_tointeger(state, 1), 300);
        EXPECT_EQ(lua_tointeger(state, 2), 2870);
        EXPECT_EQ(lua_tointeger(state, 3), 2591);
    }
    lua_close(state);
    return result;
}

template <class R>
class lua : public testing::Test {};
using resources = testing::Types<acre::heap, acre::arena, acre::multi_pool, acre::concurrent_multi_pool,
                                 acre::recycling<acre::arena>, checking_upstream>;
TYPED_TEST_SUITE(lua, resources);

TYPED_TEST(lua, runs_a_script) {
    TypeParam memory;
    EXPECT_EQ(play(memory), LUA_OK);
}

TEST(lua_state, gives_everything_back) {
    acre::multi_pool memory;
    play(memory);
    EXPECT_EQ(memory.live(), 0u);
}

TEST(lua_state, a_limited_state_gets_luas_error) {
    acre::limited<acre::multi_pool> memory{{.limit_bytes = 100'000}};
    lua_State* state = lua_newstate(acre::lua_allocate<acre::limited<acre::multi_pool>>, &memory);
    ASSERT_NE(state, nullptr);
    luaL_openlibs(state);
    ASSERT_EQ(luaL_loadstring(state, "local t = {} for i = 1, 1e7 do t[i] = {} end"), LUA_OK);
    EXPECT_EQ(lua_pcall(state, 0, 0, 0), LUA_ERRMEM);
    EXPECT_STREQ(lua_tostring(state, -1), "not enough memory");
    lua_settop(state, 0);
    lua_gc(state, LUA_GCCOLLECT);
    EXPECT_EQ(luaL_dostring(state, "return 1"), LUA_OK) << "the state goes on";
    EXPECT_LE(memory.peak_bytes(), 100'000u);
    lua_close(state);
    EXPECT_EQ(memory.live_bytes(), 0u);
}

TEST(lua_state, each_request_fails) {
    acre_test::each_request_fails([](checking_upstream& memory) {
        const int result = play(memory);
        EXPECT_TRUE(result == LUA_OK || result == LUA_ERRMEM) << result;
    });
}

}  // namespace
