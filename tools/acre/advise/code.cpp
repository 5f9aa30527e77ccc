#include "code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

std::string bytes_literal(std::uint64_t bytes) {
    if (bytes % (1 << 20) == 0) return fmt::format("{}_MiB", bytes >> 20);
    if (bytes % 1024 == 0) return fmt::format("{}_KiB", bytes >> 10);
    return fmt::format("{}", bytes);
}

std::string arena_declaration(const std::string& name, std::uint64_t block_bytes, const char* storage) {
    return fmt::format(
        "using namespace acre::literals;\n{}acre::arena {}{{{{.first_block_bytes = {}, .max_block_bytes = {}}}}};\n",
        storage, name, bytes_literal(block_bytes), bytes_literal(std::max<std::uint64_t>(block_bytes, 1 << 20)));
}

std::string uses_of(const std::string& memory) {
    return fmt::format(
        "T* object = {0}.create<T>();                            // for new T; no delete\n"
        "std::vector<T, acre::allocator<T, acre::arena>> v{{{0}}};  // for std::vector<T>\n",
        memory);
}

std::string arena_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_memory";
    return "#include <acre/acre.hpp>\n" +
           arena_declaration(name, each.block_bytes, each.figures.threads > 1 ? "thread_local " : "") + uses_of(name) +
           fmt::format("{}.reset();  // in {}, where the last of it is freed now\n", name, owner);
}

std::string scratch_code(const advice& each, const std::string& owner) {
    return "#include <acre/acre.hpp>\n" + arena_declaration("scratch_memory", each.block_bytes, "thread_local ") +
           fmt::format(
               "acre::scratch temp{{scratch_memory}};      // first line of {}\n"
               "std::span<T> part = temp.allocate<T>(n);  // for malloc or new T[n]; no free\n",
               owner);
}

std::string monotonic_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_memory";
    return "#include <acre/acre.hpp>\n" + arena_declaration(name, each.block_bytes, "static ") + uses_of(name);
}

std::string pool_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_pool";
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "{0}acre::object_pool<T> {1};     // T: the type of {2} bytes\n"
        "T* object = {1}.create(arguments...);  // for new T(arguments...)\n"
        "{1}.destroy(object);                   // for delete object\n",
        each.figures.threads > 1 ? "thread_local " : "", name, each.slot_bytes);
}

std::string multi_pool_code(const advice& each, const std::string& owner) {
    const std::string name = owner + "_pool";
    return fmt::format(
        "#include <acre/acre.hpp>\n"
        "{0}acre::multi_pool {1};\n"
        "void* p = {1}.allocate(bytes, alignment);  // for malloc\n"
        "{1}.deallocate(p, bytes, alignment);       // for free\n"
        "std::vector<T, acre::allocator<T, acre::multi_pool>> v{{{1}}};\n",
        each.figures.threads > 1 ? "thread_local " : "", name);
}

}  // namespace

std::string code_of(const advice& each, const call_paths& paths) {
    const std::string owner = variable_name(paths.functions()[each.function].short_name);
    switch (each.suits) {
        case verdict::arena:
            return arena_code(each, owner);
        case verdict::scratch:
            return scratch_code(each, owner);
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return monotonic_code(each, owner);
        case verdict::object_pool:
            return pool_code(each, owner);
        case verdict::multi_pool:
            return multi_pool_code(each, owner);
        case verdict::concurrent:
        case verdict::leave:
            break;
    }
    return {};
}

}  // namespace acre::tool
