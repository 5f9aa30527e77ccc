// The environment entries of `acre record`: what the program sees of them, and what the programs that it executes get.
#pragma once

#include <cstddef>

namespace acre::recorder {

/// Zeroed memory has no entries.
class given_environment {
public:
    /// Copies the entries, since the program may change its environment in place.
    void keep(char* const* environment);

    /// Removes the entries and the recorder's library from an environment in place.
    void remove_from(char** environment) const;

    /// Whether an environment has any of the entries, or the library.
    bool is_in(char* const* environment) const;

    /// The space that composed() needs for an environment.
    struct space {
        std::size_t entries;
        std::size_t text;

        std::size_t bytes() const { return entries * sizeof(char*) + text; }
    };
    space space_for(char* const* environment) const;

    /// The environment with the entries (`recorded`) or without them, in `at`.
    char* const* composed(char* const* environment, bool recorded, char** at) const;

    /// The shared memory's path; null if there is none.
    const char* memory_path() const;

private:
    static constexpr std::size_t max_entries = 5;

    void keep_entry(const char* entry);
    bool is_ours(const char* entry) const;
    const char* others_preloaded(const char* preload) const;

    std::size_t count_;
    std::size_t used_;
    char* entries_[max_entries];
    const char* library_;  // null if the recorder is not preloaded
    char text_[16 * 1024];
};

}  // namespace acre::recorder
