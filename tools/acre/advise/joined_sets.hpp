// Sets of the numbers below a count, which are joined one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace acre::tool {

/// At first each number is a set of its own.
class joined_sets {
public:
    explicit joined_sets(std::size_t count) : above_(count) { std::iota(above_.begin(), above_.end(), 0U); }

    std::uint32_t of(std::uint32_t number) {
        while (above_[number] != number) number = above_[number] = above_[above_[number]];
        return number;
    }
    /// The smaller number stands for both.
    void join(std::uint32_t a, std::uint32_t b) {
        a = of(a);
        b = of(b);
        above_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<std::uint32_t> above_;
};

}  // namespace acre::tool
