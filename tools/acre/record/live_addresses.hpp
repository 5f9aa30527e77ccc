// What lies at which address: a table for the live objects of a program while its log is converted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/huge_pages.hpp"
#include "trace/seeded_hash.hpp"

namespace acre::tool {

/// A value for each address, `none` at first. Blocks of a heap lie side by side, so the values of 64 neighbours 16
/// bytes apart lie side by side, too, and a hash table leads to these. Memory: about a quarter of the heap that was
/// live at a time, and at most 330 bytes per live object.
class live_addresses {
public:
    static constexpr std::uint32_t none = 0;

    /// Sets the value of an address and returns the one before.
    std::uint32_t exchange(std::uint64_t address, std::uint32_t value) {
        const std::uint64_t number = number_of(address);
        std::uint32_t& here = (*leaf_of(number / leaf_values))[number % leaf_values];
        values_ += value != none ? 1U : 0U;
        values_ -= here != none ? 1U : 0U;
        return std::exchange(here, value);
    }

    /// Sets the value of an address to `none` and returns the one before.
    std::uint32_t take(std::uint64_t address) noexcept {
        const std::uint64_t number = number_of(address);
        leaf* const of = find_leaf(number / leaf_values);
        if (of == nullptr) return none;
        std::uint32_t& here = (*of)[number % leaf_values];
        values_ -= here != none ? 1U : 0U;
        return std::exchange(here, none);
    }

    /// To be called for an address some calls before the others. Inlined, since g++ drops calls of functions that only
    /// prefetch.
    [[gnu::always_inline]] void prefetch(std::uint64_t address) const noexcept {
        const std::uint64_t of = number_of(address) / leaf_values;
        if (recent_[of % recent_leaves].number != of && !cells_.empty()) __builtin_prefetch(&cells_[home(of)]);
    }

    /// The same once more, when prefetch() has had its time.
    [[gnu::always_inline]] void prefetch_value(std::uint64_t address) noexcept {
        const std::uint64_t number = number_of(address);
        if (const leaf* of = find_leaf(number / leaf_values)) __builtin_prefetch(&(*of)[number % leaf_values]);
    }

private:
    static constexpr std::size_t leaf_values = 64;
    static constexpr std::size_t min_leaves_at_once = 64;
    static constexpr std::size_t max_leaves_at_once = 8192;

    using leaf = std::array<std::uint32_t, leaf_values>;

    struct cell {
        std::uint64_t number = 0;  // of the leaf
        leaf* values = nullptr;    // null: the cell is empty
    };

    static constexpr std::size_t recent_leaves = 256;

    /// A leaf that was found last among those whose numbers end with the same bits.
    struct recent_leaf {
        std::uint64_t number = ~std::uint64_t{0};  // no address has that leaf
        leaf* values = nullptr;
    };

    using cell_table = std::vector<cell, huge_page_allocator<cell>>;

    static std::uint64_t number_of(std::uint64_t address) noexcept { return std::rotr(address, 4); }
    std::size_t home(std::uint64_t leaf_number) const noexcept {
        // Mixed once, neighbours would fall into few cells for one seed in ten.
        return static_cast<std::size_t>(mixed(mixed(leaf_number, seed_), seed_) >> shift_);
    }

    /// The cell of a leaf or the empty one where it would be; null if there are no cells yet.
    cell* find(std::uint64_t leaf_number) noexcept {
        if (cells_.empty()) return nullptr;
        std::size_t at = home(leaf_number);
        while (cells_[at].values != nullptr && cells_[at].number != leaf_number) at = (at + 1) & (cells_.size() - 1);
        return &cells_[at];
    }

    /// Null if there is none.
    leaf* find_leaf(std::uint64_t leaf_number) noexcept {
        recent_leaf& recent = recent_[leaf_number % recent_leaves];
        if (recent.number == leaf_number) [[likely]]
            return recent.values;
        const cell* found = find(leaf_number);
        if (found == nullptr || found->values == nullptr) return nullptr;
        recent = {leaf_number, found->values};
        return found->values;
    }

    leaf* leaf_of(std::uint64_t leaf_number) {
        leaf* const known = find_leaf(leaf_number);
        return known != nullptr ? known : make_leaf(leaf_number);
    }

    [[gnu::noinline]] leaf* make_leaf(std::uint64_t leaf_number) {
        cell* found = find(leaf_number);
        if ((count_ + 1) * 4 > cells_.size() * 3) {
            make_room();
            found = find(leaf_number);
        }
        *found = {leaf_number, new_leaf()};
        ++count_;
        return found->values;
    }

    /// Doubles the table, or drops the leaves without values where they may be many.
    void make_room() {
        const bool most_are_used = values_ >= count_ * 4;
        const auto is_used = [&](const leaf& each) {
            return most_are_used || std::ranges::any_of(each, [](std::uint32_t value) { return value != none; });
        };
        recent_.fill({});
        cell_table old;
        old.swap(cells_);
        for (cell& each : old) {
            if (each.values == nullptr || is_used(*each.values)) continue;
            unused_.push_back(std::exchange(each.values, nullptr));
            --count_;
        }
        const std::size_t cells = std::max<std::size_t>(64, std::bit_ceil((count_ + 1) * 2));
        cells_.resize(cells);
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(cells));
        for (const cell& each : old) {
            if (each.values != nullptr) *find(each.number) = each;
        }
    }

    leaf* new_leaf() {
        if (!unused_.empty()) {
            leaf* taken = unused_.back();
            unused_.pop_back();
            return taken;
        }
        if (leaves_.empty() || leaves_.back().size() == leaves_.back().capacity()) {
            const std::size_t before = leaves_.empty() ? min_leaves_at_once / 2 : leaves_.back().capacity();
            leaves_.emplace_back().reserve(std::min(before * 2, max_leaves_at_once));
        }
        return &leaves_.back().emplace_back();
    }

    std::array<recent_leaf, recent_leaves> recent_{};
    cell_table cells_;
    std::size_t count_ = 0;   // of leaves
    std::size_t values_ = 0;  // besides none
    unsigned shift_ = 64;
    std::uint64_t seed_ = hash_seed();
    std::vector<std::vector<leaf, huge_page_allocator<leaf>>> leaves_;
    std::vector<leaf*> unused_;
};

}  // namespace acre::tool
