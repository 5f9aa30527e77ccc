// Counts how often each value occurred; exact while there are few different ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "coarse.hpp"

namespace acre::tool {

class value_counts {
public:
    void add(std::uint64_t value) {
        ++total_;
        const auto found = counts_.find(value);
        if (found != counts_.end()) {
            ++found->second;
        } else {
            ++counts_[counts_.size() < max_exact ? value : coarse(value)];
        }
    }

    std::uint64_t total() const noexcept { return total_; }

    /// The value at a rank, 0 for the smallest; 0 if there are no values.
    std::uint64_t at_rank(std::uint64_t rank) const {
        std::uint64_t below = 0;
        for (const auto& [value, count] : counts_) {
            below += count;
            if (below > rank) return value;
        }
        return counts_.empty() ? 0 : counts_.rbegin()->first;
    }

private:
    static constexpr std::size_t max_exact = 65'536;

    std::map<std::uint64_t, std::uint64_t> counts_;
    std::uint64_t total_ = 0;
};

}  // namespace acre::tool
