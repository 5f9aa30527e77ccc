// The free arenas of a realtime_heap: single ones and runs of neighbours, each taken and given back in constant time.
//
// Used by acre::realtime_heap, not directly. Arenas that were never used lie in the middle: single ones are taken from
// its low end, runs from its high end. What comes back is listed by its length, in classes of eight lengths per
// doubling; a run is rounded up to a length of the ladder, so each listed run of a class serves all requests of it. So
// the middle gives an arena only when no free one of that class is listed. That is why a heap that has, for each class,
// as many arenas as the class ever uses at once never refuses a request, in whatever order: what ran out of its own
// class was within its share, and the shares are disjoint.
//
// Beyond these shares, when the middle is used up, a longer run is split, which is constant time too. Only then, when
// there are enough free arenas and no long enough run, join() makes one run of all free neighbours: linear in the
// arenas. It is the only step that is.
//
// Idea: lists of free runs by the length they are rounded to, without a search, as in half-fit (Ogasawara, 1995).
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/heaps/detail/geometric_classes.hpp>
#include <acre/heaps/detail/heap_arena.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The free ones of up to max_arenas arenas.
class arena_runs {
public:
    static constexpr std::size_t max_arenas = std::size_t{1} << 18;

    arena_runs() noexcept = default;
    /// All of `count` arenas are free. `arenas` are their records, as new.
    arena_runs(heap_arena* arenas, std::size_t count) noexcept
        : low_(arenas), high_(arenas + count), arenas_(arenas), end_(arenas + count) {
        assert(count <= max_arenas);
    }

    /// Number of arenas, of those in use, and of the most that were ever.
    std::size_t all() const noexcept { return static_cast<std::size_t>(end_ - arenas_); }
    std::size_t taken() const noexcept { return taken_; }
    std::size_t most_taken() const noexcept { return most_taken_; }

    /// Length of the run that a request of `arenas` arenas takes.
    static constexpr std::size_t run_length(std::size_t arenas) noexcept {
        return geometric_classes::number_of(geometric_classes::class_of(arenas));
    }
    /// The longest run of at most `arenas` arenas, at least 1.
    static constexpr std::size_t longest_run(std::size_t arenas) noexcept {
        return geometric_classes::number_of(geometric_classes::class_below(arenas));
    }

    /// Takes one arena; null when all are taken. Constant time.
    [[gnu::always_inline]] heap_arena* take_one() noexcept {
        heap_arena* taken = single_.first();
        if (taken != nullptr) {
            single_.pop();
        } else if (low_ != high_) {
            taken = low_++;
        } else {
            taken = take_part(1, 1);
            if (taken == nullptr) return nullptr;
        }
        count_taken(1);
        return taken;
    }

    /// Takes a run of `length` arenas, a length of run_length(), and returns its first. Null when there is no such run;
    /// linear in the arenas when free neighbours have to be joined, which `may_join` allows.
    heap_arena* take_run(std::size_t length, bool may_join) noexcept {
        heap_arena* taken = length == 1 ? take_one() : try_take_run(length);
        if (taken == nullptr && may_join && !joined_ && all() - taken_ >= length) {
            join();
            taken = try_take_run(length);
        }
        if (taken == nullptr) return nullptr;
        taken->use = arena_use::taken_run;
        taken->count = static_cast<std::uint32_t>(length);
        return taken;
    }

    /// Takes back one arena. Constant time.
    [[gnu::always_inline]] void give_back_one(heap_arena& arena) noexcept {
        --taken_;
        joined_ = false;
        // Back to those in the middle, so that a request of another length can have them.
        if (&arena + 1 == low_) {
            arena.use = arena_use::no_beginning;
            low_ = &arena;
        } else {
            arena.use = arena_use::free_run;
            arena.count = 1;
            single_.push(arena);
        }
    }

    /// Takes back a run. Constant time.
    void give_back_run(heap_arena& first) noexcept {
        if (first.count == 1) return give_back_one(first);
        taken_ -= first.count;
        joined_ = false;
        if (&first == high_) {
            first.use = arena_use::no_beginning;
            high_ = &first + first.count;
        } else {
            list(first, first.count);
        }
    }

    /// The first arena of the run that `arena` is part of, free or taken; `arena` itself if it is an arena of slots, or
    /// was never used. Linear in the arenas.
    const heap_arena* beginning_of(const heap_arena* arena) const noexcept {
        for (const heap_arena* first = arenas_; first <= arena;) {
            const heap_arena* const end = first + length_at(*first);
            if (arena < end) return first < low_ || first >= high_ ? first : arena;
            first = end;
        }
        return arena;
    }

    /// Whether the runs follow each other up to the last arena, and as many are taken as are counted. Linear in them.
    bool is_valid() const noexcept {
        std::size_t taken = 0;
        for (const heap_arena* first = arenas_; first != end_;) {
            const std::size_t length = length_at(*first);
            if (length == 0 || length > static_cast<std::size_t>(end_ - first)) return false;
            if (first->use == arena_use::slots || first->use == arena_use::taken_run) taken += length;
            first += length;
        }
        return taken == taken_;
    }

private:
    static constexpr std::size_t classes = geometric_classes::class_of(max_arenas) + 1;
    static_assert(classes == 128, "acre: two words say which classes have a free run");

    [[gnu::always_inline]] void count_taken(std::size_t length) noexcept {
        taken_ += length;
        most_taken_ = detail::max(most_taken_, taken_);
    }

    // The arenas of what begins at `first`: the middle, an arena of slots, or a run.
    std::size_t length_at(const heap_arena& first) const noexcept {
        if (&first == low_ && low_ != high_) return static_cast<std::size_t>(high_ - low_);
        return first.use == arena_use::slots ? 1 : first.count;
    }

    [[gnu::always_inline]] void list(heap_arena& first, std::size_t length) noexcept {
        first.use = arena_use::free_run;
        first.count = static_cast<std::uint32_t>(length);
        if (length == 1) return single_.push(first);
        const std::size_t index = geometric_classes::class_below(length);
        runs_[index].push(first);
        listed_[index / 64] |= std::uint64_t{1} << (index % 64);
    }
    void unlist(heap_arena& first) noexcept {
        first.use = arena_use::no_beginning;
        if (first.count == 1) return single_.remove(first);
        const std::size_t index = geometric_classes::class_below(first.count);
        runs_[index].remove(first);
        if (runs_[index].is_empty()) listed_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    }

    // Takes the first `length` arenas of a listed run of class `from` or a later one, the earliest that has one.
    heap_arena* take_part(std::size_t length, std::size_t from) noexcept {
        std::size_t word = from / 64;
        std::uint64_t found = listed_[word] & (~std::uint64_t{0} << (from % 64));
        if (found == 0 && word == 0) found = listed_[++word];
        if (found == 0) return nullptr;
        // Unlike std::countr_zero it has no case for 0.
        heap_arena* taken = runs_[word * 64 + static_cast<unsigned>(__builtin_ctzll(found))].first();
        const std::size_t whole = taken->count;
        unlist(*taken);
        if (whole != length) list(taken[length], whole - length);
        return taken;
    }

    heap_arena* try_take_run(std::size_t length) noexcept {
        const std::size_t index = geometric_classes::class_of(length);
        heap_arena* taken;
        if (runs_[index].is_empty() && static_cast<std::size_t>(high_ - low_) >= length) {
            taken = high_ -= length;
        } else {
            taken = take_part(length, index);
            if (taken == nullptr) return nullptr;
        }
        count_taken(length);
        return taken;
    }

    // Makes one run of free arenas that lie side by side.
    [[gnu::noinline]] void join() noexcept {
        joined_ = true;
        if (low_ != high_) {
            list(*low_, static_cast<std::size_t>(high_ - low_));
            low_ = high_;
        }
        for (heap_arena *first = arenas_, *end; first < end_; first = end) {
            end = first + length_at(*first);
            if (first->use != arena_use::free_run || end == end_ || end->use != arena_use::free_run) continue;
            unlist(*first);
            while (end < end_ && end->use == arena_use::free_run) {
                unlist(*end);
                end += end->count;
            }
            list(*first, static_cast<std::size_t>(end - first));
        }
    }

    arena_list single_;
    heap_arena* low_ = nullptr;   // arenas from here on
    heap_arena* high_ = nullptr;  // up to here were never used, or came back
    std::size_t taken_ = 0;
    std::size_t most_taken_ = 0;
    bool joined_ = false;  // nothing came back since the free neighbours were joined
    heap_arena* arenas_ = nullptr;
    heap_arena* end_ = nullptr;
    std::uint64_t listed_[2] = {};  // a bit for each class with a listed run
    arena_list runs_[classes];      // of two arenas and more
};

}  // namespace acre::detail
