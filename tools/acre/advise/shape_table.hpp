// Numbers for sizes and alignments, of which a run has few different ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/coarse.hpp"

namespace acre::tool {

/// What an allocation asked for.
struct requested_shape {
    std::uint64_t size = 0;
    std::uint8_t alignment_log2 = 0;
    bool by_new = false;  // of operator new

    friend bool operator==(const requested_shape&, const requested_shape&) = default;
};

class shape_table {
public:
    /// Beyond so many different ones, sizes are rounded up.
    static constexpr std::size_t max_exact = std::size_t{1} << 20;

    std::uint32_t number_of(requested_shape shape) {
        const auto found = numbers_.find(shape);
        if (found != numbers_.end()) return found->second;
        if (shapes_.size() >= max_exact) shape.size = coarse(shape.size);
        const auto [entry, added] = numbers_.try_emplace(shape, static_cast<std::uint32_t>(shapes_.size()));
        if (added) shapes_.push_back(shape);
        return entry->second;
    }

    const requested_shape& operator[](std::uint32_t number) const noexcept { return shapes_[number]; }

private:
    struct hash {
        std::size_t operator()(const requested_shape& shape) const noexcept {
            const std::uint64_t both =
                shape.size ^ std::uint64_t{shape.alignment_log2} << 56 ^ (shape.by_new ? std::uint64_t{1} << 55 : 0);
            return static_cast<std::size_t>((both * 0x9e37'79b9'7f4a'7c15) >> 16);
        }
    };

    std::vector<requested_shape> shapes_;
    std::unordered_map<requested_shape, std::uint32_t, hash> numbers_;
};

}  // namespace acre::tool
