// A group of allocations that one advice is about, and the figures of their lives.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "history.hpp"

namespace acre::tool {

/// Lifetimes as counts in classes, four to each power of two: memory does not depend on the number of objects, and a
/// percentile is at most a quarter too large.
class life_histogram {
public:
    static constexpr std::uint64_t endless = ~std::uint64_t{0};

    void add(std::uint64_t life) {
        const std::size_t number = class_of(life);
        if (number >= counts_.size()) counts_.resize(number + 1);
        ++counts_[number];
        ++count_;
    }

    /// Adds objects that never died.
    void add_endless(std::uint64_t objects) { count_ += objects; }

    /// The life that this share of the objects did not exceed; `endless` when they never died.
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

    /// The longest life in a class.
    static std::uint64_t end_of(std::size_t number) noexcept {
        if (number < fine_classes) return number;
        const std::uint64_t power = (number >> fine_bits) - 1;
        return (((number & (fine_classes - 1)) + fine_classes + 1) << power) - 1;
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
};

/// The time from the first allocation of a group in a thread until nothing of it is live there.
struct generation {
    std::uint64_t objects = 0;
    std::uint64_t bump_bytes = 0;  // that an arena would have allocated
    std::uint64_t peak_bytes = 0;  // peak of live bytes
};

/// The generations of a group, summed up.
struct generation_figures {
    std::uint64_t count = 0;
    std::uint64_t objects = 0;  // in all generations; the other objects were in none
    std::uint64_t p50_bytes = 0;
    std::uint64_t p99_bytes = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t peak_bytes = 0;
    std::uint32_t last_free = 0;            // the stack of the free that ends most generations
    std::vector<std::uint32_t> last_frees;  // the stacks of all such frees
    double held_bytes = 0;                  // held by an arena, summed over the events
    double live_bytes = 0;                  // live bytes, summed likewise

    /// Bytes in an arena for each live byte.
    double expansion() const noexcept {
        return peak_bytes == 0 ? 1 : static_cast<double>(max_bytes) / static_cast<double>(peak_bytes);
    }

    /// Mean share of an arena's bytes that are dead.
    double drag() const noexcept { return held_bytes == 0 ? 0 : 1 - std::min(live_bytes / held_bytes, 1.0); }
};

/// The lives of a group's objects.
struct group_figures {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t peak_objects = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t thread_peak_objects = 0;  // sum of the threads' own peaks, which does not depend on scheduling
    std::uint64_t thread_peak_bytes = 0;
    std::uint64_t largest_thread_peak = 0;  // bytes
    std::uint64_t never_freed = 0;
    std::uint64_t freed_elsewhere = 0;
    std::uint64_t freed_last_first = 0;   // as the youngest live one of its thread
    std::uint64_t freed_first_first = 0;  // as the oldest
    std::uint64_t freed_alone = 0;        // as the only one
    std::uint64_t thread_life = 0;        // 99th percentile of the bytes that the thread allocates in a life
    std::uint64_t group_life = 0;  // 99.5th percentile of the bytes that the thread allocates of the group in a life
    std::uint64_t smallest = ~std::uint64_t{0};
    std::uint64_t largest = 0;
    std::uint64_t top_size = 0;  // the most frequent one
    std::uint64_t top_size_count = 0;
    std::uint64_t sizes = 0;  // number of different sizes
    std::uint64_t threads = 0;
    std::uint64_t aligned_to_8 = 0;  // objects of sizes that are no multiples of 16, without an alignment of their own
    bool reallocated = false;        // some of them, by realloc
    bool zeroed = false;             // some of them, by calloc

    std::uint64_t events() const noexcept { return 2 * objects - never_freed; }
    double churn() const noexcept { return ratio(objects, thread_peak_objects); }
    double lifo_share() const noexcept { return ratio(freed_last_first, objects - never_freed); }
    double fifo_share() const noexcept { return ratio(freed_first_first, objects - never_freed); }
    double solo_share() const noexcept { return ratio(freed_alone, objects - never_freed); }
    double never_freed_share() const noexcept { return ratio(never_freed, objects); }
    double elsewhere_share() const noexcept { return ratio(freed_elsewhere, objects - never_freed); }
    double top_size_share() const noexcept { return ratio(top_size_count, objects); }
    /// Bytes in an arena that is never reset, for each byte that malloc takes at the peak, with what both add to an
    /// object: a vector of four bytes takes 32 of malloc.
    double growth() const noexcept {
        constexpr std::uint64_t added_by_arena = 8;
        constexpr std::uint64_t added_by_malloc = 16;
        return ratio(bytes + added_by_arena * objects, thread_peak_bytes + added_by_malloc * thread_peak_objects);
    }
    double mean_bytes() const noexcept { return ratio(bytes, objects); }

private:
    static double ratio(std::uint64_t a, std::uint64_t b) noexcept {
        return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
    }
};

/// Numbers of contexts.
using context_set = std::vector<std::uint32_t>;

/// Asks for the generations of the contexts in `set`, where a generation ends when a free that `function` owns leaves
/// nothing live in a thread.
struct generation_question {
    std::uint32_t function = 0;
    context_set set;

    friend auto operator<=>(const generation_question&, const generation_question&) = default;
};

/// Answers all questions in as few passes as memory allows.
std::vector<generation_figures> study_generations(const history& run, std::span<const generation_question> questions);

inline constexpr std::uint32_t no_group = 0xffff'ffff;
/// The figures of several groups in one pass. `group_of_context` has a group number or `no_group` for each context.
std::vector<group_figures> study_groups(const history& run, const std::vector<std::uint32_t>& group_of_context,
                                        std::size_t groups);

}  // namespace acre::tool
