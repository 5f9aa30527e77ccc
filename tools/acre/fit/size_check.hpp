// Whether sizes that were found suffice, as a replay over the real types says (fit_check.hpp).
#pragma once

#include <optional>
#include <string>

namespace acre::tool {

/// Result of the replay over one type.
struct size_check {
    bool suffices = false;               // every request was served at that size
    std::optional<bool> one_less_fails;  // with one arena less, or 8 bytes less; nothing if there is no smaller size
    std::string failure;                 // why it could not be checked
};

struct fit_checks {
    std::optional<size_check> multi_arena;
    std::optional<size_check> concurrent_multi_arena;
    std::optional<size_check> arena;
    std::optional<size_check> realtime_heap;
};

}  // namespace acre::tool
