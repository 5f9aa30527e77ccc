#include "model.hpp"

#include <array>
#include <cstddef>

namespace acre::tool {

const char* name_of(operation op) {
    constexpr std::array names{"malloc", "calloc", "realloc",  "aligned_alloc", "new",       "new[]",
                               "free",   "delete", "delete[]", "allocate",      "deallocate"};
    static_assert(names.size() == static_cast<std::size_t>(operation::deallocate) + 1);
    return names[static_cast<std::size_t>(op)];
}

}  // namespace acre::tool
