// acre_multi_arena and acre_concurrent_multi_arena.
#include <acre/arenas/concurrent_multi_arena.hpp>
#include <acre/arenas/multi_arena.hpp>

#include "resource.hpp"

struct acre_multi_arena final : acre_c::holding<acre_c::handle<acre_c::handle_kind::multi_arena>, acre::multi_arena> {
    using holding::holding;
};
struct acre_concurrent_multi_arena final
    : acre_c::holding<acre_c::handle<acre_c::handle_kind::concurrent_multi_arena>, acre::concurrent_multi_arena> {
    using holding::holding;
};

acre_multi_arena* acre_multi_arena_create(const acre_multi_arena_options* options) {
    return acre_c::guarded([=] {
        const acre_multi_arena_options asked = acre_c::given(options);
        acre_c::require_reserved_are_zero(acre::multi_arena::name, asked.reserved);
        acre::multi_arena_options chosen{.arenas = asked.arenas, .bytes = asked.bytes, .open = asked.open};
        if (asked.takes_runs) chosen.large = acre::large_requests::take_run;
        chosen.report_live = asked.report_live;
        return new acre_multi_arena(asked.upstream, chosen);
    });
}

void acre_multi_arena_destroy(acre_multi_arena* arenas) {
    acre_c::destroy(arenas);
}

void* acre_multi_arena_allocate(acre_multi_arena* arenas, std::size_t bytes, std::size_t alignment) {
    return acre_c::allocate(arenas, bytes, alignment);
}

void acre_multi_arena_free(acre_multi_arena* arenas, void* p, std::size_t bytes, std::size_t alignment) {
    acre_c::deallocate(arenas, p, bytes, alignment);
}

bool acre_multi_arena_resize(acre_multi_arena* arenas, void* p, std::size_t old_bytes, std::size_t new_bytes) {
    return acre_c::resize(arenas, p, old_bytes, new_bytes);
}

void acre_multi_arena_reset(acre_multi_arena* arenas) {
    acre_c::reset(arenas);
}

std::size_t acre_multi_arena_busy(const acre_multi_arena* arenas) {
    return acre_c::is_null(arenas) ? 0 : arenas->held.busy_arenas();
}

acre_resource* acre_multi_arena_resource(acre_multi_arena* arenas) {
    return acre_c::resource_of(arenas);
}

acre_concurrent_multi_arena* acre_concurrent_multi_arena_create(const acre_multi_arena_options* options) {
    return acre_c::guarded([=] {
        constexpr const char* name = acre::concurrent_multi_arena::name;
        const acre_multi_arena_options asked = acre_c::given(options);
        acre_c::require_reserved_are_zero(name, asked.reserved);
        acre::require_option(asked.open == 0, name, "open", asked.open, "0 for arenas of all threads");
        acre::require_option(!asked.takes_runs, name, "takes_runs", 1, "false for arenas of all threads");
        acre::concurrent_multi_arena_options chosen{.arenas = asked.arenas, .bytes = asked.bytes};
        chosen.report_live = asked.report_live;
        return new acre_concurrent_multi_arena(asked.upstream, chosen);
    });
}

void acre_concurrent_multi_arena_destroy(acre_concurrent_multi_arena* arenas) {
    acre_c::destroy(arenas);
}

void* acre_concurrent_multi_arena_allocate(acre_concurrent_multi_arena* arenas, std::size_t bytes,
                                           std::size_t alignment) {
    return acre_c::allocate(arenas, bytes, alignment);
}

void acre_concurrent_multi_arena_free(acre_concurrent_multi_arena* arenas, void* p, std::size_t bytes,
                                      std::size_t alignment) {
    acre_c::deallocate(arenas, p, bytes, alignment);
}

bool acre_concurrent_multi_arena_resize(acre_concurrent_multi_arena* arenas, void* p, std::size_t old_bytes,
                                        std::size_t new_bytes) {
    return acre_c::resize(arenas, p, old_bytes, new_bytes);
}

void acre_concurrent_multi_arena_reset(acre_concurrent_multi_arena* arenas) {
    acre_c::reset(arenas);
}

std::size_t acre_concurrent_multi_arena_busy(const acre_concurrent_multi_arena* arenas) {
    return acre_c::is_null(arenas) ? 0 : arenas->held.busy_arenas();
}

acre_resource* acre_concurrent_multi_arena_resource(acre_concurrent_multi_arena* arenas) {
    return acre_c::resource_of(arenas);
}
