// What `acre record` put into the environment, kept for programs that this one executes without it.
#pragma once

#include <cstddef>

namespace acre::recorder {

/// Zeroed memory has kept nothing.
class given_environment {
public:
    static constexpr std::size_t max_entries = 4;

    /// Copies it: the program may change its environment, also where it lies.
    void keep(char* const* environment);

    /// How many of the entries kept have a name that is not in another environment, and which.
    std::size_t lacking_in(char* const* environment, char** lacking);

private:
    void keep_entry(const char* entry);

    std::size_t count_;
    std::size_t used_;
    char* entries_[max_entries];
    char text_[16 * 1024];
};

}  // namespace acre::recorder
