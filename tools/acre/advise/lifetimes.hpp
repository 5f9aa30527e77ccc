// How long objects lived, as counts in classes: the memory does not depend on how many there were.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace acre::tool {

/// Four classes to each power of two, so that a percentile is at most a quarter too large.
class life_histogram {
public:
    static constexpr std::uint64_t endless = ~std::uint64_t{0};

    void add(std::uint64_t life) {
        const std::size_t place = class_of(life);
        if (place >= counts_.size()) counts_.resize(place + 1);
        ++counts_[place];
        ++count_;
    }

    /// For objects that never died.
    void add_endless(std::uint64_t objects) { count_ += objects; }

    /// What that share of the objects did not outlive; `endless` when they did not die.
    std::uint64_t percentile(double share) const noexcept {
        const double wanted = share * static_cast<double>(count_);
        std::uint64_t passed = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            passed += counts_[i];
            if (static_cast<double>(passed) >= wanted) return end_of(i);
        }
        return count_ == 0 ? 0 : endless;
    }

private:
    static constexpr unsigned fine_bits = 2;
    static constexpr std::uint64_t fine_classes = std::uint64_t{1} << fine_bits;

    static std::size_t class_of(std::uint64_t life) noexcept {
        if (life < fine_classes) return static_cast<std::size_t>(life);
        const auto power = static_cast<unsigned>(std::bit_width(life)) - 1 - fine_bits;
        return static_cast<std::size_t>((power << fine_bits) + (life >> power));
    }

    /// The longest life of a class.
    static std::uint64_t end_of(std::size_t number) noexcept {
        if (number < fine_classes) return number;
        const std::uint64_t power = (number >> fine_bits) - 1;
        return (((number & (fine_classes - 1)) + fine_classes + 1) << power) - 1;
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
};

}  // namespace acre::tool
