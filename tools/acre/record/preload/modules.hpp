// The files that are mapped as code: the program and its libraries, numbered from 1 as stacks first pass through them.
#pragma once

#include <dlfcn.h>

#include "log_file.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is an empty list. Its user locks.
class module_list {
public:
    static constexpr std::uint32_t limit = 4096;

    /// The number of the module that an address lies in, 0 when in none; new ones go into the log. `header` becomes the
    /// module's .eh_frame_hdr. When a new module lies where others were, those are forgotten and `changed` is set.
    std::uint32_t find(std::uintptr_t address, log_file& log, const void*& header, bool& changed);

    /// Forgets modules that are gone; whether there were any.
    bool forget_unloaded();

    bool loaded(std::uint32_t number) const { return known_[number - 1].end != 0; }

private:
    struct known_module {
        std::uintptr_t begin;
        std::uintptr_t end;  // 0: no longer loaded
        const void* identity;
    };

    void forget_overlapping(const dl_find_object& found, bool& changed);
    void describe(std::uint32_t number, const dl_find_object& found, log_file& log);

    std::uint32_t count_;
    known_module known_[limit];
    char path_[4096];
};

}  // namespace acre::recorder
