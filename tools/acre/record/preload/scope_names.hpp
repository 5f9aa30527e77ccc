// The names of the scopes that the program marks, each with a number. Read without a lock; new names are written to the
// log.
#pragma once

#include "log_file.hpp"
#include "published_table.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory has no names.
class scope_names {
public:
    /// The number of a name, from 1 on; 0 if there are too many names.
    std::uint32_t number_of(const char* name, log_file& log);

private:
    static constexpr std::size_t max_bytes = 200;  // longer names are cut off
    static constexpr std::size_t block_bytes = 64 * 1024;

    struct text {
        const char* at;
        std::size_t bytes;
    };
    struct entry {
        const char* at;
        std::uint32_t bytes;
        std::uint32_t number;

        static std::uint64_t hash(std::uint64_t key, const entry&) { return spread(key); }
    };

    static std::uint64_t hash_of(text name);
    const entry* find(std::uint64_t hash, text name) const;
    std::uint32_t add(std::uint64_t hash, text name, log_file& log);
    char* copy(text name);

    published_table<entry> entries_;
    spin_lock changing_;
    char* block_;  // where the next copy goes
    std::size_t block_left_;
    std::uint32_t count_;
};

}  // namespace acre::recorder
