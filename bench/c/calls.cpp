// The calls of calls.c to the C++ types, whose calls are inline; sizes are not known at compile time, as in C.
//
// Usage: calls NAME COUNT
#include <acre/acre.hpp>
#include <cstdlib>
#include <string_view>

namespace {

template <class Resource, class... Options>
void allocate_and_free(long count, const Options&... options) {
    Resource tested{options...};
    volatile std::size_t bytes = 64;
    for (long i = 0; i < count; ++i) {
        void* p = tested.allocate(bytes, acre::default_alignment);
        asm volatile("" : : "r"(p) : "memory");
        if constexpr (!requires { tested.reset(acre::keep_all); }) tested.deallocate(p, bytes, acre::default_alignment);
    }
}

template <class Pool>
void take_and_give(long count) {
    Pool tested;
    for (long i = 0; i < count; ++i) {
        void* p = tested.allocate();
        asm volatile("" : : "r"(p) : "memory");
        tested.deallocate(p);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::string_view name = argv[1];
    const long count = std::atol(argv[2]);
    if (name == "nothing") {
        volatile std::size_t bytes = 64;
        for (long i = 0; i < count; ++i) (void)bytes;
    }
    if (name == "arena") allocate_and_free<acre::arena>(count);
    if (name == "concurrent_arena") allocate_and_free<acre::concurrent_arena>(count);
    if (name == "pool") take_and_give<acre::pool<64>>(count);
    if (name == "concurrent_pool") take_and_give<acre::concurrent_pool<64>>(count);
    if (name == "multi_pool") allocate_and_free<acre::multi_pool>(count);
    if (name == "concurrent_multi_pool") allocate_and_free<acre::concurrent_multi_pool>(count);
    if (name == "multi_arena")
        allocate_and_free<acre::multi_arena>(count, acre::multi_arena_options{.arenas = 64, .bytes = 65536});
    if (name == "concurrent_multi_arena")
        allocate_and_free<acre::concurrent_multi_arena>(
            count, acre::concurrent_multi_arena_options{.arenas = 64, .bytes = 65536});
    return 0;
}
