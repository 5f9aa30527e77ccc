// Scripts in a fresh state. The first argument names the script, the second the memory.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/lua.hpp>
#include <lua5.4/lua.hpp>

#include "measure.hpp"

namespace {

constexpr const char* allocating = R"(
    local function tree(depth)
        if depth == 0 then return {} end
        return { tree(depth - 1), tree(depth - 1) }
    end
    local function count(node) return node[1] and 1 + count(node[1]) + count(node[2]) or 1 end
    local total = 0
    local long = tree(13)
    for _ = 1, 60 do total = total + count(tree(9)) end
    local people = {}
    for i = 1, 20000 do people[i] = { name = "person " .. i, age = i % 90, friends = {} } end
    for i = 2, #people do people[i].friends[1] = people[i - 1] end
    assert(count(long) == 16383 and total == 60 * 1023)
)";

// Numbers, loops, string matching: what scripts mostly do.
constexpr const char* typical = R"(
    local words = {}
    local text = ("the quick brown fox jumps over the lazy dog "):rep(400)
    for word in text:gmatch("%a+") do words[word] = (words[word] or 0) + 1 end
    local sieve, primes = {}, 0
    for i = 2, 60000 do sieve[i] = true end
    for i = 2, 60000 do
        if sieve[i] then
            primes = primes + 1
            for j = i * i, 60000, i do sieve[j] = false end
        end
    end
    local x, y, sum = 0.1, 0.2, 0
    for i = 1, 300000 do
        x, y = x * 0.99 + y * 0.01, y - x * 0.001
        sum = sum + x * y
    end
    local parts = {}
    for i = 1, 3000 do parts[i] = string.format("%d:%s", i, i % 2 == 0 and "even" or "odd") end
    table.sort(parts)
    assert(primes == 6057 and words.the == 800 and #table.concat(parts, ",") > 0 and sum == sum)
)";

void play(lua_State* state, const char* script) {
    luaL_openlibs(state);
    if (luaL_dostring(state, script) != LUA_OK) std::exit((std::puts(lua_tostring(state, -1)), 1));
    lua_close(state);
}

template <class R>
int measure(const char* script) {
    R memory;
    return acre_bench::measure([&] { play(lua_newstate(acre::lua_allocate<R>, &memory), script); });
}

}  // namespace

int main(int, char** arguments) {
    const char* script = arguments[1] == std::string_view{"typical"} ? typical : allocating;
    const std::string_view memory = arguments[2];
    if (memory == "default") return acre_bench::measure([=] { play(luaL_newstate(), script); });
    if (memory == "multi_pool") return measure<acre::multi_pool>(script);
    if (memory == "limited") {
        using budget = acre::limited<acre::multi_pool>;
        budget below{{.limit_bytes = std::size_t{1} << 30}};
        return acre_bench::measure([&] { play(lua_newstate(acre::lua_allocate<budget>, &below), script); });
    }
    acre_bench::unknown(memory);
}
