#include "code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/text.hpp"

namespace acre::tool {

namespace {

/// A variable's name made of a function's: "server::handle_request" gives "handle_request".
std::string variable_name(const std::string& function) {
    const std::size_t last = function.rfind("::");
    std::string name = last == std::string::npos ? function : function.substr(last + 2);
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
    const bool usable = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                        name.find_first_not_of('_') != std::string::npos && name.find("operator") != 0;
    return usable ? name : "its";
}

/// What a thread does alone needs a resource of each thread's own.
const char* storage_of(const advice& each) {
    return each.figures.threads > 1 ? "thread_local " : "static ";
}

std::string arena_declaration(const char* type, const std::string& name, std::uint64_t block_bytes,
                              const char* storage) {
    return fmt::format(
        "using namespace acre::literals;\n{}acre::{} {}{{{{.first_block_bytes = {}, .max_block_bytes = {}}}}};\n",
        storage, type, name, bytes_literal(block_bytes), bytes_literal(std::max<std::uint64_t>(block_bytes, 1 << 20)));
}

std::string uses_of(const char* type, const std::string& memory) {
    return fmt::format(
        "T* object = {0}.create<T>();  // for new T; no delete\n"
        "std::vector<T, acre::allocator<T, acre::{1}>> v{{{0}}};  // for std::vector<T>\n",
        memory, type);
}

std::string arena_code(const advice& each, const std::string& owner, const std::string& place) {
    const std::string name = owner + "_memory";
    return "#include <acre/acre.hpp>\n" + arena_declaration("arena", name, each.block_bytes, storage_of(each)) +
           uses_of("arena", name) +
           fmt::format("{}.reset();  // in {}, behind the block of the containers that lie in it\n", name, place);
}

std::string scratch_code(const advice& each, const std::string& place) {
    return "#include <acre/acre.hpp>\n" +
           arena_declaration("arena", "scratch_memory", each.block_bytes, "thread_local ") +
           fmt::format(
               "acre::scratch temp{{scratch_memory}};      // in {}, in front of the first of these; inside the loop, "
               "if any\n"
               "std::span<T> part = temp.allocate<T>(n);  // for malloc or new T[n]; no free\n",
               place);
}

std::string monotonic_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_memory";
    // What outlives its thread cannot lie in an arena of the thread's own.
    const char* type = each.figures.threads > 1 ? "concurrent_arena" : "arena";
    return "#include <acre/acre.hpp>\n" + arena_declaration(type, name, each.block_bytes, "static ") +
           uses_of(type, name);
}

/// `storage`: in front of the declaration.
std::string pool_code(const char* type, const char* storage, const advice& each, const std::string& owner) {
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "{0}acre::{1}<T> {2}_pool;     // T: the type of {3} bytes\n"
        "T* object = {2}_pool.create(arguments...);  // for new T(arguments...)\n"
        "{2}_pool.destroy(object);                   // for delete object\n"
        "auto owned = acre::make_unique<T>({2}_pool, arguments...);  // for std::make_unique<T>\n",
        storage, type, owner, each.slot_bytes);
}

std::string stack_buffer_code(const advice& each, const std::string& place) {
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "acre::inline_arena<{}> buffer;             // in {}, on the stack; inside the loop, if any\n"
        "std::span<T> part = buffer.allocate<T>(n);  // for malloc or new T[n]; no free\n",
        each.buffer_bytes, place);
}

std::string multi_arena_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_arenas";
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "using namespace acre::literals;\n"
        "{0}acre::multi_arena {1}{{{{.arenas = {2}, .bytes = {3}}}}};\n"
        "void* p = {1}.allocate(bytes, alignment);  // for malloc\n"
        "{1}.deallocate(p, bytes, alignment);       // for free\n",
        storage_of(each), name, each.arenas, bytes_literal(each.arena_bytes));
}

/// `storage`: in front of the declaration.
std::string multi_pool_code(const char* type, const char* storage, const std::string& owner) {
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "{0}acre::{1} {2}_pool;\n"
        "void* p = {2}_pool.allocate(bytes, alignment);  // for malloc\n"
        "{2}_pool.deallocate(p, bytes, alignment);       // for free\n"
        "std::vector<T, acre::allocator<T, acre::{1}>> v{{{2}_pool}};  // and so for std::map, std::list, ...\n"
        "auto shared = acre::make_shared<T>({2}_pool, arguments...);  // for std::make_shared<T>\n",
        storage, type, owner);
}

}  // namespace

std::string code_of(const advice& each, const call_paths& paths) {
    const std::string& function = paths.functions()[each.function].short_name;
    const std::string owner = variable_name(function);
    switch (each.suits) {
        case verdict::arena:
            return arena_code(each, owner, function);
        case verdict::scratch:
            return scratch_code(each, function);
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return monotonic_code(each, owner);
        case verdict::stack_buffer:
            return stack_buffer_code(each, function);
        case verdict::object_pool:
            return pool_code("object_pool", storage_of(each), each, owner);
        case verdict::multi_pool:
            return multi_pool_code("multi_pool", storage_of(each), owner);
        case verdict::multi_arena:
            return multi_arena_code(each, owner);
        case verdict::concurrent_object_pool:
            return pool_code("concurrent_object_pool", "", each, owner);
        case verdict::concurrent_multi_pool:
            return multi_pool_code("concurrent_multi_pool", "", owner);
        case verdict::leave:
            break;
    }
    return {};
}

}  // namespace acre::tool
