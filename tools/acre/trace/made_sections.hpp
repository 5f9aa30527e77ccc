// Sections of a trace that wait for its tables: in memory while they are few, else in an unnamed file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "unnamed_file.hpp"

namespace acre::tool {

class made_sections {
public:
    /// Throws tool_error if there is no room in the temporary directory.
    void add(std::span<const std::uint8_t> section) {
        if (bytes_.size() + section.size() > max_in_memory) {
            file_.write(std::as_bytes(std::span{bytes_}));
            in_file_ += bytes_.size();
            bytes_.clear();
        }
        bytes_.insert(bytes_.end(), section.begin(), section.end());
    }

    /// Calls `visit` with all bytes, in order, in parts.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        std::vector<std::uint8_t> part;
        for (std::uint64_t at = 0; at < in_file_; at += part.size()) {
            part.resize(static_cast<std::size_t>(std::min<std::uint64_t>(in_file_ - at, part_bytes)));
            file_.read(at, std::as_writable_bytes(std::span{part}));
            visit(std::span<const std::uint8_t>{part});
        }
        visit(std::span<const std::uint8_t>{bytes_});
    }

private:
    static constexpr std::size_t max_in_memory = std::size_t{32} << 20;
    static constexpr std::size_t part_bytes = std::size_t{1} << 20;

    std::vector<std::uint8_t> bytes_;
    unnamed_file file_;
    std::uint64_t in_file_ = 0;
};

}  // namespace acre::tool
