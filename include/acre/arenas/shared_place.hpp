// Where the next allocation goes in an arena that several threads allocate from: which arena, how much of it is taken, by
// how many allocations, all in one word that is exchanged at once.
//
// Used by acre::concurrent_multi_arena, not directly, for threads that have no arena of their own. Since the word says all
// there is to say, it does no harm when it changes and comes back between a thread's look at it and its exchange.
//
// Cost: a load, a compare-and-swap, and some shifts. Thread-safe.
#pragma once

#include <acre/core/alignment.hpp>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre {

/// One place for all threads. `Atomic` is std::atomic, or what a check of all interleavings puts there.
template <template <class> class Atomic = std::atomic>
class shared_place {
public:
    /// What the word says.
    struct place {
        std::size_t arena;          // its number, or the number of arenas: none
        std::uint64_t allocations;  // made in it, whatever was freed
        std::size_t taken;          // bytes of it, a multiple of unit()
        std::uint64_t word;         // all of these
    };

    /// For `arenas` arenas of `arena_bytes` bytes; at first none is in use.
    shared_place(std::size_t arenas, std::size_t arena_bytes) noexcept
        : none_(arenas), place_bits_((64 - static_cast<int>(std::bit_width(arenas))) / 2) {
        // Sixteen bytes, but in arenas so large that their places do not fit the word.
        while (arena_bytes / unit_ >= (std::uint64_t{1} << place_bits_) - 1) unit_ *= 2;
        clear();
    }

    /// Every allocation takes a multiple of this many bytes, a power of two.
    std::size_t unit() const noexcept { return unit_; }
    /// The number that stands for no arena.
    std::size_t none() const noexcept { return none_; }

    /// Acquire: whoever put the arena there had it alone, and read what its former users did. Exchanges in between pass
    /// that on.
    place look() const noexcept { return unpacked(word_.load(std::memory_order_acquire)); }

    /// Puts `wanted` in the place of `seen`; false when it is no longer there. Release: see look. A thread that fails looks
    /// again, so that needs no order.
    bool replace(const place& seen, const place& wanted) noexcept {
        std::uint64_t expected = seen.word;
        return word_.compare_exchange_strong(expected, packed(wanted), std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    /// No arena is in use, for a thread that has it alone.
    void clear() noexcept { word_.store(packed({none_, 0, 0, 0}), std::memory_order_relaxed); }

private:
    std::uint64_t packed(const place& said) const noexcept {
        const std::uint64_t units = said.taken / unit_;
        assert(units >> place_bits_ == 0 && said.allocations >> place_bits_ == 0);
        return (std::uint64_t{said.arena} << place_bits_ | said.allocations) << place_bits_ | units;
    }
    place unpacked(std::uint64_t word) const noexcept {
        const std::uint64_t mask = (std::uint64_t{1} << place_bits_) - 1;
        return {static_cast<std::size_t>(word >> place_bits_ >> place_bits_), word >> place_bits_ & mask,
                static_cast<std::size_t>(word & mask) * unit_, word};
    }

    std::size_t none_;
    int place_bits_;
    std::size_t unit_ = default_alignment;
    Atomic<std::uint64_t> word_{0};
};

}  // namespace acre
