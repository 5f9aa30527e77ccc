#include "recorded_code.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace acre::tool {

namespace {

constexpr std::array<std::string_view, 18> memory_functions{
    "malloc",        "calloc",   "realloc",   "reallocarray", "free",     "posix_memalign",
    "aligned_alloc", "memalign", "valloc",    "strdup",       "strndup",  "__strdup",
    "__strndup",     "asprintf", "vasprintf", "getline",      "getdelim", "realpath"};

}  // namespace

bool is_freeing(std::string_view imported) {
    return imported == "free" || imported == "realloc" || imported == "reallocarray";
}

/// A file is read when something of it is asked for.
struct recorded_code::file {
    bool is_recorded = false;
    std::optional<std::vector<imported_use>> uses{};
    std::optional<function_table> symbols{};
};

recorded_code::recorded_code(const call_paths& paths) : paths_{paths} {}

recorded_code::~recorded_code() = default;

recorded_code::file& recorded_code::file_of(std::uint32_t module) {
    std::unique_ptr<file>& found = files_[module];
    if (found == nullptr) {
        const module_info& of = paths_.module(module);
        found = std::make_unique<file>(file{has_build_id(of.path, of.build_id)});
    }
    return *found;
}

const std::vector<imported_use>& recorded_code::memory_uses(std::uint32_t module) {
    file& of = file_of(module);
    if (!of.uses) {
        of.uses.emplace();
        if (of.is_recorded) of.uses = uses_of_imported(paths_.module(module).path, memory_functions);
    }
    return *of.uses;
}

bool recorded_code::is_by_pointer(const own_call& call) {
    const frame_info& frame = paths_.frame(call.frame);
    if (frame.module == frame_info::no_module) return false;
    file& of = file_of(frame.module);
    if (!of.is_recorded) return false;
    const std::string& path = paths_.module(frame.module).path;
    // A frame is the address of the call: its last byte.
    const code_call found = call_before(path, frame.module_offset + 1);
    if (found.kind == call_kind::by_pointer) return true;
    if (!found.target) return false;
    // Where the call is that of the innermost function itself, or of the one that it was inlined in, that was left by a
    // jump.
    if (!of.symbols) of.symbols.emplace(path);
    const auto called = of.symbols->find(*found.target);
    if (!called) return false;
    const std::string symbol = called->symbol.substr(0, called->symbol.find('.'));
    const auto name_of = [&](std::uint32_t function) { return paths_.functions()[function].short_name; };
    if (std::ranges::none_of(paths_.functions_at(call.frame),
                             [&](std::uint32_t function) { return name_of(function) == symbol; }))
        return false;
    return std::ranges::none_of(memory_uses(frame.module), [&](const imported_use& each) {
        return is_call(each) && (each.name == symbol || each.name == name_of(call.function));
    });
}

}  // namespace acre::tool
