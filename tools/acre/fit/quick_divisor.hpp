// Divides by the same number again and again, by a multiplication.
#pragma once

#include <cstdint>

namespace acre::tool {

/// Exact for all numbers of 32 bits: with M the whole part of (2^64 - 1) / d, (n + 1) M / 2^64 is at least n / d
/// rounded down, since (n + 1) M loses less than n + 1 to the rounding, and below the next whole number, since (n + 1)
/// M < (n / d + 1) 2^64.
class quick_divisor {
public:
    explicit quick_divisor(std::uint32_t divisor) : reciprocal_{~std::uint64_t{0} / divisor} {}

    std::uint32_t operator()(std::uint32_t number) const noexcept {
        return static_cast<std::uint32_t>((static_cast<wide>(reciprocal_) * (std::uint64_t{number} + 1)) >> 64);
    }

private:
    __extension__ using wide = unsigned __int128;

    std::uint64_t reciprocal_;
};

}  // namespace acre::tool
