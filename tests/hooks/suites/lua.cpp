// Linked into a Lua for its own tests, by scripts/suites: the states allocate by acre::lua_allocate from a pool with
// ACRE_HOOK in the environment, and from malloc without it.
#include <acre/adapt/hooks/lua.hpp>
#include <acre/pools/multi_pool.hpp>
#include <cstddef>
#include <cstdlib>

struct lua_State;

namespace {

bool is_hooked() {
    static const bool hooked = std::getenv("ACRE_HOOK") != nullptr;
    return hooked;
}

void* allocate(void*, void* p, std::size_t old_bytes, std::size_t new_bytes) {
    // Never destroyed: os.exit leaves states open.
    static auto* pool = new acre::multi_pool;
    if (is_hooked()) return acre::lua_allocate<acre::multi_pool>(pool, p, old_bytes, new_bytes);
    if (new_bytes != 0) return std::realloc(p, new_bytes);
    std::free(p);
    return nullptr;
}

}  // namespace

extern "C" {

// Of Lua's ltests.c, which counts and checks blocks above it.
void* acre_hook_allocate(std::size_t bytes) {
    return allocate(nullptr, nullptr, 0, bytes);
}
void acre_hook_free(void* p, std::size_t bytes) {
    allocate(nullptr, p, bytes, 0);
}

// In place of lua_newstate where the linker is told --wrap=lua_newstate.
using lua_allocator = void* (*)(void*, void*, std::size_t, std::size_t);
lua_State* __real_lua_newstate(lua_allocator, void*) __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)
lua_State* __wrap_lua_newstate(lua_allocator, void*) {                       // NOLINT(bugprone-reserved-identifier)
    return __real_lua_newstate(allocate, nullptr);
}
}
