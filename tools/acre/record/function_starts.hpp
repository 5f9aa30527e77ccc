// Where the functions of a file begin that tells no names, by its unwind information, which stripped files keep: so
// that all places in one function are known to be in one.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace acre::tool {

class function_starts {
public:
    function_starts() = default;
    /// Reads the table of .eh_frame_hdr; none where the file has it not, or not in the form that all linkers write.
    explicit function_starts(Elf* file);

    /// The start of the function that an address lies in, both as in the file; O(log n).
    std::optional<std::uint64_t> find(std::uint64_t address) const;

private:
    std::vector<std::uint64_t> starts_;  // ascending
};

}  // namespace acre::tool
