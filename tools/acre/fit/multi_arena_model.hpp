// Models an acre::multi_arena: the position of each allocation, and how many arenas the recorded order needs.
//
// It follows refcounted_arenas.hpp but never runs out of arenas. Empty arenas are interchangeable, so the model
// behaves like a multi_arena of n arenas until it takes arena n + 1; that multi_arena fails there. So the peak
// number of arenas taken is exactly the smallest number that serves every request.
#pragma once

#include <acre/arenas/multi_arena.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "arena_stock.hpp"

namespace acre::tool {

/// Divides by a constant with a multiplication; exact for 32-bit numbers. With M = floor((2^64 - 1) / d), (n + 1) M /
/// 2^64 is at least floor(n / d), since (n + 1) M loses less than n + 1 to rounding, and below floor(n / d) + 1, since
/// (n + 1) M < (n / d + 1) 2^64.
class quick_divisor {
public:
    explicit quick_divisor(std::uint32_t divisor) : reciprocal_{~std::uint64_t{0} / divisor} {}

    std::uint32_t operator()(std::uint32_t number) const noexcept {
        return static_cast<std::uint32_t>((static_cast<wide>(reciprocal_) * (std::uint64_t{number} + 1)) >> 64);
    }

private:
    __extension__ using wide = unsigned __int128;

    std::uint64_t reciprocal_;
};

/// The size of arenas must be a multiple of every alignment, so that positions do not depend on addresses, and at least
/// that of the largest object.
class multi_arena_model {
public:
    /// Granules from the start of the first arena.
    using position = std::uint32_t;

    explicit multi_arena_model(std::uint32_t arena_granules, std::size_t open = 0)
        : size_{arena_granules}, arena_at_{arena_granules}, open_limit_{open}, arenas_{arena_granules} {}

    position allocate(std::uint32_t granules, std::uint32_t alignment) {
        if (active_ != none && fits(active_, granules, alignment)) return put(active_, granules, alignment);
        for (std::size_t i = 0; i < kept_count_; ++i) {
            if (fits(kept_[i], granules, alignment)) return put(kept_[i], granules, alignment);
        }
        const std::uint32_t next = arenas_.take();
        if (next == none) return 0;
        const position made = put(next, granules, alignment);
        use(next);
        return made;
    }

    void release(position at, std::uint32_t granules) {
        if (arenas_.gave_up()) return;
        const std::uint32_t home = arena_at_(at);
        arena& in = arenas_[home];
        if (--in.live == 0) return emptied(home);
        const std::uint32_t start = at - home * size_;
        if (start + granules == in.used) in.used = start;
    }

    std::uint64_t arena_bytes() const noexcept { return size_ * granule_bytes; }

    /// The smallest number of arenas that serves every request so far.
    std::uint64_t arenas() const noexcept { return max_taken_; }

    /// True if more than 64 GiB were needed; arenas() is then meaningless.
    bool gave_up() const noexcept { return arenas_.gave_up(); }

    /// The arenas taken now; the arena of a position, and its number of live objects.
    std::uint64_t taken() const noexcept { return taken_; }
    std::uint32_t arena_of(position at) const noexcept { return arena_at_(at); }
    std::uint32_t live_in(std::uint32_t index) const noexcept { return arenas_[index].live; }

private:
    struct arena {
        std::uint32_t used = 0;
        std::uint32_t live = 0;
    };

    static constexpr std::uint32_t none = arena_stock<arena>::none;

    static std::uint32_t padding(std::uint32_t used, std::uint32_t alignment) noexcept {
        return (alignment - used % alignment) % alignment;
    }

    std::uint32_t room(std::uint32_t in) const noexcept { return size_ - arenas_[in].used; }

    bool fits(std::uint32_t in, std::uint32_t granules, std::uint32_t alignment) const noexcept {
        const std::uint32_t skipped = alignment == 1 ? 0 : padding(arenas_[in].used, alignment);
        return skipped <= room(in) && granules <= room(in) - skipped;
    }

    position put(std::uint32_t in, std::uint32_t granules, std::uint32_t alignment) noexcept {
        arena& home = arenas_[in];
        const std::uint32_t start = home.used + (alignment == 1 ? 0 : padding(home.used, alignment));
        home.used = start + granules;
        ++home.live;
        return in * size_ + start;
    }

    void emptied(std::uint32_t index) {
        arenas_[index].used = 0;
        if (index == active_ || is_kept(index)) return;
        --taken_;
        arenas_.put_back(index);
    }

    bool is_kept(std::uint32_t index) const noexcept {
        return std::find(kept_.begin(), kept_.begin() + kept_count_, index) != kept_.begin() + kept_count_;
    }

    /// Makes `added` the active arena, or keeps the one so far if that has more free space.
    void use(std::uint32_t added) {
        max_taken_ = std::max(max_taken_, ++taken_);
        std::uint32_t other = active_;
        if (other == none || room(added) >= room(other)) {
            active_ = added;
        } else {
            other = added;
        }
        if (other != none) keep(other);
    }

    void keep(std::uint32_t candidate) {
        if (kept_count_ < open_limit_) {
            kept_[kept_count_++] = candidate;
            return;
        }
        std::uint32_t least = candidate;
        for (std::size_t i = 0; i < kept_count_; ++i) {
            if (room(kept_[i]) < room(least)) std::swap(kept_[i], least);
        }
        if (arenas_[least].live == 0) emptied(least);
    }

    std::uint32_t size_;
    quick_divisor arena_at_;  // divided by the size
    std::size_t open_limit_;
    std::uint32_t active_ = none;
    std::uint64_t taken_ = 0;
    std::uint64_t max_taken_ = 0;
    arena_stock<arena> arenas_;
    std::array<std::uint32_t, acre::multi_arena::max_open> kept_{};
    std::size_t kept_count_ = 0;
};

}  // namespace acre::tool
