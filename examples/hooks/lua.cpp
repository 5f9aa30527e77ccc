#include <acre/acre.hpp>
#include <acre/adapt/hooks/lua.hpp>
#include <cstdio>
#include <lua5.4/lua.hpp>

using namespace acre::literals;

int main() {
    using budget = acre::limited<acre::multi_pool>;
    budget memory{{.limit_bytes = 1_MiB}};
    lua_State* state = lua_newstate(acre::lua_allocate<budget>, &memory);
    luaL_openlibs(state);

    luaL_dostring(state, "print('hello from', _VERSION)");
    if (luaL_dostring(state, "local t = {} while true do t[#t + 1] = {} end") != LUA_OK) {
        std::printf("a greedy script: %s\n", lua_tostring(state, -1));
    }
    lua_close(state);
    std::printf("%zu bytes live at the end\n", memory.live_bytes());
}
