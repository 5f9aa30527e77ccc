#include "model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>

#include "text/text.hpp"

namespace acre::tool {

const char* name_of(operation op) {
    constexpr std::array names{"malloc", "calloc", "realloc",  "aligned_alloc", "new",       "new[]",
                               "free",   "delete", "delete[]", "allocate",      "deallocate"};
    static_assert(names.size() == static_cast<std::size_t>(operation::deallocate) + 1);
    return names[static_cast<std::size_t>(op)];
}

std::string command_text(const trace_header& header) {
    return printable(fmt::format("{}", fmt::join(header.command, " ")));
}

}  // namespace acre::tool
