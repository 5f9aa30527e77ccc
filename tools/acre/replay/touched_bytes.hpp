// How much of each block a replay writes to. A program may have reserved far more memory than it ever used, and a trace
// does not tell what was used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace acre::tool {

/// Finds how many bytes of each block may be written to: all, unless the blocks are too large together. Then only the
/// first bytes of large blocks; the rest is reserved and never touched.
class touched_bytes {
public:
    static constexpr std::uint64_t max_live = std::uint64_t{512} << 20;  // touched at a time
    static constexpr double max_in_all = 4.0 * (1 << 30);                // of blocks that malloc maps anew each time
    static constexpr std::uint64_t least = 4096;                         // of a block: a page

    void allocate(std::uint64_t bytes) noexcept {
        const std::size_t in = class_of(bytes);
        ++live_[in].blocks;
        live_[in].bytes += bytes;
        ++all_[in];
        touched_ += std::min(bytes, limit_);
        while (touched_ > max_live && limit_ > least) halve();
    }

    void release(std::uint64_t bytes) noexcept {
        const std::size_t in = class_of(bytes);
        --live_[in].blocks;
        live_[in].bytes -= bytes;
        touched_ -= std::min(bytes, limit_);
    }

    /// To be called when all blocks are known.
    void finish() noexcept {
        while (in_all() > max_in_all && limit_ > least) halve();
    }

    /// Bytes of a block that may be touched.
    std::uint64_t limit() const noexcept { return limit_ == no_limit ? ~std::uint64_t{0} : limit_; }

    /// Whether the live blocks take too much memory even if little of each is touched.
    bool is_exceeded() const noexcept { return touched_ > max_live + max_live / 2; }

    /// Number of blocks that are larger.
    std::uint64_t reserved_blocks() const noexcept {
        std::uint64_t blocks = 0;
        if (limit_ == no_limit) return blocks;
        for (std::size_t i = class_of(limit_) + 1; i < classes; ++i) blocks += all_[i];
        return blocks;
    }

private:
    // A power of two, above what any machine has.
    static constexpr std::uint64_t no_limit = std::uint64_t{1} << 50;
    static constexpr std::size_t classes = 65;
    static constexpr std::size_t first_mapped_class = 26;  // above 32 MiB, glibc maps every block

    /// Blocks of more than 2^(n-1) and at most 2^n bytes, in class n.
    struct size_class {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;
    };

    static std::size_t class_of(std::uint64_t bytes) noexcept {
        return bytes == 0 ? 0 : static_cast<std::size_t>(std::bit_width(bytes - 1));
    }

    void halve() noexcept {
        limit_ /= 2;
        const std::size_t whole = class_of(limit_);
        touched_ = 0;
        for (std::size_t i = 0; i < classes; ++i) touched_ += i <= whole ? live_[i].bytes : live_[i].blocks * limit_;
    }

    /// Bytes to be touched of all blocks that glibc maps, at most.
    double in_all() const noexcept {
        double bytes = 0;
        for (std::size_t i = first_mapped_class; i < classes; ++i) {
            bytes += static_cast<double>(all_[i]) *
                     std::min(std::ldexp(1.0, static_cast<int>(i)), static_cast<double>(limit_));
        }
        return bytes;
    }

    std::array<size_class, classes> live_{};
    std::array<std::uint64_t, classes> all_{};  // blocks
    std::uint64_t limit_ = no_limit;
    std::uint64_t touched_ = 0;  // of the live blocks
};

}  // namespace acre::tool
