// The mechanism under acre::concurrent_multi_arena and its inline form: equal arenas with refcounts. Each thread has
// one arena open for itself, and may free in any.
//
// Use those, not this: they find the calling thread's thread_arena, which is a parameter here. A `Storage` says where
// the bytes lie, and how many arenas of how many bytes there are. `Atomic` is std::atomic; tests/model runs the same
// code with one that tries all interleavings.
//
// Invariants, whatever the interleaving:
//  - An arena is exactly one of: in the list of free ones, open in one thread_arena, the shared one, closed with live
//    allocations, or held by the one thread that is about to make it one of these.
//  - Its count is `bias - frees by others` while it is open, and the number of live allocations afterwards. Exactly one
//    thread takes the count to zero, by a free or by closing the arena, and that thread lists the arena.
//  - A thread_arena counts what its thread allocated there less what the thread freed there, so those frees need no
//    atomic operation. The arena is empty when that equals the frees by others. Its thread compares the two when the
//    arena is full; if it must go on with the arena, it moves the frees by others from one count to the other.
//  - Every free in the shared arena is a free by others. Each allocation there compares the two, and begins an empty
//    arena at its front.
//  - Lock-free: no thread waits for another; it retries only after another thread progressed.
#pragma once

#include <acre/arenas/detail/bump_arithmetic.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/treiber_stack.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/sanitizer.hpp>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace acre::detail {

/// The refcount of an arena where one thread allocates and any thread frees. While the arena is open the count is
/// biased so far above zero that frees alone never end it; closing subtracts the bias and adds the allocations. Cost:
/// one atomic operation for a free, one to close. count_down() and settled() are for any thread, the rest
/// is for the arena's owner. After Choi, Shull and Torrellas, "Biased reference counting" (PACT 2018).
template <template <class> class Atomic = std::atomic>
class biased_refcount {
public:
    /// Opens it with no frees. Relaxed: nobody else knows the arena, and whoever frees in it got the pointer from this
    /// thread.
    void open() noexcept { count_.store(bias, std::memory_order_relaxed); }

    /// Sets the count of a closed arena. Release: a thread that found the arena shared may read this count when it has
    /// been taken since. Then it must see that it is shared no longer, or the count would look like a double free.
    void start_closed(std::int64_t live) noexcept { count_.store(live, std::memory_order_release); }

    /// Subtracts one and returns the count before. At 1 the arena becomes the caller's, empty; below 1 there was a
    /// double free. Release: what this thread did with its allocation comes before the arena is reused. Acquire: the
    /// last free comes after what all others did (their read-modify-writes are one release sequence).
    std::int64_t count_down() noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel); }

    /// Closes the arena after `live` allocations; returns how many are not yet freed. At 0 the arena becomes the
    /// caller's, empty; below 0 there was a double free. Orders as in count_down().
    std::int64_t close(std::int64_t live) noexcept {
        return count_.fetch_sub(bias - live, std::memory_order_acq_rel) - (bias - live);
    }

    /// Frees since it was opened. Acquire: when all allocations are freed, the room is reused after their users' work.
    std::int64_t freed() const noexcept { return bias - count_.load(std::memory_order_acquire); }

    /// Forgets `frees` of freed(), which the owner has taken off its own count instead. Relaxed: freed() has acquired
    /// them, and this read-modify-write continues their release sequence.
    void forget_frees(std::int64_t frees) noexcept { count_.fetch_add(frees, std::memory_order_relaxed); }

    /// Live allocations of a closed arena; minus the frees by others of an open one. Relaxed: for queries only.
    std::int64_t settled() const noexcept {
        const std::int64_t count = count_.load(std::memory_order_relaxed);
        return count > bias / 2 ? count - bias : count;
    }

private:
    static constexpr std::int64_t bias = std::int64_t{1} << 62;

    Atomic<std::int64_t> count_{0};
};

/// The bump pointer of the arena that threads without one of their own share: the arena's number, the bytes taken, the
/// allocations made and a version, in one word that is replaced by compare-and-swap.
///
/// Allocations are counted up while an arena is here and never down, and the version says how often an arena was put
/// here. So a state prepared for an empty arena cannot replace one in which something lives, unless both counts wrapped
/// while one thread was stopped between its load and its exchange. The version has at least 16 bits. It and the
/// allocations share what the arena's number and the bytes taken leave of 64: 20 and 28 for 64 arenas of 4 KiB.
template <template <class> class Atomic = std::atomic>
class tagged_bump_pointer {
public:
    /// The word, unpacked.
    struct state {
        std::size_t arena;          // its number, or none()
        std::uint64_t allocations;  // made since it was put here, freed or not
        std::size_t taken;          // bytes of it, a multiple of unit()
        std::uint64_t version;
    };

    /// For `arenas` arenas of `arena_bytes` bytes; holds none at first.
    tagged_bump_pointer(std::size_t arenas, std::size_t arena_bytes) noexcept : none_(arenas) {
        const int without_arena = 64 - static_cast<int>(std::bit_width(arenas));
        while (units_bits(arena_bytes / unit_) > max_units_bits(arenas)) unit_ *= 2;
        taken_bits_ = units_bits(arena_bytes / unit_);
        // An arena may be full of the smallest allocations.
        const int spare = without_arena - 2 * taken_bits_ - min_version_bits;
        allocations_bits_ = taken_bits_ + spare / 2;
        version_bits_ = without_arena - taken_bits_ - allocations_bits_;
        arena_shift_ = without_arena;
        clear();
    }

    /// True when unit() is the granule of allocations: for 64 arenas below 16 MiB each, or one below 128 MiB.
    static constexpr bool is_exact(std::size_t arenas, std::size_t arena_bytes) noexcept {
        return units_bits(arena_bytes / default_alignment) <= max_units_bits(arenas);
    }

    /// Every allocation takes a multiple of this many bytes, a power of two.
    std::size_t unit() const noexcept { return unit_; }
    /// The number that stands for no arena.
    std::size_t none() const noexcept { return none_; }
    /// Allocations that can be counted before the arena must be replaced.
    std::uint64_t max_allocations() const noexcept { return (std::uint64_t{1} << allocations_bits_) - 1; }

    /// Acquire: the thread that put the arena here had owned it and seen its former users' writes. Exchanges since then
    /// continue the release sequence.
    state load() const noexcept { return unpacked(word_.load(std::memory_order_acquire)); }

    /// Replaces `seen` by `wanted`; false when another thread was first. Release: see load(). Acquire, as in load():
    /// this is the final read of the word. Relaxed on failure: the thread loads again.
    bool replace(const state& seen, const state& wanted) noexcept {
        std::uint64_t expected = packed(seen);
        return word_.compare_exchange_strong(expected, packed(wanted), std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }
    /// True while `seen` is the state. Relaxed: nothing is read because of it.
    bool is_current(const state& seen) const noexcept { return word_.load(std::memory_order_relaxed) == packed(seen); }

    /// True while this arena is here; cheaper than load(). Requires that there are arenas. Relaxed: a caller that finds
    /// it loads the state next.
    bool holds(std::size_t arena) const noexcept {
        return word_.load(std::memory_order_relaxed) >> arena_shift_ == arena;
    }

    /// Holds no arena from now on. No other thread may use it meanwhile.
    void clear() noexcept { word_.store(packed({none_, 0, 0, 0}), std::memory_order_relaxed); }

private:
    static constexpr int min_version_bits = 16;

    static constexpr int units_bits(std::size_t units) noexcept { return static_cast<int>(std::bit_width(units + 1)); }
    static constexpr int max_units_bits(std::size_t arenas) noexcept {
        return (64 - static_cast<int>(std::bit_width(arenas)) - min_version_bits) / 2;
    }

    std::uint64_t packed(const state& from) const noexcept {
        assert(from.allocations <= max_allocations() && (from.taken / unit_) >> taken_bits_ == 0);
        std::uint64_t word = from.version & mask(version_bits_);
        word = word << allocations_bits_ | from.allocations;
        word = word << taken_bits_ | from.taken / unit_;
        // With zero arenas there are no index bits; shifting by 64 would be undefined.
        return arena_shift_ == 64 ? word : std::uint64_t{from.arena} << arena_shift_ | word;
    }
    state unpacked(std::uint64_t word) const noexcept {
        return {arena_shift_ == 64 ? none_ : narrowed<std::size_t>(word >> arena_shift_),
                word >> taken_bits_ & mask(allocations_bits_), narrowed<std::size_t>(word & mask(taken_bits_)) * unit_,
                word >> taken_bits_ >> allocations_bits_ & mask(version_bits_)};
    }
    static std::uint64_t mask(int bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

    std::size_t none_;
    std::size_t unit_ = default_alignment;
    int taken_bits_ = 0;
    int allocations_bits_ = 0;
    int version_bits_ = 0;
    int arena_shift_ = 0;
    Atomic<std::uint64_t> word_{0};
};

/// One arena, as all threads see it, on a cache line of its own.
template <template <class> class Atomic = std::atomic>
struct alignas(64) shared_arena_record {
    biased_refcount<Atomic> count;
    Atomic<std::uint32_t> link{0};  // to the next free one
};

/// The arena that one thread has open, on a cache line of its own. Written by that thread alone; atomic and relaxed
/// because other threads' queries read it.
template <template <class> class Atomic = std::atomic>
struct alignas(64) thread_arena {
    /// Sentinel start: every p - nowhere exceeds any arena size.
    static constexpr std::uintptr_t nowhere = std::uintptr_t{1} << (8 * sizeof(std::uintptr_t) - 1);

    Atomic<std::uintptr_t> position{0};  // where the next allocation goes
    std::uintptr_t end = 0;
    std::uintptr_t start = nowhere;
    Atomic<std::int64_t> live{0};  // allocations since it was opened, less frees by this thread
    Atomic<std::uint32_t> arena{treiber_stack<Atomic>::none};
    Atomic<std::uint32_t> link{0};  // to the next idle one

    bool is_open() const noexcept { return start != nowhere; }
};

/// Equal arenas in the storage of `Storage`, for all threads.
template <class Storage, template <class> class Atomic = std::atomic>
class lock_free_arenas : protected Storage, public no_clear<Storage> {
    using fit = bump_arithmetic<Storage::max_alignment>;
    using shared_state = typename tagged_bump_pointer<Atomic>::state;

public:
    using thread_arena = detail::thread_arena<Atomic>;
    /// Sizes, also of arenas, are rounded up to a multiple of this, so requests aligned to no more need no padding.
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
    bool owns(const void* p) const noexcept { return offset_of(p) < stretched(capacity()); }

    /// Number of live allocations: exact while no other thread allocates or frees, else approximate. Linear in the
    /// arenas.
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

    /// Bytes handed out, rounding and padding included; a closed arena counts whole. As exact as allocations(). Linear
    /// in the arenas.
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

    /// Arenas of `arena_bytes` bytes that hold `count` live allocations of `size` bytes aligned to `alignment`, if one
    /// thread allocates all before the first is freed. SIZE_MAX when an arena cannot hold even one.
    static constexpr std::size_t required_arenas(std::size_t arena_bytes, std::size_t count, std::size_t size,
                                                 std::size_t alignment = default_alignment) noexcept {
        const std::size_t arenas = fit::required_arenas(arena_bytes, count, size, alignment);
        // Very large arenas round allocations up further when they are the shared one: count one arena more.
        const bool exact =
            arenas == SIZE_MAX || tagged_bump_pointer<Atomic>::is_exact(arenas, align_up(arena_bytes, granule));
        return arenas + !exact;
    }

    /// Takes everything back. No other thread may use it meanwhile. Linear in the arenas.
    void reset() noexcept {
        poison(this->bytes(), stretched(capacity()));
        this->clear_marks();
        for (std::size_t index = 0; index < this->max_thread_arenas(); ++index) forget(this->thread_arenas()[index]);
        list_arenas();
    }

protected:
    template <class... Arguments>
    explicit lock_free_arenas(const Arguments&... storage)
        : Storage(storage...), shared_(this->arenas(), this->arena_bytes()) {
        poison(this->bytes(), stretched(capacity()));
        list_arenas();
        for (std::size_t index = this->max_thread_arenas(); index > 0; --index) {
            idle_thread_arenas_.push(thread_arena_links(), static_cast<std::uint32_t>(index - 1));
        }
    }
    ~lock_free_arenas() = default;

    /// A thread_arena for the calling thread; null when all are taken, and the thread then uses the shared arena.
    thread_arena* attach() noexcept {
        const std::uint32_t index = idle_thread_arenas_.pop(thread_arena_links());
        return index == treiber_stack<Atomic>::none ? nullptr : this->thread_arenas() + index;
    }
    /// Closes it, and lets another thread attach it.
    void detach(thread_arena& detached) noexcept {
        if (detached.is_open()) close(detached);
        idle_thread_arenas_.push(thread_arena_links(), static_cast<std::uint32_t>(&detached - this->thread_arenas()));
    }

    /// The hot path, for ordinary alignments: sets `p`. False when `own` has no room or no open arena, or for 0 bytes.
    [[gnu::always_inline]] bool place_in_own(thread_arena& own, std::size_t bytes, void*& p) noexcept {
        const std::uintptr_t start = own.position.load(std::memory_order_relaxed);
        if (!fit::fits(bytes, own.end - start)) [[unlikely]]
            return false;
        own.position.store(start + fit::rounded_one_or_more(bytes), std::memory_order_relaxed);
        own.live.store(own.live.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        p = handed_out(start, bytes, fit::rounded_one_or_more(bytes));
        return true;
    }
    static constexpr bool is_ordinary(std::size_t alignment) noexcept { return fit::is_ordinary(alignment); }

    /// Every other case: any bytes and alignment; `own` may be null. Null when it cannot.
    void* place_slow(thread_arena* own, std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        if (fit::worst_bytes(bytes, alignment, this->arena_bytes()) > this->arena_bytes()) return nullptr;
        if (own == nullptr) return place_in_shared(bytes, alignment);
        void* p = nullptr;
        if (place_aligned(*own, bytes, alignment, p)) return p;
        if (own->is_open() && reuse_if_empty(*own)) {
            [[maybe_unused]] const bool fits = place_aligned(*own, bytes, alignment, p);
            assert(fits);
            return p;
        }
        const std::uint32_t next = free_arenas_.pop(arena_links());
        if (next == treiber_stack<Atomic>::none) {
            if (own->is_open()) take_over_frees(*own);
            return place_in_shared(bytes, alignment);
        }
        return place_in_next(*own, next, bytes, alignment);
    }

    /// Takes back what any thread allocated; null is a no-op. The hot path is a free in the thread's own arena, which
    /// does not contain null.
    [[gnu::always_inline]] void give_back(thread_arena* own, void* p, std::size_t bytes) noexcept {
        const std::uintptr_t start = position_of(p);
        if (own == nullptr || start - own->start >= this->arena_bytes() || !is_granule(p) || !is_live_at(p, bytes))
            [[unlikely]]
            return give_back_slow(p, bytes);
        set_mark(this->mark_at(start), marked::freed);
        poison(p, bytes);
        const std::int64_t live = own->live.load(std::memory_order_relaxed) - 1;
        own->live.store(live, std::memory_order_relaxed);
        if (live == 0) return own->position.store(own->start, std::memory_order_relaxed);
        if (start + fit::rounded(bytes) == own->position.load(std::memory_order_relaxed))
            own->position.store(start, std::memory_order_relaxed);
    }

    /// Resizes in place: possible for the last allocation in the thread's own arena while that has room, and for any
    /// that shrinks. False, and nothing changed, when it cannot.
    bool resize(thread_arena* own, void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        if (const char* what = mistake_with(p, old_bytes)) [[unlikely]]
            abort_on_misuse(Storage::name, mistake::in_a_resize(what), p);
        const std::uintptr_t start = position_of(p);
        const bool last = own != nullptr && start - own->start < this->arena_bytes() &&
                          start + fit::rounded(old_bytes) == own->position.load(std::memory_order_relaxed);
        if (last ? new_bytes > own->end - start : new_bytes > old_bytes) return false;
        if (last) own->position.store(start + fit::rounded(new_bytes), std::memory_order_relaxed);
        set_mark(this->mark_at(start), marked::live_of(fit::rounded(new_bytes)));
        poison_resized(p, old_bytes, new_bytes);
        return true;
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(Storage::name, alignment);
        const std::size_t worst = fit::worst_bytes(bytes, alignment, this->arena_bytes());
        if (worst > this->arena_bytes())
            return raise<request_too_large>(Storage::name, bytes, alignment, worst, this->arena_bytes());
        return raise<out_of_arenas>(Storage::name, bytes, this->arenas());
    }

private:
    shared_arena_record<Atomic>& record(std::size_t index) const noexcept { return this->records()[index]; }
    auto& count_of(const thread_arena& open) const noexcept {
        return record(open.arena.load(std::memory_order_relaxed)).count;
    }
    auto arena_links() const noexcept {
        return
            [records = this->records()](std::uint32_t index) -> Atomic<std::uint32_t>& { return records[index].link; };
    }
    auto thread_arena_links() const noexcept {
        return [arenas = this->thread_arenas()](std::uint32_t index) -> Atomic<std::uint32_t>& {
            return arenas[index].link;
        };
    }

    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(this->bytes());
    }
    std::uintptr_t start_of(std::size_t index) const noexcept {
        return position_of(this->bytes()) + index * this->arena_bytes();
    }

    // True when a live allocation of `bytes` bytes begins at the granule `p`.
    [[gnu::always_inline]] bool is_live_at(const void* p, std::size_t bytes) const noexcept {
        return mark_of(this->mark_at(position_of(p))) == marked::live_of(fit::rounded(bytes));
    }
    // The mistake in freeing `bytes` bytes at `p`; null when they are a live allocation.
    [[gnu::always_inline]] const char* mistake_with(const void* p, std::size_t bytes) const noexcept {
        if (!owns(p)) [[unlikely]]
            return mistake::foreign_pointer;
        if (!is_granule(p)) [[unlikely]]
            return mistake::inside_an_allocation;
        if (is_live_at(p, bytes)) [[likely]]
            return nullptr;
        const std::size_t before = offset_of(p) % stretched(this->arena_bytes()) / stretched(granule);
        return mistake_at(this->mark_at(position_of(p)), before);
    }

    // Marks the allocation that begins at a position.
    [[gnu::always_inline]] void* handed_out(std::uintptr_t start, std::size_t bytes, std::size_t rounded) noexcept {
        set_mark(this->mark_at(start), marked::live_of(rounded));
        void* const p = address_of(start);
        unpoison(p, bytes);
        return p;
    }

    // As place_in_own, but for any alignment and also for 0 bytes.
    bool place_aligned(thread_arena& own, std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::uintptr_t start = own.position.load(std::memory_order_relaxed);
        const std::size_t padding = padding_to(start, alignment);
        const std::size_t room = own.end - start;
        if (padding > room || !fit::fits(bytes + (bytes == 0), room - padding)) return false;
        start += padding;
        own.position.store(start + fit::rounded(bytes), std::memory_order_relaxed);
        own.live.store(own.live.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        p = handed_out(start, bytes, fit::rounded(bytes));
        return true;
    }

    // Empties the open arena if others have freed all that was live in it: then no other thread refers to it.
    bool reuse_if_empty(thread_arena& own) noexcept {
        auto& count = count_of(own);
        const std::int64_t live_left = own.live.load(std::memory_order_relaxed) - count.freed();
        if (live_left < 0) [[unlikely]]
            abort_on_misuse(Storage::name, mistake::double_free, address_of(own.start));
        if (live_left != 0) return false;
        count.open();
        own.live.store(0, std::memory_order_relaxed);
        own.position.store(own.start, std::memory_order_relaxed);
        return true;
    }

    // Moves the frees by others to the thread's own count. Then that is zero as soon as the thread frees what is left,
    // and the arena begins at its front again. Without this, frees by others would keep it above zero, and the thread
    // would go on behind its last allocation each time. Frees that come meanwhile stay counted where they are.
    void take_over_frees(thread_arena& own) noexcept {
        auto& count = count_of(own);
        const std::int64_t freed = count.freed();
        if (freed == 0) return;
        count.forget_frees(freed);
        own.live.store(own.live.load(std::memory_order_relaxed) - freed, std::memory_order_relaxed);
    }

    // Makes the first allocation in arena `next`, which this thread owns. Of `next` and the open arena, the one with
    // more room left stays open.
    void* place_in_next(thread_arena& own, std::uint32_t next, std::size_t bytes, std::size_t alignment) noexcept {
        const std::uintptr_t start = align_up(start_of(next), alignment);
        const std::uintptr_t end = start_of(next) + this->arena_bytes();
        const std::uintptr_t position = start + fit::rounded(bytes);
        if (own.is_open() && end - position < own.end - own.position.load(std::memory_order_relaxed)) {
            record(next).count.start_closed(1);
        } else {
            if (own.is_open()) close(own);
            record(next).count.open();
            open(own, next, position);
        }
        return handed_out(start, bytes, fit::rounded(bytes));
    }

    // Opens the arena `index` with one allocation, which ends at `position`.
    void open(thread_arena& own, std::uint32_t index, std::uintptr_t position) noexcept {
        own.start = start_of(index);
        own.end = own.start + this->arena_bytes();
        own.position.store(position, std::memory_order_relaxed);
        own.live.store(1, std::memory_order_relaxed);
        own.arena.store(index, std::memory_order_relaxed);
    }

    void close(thread_arena& own) noexcept {
        const std::uint32_t index = own.arena.load(std::memory_order_relaxed);
        const std::int64_t live = own.live.load(std::memory_order_relaxed);
        forget(own);
        close(index, live);
    }
    void close(std::size_t index, std::int64_t live) noexcept {
        const std::int64_t live_left = record(index).count.close(live);
        if (live_left < 0) abort_on_misuse(Storage::name, mistake::double_free, address_of(start_of(index)));
        if (live_left == 0) free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index));
    }
    static void forget(thread_arena& own) noexcept {
        own.position.store(0, std::memory_order_relaxed);
        own.end = 0;
        own.start = thread_arena::nowhere;
        own.live.store(0, std::memory_order_relaxed);
        own.arena.store(treiber_stack<Atomic>::none, std::memory_order_relaxed);
    }

    // Out of line: one atomic operation. The thread that frees the last allocation lists the arena.
    [[gnu::noinline]] void give_back_slow(void* p, std::size_t bytes) noexcept {
        if (p == nullptr) return;
        if (const char* what = mistake_with(p, bytes)) [[unlikely]]
            abort_on_misuse(Storage::name, what, p);
        set_mark(this->mark_at(position_of(p)), marked::freed);
        poison(p, bytes);
        const std::size_t offset = offset_of(p) >> position_shift;
        const std::size_t index = this->index_of(offset);
        if (shared_.holds(index)) [[unlikely]]
            give_back_to_shared(index, offset - index * this->arena_bytes(), bytes);
        const std::int64_t before = record(index).count.count_down();
        if (before <= 0) [[unlikely]]
            abort_on_misuse(Storage::name, mistake::double_free, p);
        if (before == 1) free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index));
    }

    // For threads without an arena of their own. Lock-free: retries only after another thread changed the state.
    void* place_in_shared(std::size_t bytes, std::size_t alignment) noexcept {
        for (;;) {
            const shared_state seen = shared_.load();
            const bool empty = is_shared_empty(seen);
            void* p = nullptr;
            const shared_state wanted = after_allocation(empty ? at_its_front(seen) : seen, bytes, alignment, p);
            if (p != nullptr) {
                if (!shared_.replace(seen, wanted)) continue;
                return handed_out(position_of(p), bytes, fit::rounded(bytes));
            }
            const std::uint32_t next = free_arenas_.pop(arena_links());
            if (next != treiber_stack<Atomic>::none) {
                p = place_in_next_shared(seen, next, bytes, alignment);
                if (p != nullptr) return p;
            } else if (empty) {
                close_shared(seen, {shared_.none(), 0, 0, seen.version + 1});
            } else if (shared_.is_current(seen)) {
                return nullptr;
            }
        }
    }

    // Shares arena `next` and allocates in it. When another thread was first: null, and `next` is free again.
    void* place_in_next_shared(const shared_state& seen, std::uint32_t next, std::size_t bytes,
                               std::size_t alignment) noexcept {
        record(next).count.open();
        void* p = nullptr;
        const shared_state wanted = after_allocation({next, 0, 0, seen.version + 1}, bytes, alignment, p);
        if (!close_shared(seen, wanted)) {
            record(next).count.start_closed(0);
            free_arenas_.push(arena_links(), next);
            return nullptr;
        }
        return handed_out(position_of(p), bytes, fit::rounded(bytes));
    }

    bool is_shared_empty(const shared_state& seen) const noexcept {
        if (seen.arena == shared_.none()) return false;
        const std::int64_t live_left = static_cast<std::int64_t>(seen.allocations) - record(seen.arena).count.freed();
        // If the state is no longer current, the arena may be open elsewhere or closed.
        if (live_left < 0 && shared_.is_current(seen)) [[unlikely]]
            abort_on_misuse(Storage::name, mistake::double_free, address_of(start_of(seen.arena)));
        return live_left == 0;
    }

    // Out of line: most threads have arenas of their own. The last allocation of the shared arena comes back at once.
    // `allocations` is not lowered, so no earlier state comes back that another thread has prepared an exchange for.
    [[gnu::noinline]] void give_back_to_shared(std::size_t index, std::size_t first, std::size_t bytes) noexcept {
        const shared_state seen = shared_.load();
        if (seen.arena != index || align_up(first + fit::rounded(bytes), shared_.unit()) != seen.taken) return;
        (void)shared_.replace(seen, {seen.arena, seen.allocations, align_up(first, shared_.unit()), seen.version});
    }

    // An empty shared arena from its front on: room behind the last allocation is not all that it has. Only `taken`
    // changes, so the exchange succeeds only where nothing was allocated since `seen`, in which nothing was live.
    // `allocations` is not lowered, so older exchanges fail.
    static shared_state at_its_front(const shared_state& seen) noexcept {
        return {seen.arena, seen.allocations, 0, seen.version};
    }

    // Replaces the shared arena by another or none; false when `seen` is no longer current.
    bool close_shared(const shared_state& seen, const shared_state& wanted) noexcept {
        if (!shared_.replace(seen, wanted)) return false;
        if (seen.arena != shared_.none()) close(seen.arena, static_cast<std::int64_t>(seen.allocations));
        return true;
    }

    // The state after one more allocation, which `p` points to; null when it does not fit.
    shared_state after_allocation(const shared_state& before, std::size_t bytes, std::size_t alignment,
                                  void*& p) const noexcept {
        if (before.arena == shared_.none() || before.allocations == shared_.max_allocations()) return before;
        const std::uintptr_t arena = start_of(before.arena);
        const std::size_t first = align_up(arena + before.taken, alignment) - arena;
        if (first >= this->arena_bytes() || !fit::fits(bytes + (bytes == 0), this->arena_bytes() - first))
            return before;
        p = address_of(arena + first);
        return {before.arena, before.allocations + 1, align_up(first + fit::rounded(bytes), shared_.unit()),
                before.version};
    }

    // Calls `visit(arena, allocations, bytes)` for each open arena.
    template <class Visit>
    void for_each_open(Visit visit) const noexcept {
        for (std::size_t index = 0; index < this->max_thread_arenas(); ++index) {
            const thread_arena& each = this->thread_arenas()[index];
            const std::uint32_t arena = each.arena.load(std::memory_order_relaxed);
            if (arena == treiber_stack<Atomic>::none) continue;
            // While its thread works, the position may already be that of another arena.
            visit(arena, each.live.load(std::memory_order_relaxed),
                  within(each.position.load(std::memory_order_relaxed) - start_of(arena)));
        }
        const shared_state seen = shared_.load();
        if (seen.arena != shared_.none())
            visit(seen.arena, static_cast<std::int64_t>(seen.allocations), within(seen.taken));
    }
    std::size_t within(std::size_t bytes) const noexcept { return detail::min(bytes, this->arena_bytes()); }

    void list_arenas() noexcept {
        shared_.clear();
        free_arenas_.clear();
        for (std::size_t index = this->arenas(); index > 0; --index) {
            record(index - 1).count.start_closed(0);
            free_arenas_.push(arena_links(), static_cast<std::uint32_t>(index - 1));
        }
        // One is shared from the start: else a thread could find none while another is about to share the only arena.
        if (this->arenas() != 0) share(free_arenas_.pop(arena_links()));
    }

    void share(std::size_t index) noexcept {
        record(index).count.open();
        [[maybe_unused]] const bool alone = shared_.replace(shared_.load(), {index, 0, 0, 0});
        assert(alone);
    }

    // Each changes with every arena that a thread takes, so each has a cache line of its own.
    alignas(64) treiber_stack<Atomic> free_arenas_;
    alignas(64) tagged_bump_pointer<Atomic> shared_;
    alignas(64) treiber_stack<Atomic> idle_thread_arenas_;
};

}  // namespace acre::detail
