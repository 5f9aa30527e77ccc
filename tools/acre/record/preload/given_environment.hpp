// The environment entries of `acre record`, kept for programs that this one executes without them.
#pragma once

#include <cstddef>

namespace acre::recorder {

/// Zeroed memory has no entries.
class given_environment {
public:
    static constexpr std::size_t max_entries = 4;

    /// Copies the entries, since the program may change its environment in place.
    void keep(char* const* environment);

    /// Copies to `lacking` the kept entries whose names are not in an environment; returns their number.
    std::size_t lacking_in(char* const* environment, char** lacking);

private:
    void keep_entry(const char* entry);

    std::size_t count_;
    std::size_t used_;
    char* entries_[max_entries];
    char text_[16 * 1024];
};

}  // namespace acre::recorder
