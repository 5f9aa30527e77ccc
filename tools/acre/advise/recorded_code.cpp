#include "recorded_code.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace acre::tool {

std::vector<std::string_view> memory_functions() {
    return {"malloc",        "calloc",   "realloc",   "reallocarray", "free",     "posix_memalign",
            "aligned_alloc", "memalign", "valloc",    "strdup",       "strndup",  "__strdup",
            "__strndup",     "asprintf", "vasprintf", "getline",      "getdelim", "realpath"};
}

std::vector<std::string_view> freeing_functions() {
    return {"free", "realloc", "reallocarray"};
}

/// A file is read when something of it is asked for.
struct recorded_code::file {
    bool is_recorded = false;
    std::optional<std::vector<imported_call>> callers{};
    std::optional<function_table> symbols{};
};

recorded_code::recorded_code(const call_paths& paths, std::vector<std::string_view> names)
    : paths_{paths}, names_{std::move(names)} {}

recorded_code::~recorded_code() = default;

recorded_code::file& recorded_code::file_of(std::uint32_t module) {
    std::unique_ptr<file>& found = files_[module];
    if (found == nullptr) {
        const module_info& of = paths_.module(module);
        found = std::make_unique<file>(file{has_build_id(of.path, of.build_id)});
    }
    return *found;
}

const std::vector<imported_call>& recorded_code::callers_in(std::uint32_t module) {
    file& of = file_of(module);
    if (!of.callers) {
        of.callers.emplace();
        if (of.is_recorded) of.callers = callers_of_imported(paths_.module(module).path, names_);
    }
    return *of.callers;
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
    // Where the call is that of the innermost function itself, that function was left by a jump.
    if (!of.symbols) of.symbols.emplace(path);
    const auto called = of.symbols->find(*found.target);
    const std::string& name = paths_.functions()[call.function].short_name;
    if (!called || called->symbol.substr(0, called->symbol.find('.')) != name) return false;
    return std::ranges::none_of(callers_in(frame.module),
                                [&](const imported_call& each) { return each.function == name; });
}

}  // namespace acre::tool
