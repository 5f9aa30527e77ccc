#include "fit_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/text.hpp"

namespace acre::tool {

namespace {

constexpr double max_outside_generations = 0.1;
constexpr const char* opening =
    "#include <acre/acre.hpp>\n"
    "using namespace acre::literals;\n";

std::string open_option(const acre::multi_arena_fit& pair) {
    return pair.open == 0 ? "" : fmt::format(", .open = {}", pair.open);
}

}  // namespace

bool dies_together(const census& of) {
    const auto inside = static_cast<double>(of.generations.objects);
    return of.generations.count > 1 && inside >= static_cast<double>(of.objects) * (1 - max_outside_generations);
}

std::uint64_t arena_block_bytes(const census& of) {
    return dies_together(of) ? of.generations.max_bytes : of.arena_bytes;
}

std::string multi_arena_code(const acre::multi_arena_fit& pair, bool several_threads) {
    return fmt::format(
        "{}{} arenas{{{{.arenas = {}, .bytes = {}{}}}}};\n"
        "void* p = arenas.allocate(bytes);  // for malloc\n"
        "arenas.deallocate(p, bytes);       // for free\n"
        "// without a heap, in static storage: acre::inline_multi_arena<{}, {}{}>\n",
        opening, several_threads ? "acre::synchronized<acre::multi_arena>" : "acre::multi_arena", pair.arenas,
        bytes_literal(pair.bytes), open_option(pair), pair.arenas, pair.bytes,
        pair.open == 0 ? "" : fmt::format(", {}", pair.open));
}

std::string concurrent_multi_arena_code(const acre::multi_arena_fit& pair) {
    return fmt::format(
        "{}acre::concurrent_multi_arena arenas{{{{.arenas = {}, .bytes = {}}}}};\n"
        "void* p = arenas.allocate(bytes);  // for malloc, in any thread\n"
        "arenas.deallocate(p, bytes);       // for free, in any thread\n",
        opening, pair.arenas, bytes_literal(pair.bytes));
}

std::string arena_code(const census& of) {
    const std::uint64_t block = arena_block_bytes(of);
    return fmt::format(
        "{}acre::arena arena{{{{.first_block_bytes = {}, .max_block_bytes = {}}}}};\n"
        "void* p = arena.allocate(bytes);  // for malloc; no free\n{}",
        opening, bytes_literal(block), bytes_literal(std::max<std::uint64_t>(block, 1 << 20)),
        dies_together(of) ? "arena.reset();                    // where the last of it is freed now\n" : "");
}

std::string pool_code(const size_use& of) {
    const std::uint64_t slot = std::max<std::uint64_t>(of.bytes, 1);
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "acre::pool<{0}> slots{{{{.limit_bytes = acre::pool<{0}>::required_bytes({1})}}}};\n"
        "void* p = slots.allocate();  // for malloc; acre::object_pool<T> for objects of a type T\n"
        "slots.deallocate(p);         // for free\n",
        slot, of.peak_objects);
}

std::string typed_arena_code(const size_use& of) {
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "// T: the type of {} bytes\n"
        "static constinit acre::typed_arena<T, {}, acre::typed_arena_options{{.reuse = true}}> objects;\n"
        "T* p = objects.create();  // for new T\n"
        "objects.destroy(p);       // for delete p\n",
        of.bytes, of.peak_objects);
}

}  // namespace acre::tool
