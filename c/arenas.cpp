// acre_arena and acre_concurrent_arena.
#include <acre/arenas/arena.hpp>
#include <acre/arenas/concurrent_arena.hpp>
#include <bit>
#include <cstddef>
#include <cstring>

#include "resource.hpp"

struct acre_arena final : acre_c::holding<acre_c::handle<acre_c::handle_kind::arena>, acre::arena> {
    using holding::holding;
};
struct acre_concurrent_arena final
    : acre_c::holding<acre_c::handle<acre_c::handle_kind::concurrent_arena>, acre::concurrent_arena> {
    using holding::holding;
};

namespace acre_c {
namespace {

acre::reset_policy policy_of(acre_keep keep) noexcept {
    switch (keep) {
        case ACRE_KEEP_LARGEST:
            return acre::keep_largest;
        case ACRE_KEEP_NOTHING:
            return acre::release;
        default:
            return acre::keep_all;
    }
}

static_assert(sizeof(acre::arena::mark_type) <= sizeof(acre_mark));
static_assert(std::is_trivially_copyable_v<acre::arena::mark_type>);

}  // namespace
}  // namespace acre_c

acre_arena* acre_arena_create(const acre_arena_options* options) {
    return acre_c::guarded([=] {
        const acre_arena_options asked = acre_c::given(options);
        acre_c::require_reserved_are_zero(acre::arena::name, asked.reserved);
        return new acre_arena(asked.upstream,
                              acre::arena_options{.first_block_bytes = asked.first_block_bytes,
                                                  .max_block_bytes = asked.max_block_bytes,
                                                  .limit_bytes = acre_c::limit_or_none(asked.limit_bytes),
                                                  .fixed_bytes = asked.fixed_bytes});
    });
}

void acre_arena_destroy(acre_arena* arena) {
    acre_c::destroy(arena);
}

void* acre_arena_allocate(acre_arena* arena, std::size_t bytes, std::size_t alignment) {
    if (acre_c::is_null(arena)) return nullptr;
    return acre_c::guarded([=] { return arena->held.allocate(bytes, acre_c::alignment_or_default(alignment)); });
}

void* acre_arena_allocate_array(acre_arena* arena, std::size_t count, std::size_t size, std::size_t alignment) {
    return acre_arena_allocate(arena, acre::array_bytes(count, size).value_or(SIZE_MAX), alignment);
}

char* acre_arena_copy(acre_arena* arena, const char* text) {
    if (acre_c::is_null(arena)) return nullptr;
    if (text == nullptr) {
        return acre_c::guarded([]() -> char* {
            acre::require_option(false, acre::arena::name, "text", 0, "a pointer that is not null");
            return nullptr;
        });
    }
    const std::size_t bytes = std::strlen(text) + 1;
    void* copy = acre_arena_allocate(arena, bytes, 1);
    return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, bytes));
}

bool acre_arena_resize(acre_arena* arena, void* p, std::size_t old_bytes, std::size_t new_bytes) {
    return acre_c::resize(arena, p, old_bytes, new_bytes);
}

acre_mark acre_arena_mark(const acre_arena* arena) {
    acre_mark marked{};
    if (acre_c::is_null(arena)) return marked;
    const acre::arena::mark_type here = arena->held.mark();
    std::memcpy(&marked, &here, sizeof here);
    return marked;
}

void acre_arena_rewind(acre_arena* arena, acre_mark mark) {
    if (acre_c::is_null(arena)) return;
    acre_c::require_unused(*arena, "rewound while another resource takes memory from it");
    std::byte bytes[sizeof(acre::arena::mark_type)];
    std::memcpy(bytes, &mark, sizeof bytes);
    arena->held.rewind(std::bit_cast<acre::arena::mark_type>(bytes));
}

void acre_arena_reset(acre_arena* arena, acre_keep keep) {
    if (acre_c::is_null(arena) || !acre_c::is_keep(keep, acre::arena::name)) return;
    acre_c::reset(arena, acre_c::policy_of(keep));
}

acre_resource* acre_arena_resource(acre_arena* arena) {
    return acre_c::resource_of(arena);
}

acre_concurrent_arena* acre_concurrent_arena_create(const acre_concurrent_arena_options* options) {
    return acre_c::guarded([=] {
        const acre_concurrent_arena_options asked = acre_c::given(options);
        acre_c::require_reserved_are_zero(acre::concurrent_arena::name, asked.reserved);
        acre::concurrent_arena_options chosen{.first_block_bytes = asked.first_block_bytes,
                                              .max_block_bytes = asked.max_block_bytes,
                                              .limit_bytes = acre_c::limit_or_none(asked.limit_bytes)};
        if (asked.window_bytes != 0) chosen.window_bytes = asked.window_bytes;
        return new acre_concurrent_arena(asked.upstream, chosen);
    });
}

void acre_concurrent_arena_destroy(acre_concurrent_arena* arena) {
    acre_c::destroy(arena);
}

void* acre_concurrent_arena_allocate(acre_concurrent_arena* arena, std::size_t bytes, std::size_t alignment) {
    return acre_c::allocate(arena, bytes, alignment);
}

void acre_concurrent_arena_reset(acre_concurrent_arena* arena, acre_keep keep) {
    if (acre_c::is_null(arena) || !acre_c::is_keep(keep, acre::concurrent_arena::name)) return;
    acre_c::reset(arena, acre_c::policy_of(keep));
}

acre_resource* acre_concurrent_arena_resource(acre_concurrent_arena* arena) {
    return acre_c::resource_of(arena);
}
