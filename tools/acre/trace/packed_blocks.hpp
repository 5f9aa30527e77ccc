// Blocks of bytes in an unnamed file, compressed: less to write, and less of the disk taken, than the bytes themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "unnamed_file.hpp"

namespace acre::tool {

class packed_blocks {
public:
    /// Appends a block. Throws tool_error when the file cannot be written.
    void push(std::span<const std::byte> block);

    /// Reads block `number`, counted from 0, which must have the size of `block`. May be called concurrently.
    void read(std::uint64_t number, std::span<std::byte> block) const;

    std::uint64_t size() const noexcept { return ends_.size(); }

private:
    std::uint64_t begin_of(std::uint64_t number) const noexcept { return number == 0 ? 0 : ends_[number - 1]; }

    unnamed_file file_;
    std::vector<std::uint64_t> ends_;  // of the blocks in the file
};

}  // namespace acre::tool
