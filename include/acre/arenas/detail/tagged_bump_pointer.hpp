// Where the next allocation goes in an arena that several threads allocate from: which arena, how much of it is taken,
// by how many allocations, all in one word that is exchanged at once.
//
// Used by acre::concurrent_multi_arena, not directly, for threads that have no arena of their own.
//
// Cost: a load, a compare-and-swap, and some shifts. Thread-safe.
//
// Allocations are counted up while an arena is in use here, and never down, and a word says how often an arena was put
// here; so what is prepared for an empty arena never meets one in which something lives, until both counts have wrapped
// while one thread was stopped between its look and its exchange. There are 16 bits at least for the second, and more
// of both in what the number of the arena and the bytes taken leave of 64: 28 and 20 for 64 arenas of 4 KiB.
#pragma once

#include <acre/core/alignment.hpp>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// One place for all threads. `Atomic` is std::atomic, or what a check of all interleavings puts there.
template <template <class> class Atomic = std::atomic>
class tagged_bump_pointer {
public:
    /// What the word says.
    struct place {
        std::size_t arena;          // its number, or the number of arenas: none
        std::uint64_t allocations;  // made since it was put here, whatever was freed
        std::size_t taken;          // bytes of it, a multiple of unit()
        std::uint64_t put;          // how often one was put here
    };

    /// For `arenas` arenas of `arena_bytes` bytes; at first none is in use.
    tagged_bump_pointer(std::size_t arenas, std::size_t arena_bytes) noexcept : none_(arenas) {
        const int without_arena = 64 - static_cast<int>(std::bit_width(arenas));
        while (units_bits(arena_bytes / unit_) > max_units_bits(arenas)) unit_ *= 2;
        taken_bits_ = units_bits(arena_bytes / unit_);
        // An arena may be full of the smallest allocations.
        const int left = without_arena - 2 * taken_bits_ - min_put_bits;
        allocations_bits_ = taken_bits_ + left / 2;
        put_bits_ = without_arena - taken_bits_ - allocations_bits_;
        arena_shift_ = without_arena;
        clear();
    }

    /// True when unit() is no more than allocations take anyway: for arenas below 16 MiB where there are 64 of them,
    /// 128 MiB where there is one.
    static constexpr bool is_exact(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return units_bits(arena_bytes / default_alignment) <= max_units_bits(arenas);
    }

    /// Every allocation takes a multiple of this many bytes, a power of two.
    std::size_t unit() const noexcept { return unit_; }
    /// The number that stands for no arena.
    std::size_t none() const noexcept { return none_; }
    /// Allocations that can be counted before another arena, or none, must be put here.
    std::uint64_t max_allocations() const noexcept { return (std::uint64_t{1} << allocations_bits_) - 1; }

    /// Acquire: whoever put the arena there had it alone, and read what its former users did. Exchanges in between pass
    /// that on.
    place look() const noexcept { return unpacked(word_.load(std::memory_order_acquire)); }

    /// Puts `wanted` in the place of `seen`; false when that is no longer there. Release: see look. Acquire: the same
    /// as in look, of which this is the last. A thread that fails looks again, so that needs no order.
    bool replace(const place& seen, const place& wanted) noexcept {
        std::uint64_t expected = packed(seen);
        return word_.compare_exchange_strong(expected, packed(wanted), std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }
    /// True when `seen` is still there. Relaxed: nothing is read because of it.
    bool is_still(const place& seen) const noexcept { return word_.load(std::memory_order_relaxed) == packed(seen); }

    /// True when this arena is there, of which there is one at least: in less time than look() takes. Relaxed: who
    /// finds it there looks.
    bool holds(std::size_t arena) const noexcept {
        return word_.load(std::memory_order_relaxed) >> arena_shift_ == arena;
    }

    /// No arena is in use, for a thread that has it alone.
    void clear() noexcept { word_.store(packed({none_, 0, 0, 0}), std::memory_order_relaxed); }

private:
    static constexpr int min_put_bits = 16;

    static constexpr int units_bits(std::size_t units) noexcept { return static_cast<int>(std::bit_width(units + 1)); }
    static constexpr int max_units_bits(std::size_t arenas) noexcept {
        return (64 - static_cast<int>(std::bit_width(arenas)) - min_put_bits) / 2;
    }

    std::uint64_t packed(const place& said) const noexcept {
        assert(said.allocations <= max_allocations() && (said.taken / unit_) >> taken_bits_ == 0);
        std::uint64_t word = said.put & mask(put_bits_);
        word = word << allocations_bits_ | said.allocations;
        word = word << taken_bits_ | said.taken / unit_;
        // Without an arena, which may be none of none, all of the word is the rest.
        return arena_shift_ == 64 ? word : std::uint64_t{said.arena} << arena_shift_ | word;
    }
    place unpacked(std::uint64_t word) const noexcept {
        return {arena_shift_ == 64 ? none_ : static_cast<std::size_t>(word >> arena_shift_),
                word >> taken_bits_ & mask(allocations_bits_),
                static_cast<std::size_t>(word & mask(taken_bits_)) * unit_,
                word >> taken_bits_ >> allocations_bits_ & mask(put_bits_)};
    }
    static std::uint64_t mask(int bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

    std::size_t none_;
    std::size_t unit_ = default_alignment;
    int taken_bits_ = 0;
    int allocations_bits_ = 0;
    int put_bits_ = 0;
    int arena_shift_ = 0;
    Atomic<std::uint64_t> word_{0};
};

}  // namespace acre::detail
