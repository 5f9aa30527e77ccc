// The mechanism under acre::concurrent_multi_arena and acre::inline_concurrent_multi_arena: equal arenas, one of which
// each thread has open for itself, and counts that any thread settles.
//
// Use those, not this: they find what a thread has, which here is a parameter. A `Storage` says where the bytes lie and
// how many arenas of how many bytes they are. `Atomic` is std::atomic; tests/model runs the same code with one that
// tries all interleavings.
//
// What holds, whatever the interleaving:
//  - An arena is in the list of free ones, or open in one thread's part, or the shared one, or closed with allocations
//  that
//    live, or in the hands of the one thread that is about to make it one of these. Never two of them.
//  - Its count is `bias - freed by others` while it is open, and then the allocations that live. Who takes it to zero,
//  by a
//    free or by closing it, puts the arena into the list: exactly one thread does.
//  - A thread's part counts what it allocated in its open arena less what it freed there itself, so those frees need no
//    atomic operation; the arena is empty when that equals what others freed.
//  - No thread waits for another. What is tried again was undone by another thread's success.
#pragma once

#include <acre/arenas/detail/bump_arithmetic.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/treiber_stack.hpp>
#include <acre/core/error.hpp>
#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The count of one arena. `Atomic` is std::atomic, or what a check of all interleavings puts there.
template <template <class> class Atomic = std::atomic>
class biased_refcount {
public:
    /// Has the arena open, with nothing freed yet. Relaxed: nobody else knows of the arena, and whoever frees in it has
    /// its pointer from the thread that does this.
    void open() noexcept { count_.store(bias, std::memory_order_relaxed); }

    /// Has it closed with `live` allocations. For the one that has the arena, as open.
    void start_closed(std::int64_t live) noexcept { count_.store(live, std::memory_order_relaxed); }

    /// One less; returns the count before. One: the arena is the caller's, empty. Less: it was freed once too often.
    /// Release: what this thread did with its allocation comes before the arena is used again. Acquire: for the last
    /// one, what all others did does, too (their read-modify-writes are one release sequence).
    std::int64_t count_down() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel); }

    /// Closes it: of `live` allocations, those not freed since it was opened are left. Zero: the arena is the caller's,
    /// empty. Negative: it was freed once too often. The orders are those of count_down, for the same reasons.
    std::int64_t close(std::int64_t live) noexcept {
        return count_.fetch_sub(bias - live, std::memory_order_acq_rel) - (bias - live);
    }

    /// Frees counted down since it was opened. Acquire: when these are all that were allocated, the room is used again,
    /// after all that was done with it.
    std::int64_t freed() const noexcept { return bias - count_.load(std::memory_order_acquire); }

    /// Allocations of a closed one; what has been freed, as a negative number, of an open one. Relaxed: a number to
    /// look at.
    std::int64_t settled() const noexcept {
        const std::int64_t count = count_.load(std::memory_order_relaxed);
        return count > bias / 2 ? count - bias : count;
    }

private:
    static constexpr std::int64_t bias = std::int64_t{1} << 62;

    Atomic<std::int64_t> count_{0};
};

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

/// What all threads know of one arena, on a cache line of its own.
template <template <class> class Atomic = std::atomic>
struct alignas(64) shared_arena_record {
    biased_refcount<Atomic> count;
    Atomic<std::uint32_t> link{0};  // to the next free one
};

/// What one thread has open, on a cache line of its own. Written by that thread alone, and atomic since others ask for
/// it: relaxed, as it is numbers to look at.
template <template <class> class Atomic = std::atomic>
struct alignas(64) thread_arena {
    /// An address that no offset of a pointer from it is small for.
    static constexpr std::uintptr_t nowhere = std::uintptr_t{1} << (8 * sizeof(std::uintptr_t) - 1);

    Atomic<std::uintptr_t> position{0};  // where the next allocation goes
    std::uintptr_t end = 0;
    std::uintptr_t start = nowhere;
    Atomic<std::int64_t> live{0};  // allocated since it was opened, less what this thread freed
    Atomic<std::uint32_t> arena{treiber_stack<Atomic>::none};
    Atomic<std::uint32_t> link{0};  // to the next that no thread has

    bool is_open() const noexcept { return start != nowhere; }
};

/// Equal arenas in the storage of `Storage`, for all threads.
template <class Storage, template <class> class Atomic = std::atomic>
class lock_free_arenas : protected Storage {
    using fit = bump_arithmetic<Storage::max_alignment>;
    using place = typename tagged_bump_pointer<Atomic>::place;

public:
    using part = thread_arena<Atomic>;
    /// Every size, an arena's as well, is rounded up to a multiple of this many bytes, so requests aligned to no more
    /// need no padding.
    static constexpr std::size_t granule = fit::granule;

    lock_free_arenas(const lock_free_arenas&) = delete;
    lock_free_arenas& operator=(const lock_free_arenas&) = delete;

    /// Number of arenas.
    using Storage::arenas;
    /// Bytes of each.
    using Storage::arena_bytes;

    /// Bytes of all arenas.
    std::size_t capacity() const noexcept { return this->arenas() * this->arena_bytes(); }

    /// True when `p` points into the storage. Constant time.
    bool owns(const void* p) const noexcept { return offset_of(p) < capacity(); }

    /// Number of allocations not yet taken back: exact while no other thread allocates or frees, else near it. Linear
    /// in the arenas.
    std::size_t allocations() const noexcept {
        std::int64_t live = 0;
        for (std::size_t index = 0; index < this->arenas(); ++index) live += record(index).count.settled();
        for_each_open([&](std::size_t, std::int64_t made, std::size_t) { live += made; });
        return live > 0 ? static_cast<std::size_t>(live) : 0;
    }

    /// Number of arenas that hold a live allocation. As exact as allocations(). Linear in the arenas.
    std::size_t busy_arenas() const noexcept {
        std::size_t busy = 0;
        for (std::size_t index = 0; index < this->arenas(); ++index) busy += record(index).count.settled() > 0;
        for_each_open([&](std::size_t index, std::int64_t made, std::size_t) {
            busy += made + record(index).count.settled() > 0;
        });
        return busy;
    }

    /// Bytes handed out, rounding and padding included; an arena that no thread has open any more counts whole. As
    /// exact as allocations(). Linear in the arenas.
    std::size_t used() const noexcept {
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < this->arenas(); ++index) {
            bytes += record(index).count.settled() > 0 ? this->arena_bytes() : 0;
        }
        for_each_open([&](std::size_t index, std::int64_t made, std::size_t taken) {
            bytes += made + record(index).count.settled() > 0 ? taken : 0;
        });
        return bytes;
    }

    /// Arenas of `arena_bytes` bytes that hold `count` live allocations of `size` bytes aligned to `alignment`, all of
    /// them allocated by one thread before the first is freed. SIZE_MAX when an arena cannot hold even one.
    static constexpr std::size_t required_arenas(std::size_t arena_bytes, std::size_t count, std::size_t size,
                                                 std::size_t alignment = default_alignment) noexcept {
        const std::size_t arenas = fit::required_arenas(arena_bytes, count, size, alignment);
        // In the shared arena allocations take more where arenas are very large; so that one is not counted on.
        const bool exact =
            arenas == SIZE_MAX || tagged_bump_pointer<Atomic>::is_exact(arenas, align_up(arena_bytes, granule));
        return arenas + !exact;
    }

    /// Takes everything back: all that was handed out is void. No other thread may use it meanwhile. Linear in the
    /// arenas.
    void reset() noexcept {
        poison(this->bytes(), capacity());
        for (std::size_t index = 0; index < this->part_count(); ++index) forget(this->parts()[index]);
        list_arenas();
    }

protected:
    template <class... Arguments>
    explicit lock_free_arenas(const Arguments&... storage)
        : Storage(storage...), shared_(this->arenas(), this->arena_bytes()) {
        poison(this->bytes(), capacity());
        list_arenas();
        for (std::size_t index = this->part_count(); index > 0; --index) {
            idle_parts_.push(part_links(), static_cast<std::uint32_t>(index - 1));
        }
    }
    ~lock_free_arenas() = default;

    /// A part for a thread, null when all are taken: then the thread allocates where all those do that have none.
    part* join() noexcept {
        const std::uint32_t index = idle_parts_.pop(part_links());
        return index == treiber_stack<Atomic>::none ? nullptr : this->parts() + index;
    }
    /// The thread gives its part back.
    void leave(part& left) noexcept {
        if (left.is_open()) close(left);
        idle_parts_.push(part_links(), static_cast<std::uint32_t>(&left - this->parts()));
    }

    /// The hot path: sets `p` to `bytes` bytes, not none, aligned to `alignment`; false when the arena that `mine` has
    /// open has no room, or something else is unusual.
    [[gnu::always_inline]] static bool place_in_open(part& mine, std::size_t bytes, void*& p) noexcept {
        const std::uintptr_t start = mine.position.load(std::memory_order_relaxed);
        if (!fit::fits(bytes, mine.end - start)) [[unlikely]]
            return false;
        mine.position.store(start + fit::rounded_one_or_more(bytes), std::memory_order_relaxed);
        mine.live.store(mine.live.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        p = reinterpret_cast<void*>(start);
        unpoison(p, bytes);
        return true;
    }
    static constexpr bool is_ordinary(std::size_t alignment) noexcept { return fit::is_ordinary(alignment); }

    /// Everything else: any bytes and alignment, a part or null. Null when it cannot.
    void* place_slow(part* mine, std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        if (fit::worst_bytes(bytes, alignment, this->arena_bytes()) > this->arena_bytes()) return nullptr;
        if (mine == nullptr) return place_in_shared(bytes, alignment);
        void* p = nullptr;
        if (place_aligned(*mine, bytes, alignment, p)) return p;
        if (mine->is_open() && begin_again_if_empty(*mine)) {
            [[maybe_unused]] const bool fits = place_aligned(*mine, bytes, alignment, p);
            assert(fits);
            return p;
        }
        const std::uint32_t next = free_arenas_.pop(arena_links());
        if (next == treiber_stack<Atomic>::none) return place_in_shared(bytes, alignment);
        return place_in_next(*mine, next, bytes, alignment);
    }

    /// Takes back what any thread allocated; null is a no-op. The hot path is the free of what the thread has in its
    /// open arena, where null is not.
    [[gnu::always_inline]] void give_back(part* mine, void* p, std::size_t bytes) noexcept {
        if (mine == nullptr || reinterpret_cast<std::uintptr_t>(p) - mine->start >= this->arena_bytes()) [[unlikely]]
            return give_back_slow(p, bytes);
        const std::int64_t live = mine->live.load(std::memory_order_relaxed);
        if (live == 0 || is_freed(p, bytes)) [[unlikely]]
            abort_on_misuse(Storage::name, "double free", p);
        poison(p, bytes);
        mine->live.store(live - 1, std::memory_order_relaxed);
        if (live == 1) return mine->position.store(mine->start, std::memory_order_relaxed);
        if (is_last(*mine, p, bytes))
            mine->position.store(reinterpret_cast<std::uintptr_t>(p), std::memory_order_relaxed);
    }

    /// Makes an allocation longer or shorter where it is: possible for the last one in the thread's open arena while
    /// that has room, and for any when it shrinks. False, and nothing changed, when it cannot.
    bool resize(part* mine, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        const auto start = reinterpret_cast<std::uintptr_t>(p);
        if (mine == nullptr || start - mine->start >= this->arena_bytes() || !is_last(*mine, p, old_bytes))
            return new_bytes <= old_bytes;
        if (new_bytes > mine->end - start) return false;
        mine->position.store(start + fit::rounded(new_bytes), std::memory_order_relaxed);
        if (new_bytes < old_bytes) poison(static_cast<std::byte*>(p) + new_bytes, old_bytes - new_bytes);
        unpoison(p, new_bytes);
        return true;
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!is_alignment(alignment)) return raise(bad_alignment{Storage::name, alignment});
        const std::size_t worst = fit::worst_bytes(bytes, alignment, this->arena_bytes());
        if (worst > this->arena_bytes()) return raise(request_too_large{Storage::name, worst, this->arena_bytes()});
        return raise(out_of_arenas{Storage::name, bytes, this->arenas()});
    }

private:
    shared_arena_record<Atomic>& record(std::size_t index) const noexcept { return this->records()[index]; }
    auto arena_links() const noexcept {
        return
            [records = this->records()](std::uint32_t index) -> Atomic<std::uint32_t>& { return records[index].link; };
    }
    auto part_links() const noexcept {
        return [parts = this->parts()](std::uint32_t index) -> Atomic<std::uint32_t>& { return parts[index].link; };
    }

    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(this->bytes());
    }
    std::uintptr_t start_of(std::size_t index) const noexcept {
        return reinterpret_cast<std::uintptr_t>(this->bytes()) + index * this->arena_bytes();
    }

    // Known in builds that poison alone, and not of no bytes.
    static bool is_freed(const void* p, std::size_t bytes) noexcept { return bytes != 0 && is_poisoned(p); }

    static bool is_last(const part& mine, const void* p, std::size_t bytes) noexcept {
        return reinterpret_cast<std::uintptr_t>(p) + fit::rounded(bytes) ==
               mine.position.load(std::memory_order_relaxed);
    }

    // As place_in_open, for every alignment, and for no bytes.
    static bool place_aligned(part& mine, std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::uintptr_t start = mine.position.load(std::memory_order_relaxed);
        const std::size_t padding = padding_to(start, alignment);
        const std::size_t room = mine.end - start;
        if (padding > room || !fit::fits(bytes + (bytes == 0), room - padding)) return false;
        start += padding;
        mine.position.store(start + fit::rounded(bytes), std::memory_order_relaxed);
        mine.live.store(mine.live.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        p = reinterpret_cast<void*>(start);
        unpoison(p, bytes);
        return true;
    }

    // When others have freed all that is left in it, nobody else knows of the arena any more.
    bool begin_again_if_empty(part& mine) noexcept {
        auto& count = record(mine.arena.load(std::memory_order_relaxed)).count;
        const std::int64_t left = mine.live.load(std::memory_order_relaxed) - count.freed();
        if (left < 0) [[unlikely]]
            abort_on_misuse(Storage::name, "double free", reinterpret_cast<void*>(mine.start));
        if (left != 0) return false;
        count.open();
        mine.live.store(0, std::memory_order_relaxed);
        mine.position.store(mine.start, std::memory_order_relaxed);
        return true;
    }

    // The first allocation in an arena that is this thread's alone; of it and the one that is open, the one with more
    // room left is open from then on.
    void* place_in_next(part& mine, std::uint32_t next, std::size_t bytes, std::size_t alignment) noexcept {
        const std::uintptr_t start = align_up(start_of(next), alignment);
        const std::uintptr_t end = start_of(next) + this->arena_bytes();
        const std::uintptr_t position = start + fit::rounded(bytes);
        if (mine.is_open() && end - position < mine.end - mine.position.load(std::memory_order_relaxed)) {
            record(next).count.start_closed(1);
        } else {
            if (mine.is_open()) close(mine);
            record(next).count.open();
            open(mine, next, position);
        }
        unpoison(reinterpret_cast<void*>(start), bytes);
        return reinterpret_cast<void*>(start);
    }

    // With one allocation, which ends at `position`.
    void open(part& mine, std::uint32_t index, std::uintptr_t position) noexcept {
        mine.start = start_of(index);
        mine.end = mine.start + this->arena_bytes();
        mine.position.store(position, std::memory_order_relaxed);
        mine.live.store(1, std::memory_order_relaxed);
        mine.arena.store(index, std::memory_order_relaxed);
    }

    void close(part& mine) noexcept {
        const std::uint32_t index = mine.arena.load(std::memory_order_relaxed);
        const std::int64_t live = mine.live.load(std::memory_order_relaxed);
        forget(mine);
        close(index, live);
    }
    void close(std::size_t index, std::int64_t live) noexcept {
        const std::int64_t left = record(index).count.close(live);
        if (left < 0) abort_on_misuse(Storage::name, "double free", reinterpret_cast<void*>(start_of(index)));
        if (left == 0) free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index));
    }
    static void forget(part& mine) noexcept {
        mine.position.store(0, std::memory_order_relaxed);
        mine.end = 0;
        mine.start = part::nowhere;
        mine.live.store(0, std::memory_order_relaxed);
        mine.arena.store(treiber_stack<Atomic>::none, std::memory_order_relaxed);
    }

    // Out of line: one atomic operation, and the arena is listed by the one that frees the last.
    [[gnu::noinline]] void give_back_slow(void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return;
        const std::size_t offset = offset_of(p);
        if (offset >= capacity()) [[unlikely]]
            abort_on_misuse(Storage::name, "a pointer of another resource was given back", p);
        if (is_freed(p, bytes)) [[unlikely]]
            abort_on_misuse(Storage::name, "double free", p);
        poison(p, bytes);
        const std::size_t index = this->index_of(offset);
        if (shared_.holds(index)) [[unlikely]]
            give_back_to_shared(index, offset - index * this->arena_bytes(), bytes);
        const std::int64_t before = record(index).count.count_down();
        if (before <= 0) [[unlikely]]
            abort_on_misuse(Storage::name, "double free", p);
        if (before == 1) free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index));
    }

    // Where threads allocate that have no arena open, since there are too few. Tried again only when another thread
    // changed the place meanwhile.
    void* place_in_shared(std::size_t bytes, std::size_t alignment) noexcept {
        for (;;) {
            const place seen = shared_.look();
            void* p = nullptr;
            const place wanted = after(seen, bytes, alignment, p);
            if (p != nullptr) {
                if (!shared_.replace(seen, wanted)) continue;
                unpoison(p, bytes);
                return p;
            }
            const bool empty = is_shared_empty(seen);
            if (empty && seen.taken != 0) {
                begin_shared_again(seen);
                continue;
            }
            const std::uint32_t next = free_arenas_.pop(arena_links());
            if (next != treiber_stack<Atomic>::none) {
                p = place_in_next_shared(seen, next, bytes, alignment);
                if (p != nullptr) return p;
            } else if (empty) {
                close_shared(seen, {shared_.none(), 0, 0, seen.put + 1});
            } else if (shared_.is_still(seen)) {
                return nullptr;
            }
        }
    }

    // Null, and the arena free as before, when another thread was first.
    void* place_in_next_shared(const place& seen, std::uint32_t next, std::size_t bytes,
                               std::size_t alignment) noexcept {
        record(next).count.open();
        void* p = nullptr;
        const place wanted = after({next, 0, 0, seen.put + 1}, bytes, alignment, p);
        if (!close_shared(seen, wanted)) {
            record(next).count.start_closed(0);
            free_arenas_.push(arena_links(), next);
            return nullptr;
        }
        unpoison(p, bytes);
        return p;
    }

    bool is_shared_empty(const place& seen) const noexcept {
        if (seen.arena == shared_.none()) return false;
        const std::int64_t left = static_cast<std::int64_t>(seen.allocations) - record(seen.arena).count.freed();
        // An arena that is no longer there may be open anew, or closed.
        if (left < 0 && shared_.is_still(seen)) [[unlikely]]
            abort_on_misuse(Storage::name, "double free", reinterpret_cast<void*>(start_of(seen.arena)));
        return left == 0;
    }

    // Out of line: threads have arenas of their own. The last allocation of the shared arena comes back at once. It is
    // counted on, so this never brings a place back that another thread has prepared an exchange for.
    [[gnu::noinline]] void give_back_to_shared(std::size_t index, std::size_t first, std::size_t bytes) noexcept {
        const place seen = shared_.look();
        if (seen.arena != index || align_up(first + fit::rounded(bytes), shared_.unit()) != seen.taken) return;
        (void)shared_.replace(seen, {seen.arena, seen.allocations, align_up(first, shared_.unit()), seen.put});
    }

    // All that was allocated was freed, and what is allocated is counted on: so no exchange that was prepared before
    // this one can follow it.
    void begin_shared_again(const place& seen) noexcept {
        (void)shared_.replace(seen, {seen.arena, seen.allocations, 0, seen.put});
    }

    // Puts another arena, or none, in the place of `seen`; false when that is no longer there.
    bool close_shared(const place& seen, const place& wanted) noexcept {
        if (!shared_.replace(seen, wanted)) return false;
        if (seen.arena != shared_.none()) close(seen.arena, static_cast<std::int64_t>(seen.allocations));
        return true;
    }

    // The place after one more allocation, and that in `p`; null when it does not fit.
    place after(const place& before, std::size_t bytes, std::size_t alignment, void*& p) const noexcept {
        if (before.arena == shared_.none() || before.allocations == shared_.max_allocations()) return before;
        const std::uintptr_t arena = start_of(before.arena);
        const std::size_t first = align_up(arena + before.taken, alignment) - arena;
        if (first >= this->arena_bytes() || !fit::fits(bytes + (bytes == 0), this->arena_bytes() - first))
            return before;
        p = reinterpret_cast<void*>(arena + first);
        return {before.arena, before.allocations + 1, align_up(first + fit::rounded(bytes), shared_.unit()),
                before.put};
    }

    // `visit(arena, allocations, bytes)` for each that is open.
    template <class Visit>
    void for_each_open(Visit visit) const noexcept {
        for (std::size_t index = 0; index < this->part_count(); ++index) {
            const part& each = this->parts()[index];
            const std::uint32_t arena = each.arena.load(std::memory_order_relaxed);
            if (arena == treiber_stack<Atomic>::none) continue;
            // Beside the thread that has it the position may be one of another arena.
            visit(arena, each.live.load(std::memory_order_relaxed),
                  within(each.position.load(std::memory_order_relaxed) - start_of(arena)));
        }
        const place seen = shared_.look();
        if (seen.arena != shared_.none())
            visit(seen.arena, static_cast<std::int64_t>(seen.allocations), within(seen.taken));
    }
    std::size_t within(std::size_t bytes) const noexcept { return std::min(bytes, this->arena_bytes()); }

    void list_arenas() noexcept {
        shared_.clear();
        free_arenas_.clear();
        for (std::size_t index = this->arenas(); index > 0; --index) {
            record(index - 1).count.start_closed(0);
            free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index - 1));
        }
        // There from the start, so that no thread finds none while another one is about to put the only one there.
        if (this->arenas() != 0) share(free_arenas_.pop(arena_links()));
    }

    void share(std::size_t index) noexcept {
        record(index).count.open();
        [[maybe_unused]] const bool alone = shared_.replace(shared_.look(), {index, 0, 0, 0});
        assert(alone);
    }

    // Each changes with every arena that a thread takes, so each has a cache line.
    alignas(64) treiber_stack<Atomic> free_arenas_;
    alignas(64) tagged_bump_pointer<Atomic> shared_;
    alignas(64) treiber_stack<Atomic> idle_parts_;
};

}  // namespace acre::detail
