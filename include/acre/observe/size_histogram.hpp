// An exact histogram of sizes: how often each occurred, with percentiles, mean and standard deviation.
//
// acre::statistics with .histogram keeps one. Use it directly for sizes of any kind. Cost: adding takes constant time.
// A percentile scans the different sizes about 64 times. Only a new size takes memory, from an upstream of its own;
// when that has none, the size is only counted in unrecorded(). Not thread-safe. Copied and moved.
//
//     acre::size_histogram sizes;
//     sizes.add(16);
//     sizes.add(16);
//     sizes.add(100);
//     assert(sizes.percentile(0.5) == 16 && sizes.mean() == 44.0 && sizes.by_size().at(16) == 2);
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/sort.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/observe/detail/record_table.hpp>
#include <acre/observe/detail/sorted_entries.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace acre {

/// One size and how often it occurred.
struct size_count {
    /// The size.
    std::size_t bytes = 0;
    /// How often it was counted.
    std::uint64_t count = 0;
    friend bool operator==(const size_count&, const size_count&) = default;
};

/// Counts sizes.
class size_histogram {
public:
    constexpr size_histogram() noexcept = default;
    /// Its table comes from `upstream`, which must live longer. Takes no memory yet.
    explicit size_histogram(resource_ref upstream) noexcept : sizes_(upstream) {}
    size_histogram(size_histogram&& other) noexcept
        : sizes_(std::move(other.sizes_)),
          count_(std::exchange(other.count_, 0)),
          largest_(std::exchange(other.largest_, 0)),
          unrecorded_(std::exchange(other.unrecorded_, 0)) {}
    /// A copy for which the upstream has no memory is empty, and counts its sizes in unrecorded().
    size_histogram(const size_histogram& other) noexcept
        : sizes_(other.sizes_), count_(other.count_), largest_(other.largest_), unrecorded_(other.unrecorded_) {
        if (sizes_.size() == other.sizes_.size()) return;
        unrecorded_ += std::exchange(count_, 0);
        largest_ = 0;
    }
    size_histogram& operator=(const size_histogram&) = delete;
    size_histogram& operator=(size_histogram&& other) noexcept {
        sizes_ = std::move(other.sizes_);
        count_ = std::exchange(other.count_, 0);
        largest_ = std::exchange(other.largest_, 0);
        unrecorded_ = std::exchange(other.unrecorded_, 0);
        return *this;
    }

    /// Counts one occurrence of `bytes`.
    void add(std::size_t bytes) noexcept {
        std::uint64_t* count = sizes_.insert(bytes);
        if (count == nullptr) [[unlikely]] {
            ++unrecorded_;
            return;
        }
        ++*count;
        ++count_;
        largest_ = detail::max(largest_, bytes);
    }

    /// Forgets all sizes and keeps the memory.
    void clear() noexcept {
        sizes_.clear();
        count_ = 0;
        largest_ = 0;
        unrecorded_ = 0;
    }

    /// Number of sizes counted.
    std::uint64_t count() const noexcept { return count_; }
    /// Number of sizes not counted, for lack of memory.
    std::uint64_t unrecorded() const noexcept { return unrecorded_; }
    /// The nearest-rank percentile: the smallest size such that at least a fraction `p` of all sizes is not larger.
    /// percentile(0.5) is the median, percentile(1) the largest. A `p` outside (0, 1] gives the smallest or the largest
    /// size; 0 when nothing was counted.
    std::size_t percentile(double p) const noexcept {
        if (count_ == 0) return 0;
        const std::uint64_t rank = rank_of(p);
        std::size_t low = 0;
        std::size_t high = largest_;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (count_up_to(middle) >= rank) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /// Mean size in bytes; 0 when nothing was counted.
    double mean() const noexcept {
        if (count_ == 0) return 0;
        return sum_of([](double bytes) { return bytes; }) / static_cast<double>(count_);
    }

    /// Standard deviation of the counted sizes as a whole population; 0 when nothing was counted.
    double standard_deviation() const noexcept {
        if (count_ == 0) return 0;
        const double centre = mean();
        const double squares = sum_of([centre](double bytes) { return (bytes - centre) * (bytes - centre); });
        // std::sqrt would need <cmath>, which takes a compiler as long as <vector> and <string> together.
        return __builtin_sqrt(squares / static_cast<double>(count_));
    }

    /// Calls `function(bytes, count)` for each size, in no order and without memory.
    template <class Function>
    void for_each(Function function) const {
        sizes_.for_each([&](std::size_t bytes, std::uint64_t count) { function(bytes, count); });
    }
    /// Each size and how often it occurred, ascending. Throws std::bad_alloc: the vector uses the general heap.
    /// A template, so that only a program that calls it compiles the vector.
    template <class Count = size_count>
    std::vector<Count> sizes() const {
        std::vector<Count> result(sizes_.size());
        Count* next = result.data();
        sizes_.for_each([&](std::size_t bytes, std::uint64_t count) { *next++ = {bytes, count}; });
        detail::sort(result.data(), result.size(),
                     [](const size_count& a, const size_count& b) { return a.bytes < b.bytes; });
        return result;
    }

    /// How often each size occurred, for look-up by size: by_size().at(16), or as a std::map<std::size_t,
    /// std::uint64_t>. Throws std::bad_alloc: it uses the general heap.
    template <class Count = std::uint64_t>
    detail::sorted_entries<std::size_t, Count> by_size() const {
        return {sizes_.size(), [this](const auto& add) { sizes_.for_each(add); }};
    }

private:
    // The smallest rank, from 1 on, with rank / count_ >= p. The product p * count_ may be rounded either way (0.07 of
    // 100 is a little more than 7), so the quotient decides.
    std::uint64_t rank_of(double p) const noexcept {
        if (!(p > 0)) return 1;
        if (p >= 1) return count_;
        const double all = static_cast<double>(count_);
        std::uint64_t rank = detail::clamp<std::uint64_t>(static_cast<std::uint64_t>(p * all) + 1, 1, count_);
        while (rank > 1 && quotient(rank - 1, all) >= p) --rank;
        while (rank < count_ && quotient(rank, all) < p) ++rank;
        return rank;
    }

    // Rounded to a double, also by a processor that computes with more bits, as the x87 does.
    static double quotient(std::uint64_t rank, double all) noexcept {
        const volatile double rounded = static_cast<double>(rank) / all;
        return rounded;
    }

    std::uint64_t count_up_to(std::size_t bytes) const noexcept {
        std::uint64_t result = 0;
        sizes_.for_each([&](std::size_t each, std::uint64_t count) { result += each <= bytes ? count : 0; });
        return result;
    }

    template <class Function>
    double sum_of(Function function) const noexcept {
        double sum = 0;
        sizes_.for_each([&](std::size_t bytes, std::uint64_t count) {
            sum += function(static_cast<double>(bytes)) * static_cast<double>(count);
        });
        return sum;
    }

    detail::record_table<std::uint64_t> sizes_;
    std::uint64_t count_ = 0;
    std::size_t largest_ = 0;
    std::uint64_t unrecorded_ = 0;
};

}  // namespace acre
