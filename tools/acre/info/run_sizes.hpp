// How large the runs of a scope were: percentiles in memory that does not grow with the number of runs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

namespace acre::tool {

/// Counts in classes, 32 to each power of two: a percentile is at most 1/32 too large, exact below 64.
class run_sizes {
public:
    void add(std::uint64_t bytes) {
        ++counts_[class_of(bytes)];
        ++count_;
        largest_ = std::max(largest_, bytes);
    }

    /// The size that at least the part `share` of all runs do not exceed; 0 without runs.
    std::uint64_t percentile(double share) const {
        const double wanted = share * static_cast<double>(count_);
        std::uint64_t passed = 0;
        for (const auto& [number, count] : counts_) {
            passed += count;
            if (static_cast<double>(passed) >= wanted) return std::min(largest_in(number), largest_);
        }
        return largest_;
    }

    std::uint64_t largest() const noexcept { return largest_; }

private:
    static constexpr unsigned precision = 5;  // 2^5 classes to each power of two

    static unsigned shift_of(std::uint64_t bytes) {
        const auto width = static_cast<unsigned>(std::bit_width(bytes));
        return width > precision + 1 ? width - precision - 1 : 0;
    }
    static std::uint32_t class_of(std::uint64_t bytes) {
        const unsigned shift = shift_of(bytes);
        return (shift << precision) + static_cast<std::uint32_t>(bytes >> shift);
    }
    static std::uint64_t largest_in(std::uint32_t number) {
        if (number < 2u << precision) return number;
        const unsigned shift = (number >> precision) - 1;
        const std::uint64_t first = number - (shift << precision);
        return (first << shift) + ((std::uint64_t{1} << shift) - 1);
    }

    std::map<std::uint32_t, std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t largest_ = 0;
};

}  // namespace acre::tool
