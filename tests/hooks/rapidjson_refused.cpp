// What RapidJSON's hook refuses when it is compiled. Case 0 compiles.
#include <acre/adapt/hooks/rapidjson.hpp>
#include <acre/arenas/arena.hpp>
#include <acre/core/resource_ref.hpp>

acre::rapidjson_allocator<acre::arena> of_an_arena;

#if ACRE_TEST_CASE == 1
void of_a_resource_without_a_reset(acre::resource_ref memory) {
    acre::rapidjson_allocator<acre::resource_ref> refused{memory};
}
#endif
