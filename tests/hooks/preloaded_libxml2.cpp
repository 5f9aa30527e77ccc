// Preloaded into a program that uses libxml2: puts all of it on a pool, as acre::use_in_libxml2 would in its main.
#include <acre/acre.hpp>
#include <acre/adapt/hooks/libxml2.hpp>

namespace {

[[gnu::constructor]] void begin() {
    acre::use_in_libxml2();
    // Never destroyed: the program frees at its end.
    static auto* use = new acre::use_resource(*new acre::multi_pool);
    (void)use;
}

}  // namespace
