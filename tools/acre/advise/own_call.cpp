#include "own_call.hpp"

#include <string>

#include "library_memory.hpp"

namespace acre::tool {

bool is_own(const function_info& of) {
    const std::string& name = of.short_name;
    return !of.in_runtime_library && !name.starts_with("std::") && !name.starts_with("__gnu_cxx::") &&
           !name.starts_with("operator new") && !name.starts_with("operator delete") && !name.starts_with("acre::") &&
           !is_of_library_with_hook(name) && name != "_start" &&
           !(of.only_allocates && (name == "malloc" || name == "calloc" || name == "realloc"));
}

std::optional<own_call> innermost_own_call(std::uint32_t stack, const call_paths& paths) {
    for (; stack != no_stack; stack = paths.caller_of(stack)) {
        const std::uint32_t frame = paths.frame_of(stack);
        for (const std::uint32_t function : paths.functions_at(frame)) {
            if (is_own(paths.functions()[function])) return own_call{frame, function};
        }
    }
    return std::nullopt;
}

}  // namespace acre::tool
