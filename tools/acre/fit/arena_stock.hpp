// The arenas of a model: numbered from 0, made as they are needed, and used again when they are empty.
#pragma once

#include <acre/arenas/multi_arena.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace acre::tool {

/// Sizes, alignments and positions are in granules of this many bytes, as in a multi_arena.
inline constexpr std::uint64_t granule_bytes = acre::multi_arena::granule;

/// Number of granules for a number of bytes, at most max_granules.
inline constexpr std::uint32_t max_granules = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t granules_of(std::uint64_t bytes) noexcept {
    const std::uint64_t granules = bytes / granule_bytes + (bytes % granule_bytes != 0 || bytes == 0 ? 1 : 0);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(granules, max_granules));
}

/// `Arena`: what a model knows of one arena.
template <typename Arena>
class arena_stock {
public:
    static constexpr std::uint32_t none = max_granules;

    explicit arena_stock(std::uint32_t arena_granules) : size_{arena_granules} {}

    Arena& operator[](std::uint32_t index) noexcept { return arenas_[index]; }
    const Arena& operator[](std::uint32_t index) const noexcept { return arenas_[index]; }

    /// The number of an empty arena; none when positions in another one would not fit 32 bits.
    std::uint32_t take() {
        if (gave_up_) return none;
        if (!empty_.empty()) {
            const std::uint32_t next = empty_.back();
            empty_.pop_back();
            return next;
        }
        if (arenas_.size() + 1 > max_granules / size_) {
            gave_up_ = true;
            return none;
        }
        arenas_.emplace_back();
        return static_cast<std::uint32_t>(arenas_.size() - 1);
    }

    /// Takes an empty arena back.
    void put_back(std::uint32_t index) { empty_.push_back(index); }

    /// Whether take() has returned none; it always does from then on.
    bool gave_up() const noexcept { return gave_up_; }

private:
    std::uint32_t size_;
    bool gave_up_ = false;
    std::vector<Arena> arenas_;
    std::vector<std::uint32_t> empty_;
};

}  // namespace acre::tool
