// Raw slots of one size for real-time threads: one thread allocates, any thread frees, and none of them ever waits, for
// a lock, for the system or for another thread.
//
// Use it where a thread that must not miss its deadline hands memory to others, or gets its own back from them: an
// audio callback, a control loop, a signal handler. Use acre::wait_free_object_pool<T> for objects. Where threads may
// wait now and then, acre::concurrent_pool lets every thread allocate and grows; where one thread does all, use
// acre::chunk_pool.
//
// So many slots are taken from upstream at construction, with what is known of them, in one block; after that upstream
// is not called until the end. Freeing sets the slot's bit in acre::remote_free_set; the owner, which is the one thread
// that allocates, takes such bits 64 at a time, the lowest slots first, and keeps them in words of its own, from which
// it hands out. Slots that were never used are handed out when none is there that came back.
//
// Cost: allocate is 12 instructions while slots are in hand, none of them atomic; else 50 for what was never used, 31
// to find that all are taken, and at most 43, 73, 105 or 137 to collect, in a pool of up to 64, 4096, 262,144 or
// 16,777,216 slots. Deallocate is at most 30, 42, 55 or 68, one of them atomic, or one for each of these sizes where
// nothing came back before; 9 more where a slot's size is no power of two. To that a collect adds a look in vain, no
// longer, for each deallocate that another collect overtook in the middle (acre::remote_free_set says when, and how
// many there can be). Memory: required_bytes(): the slots, and two bits and 1/63 a slot.
//
// Threads: one at a time allocates; another may go on where the first one stopped if it knows of that (by a join, a
// lock, a flag). Any thread frees, also the owner, by the same steps: to tell it from the others would cost what it
// saves. What was freed is there for the owner as soon as it knows that deallocate returned, whatever other threads do
// meanwhile or were stopped at. A double free, a pointer of another resource and a slot that was never handed out abort
// with a sentence, in every build, except a second free in the same moment in which the owner takes the first one's
// bit. In the child after a fork everything goes on; what another thread was just freeing may stay taken.
//
//     acre::wait_free_pool<256, 64> frames{{.slots = 512}};
//     void* p = frames.try_allocate();    // in the real-time thread
//     frames.deallocate(p);               // in any
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/live_report.hpp>
#include <acre/pools/detail/remote_free_set.hpp>
#include <acre/pools/wait_free_pool_options.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`: one thread allocates, any thread frees, none waits.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class wait_free_pool {
    using word_type = std::atomic<std::uint64_t>;
    static_assert(word_type::is_always_lock_free, "a pool that never waits needs atomic words of 64 bits");

    static constexpr std::size_t line_bytes = 64;
    static constexpr std::size_t page_bytes = 4096;

    struct slot_geometry {
        std::size_t slot_bytes;
    };

public:
    static_assert(Slot > 0 && Slot <= max_request / 1024, "the slots of a pool have at least one byte");
    static_assert(is_alignment(Align), "the alignment of a pool is a power of two");

    static constexpr const char* name = "acre::wait_free_pool";
    using options_type = wait_free_pool_options;

    /// Bytes of a slot: Slot rounded up to a multiple of Align, and of 8.
    static constexpr slot_geometry geometry{align_up(Slot, std::max(Align, poison_granule))};
    /// Requests aligned to this many bytes or fewer are served: every slot is.
    static constexpr std::size_t max_alignment =
        std::max(Align, std::min(geometry.slot_bytes & (0 - geometry.slot_bytes), page_bytes));
    /// The most that `.slots` may be.
    static constexpr std::size_t max_slots =
        std::min(detail::remote_free_set<>::max_slots, max_request / 4 / geometry.slot_bytes);

    /// Bytes that construction takes from upstream, aligned to required_alignment; SIZE_MAX for more than max_slots.
    static constexpr std::size_t required_bytes(const wait_free_pool_options& options) noexcept {
        if (options.slots > max_slots) return SIZE_MAX;
        return kept_offset(options.slots) + detail::remote_free_set<>::leaf_words(options.slots) * sizeof(word_type);
    }
    static constexpr std::size_t required_alignment = std::max(max_alignment, line_bytes);

    /// Takes required_bytes() from upstream, all at once. Throws what upstream throws, and bad_option for no slots or
    /// more than max_slots; without exceptions it is left without a slot where upstream had no memory, and refuses
    /// every request.
    explicit wait_free_pool(const wait_free_pool_options& options, resource_ref upstream = heap{})
        : wait_free_pool(options, upstream, name) {}

    wait_free_pool(const wait_free_pool&) = delete;
    wait_free_pool& operator=(const wait_free_pool&) = delete;

    /// Gives everything back to upstream, slots that were not freed included. No thread may use it any more.
    ~wait_free_pool() {
        report_live(reported_);
        if (base_ == nullptr) return;
        unpoison_defined(base_, slots_bytes_);
        upstream_.deallocate(base_, required_bytes({.slots = slots_}), required_alignment);
    }

    /// The owner: a slot of Slot bytes aligned to Align, contents undefined. Throws limit_exceeded when all are taken.
    [[gnu::always_inline]] void* allocate() {
        const std::uint64_t bits = hand_bits();
        if (bits == 0) [[unlikely]]
            return allocate_slow();
        return take(bits);
    }
    /// As allocate, but null when all are taken.
    [[gnu::always_inline]] void* try_allocate() noexcept {
        const std::uint64_t bits = hand_bits();
        if (bits == 0) [[unlikely]]
            return try_allocate_slow();
        return take(bits);
    }
    /// Any thread: takes a slot back; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p) noexcept { give_back(reported_, p); }

    /// True when a request of this size and alignment is served; others are refused.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slot && alignment <= max_alignment && is_alignment(alignment);
    }

    // The face of a resource. Throws request_too_large or bad_alignment where there is no slot of the kind.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return allocate();
        return refuse(bytes, alignment);
    }
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        return serves(bytes, alignment) ? try_allocate() : nullptr;
    }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p != nullptr && !serves(bytes, alignment)) [[unlikely]]
            abort_on_misuse(reported_, "a slot was freed as something that has no room in it", p);
        deallocate(p);
    }

    /// Takes everything back: every slot handed out is void. No other thread may use it meanwhile. A step for each 64
    /// slots.
    void reset() noexcept {
        if (base_ == nullptr) return;
        make_words();
        poison(base_, slots_bytes_);
    }

    /// Bytes of all slots.
    std::size_t capacity() const noexcept { return slots_bytes_; }
    /// Number of slots handed out: exact while no other thread uses the pool, else near it. A step for each 64 slots.
    std::size_t live() const noexcept {
        std::size_t free = 0;
        for (std::size_t word = 0; word < words_; ++word) {
            free += static_cast<unsigned>(std::popcount(kept_[word].load(std::memory_order_relaxed)));
            free += static_cast<unsigned>(std::popcount(returned_.members(word)));
        }
        // A slot may come back between the two looks at its word.
        return slots_ - std::min(slots_, free);
    }
    /// Bytes of the slots handed out. As live().
    std::size_t used() const noexcept { return live() * geometry.slot_bytes; }
    /// True when `p` lies in a slot. Constant time, from any thread.
    bool owns(const void* p) const noexcept { return offset_of(p) < slots_bytes_; }
    /// The resource that storage came from.
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    // For pools made of this one, which errors, misuse and what is live at the end are reported of in their name.
    wait_free_pool(const wait_free_pool_options& options, resource_ref upstream, const char* reported)
        : reported_(reported), upstream_(upstream), report_(options.report_live) {
        require_at_least(1, reported, "slots", options.slots);
        require_option(options.slots <= max_slots, reported, "slots", options.slots,
                       "at most 16777216, or what fits the address space");
        base_ = static_cast<std::byte*>(upstream_.allocate(required_bytes(options), required_alignment));
        if (!exceptions_enabled && base_ == nullptr) return;
        slots_ = options.slots;
        slots_bytes_ = slots_ * geometry.slot_bytes;
        words_ = detail::remote_free_set<>::leaf_words(slots_);
        kept_ = reinterpret_cast<word_type*>(base_ + kept_offset(slots_));
        make_words();
        if (options.prefault) touch_pages();
        poison(base_, slots_bytes_);
    }

    void report_live(const char* reported) noexcept {
        report_.write(reported, [this] { return live(); });
    }

    [[gnu::always_inline]] void give_back(const char* reported, void* p) noexcept {
        if (p == nullptr) return;
        const std::size_t slot = slot_at(reported, p);
        // Before it is free: from then on it may be handed out.
        if (is_kept(slot)) [[unlikely]]
            abort_on_misuse(reported, not_live, p);
        poison(p, geometry.slot_bytes);
        if (!returned_.insert(slot)) [[unlikely]]
            abort_on_misuse(reported, not_live, p);
    }

    /// True when the slot at `p` is free; aborts with a sentence when `p` is no slot.
    bool is_free(const char* reported, const void* p) const noexcept {
        const std::size_t slot = slot_at(reported, p);
        return (free_bits(slot / 64) >> (slot % 64) & 1) != 0;
    }
    /// Aborts with a sentence unless `p` is a slot that is handed out.
    void check_live(const char* reported, const void* p) const noexcept {
        if (is_free(reported, p)) abort_on_misuse(reported, not_live, p);
    }

    /// Calls `visit` with each live slot, in address order, which may give back this one and others. No other thread
    /// may use the pool.
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        visiting_ = true;
        for (std::size_t word = 0; word < words_; ++word) {
            // What is freed meanwhile is passed over.
            for (std::uint64_t rest = all_bits(word); (rest &= ~free_bits(word)) != 0; rest &= rest - 1) {
                visit(base_ + (word * 64 + static_cast<unsigned>(std::countr_zero(rest))) * geometry.slot_bytes);
            }
        }
        visiting_ = false;
    }
    /// True while for_each_live runs.
    bool visiting() const noexcept { return visiting_; }

private:
    static constexpr const char* not_live = "double free, or a slot was freed that was never handed out";

    // The block: slots, the words of returned_, those of kept_. What different threads write shares no cache line.
    static constexpr std::size_t returned_offset(std::size_t slots) noexcept {
        return align_up(slots * geometry.slot_bytes, line_bytes);
    }
    static constexpr std::size_t kept_offset(std::size_t slots) noexcept {
        return returned_offset(slots) +
               align_up(detail::remote_free_set<>::words(slots) * sizeof(word_type), line_bytes);
    }

    // Bits of the slots that there are of the 64 of a word.
    std::uint64_t all_bits(std::size_t word) const noexcept {
        return ~std::uint64_t{0} >> (64 - std::min<std::size_t>(slots_ - word * 64, 64));
    }
    std::uint64_t free_bits(std::size_t word) const noexcept {
        return kept_[word].load(std::memory_order_relaxed) | returned_.members(word);
    }

    // A thread that frees a slot which is handed out finds it not kept: that was written before the slot was handed
    // out, of which it knows, and the slot is kept again only after its bit was set, which it does later. So relaxed
    // suffices.
    [[gnu::always_inline]] bool is_kept(std::size_t slot) const noexcept {
        return (kept_[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1) != 0;
    }

    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_);
    }
    [[gnu::always_inline]] std::size_t slot_at(const char* reported, const void* p) const noexcept {
        const std::size_t offset = offset_of(p);
        if (offset >= slots_bytes_) [[unlikely]]
            abort_on_misuse(reported, "a pointer of another resource was freed", p);
        if (offset % geometry.slot_bytes != 0) [[unlikely]]
            abort_on_misuse(reported, "a pointer was freed that is no slot's", p);
        return offset / geometry.slot_bytes;
    }

    // Relaxed: the owner alone writes kept words; others only ask of slots whose state they know to be settled.
    [[gnu::always_inline]] std::uint64_t hand_bits() const noexcept { return hand_->load(std::memory_order_relaxed); }
    // One of the slots in hand, of which `bits` has one at least.
    [[gnu::always_inline]] void* take(std::uint64_t bits) noexcept {
        hand_->store(bits & (bits - 1), std::memory_order_relaxed);
        // Unlike std::countr_zero it need not count in a word without a bit.
        void* p = hand_slots_ + static_cast<unsigned>(__builtin_ctzll(bits)) * geometry.slot_bytes;
        unpoison(p, Slot);
        return p;
    }

    // Out of line: once in as many allocations as slots came back of the same 64.
    [[gnu::noinline]] void* allocate_slow() {
        const std::uint64_t bits = refill();
        return bits == 0 ? fail() : take(bits);
    }
    [[gnu::noinline]] void* try_allocate_slow() noexcept {
        const std::uint64_t bits = refill();
        return bits == 0 ? nullptr : take(bits);
    }

    // Takes what came back of 64 slots in hand, or 64 slots that were never used: their bits, or 0.
    [[gnu::always_inline]] std::uint64_t refill() noexcept {
        if (words_ == 0) return 0;
        std::size_t word;
        std::uint64_t bits;
        if (!returned_.collect(word, bits)) {
            if (unused_ == words_) return 0;
            word = unused_++;
            bits = kept_[word].load(std::memory_order_relaxed);
        }
        hand_ = kept_ + word;
        hand_slots_ = base_ + word * 64 * geometry.slot_bytes;
        return bits;
    }

    [[gnu::noinline, gnu::cold]] void* fail() const {
        return raise(limit_exceeded{reported_, geometry.slot_bytes, slots_bytes_, slots_bytes_});
    }
    [[gnu::noinline, gnu::cold]] void* refuse(std::size_t bytes, std::size_t alignment) const {
        if (is_alignment(alignment) && bytes > Slot) return raise(request_too_large{reported_, bytes, Slot});
        return raise(bad_alignment{reported_, alignment});
    }

    // All slots are the owner's, never used.
    void make_words() noexcept {
        returned_ = detail::remote_free_set<>{base_ + returned_offset(slots_), slots_};
        for (std::size_t word = 0; word < words_; ++word) {
            ::new (static_cast<void*>(kept_ + word)) word_type{all_bits(word)};
        }
        hand_ = &empty_hand_;
        unused_ = 0;
    }

    // The slots' pages; those of the words behind them were written already.
    void touch_pages() noexcept {
        for (std::size_t at = 0; at < slots_bytes_; at += page_bytes) {
            static_cast<volatile std::byte&>(base_[at]) = std::byte{0};
        }
    }

    // Read by every thread, written by none.
    std::byte* base_ = nullptr;
    std::size_t slots_bytes_ = 0;
    detail::remote_free_set<> returned_;
    word_type* kept_ = nullptr;  // a bit for each slot that is the owner's to hand out
    std::size_t slots_ = 0;
    std::size_t words_ = 0;  // of kept_
    const char* reported_;
    resource_ref upstream_;
    detail::live_report report_;
    bool visiting_ = false;

    // The owner's, on a cache line of their own.
    alignas(line_bytes) word_type* hand_ = &empty_hand_;  // the kept word that is handed out of
    std::byte* hand_slots_ = nullptr;                     // the 64 slots of that word
    std::size_t unused_ = 0;                              // this word's slots and all after it were never handed out
    word_type empty_hand_{0};                             // the hand before the first allocation
};

static_assert(owning_resource<wait_free_pool<64, 64>>);
static_assert(resettable_resource<wait_free_pool<64, 64>>);

}  // namespace acre
