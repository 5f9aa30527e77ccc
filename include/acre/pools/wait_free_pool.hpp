// Raw slots of one size for real-time threads: one thread allocates, any thread frees, and none of them ever waits for
// a lock, the system or another thread.
//
// Use it where a thread with a deadline (an audio callback, a control loop) allocates slots that other threads free. A
// signal handler may free, too, but must not allocate when it can interrupt an allocate. For objects use
// acre::wait_free_object_pool<T>. Where threads may wait now and then, use acre::concurrent_pool: it grows, and every
// thread may allocate. Where one thread does all, use acre::chunk_pool.
//
// Construction takes all slots and their bookkeeping from upstream in one block; upstream is not called again before
// the end. A free sets the slot's bit in a detail::remote_free_set. The owner, the one thread that allocates, collects
// such bits 64 at a time, the lowest slots first, into words of its own and hands slots out from these. It hands out
// never used slots only when there are no freed ones.
//
// Cost of allocate: 12 instructions while the owner has collected slots, none of them atomic. Otherwise: 50 for a never
// used slot, 31 to find the pool full, at most 43, 73, 105 or 137 to collect, in a pool of up to 64, 4096, 262,144 or
// 16,777,216 slots. Cost of deallocate in these: at most 30, 42, 55 or 68, with one atomic operation, or up to 1, 2, 3
// or 4 where no slot had come back before; 9 more where the slot size is no power of two. A collect makes one futile
// search more for each deallocate that an earlier collect overtook midway (detail::remote_free_set bounds them).
// Memory: required_bytes(): the slots, and about 2 1/63 bits for each.
//
// Threads: one at a time allocates. Another may take over once it is synchronised with the first one, by a join, a lock
// or a flag. Any thread frees, by the same steps as the owner: a test for the owner would cost what it saves. The
// owner can allocate a freed slot once it is synchronised with the end of deallocate, whatever other threads do.
// A double free, a pointer of another resource and a slot that was never handed out abort with a message, in every
// build; except a second free at the moment when the owner collects the first one's bit. In the child after a fork
// the pool goes on; a slot that another thread was freeing at that moment may stay taken.
//
//     acre::wait_free_pool<256, 64> frames{{.slots = 512}};
//     void* p = frames.try_allocate();    // in the real-time thread
//     frames.deallocate(p);               // in any
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#if !ACRE_HAS_THREADS
static_assert(false, "acre::wait_free_pool needs threads, which this target does not have: use acre::pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/remote_free_set.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`: one thread allocates, any thread frees, none waits.
template <std::size_t Slot, std::size_t Align>
class wait_free_pool : public detail::slot_face<wait_free_pool<Slot, Align>, Slot, Align> {
    using face = detail::slot_face<wait_free_pool, Slot, Align>;
    friend face;
    using word_type = std::atomic<std::uint64_t>;
    static_assert(word_type::is_always_lock_free, "acre: a pool that never waits needs atomic words of 64 bits");

    static constexpr std::size_t line_bytes = 64;
    static constexpr std::size_t page_bytes = 4096;

    struct slot_geometry {
        std::size_t slot_bytes;
        std::size_t stride;  // from one slot to the next: slot_bytes, and a redzone in builds that poison
    };

public:
    static constexpr const char* name = "acre::wait_free_pool";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;
    using options_type = wait_free_pool_options;

    /// Bytes of a slot: Slot rounded up to a multiple of Align, and of 8.
    static constexpr slot_geometry geometry = [] {
        const std::size_t slot = align_up(Slot, detail::max(Align, poison_granule));
        const std::size_t alignment = detail::max(Align, detail::min(slot & (0 - slot), page_bytes));
        return slot_geometry{slot, align_up(slot + redzone_bytes, alignment)};
    }();
    /// Alignment of every slot in bytes; stricter requests are refused.
    static constexpr std::size_t max_alignment =
        detail::max(Align, detail::min(geometry.slot_bytes & (0 - geometry.slot_bytes), page_bytes));
    /// Upper limit of the option `.slots`.
    static constexpr std::size_t max_slots =
        detail::min(detail::remote_free_set<>::max_slots, max_request / 4 / geometry.stride);

    /// Bytes that construction takes from upstream, aligned to required_alignment; SIZE_MAX for more than max_slots.
    static constexpr std::size_t required_bytes(const wait_free_pool_options& options) noexcept {
        if (options.slots > max_slots) return SIZE_MAX;
        return kept_offset(options.slots) + detail::remote_free_set<>::leaf_words(options.slots) * sizeof(word_type);
    }
    static constexpr std::size_t required_alignment = detail::max(max_alignment, line_bytes);

    /// Takes required_bytes() from upstream, all at once. Throws what upstream throws, and bad_option for no slots or
    /// more than max_slots. Without exceptions, when upstream has no memory, the pool has no slots and refuses every
    /// request.
    explicit wait_free_pool(const wait_free_pool_options& options, resource_ref upstream = heap{})
        : wait_free_pool(options, upstream, name) {}
    /// Refused by a sentence: no number, or a number without its name.
    template <class... Numbers>
        requires(std::is_arithmetic_v<Numbers> && ...)
    __attribute__((unavailable("acre::wait_free_pool: name the number, {{.slots = 1000}}"))) explicit wait_free_pool(
        Numbers...);

    wait_free_pool(const wait_free_pool&) = delete;
    wait_free_pool& operator=(const wait_free_pool&) = delete;

    /// Gives everything back to upstream, live slots included. No thread may use the pool any more.
    ~wait_free_pool() {
        report_live();
        if (base_ == nullptr) return;
        unpoison_defined(base_, slots_bytes_);
        upstream_.deallocate(base_, required_bytes({.slots = slots_}), required_alignment);
    }

    /// Owner only: returns a slot of Slot bytes aligned to Align, contents undefined. Throws limit_exceeded when all
    /// slots are taken.
    [[gnu::always_inline]] void* allocate() {
        const std::uint64_t bits = current_bits();
        if (bits == 0) [[unlikely]]
            return allocate_slow();
        return take(bits);
    }
    /// As allocate, but null when all are taken.
    [[gnu::always_inline]] void* try_allocate() noexcept ACRE_NONBLOCKING {
        const std::uint64_t bits = current_bits();
        if (bits == 0) [[unlikely]]
            return try_allocate_slow();
        return take(bits);
    }
    /// Any thread: frees a slot; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p) noexcept ACRE_NONBLOCKING { give_back(name, p); }

    // Requests that no slot fits: allocate throws request_too_large or bad_alignment.
    using face::allocate;
    using face::deallocate;
    using face::try_allocate;

    /// Frees all slots; every slot handed out becomes invalid. No other thread may use the pool meanwhile. One step per
    /// 64 slots.
    void reset() noexcept {
        if (base_ == nullptr) return;
        make_words();
        poison(base_, slots_bytes_);
    }

    /// Bytes of all slots.
    std::size_t capacity() const noexcept { return slots_ * geometry.slot_bytes; }
    /// Number of live slots: exact while no other thread uses the pool, approximate otherwise. One step per 64 slots.
    std::size_t live() const noexcept {
        std::size_t free = 0;
        for (std::size_t word = 0; word < words_; ++word) {
            free += static_cast<unsigned>(std::popcount(kept_[word].load(std::memory_order_relaxed)));
            free += static_cast<unsigned>(std::popcount(returned_.members(word)));
        }
        // A slot that is freed between the two loads may be counted twice.
        return slots_ - detail::min(slots_, free);
    }
    /// Bytes of the live slots. As exact as live().
    std::size_t used() const noexcept { return live() * geometry.slot_bytes; }
    /// True when `p` lies in a slot. Constant time, from any thread.
    bool owns(const void* p) const noexcept { return offset_of(p) < slots_bytes_; }
    /// The resource that storage came from.
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    // For derived pools: errors, misuse and live allocations at the end are reported under `derived`.
    wait_free_pool(const wait_free_pool_options& options, resource_ref upstream, const char* derived)
        : name_(derived), upstream_(upstream), report_(options.report_live) {
        require_at_least(1, derived, "slots", options.slots);
        require_option(options.slots <= max_slots, derived, "slots", options.slots,
                       "at most 16777216, or what fits the address space");
        base_ = static_cast<std::byte*>(upstream_.allocate(required_bytes(options), required_alignment));
        if (!exceptions_enabled && base_ == nullptr) return;
        slots_ = options.slots;
        slots_bytes_ = slots_ * geometry.stride;
        words_ = detail::remote_free_set<>::leaf_words(slots_);
        kept_ = reinterpret_cast<word_type*>(base_ + kept_offset(slots_));
        make_words();
        if (options.prefault) touch_pages();
        poison(base_, slots_bytes_);
    }

    void report_live() noexcept {
        report_.write(name_, [this] { return live(); });
    }
    // The name of the derived pool as a constant, which costs deallocate no load.
    [[gnu::always_inline]] void give_back(const char* derived, void* p) noexcept {
        if (p == nullptr) return;
        const std::size_t slot = slot_at(derived, p);
        // Checked before the bit is set: from then on the owner may hand the slot out.
        if (is_kept(slot)) [[unlikely]]
            abort_on_misuse(derived, not_live, p);
        poison(p, geometry.slot_bytes);
        if (!returned_.insert(slot)) [[unlikely]]
            abort_on_misuse(derived, not_live, p);
    }
    /// True when the slot at `p` is free; aborts with a message when `p` is not a slot.
    bool is_free(const void* p) const noexcept { return is_free_slot(slot_at(name_, p)); }
    static constexpr bool checks_frees = true;
    static constexpr bool marks_destroying = false;
    /// Around the destructor of the object in `p`. Aborts with a message unless it is a live slot. Nothing marks it.
    void begin_destroying(const char* derived, const void* p) const noexcept {
        if (is_free_slot(slot_at(derived, p))) abort_on_misuse(derived, not_live, p);
    }
    void end_destroying(const char* derived, void* p) noexcept { give_back(derived, p); }

    /// Calls `visit` with each live slot in address order. `visit` may free this slot and others. No other thread may
    /// use the pool.
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        visiting_ = true;
        for (std::size_t word = 0; word < words_; ++word) {
            // Skips slots that an earlier call of `visit` freed.
            for (std::uint64_t rest = all_bits(word); (rest &= ~free_bits(word)) != 0; rest &= rest - 1) {
                visit(base_ + (word * 64 + static_cast<unsigned>(std::countr_zero(rest))) * geometry.stride);
            }
        }
        visiting_ = false;
    }
    /// True while for_each_live runs.
    bool visiting() const noexcept { return visiting_; }

private:
    // A slot that was never handed out is free, too.
    static constexpr const char* not_live = detail::mistake::double_free;

    // The block holds the slots, the words of returned_ and the words of kept_. Each part starts a new cache line:
    // different threads write them.
    static constexpr std::size_t returned_offset(std::size_t slots) noexcept {
        return align_up(slots * geometry.stride, line_bytes);
    }
    static constexpr std::size_t kept_offset(std::size_t slots) noexcept {
        return returned_offset(slots) +
               align_up(detail::remote_free_set<>::words(slots) * sizeof(word_type), line_bytes);
    }

    // One bit for each slot of a word: 64, fewer in the last word.
    std::uint64_t all_bits(std::size_t word) const noexcept {
        return ~std::uint64_t{0} >> (64 - detail::min<std::size_t>(slots_ - word * 64, 64));
    }
    std::uint64_t free_bits(std::size_t word) const noexcept {
        return kept_[word].load(std::memory_order_relaxed) | returned_.members(word);
    }

    bool is_free_slot(std::size_t slot) const noexcept { return (free_bits(slot / 64) >> (slot % 64) & 1) != 0; }

    // Relaxed suffices. A thread that frees a live slot sees its kept bit cleared: that happened before the slot was
    // handed out, and this thread is synchronised with that. The bit is set again only after this thread's own insert.
    [[gnu::always_inline]] bool is_kept(std::size_t slot) const noexcept {
        return (kept_[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1) != 0;
    }

    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_);
    }
    [[gnu::always_inline]] std::size_t slot_at(const char* derived, const void* p) const noexcept {
        const std::size_t offset = offset_of(p);
        if (offset >= slots_bytes_) [[unlikely]]
            abort_on_misuse(derived, detail::mistake::foreign_pointer, p);
        if (offset % geometry.stride != 0) [[unlikely]]
            abort_on_misuse(derived, detail::mistake::inside_a_slot, p);
        return offset / geometry.stride;
    }

    // Relaxed: only the owner writes kept words; other threads read only bits that no longer change.
    [[gnu::always_inline]] std::uint64_t current_bits() const noexcept {
        return current_->load(std::memory_order_relaxed);
    }
    // Hands out one of the collected slots; `bits` is not 0.
    [[gnu::always_inline]] void* take(std::uint64_t bits) noexcept {
        current_->store(bits & (bits - 1), std::memory_order_relaxed);
        // Unlike std::countr_zero it has no case for 0.
        void* p = current_slots_ + static_cast<unsigned>(__builtin_ctzll(bits)) * geometry.stride;
        unpoison(p, Slot);
        return p;
    }

    // Out of line: once per collected word.
    [[gnu::noinline]] void* allocate_slow() {
        const std::uint64_t bits = refill();
        return bits == 0 ? fail() : take(bits);
    }
    [[gnu::noinline]] void* try_allocate_slow() noexcept {
        const std::uint64_t bits = refill();
        return bits == 0 ? nullptr : take(bits);
    }

    // Collects the freed slots of one word, or takes the next word of never used slots. Returns its bits; 0 for none.
    [[gnu::always_inline]] std::uint64_t refill() noexcept {
        if (words_ == 0) return 0;
        std::size_t word;
        std::uint64_t bits;
        if (!returned_.collect(word, bits)) {
            if (unused_ == words_) return 0;
            word = unused_++;
            bits = kept_[word].load(std::memory_order_relaxed);
        }
        current_ = kept_ + word;
        current_slots_ = base_ + word * 64 * geometry.stride;
        return bits;
    }

    [[gnu::noinline, gnu::cold]] void* fail() const {
        return raise<limit_exceeded>(name_, geometry.slot_bytes, capacity(), capacity());
    }
    [[gnu::noinline, gnu::cold]] void* allocate_large(std::size_t bytes, std::size_t alignment) const {
        if (detail::can_be_honoured(alignment) && bytes > Slot) return raise<request_too_large>(name_, bytes, Slot);
        return raise<bad_alignment>(name_, alignment);
    }
    [[gnu::always_inline]] static void* try_allocate_large(std::size_t, std::size_t) noexcept { return nullptr; }
    [[gnu::always_inline]] void deallocate_large(void* p, std::size_t, std::size_t) const noexcept {
        if (p != nullptr) abort_on_misuse(name_, detail::mistake::wrong_size, p);
    }

    // Marks all slots as never used.
    void make_words() noexcept {
        returned_ = detail::remote_free_set<>{base_ + returned_offset(slots_), slots_};
        for (std::size_t word = 0; word < words_; ++word) {
            ::new (static_cast<void*>(kept_ + word)) word_type{all_bits(word)};
        }
        current_ = &no_slots_;
        unused_ = 0;
    }

    // Writes to each page of the slots; the pages of the words behind them are written already.
    void touch_pages() noexcept {
        for (std::size_t at = 0; at < slots_bytes_; at += page_bytes) {
            static_cast<volatile std::byte&>(base_[at]) = std::byte{0};
        }
    }

    // Every thread reads these, none writes them.
    std::byte* base_ = nullptr;
    std::size_t slots_bytes_ = 0;
    detail::remote_free_set<> returned_;
    word_type* kept_ = nullptr;  // a bit for each slot that the owner may hand out: collected, or never used
    std::size_t slots_ = 0;
    std::size_t words_ = 0;  // of kept_
    const char* name_;
    resource_ref upstream_;
    detail::live_report report_;
    bool visiting_ = false;

    // Only the owner uses these; on a cache line of their own.
    alignas(line_bytes) word_type* current_ = &no_slots_;  // the kept word that slots are handed out from
    std::byte* current_slots_ = nullptr;                   // the 64 slots of that word
    std::size_t unused_ = 0;                               // slots from this word on were never handed out
    word_type no_slots_{0};                                // the current word before the first allocation
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
