// The functions of a program that call malloc, realloc and free: in C one change in each of them puts what they
// allocate elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "advice.hpp"
#include "history.hpp"
#include "trace/call_paths.hpp"

namespace acre::tool {

class malloc_callers {
public:
    /// The arguments must outlive this object.
    malloc_callers(const history& run, const call_paths& paths);

    /// The functions that have to change where all calls of malloc change in the functions that allocate these: those,
    /// and all that free what they allocate, also for others. Most objects first.
    std::vector<malloc_caller> of(const context_set& contexts) const;

    /// The functions that allocate or free a noticeable part of these themselves.
    std::set<std::uint32_t> of_most(const context_set& contexts) const;

private:
    struct freeing {
        std::uint32_t context = 0;
        std::uint32_t stack = 0;
        std::uint32_t function = 0;
        std::uint64_t objects = 0;
    };

    const history& run_;
    const call_paths& paths_;
    std::vector<std::uint32_t> allocates_;  // by context: the innermost function of the program; 0: unknown
    std::vector<freeing> freeings_;
};

}  // namespace acre::tool
