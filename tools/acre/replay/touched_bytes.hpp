// How much of each block a replay writes to. A program may have reserved far more memory than it ever used, and a trace
// does not tell what was used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace acre::tool {

/// Finds how many bytes of each block may be written to: all, unless the blocks are too large together. Then only the
/// first bytes of large blocks; the rest is reserved and never touched. A replay so writes little, whatever sizes a
/// trace claims.
class touched_bytes {
public:
    static constexpr std::uint64_t max_live = std::uint64_t{512} << 20;  // touched at a time
    static constexpr double max_in_large = 256.0 * (1 << 20);            // of all blocks over 1 MiB
    static constexpr double max_in_all = 512.0 * (1 << 30);              // of all blocks: pages are written again
    static constexpr std::uint64_t least = 4096;                         // of a block: a page

    void allocate(std::uint64_t bytes) noexcept {
        const std::size_t in = class_of(bytes);
        live_[in].add(bytes);
        all_[in].add(bytes);
        touched_ += std::min(bytes, limit_);
        first_pages_ += std::min(bytes, least);
        while (touched_ > max_live && limit_ > least) halve();
    }

    void release(std::uint64_t bytes) noexcept {
        live_[class_of(bytes)].remove(bytes);
        touched_ -= std::min(bytes, limit_);
        first_pages_ -= std::min(bytes, least);
    }

    /// To be called when all blocks are known.
    void finish() noexcept {
        const auto writes_too_much = [&] {
            return written_to_all(first_large_class) > max_in_large || written_to_all(0) > max_in_all;
        };
        while (limit_ > least && writes_too_much()) halve();
    }

    /// Bytes of a block that may be touched.
    std::uint64_t limit() const noexcept { return limit_ == no_limit ? ~std::uint64_t{0} : limit_; }

    /// Bytes of the live blocks that are touched in any case, if only the first page of each is.
    std::uint64_t live_at_least() const noexcept { return first_pages_; }

    /// Number of blocks that are larger.
    std::uint64_t reserved_blocks() const noexcept {
        std::uint64_t blocks = 0;
        if (limit_ == no_limit) return blocks;
        for (std::size_t i = class_of(limit_) + 1; i < classes; ++i) blocks += all_[i].blocks;
        return blocks;
    }

private:
    // A power of two, above what any machine has.
    static constexpr std::uint64_t no_limit = std::uint64_t{1} << 50;
    static constexpr std::size_t classes = 65;
    static constexpr std::size_t first_large_class = 21;  // above 1 MiB

    /// Blocks of more than 2^(n-1) and at most 2^n bytes, in class n.
    struct size_class {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;  // modulo 2^64; the limit falls before a class that may be whole exceeds that

        void add(std::uint64_t more) noexcept {
            ++blocks;
            bytes += more;
        }
        void remove(std::uint64_t less) noexcept {
            --blocks;
            bytes -= less;
        }
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

    /// Bytes written to all blocks of a class and of those above it.
    double written_to_all(std::size_t first) const noexcept {
        const std::size_t whole = class_of(limit_);
        double bytes = 0;
        for (std::size_t i = first; i < classes; ++i) {
            bytes += i <= whole ? static_cast<double>(all_[i].bytes)
                                : static_cast<double>(all_[i].blocks) * static_cast<double>(limit_);
        }
        return bytes;
    }

    std::array<size_class, classes> live_{};
    std::array<size_class, classes> all_{};
    std::uint64_t limit_ = no_limit;
    std::uint64_t touched_ = 0;      // of the live blocks
    std::uint64_t first_pages_ = 0;  // likewise, with the least limit
};

}  // namespace acre::tool
