// A bitset of the numbers 0 to N - 1 with summary levels: each bit of a level says whether a 64-bit word of the level
// below has members, up to a single word at the top.
//
// Used by reused_slots for freed slots. All zero when empty, so it may lie in .bss. Memory: N / 8 bytes and 1/63 more.
// Cost: contains is one load; insert, erase and first take at most one step per level, and there are log64(N) levels (4
// for a million); runs take a step for each 64 numbers. Not thread-safe.
//
// The idea is the bit tree of van Emde Boas (1975) with machine words as nodes.
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// Numbers below `N`.
template <std::size_t N>
class hierarchical_bitset {
    static_assert(N > 0, "acre: a set needs at least one number");

public:
    bool contains(std::size_t index) const noexcept { return (words_[index / 64] >> (index % 64) & 1) != 0; }

    void insert(std::size_t index) noexcept { insert_from(0, index); }
    void erase(std::size_t index) noexcept { erase_from(0, index); }

    /// The numbers [first, first + count).
    void insert_run(std::size_t first, std::size_t count) noexcept {
        for_each_word(first, count, [this](std::size_t word, std::uint64_t mask) {
            const bool was_empty = words_[word] == 0;
            words_[word] |= mask;
            if (was_empty) insert_from(1, word);
        });
    }
    void erase_run(std::size_t first, std::size_t count) noexcept {
        for_each_word(first, count, [this](std::size_t word, std::uint64_t mask) {
            words_[word] &= ~mask;
            if (words_[word] == 0) erase_from(1, word);
        });
    }
    /// Erases all numbers below `end`.
    void erase_below(std::size_t end) noexcept {
        for (std::size_t level = 0; level < levels && end > 0; ++level) {
            end = words_for(end);
            for (std::size_t word = 0; word < end; ++word) words_[level_start[level] + word] = 0;
        }
    }

    /// The lowest number. Requires that there is one.
    std::size_t first() const noexcept { return lowest_under(levels - 1, 0); }

    /// The lowest member that is at least `from`, or N.
    std::size_t next(std::size_t from) const noexcept {
        for (std::size_t level = 0; level < levels && from / 64 < level_words(level); ++level) {
            const std::uint64_t rest = words_[level_start[level] + from / 64] >> (from % 64);
            if (rest != 0) return lowest_of(level, from + static_cast<unsigned>(std::countr_zero(rest)));
            from = from / 64 + 1;
        }
        return N;
    }

    /// The lowest number in [from, end) that is not a member, or `end`.
    std::size_t next_missing(std::size_t from, std::size_t end) const noexcept {
        while (from < end) {
            const std::uint64_t missing = ~words_[from / 64] >> (from % 64);
            if (missing != 0) return detail::min(end, from + static_cast<unsigned>(std::countr_zero(missing)));
            from = (from / 64 + 1) * 64;
        }
        return end;
    }

    /// The start of the run of members that ends before `end`; `end` when `end` - 1 is not a member.
    std::size_t run_before(std::size_t end) const noexcept {
        while (end > 0) {
            const std::size_t in_word = (end - 1) % 64 + 1;
            const std::uint64_t word = words_[(end - 1) / 64] << (64 - in_word);
            const auto members = static_cast<unsigned>(std::countl_one(word));
            end -= members;
            if (members < in_word) break;
        }
        return end;
    }

    /// Touches each page of the set.
    void prefault() noexcept {
        for (std::size_t word = 0; word < all_words; word += 4096 / sizeof(std::uint64_t)) {
            volatile std::uint64_t& touched = words_[word];
            touched = touched;
        }
    }

private:
    static constexpr std::size_t words_for(std::size_t count) noexcept { return count / 64 + (count % 64 != 0); }

    static constexpr std::size_t levels = [] {
        std::size_t result = 1;
        for (std::size_t words = words_for(N); words > 1; words = words_for(words)) ++result;
        return result;
    }();
    // The last element is the total number of words.
    static constexpr std::array<std::size_t, levels + 1> level_start = []() -> std::array<std::size_t, levels + 1> {
        std::array<std::size_t, levels + 1> starts{};
        std::size_t words = words_for(N);
        for (std::size_t level = 0; level < levels; ++level) {
            starts[level + 1] = starts[level] + words;
            words = words_for(words);
        }
        return starts;
    }();
    static constexpr std::size_t all_words = level_start[levels];

    static constexpr std::size_t level_words(std::size_t level) noexcept {
        return level_start[level + 1] - level_start[level];
    }

    void insert_from(std::size_t level, std::size_t index) noexcept {
        for (; level < levels; ++level, index /= 64) {
            std::uint64_t& word = words_[level_start[level] + index / 64];
            const bool in_summary = word != 0;
            word |= std::uint64_t{1} << (index % 64);
            if (in_summary) return;
        }
    }

    void erase_from(std::size_t level, std::size_t index) noexcept {
        for (; level < levels; ++level, index /= 64) {
            std::uint64_t& word = words_[level_start[level] + index / 64];
            word &= ~(std::uint64_t{1} << (index % 64));
            if (word != 0) return;
        }
    }

    // The lowest member under bit `index` of a level.
    std::size_t lowest_of(std::size_t level, std::size_t index) const noexcept {
        return level == 0 ? index : lowest_under(level - 1, index);
    }

    // The lowest member under word `index` of a level. Requires that there is one.
    [[gnu::always_inline]] std::size_t lowest_under(std::size_t level, std::size_t index) const noexcept {
        // Unrolled where the level is a constant, as in first().
#pragma GCC unroll 11
        for (std::size_t above = level + 1; above > 0; --above) {
            const std::uint64_t word = words_[level_start[above - 1] + index];
            assert(word != 0);
            // Unlike std::countr_zero, undefined for 0, which saves a check.
            index = index * 64 + static_cast<unsigned>(__builtin_ctzll(word));
        }
        return index;
    }

    template <class Change>
    static void for_each_word(std::size_t first, std::size_t count, Change change) noexcept {
        const std::size_t end = first + count;
        while (first < end) {
            const std::size_t here = detail::min(end - first, 64 - first % 64);
            change(first / 64, ~std::uint64_t{0} >> (64 - here) << (first % 64));
            first += here;
        }
    }

    std::array<std::uint64_t, all_words> words_{};
};

}  // namespace acre::detail
