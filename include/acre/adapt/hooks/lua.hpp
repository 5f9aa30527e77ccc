// Lua's memory from any resource: the function that lua_newstate takes.
//
// Lua says how large a block is when it frees it, so that blocks need no header. Each state has its own resource, which
// must live longer than the state. Use acre::multi_pool: Lua asks for many small sizes. Put acre::limited around it for
// a state that may use so much memory and no more: a script that asks for more gets Lua's error "not enough memory".
//
// For Lua 5.4, which handles a block that cannot shrink. Lua 5.1 to 5.3 and LuaJIT require that shrinking succeeds:
// give them acre::multi_pool in acre::malloc_face. Cost: that of the resource. Thread rules: a state is used by one
// thread at a time, and so is its resource.
//
//     #include <lua5.4/lua.hpp>
//     acre::multi_pool memory;
//     lua_State* state = lua_newstate(acre::lua_allocate<acre::multi_pool>, &memory);
#pragma once

#include <acre/adapt/detail/reallocate.hpp>
#include <acre/core/resource.hpp>
#include <cstddef>

namespace acre {

namespace detail {
/// What Lua aligns its blocks to (LUAI_MAXALIGN): a number, an integer or a pointer.
inline constexpr std::size_t lua_alignment = alignof(double) > alignof(void*) ? alignof(double) : alignof(void*);
}  // namespace detail

/// A lua_Alloc over the R at `memory`: allocates, resizes or frees the block `p` of `old_bytes` bytes; null when there
/// is no memory, and for `new_bytes` of zero.
template <resource R>
void* lua_allocate(void* memory, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
    R& below = *static_cast<R*>(memory);
    // For a new block Lua passes a type in place of its size.
    if (p == nullptr) return new_bytes == 0 ? nullptr : below.try_allocate(new_bytes, detail::lua_alignment);
    if (new_bytes == 0) return below.deallocate(p, old_bytes, detail::lua_alignment), nullptr;
    return detail::reallocate(below, p, old_bytes, new_bytes, detail::lua_alignment);
}

}  // namespace acre
