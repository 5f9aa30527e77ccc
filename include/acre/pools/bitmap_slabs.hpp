// The mechanism under every pool of acre: slots of one size in slabs, one free bit a slot in the slab's header.
//
// Use a pool, not this: acre::pool, acre::object_pool and acre::multi_pool are made of it. It is told the geometry on
// each call, so that a pool of a compile-time size pays for constants only.
//
// Why it is fast: a free slot is never written or read, so freeing drags nothing through the cache and addresses come
// out ascending; allocate is "find lowest set bit, clear it" in a word that is at hand, deallocate is "set a bit". A
// bit that is set already is a double free, a header that names another owner is a pointer of another pool: both are
// detected in every build.
//
// Cost: allocate about 10 instructions, deallocate about 20, both constant time but for a new slab; used() and the walk
// over the live are linear in the slabs held. Not thread-safe.
//
// The idea of one bitmap a slab is Bonwick's slab allocator (1994) with its free list replaced, as snmalloc and
// Mesh also do; the coloured headers are his slab colouring applied to the header instead of the objects.
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/slab_geometry.hpp>
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace acre {

/// Slabs of slots of one size, with their free bits.
class bitmap_slabs {
public:
    /// Header of a slab. Three words, the bitmap, then the rarely used rest, so that one cache line serves the usual
    /// deallocation.
    struct slab {
        std::uint64_t summary;   // bit w set: word w has bits set
        slab* next_available;    // the next slab whose summary is not empty; meaningful while its own is not
        const void* owner;       // the bitmap_slabs that hands out its slots
        std::uint64_t words[1];  // in truth geometry.words() of them: bit set = slot free, or claimed (see claim_)
    };

    bitmap_slabs() noexcept = default;
    bitmap_slabs(const bitmap_slabs&) = delete;
    bitmap_slabs& operator=(const bitmap_slabs&) = delete;

    /// Sets `p` to a free slot; false when the current word has none: then call refill. Constant time.
    [[gnu::always_inline]] bool take(const slab_geometry& geometry, void*& p) noexcept {
        const std::uint64_t free = claimed_;
        if (free == 0) [[unlikely]]
            return false;
        claimed_ = free & (free - 1);
        p = word_start_ + static_cast<std::size_t>(std::countr_zero(free)) * geometry.slot_bytes;
        // Slots come out ascending, so the cache can be told what will be written next: a third off the time of filling a
        // pool that is larger than the first-level cache.
        __builtin_prefetch(static_cast<std::byte*>(p) + geometry.prefetch_bytes, 1);
        unpoison(p, geometry.slot_bytes);
        return true;
    }

    /// A free slot from another word or slab, or null when upstream has none. Out of line: once in 64 allocations.
    [[gnu::noinline]] void* refill(const slab_geometry& geometry, resource_ref upstream, std::size_t limit) noexcept {
        settle_claimed();
        // A slab is used up before the next one is begun, and they take turns in the order in which they got free slots:
        // where frees mirror allocations, that is the order in which the cache forgets them, last one first.
        if (available_ != nullptr && available_->summary == 0) available_ = next_in_list(available_);
        if (available_ == nullptr && !add_slab(geometry, upstream, limit)) return nullptr;
        claim_word(geometry, available_, static_cast<std::size_t>(std::countr_zero(available_->summary)));
        void* p = nullptr;
        take(geometry, p);
        return p;
    }

    /// Takes back a slot. Aborts with a sentence naming `name` on a double free or a pointer of another pool.
    [[gnu::always_inline]] void give_back(const slab_geometry& geometry, const char* name, void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = slab_of(geometry, address);
        if (home->owner != this) [[unlikely]]
            abort_on_misuse(name, "a pointer of another pool was given back", p);
        const std::size_t index = geometry.slot_index(address);
        std::uint64_t& word = home->words[index / slab_geometry::word_slots];
        const std::uint64_t free = word;
        if ((free >> index % 64 & 1) != 0) [[unlikely]]
            return give_back_claimed(geometry, name, home, index, p);
        poison(p, geometry.slot_bytes);
        word = free | bit(index);
        if (free == 0) [[unlikely]]
            note_free_slot(home, index);
    }

    /// True when `p` lies in a slab of this. Linear in the number of slabs.
    bool owns(const slab_geometry& geometry, const void* p) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        for (const slab* each = first_; each != nullptr; each = rest(geometry, each).next) {
            const std::uintptr_t start = start_of(geometry, each);
            if (address >= start && address - start < rest(geometry, each).bytes) return true;
        }
        return false;
    }

    /// Slots handed out. Linear in the number of slabs.
    std::size_t used(const slab_geometry& geometry) const noexcept {
        std::size_t count = 0;
        for (const slab* each = first_; each != nullptr; each = rest(geometry, each).next)
            count += live(geometry, each);
        return count;
    }

    /// Bytes held from upstream.
    std::size_t held_bytes() const noexcept { return held_bytes_; }

    /// Slots that can be handed out without asking upstream, those handed out included.
    std::size_t slots(const slab_geometry& geometry) const noexcept {
        std::size_t count = geometry.usable(geometry.slab_bytes) * (fresh_bytes_ / geometry.slab_bytes);
        for (const slab* each = first_; each != nullptr; each = rest(geometry, each).next) {
            count += geometry.usable(rest(geometry, each).bytes);
        }
        return count;
    }

    /// Gives regions without a live slot back to upstream. Linear in the number of slabs; returns the bytes given back.
    std::size_t release_unused(const slab_geometry& geometry, resource_ref upstream) noexcept {
        const std::size_t before = held_bytes_;
        settle_claimed();
        for (slab** link = &first_; *link != nullptr;) {
            slab* region = *link;
            slab* after = end_of_region(geometry, region);
            if (live_until(geometry, region, after) == 0) {
                *link = after;
                give_region_back(geometry, region, upstream);
            } else {
                while (*link != after) link = &rest(geometry, *link).next;
            }
        }
        relist(geometry);
        return before - held_bytes_;
    }

    /// Gives everything back to upstream, live slots included; growth starts anew.
    void release(const slab_geometry& geometry, resource_ref upstream) noexcept {
        settle_claimed();
        while (first_ != nullptr) {
            slab* region = first_;
            first_ = end_of_region(geometry, region);
            give_region_back(geometry, region, upstream);
        }
        available_ = nullptr;
        assert(held_bytes_ == 0 && fresh_bytes_ == 0 && slab_count_ == 0);
    }

    /// Marks every slot free and keeps the slabs.
    void clear(const slab_geometry& geometry) noexcept {
        settle_claimed();
        for (slab* each = first_; each != nullptr; each = rest(geometry, each).next) {
            fill_bitmap(geometry, each);
            poison_slots(geometry, each);
        }
        relist(geometry);
    }

    /// Takes over everything of `other`, which is left empty; this must hold nothing. Linear in the number of slabs.
    void take_over(const slab_geometry& geometry, bitmap_slabs& other) noexcept {
        assert(first_ == nullptr);
        claimed_ = std::exchange(other.claimed_, 0);
        claim_ = std::exchange(other.claim_, 0);
        word_ = std::exchange(other.word_, nullptr);
        word_start_ = std::exchange(other.word_start_, nullptr);
        available_ = std::exchange(other.available_, nullptr);
        available_last_ = std::exchange(other.available_last_, nullptr);
        first_ = std::exchange(other.first_, nullptr);
        fresh_after_ = std::exchange(other.fresh_after_, nullptr);
        fresh_ = std::exchange(other.fresh_, 0);
        fresh_bytes_ = std::exchange(other.fresh_bytes_, 0);
        held_bytes_ = std::exchange(other.held_bytes_, 0);
        slab_count_ = std::exchange(other.slab_count_, 0);
        for (slab* each = first_; each != nullptr; each = rest(geometry, each).next) each->owner = this;
    }

    /// A place in the walk over the live slots, in address order.
    struct position {
        slab* home = nullptr;
        std::size_t word = 0;
        std::uint64_t ahead = 0;  // bits of this word not yet visited
        void* slot = nullptr;     // null at the end
    };

    /// The first live slot.
    position first_live(const slab_geometry& geometry) const noexcept {
        position result{first_, 0, ~std::uint64_t{0}, nullptr};
        advance(geometry, result);
        return result;
    }

    /// The next live slot. Slots freed meanwhile are passed over, and slots allocated meanwhile may be visited.
    void advance(const slab_geometry& geometry, position& at) const noexcept {
        at.slot = nullptr;
        for (; at.home != nullptr; at.home = rest(geometry, at.home).next, at.word = 0) {
            const std::uintptr_t start = start_of(geometry, at.home);
            for (; at.word < geometry.words(); ++at.word, at.ahead = ~std::uint64_t{0}) {
                const std::uint64_t live_bits = live_word(geometry, at.home, at.word) & at.ahead;
                if (live_bits == 0) continue;
                const auto index = static_cast<std::size_t>(std::countr_zero(live_bits));
                // All bits above this one: shifting twice keeps bit 63 defined.
                at.ahead = ~std::uint64_t{0} << index << 1;
                at.slot = reinterpret_cast<void*>(start +
                                                  (at.word * slab_geometry::word_slots + index) * geometry.slot_bytes);
                return;
            }
        }
    }

    /// Bytes asked of upstream, in all, by the time `count` slots have been handed out for the first time.
    static constexpr std::size_t required_bytes(const slab_geometry& geometry, std::size_t count) noexcept {
        std::size_t bytes = 0;
        std::size_t slabs = 0;
        for (std::size_t slots = 0; slots < count;) {
            const std::size_t region = region_bytes(geometry, slabs);
            const std::size_t each = std::min(region, geometry.slab_bytes);
            bytes += region;
            slabs += region / each;
            slots += region / each * geometry.usable(each);
        }
        return bytes;
    }

private:
    // The rarely used part of a slab's header, after its bitmap.
    struct slab_rest {
        slab* next;                // the slab at the next higher address
        std::size_t bytes;         // of this slab
        std::size_t region_bytes;  // of the upstream block that begins with this slab; 0: it does not begin one
    };
    static_assert(sizeof(slab) == (slab_geometry::header_words + 1) * sizeof(std::uint64_t));
    static_assert(sizeof(slab_rest) == slab_geometry::trailer_words * sizeof(std::uint64_t));

    static constexpr std::uint64_t bit(std::size_t index) noexcept { return std::uint64_t{1} << (index % 64); }

    static slab* slab_of(const slab_geometry& geometry, std::uintptr_t address) noexcept {
        return reinterpret_cast<slab*>(geometry.header_address(address));
    }
    static std::uintptr_t start_of(const slab_geometry& geometry, const slab* of) noexcept {
        return geometry.slab_start(reinterpret_cast<std::uintptr_t>(of));
    }
    static slab_rest& rest(const slab_geometry& geometry, const slab* of) noexcept {
        return *reinterpret_cast<slab_rest*>(const_cast<std::uint64_t*>(of->words + geometry.words()));
    }

    std::uint64_t live_word(const slab_geometry& geometry, const slab* of, std::size_t word) const noexcept {
        return geometry.usable_mask(start_of(geometry, of), rest(geometry, of).bytes, word) & ~free_word(of, word);
    }

    std::size_t live(const slab_geometry& geometry, const slab* of) const noexcept {
        std::size_t free = 0;
        for (std::size_t word = 0; word < geometry.words(); ++word) {
            free += static_cast<std::size_t>(std::popcount(free_word(of, word)));
        }
        assert(free <= geometry.usable(rest(geometry, of).bytes));
        return geometry.usable(rest(geometry, of).bytes) - free;
    }

    std::size_t live_until(const slab_geometry& geometry, const slab* from, const slab* end) const noexcept {
        std::size_t count = 0;
        for (; from != end; from = rest(geometry, from).next) count += live(geometry, from);
        return count;
    }

    // Free slots of a word, whether claimed or not.
    std::uint64_t free_word(const slab* of, std::size_t word) const noexcept {
        const std::uint64_t* at = of->words + word;
        return at == word_ ? (*at & ~claim_) | claimed_ : *at;
    }

    // Takes the free slots of a word at once. Their bits stay set until they are settled.
    void claim_word(const slab_geometry& geometry, slab* home, std::size_t word) noexcept {
        word_ = home->words + word;
        claim_ = *word_;
        claimed_ = claim_;
        assert(claim_ != 0);
        word_start_ = reinterpret_cast<std::byte*>(start_of(geometry, home)) +
                      word * slab_geometry::word_slots * geometry.slot_bytes;
    }

    // Makes the bitmap say what is free of the claimed word, which is then no longer claimed.
    void settle_claimed() noexcept {
        if (word_ == nullptr) return;
        *word_ = (*word_ & ~claim_) | claimed_;
        if (*word_ == 0) available_->summary &= ~bit(static_cast<std::size_t>(word_ - available_->words));
        claim_ = 0;
        claimed_ = 0;
        word_ = nullptr;
    }

    // The bit is set already: a slot that was handed out since its word was claimed, or a double free. Out of line to
    // keep give_back short.
    [[gnu::noinline]] void give_back_claimed(const slab_geometry& geometry, const char* name, slab* home,
                                             std::size_t index, void* p) noexcept {
        const bool handed_out =
            home->words + index / slab_geometry::word_slots == word_ && (claim_ & ~claimed_ & bit(index)) != 0;
        if (!handed_out) abort_on_misuse(name, "double free", p);
        claimed_ |= bit(index);
        poison(p, geometry.slot_bytes);
    }

    // A word has free slots again, and with it perhaps its slab. Out of line: once in up to 64 frees.
    [[gnu::noinline]] void note_free_slot(slab* home, std::size_t index) noexcept {
        if (home->summary == 0) list_last(home);
        home->summary |= bit(index / slab_geometry::word_slots);
    }

    void list_last(slab* added) noexcept {
        (available_ == nullptr ? available_ : available_last_->next_available) = added;
        available_last_ = added;
    }
    slab* next_in_list(const slab* listed) const noexcept {
        return listed == available_last_ ? nullptr : listed->next_available;
    }

    // Recomputes summaries and the list of slabs with free slots; nothing is current.
    void relist(const slab_geometry& geometry) noexcept {
        assert(claimed_ == 0);
        available_ = nullptr;
        for (slab* each = first_; each != nullptr; each = rest(geometry, each).next) {
            each->summary = 0;
            for (std::size_t word = 0; word < geometry.words(); ++word) {
                if (each->words[word] != 0) each->summary |= bit(word);
            }
            if (each->summary != 0) list_last(each);
        }
    }

    // Bytes to ask of upstream when `slabs` slabs exist: the first slab is short, then single slabs, and a pool that is
    // large already grows by about 3 % at a time, up to 16 slabs.
    static constexpr std::size_t region_bytes(const slab_geometry& geometry, std::size_t slabs) noexcept {
        if (slabs == 0) return geometry.first_slab_bytes;
        return geometry.slab_bytes * std::clamp<std::size_t>(slabs / 32, 1, 16);
    }

    bool add_slab(const slab_geometry& geometry, resource_ref upstream, std::size_t limit) noexcept {
        if (fresh_bytes_ == 0 && !add_region(geometry, upstream, limit)) return false;
        const std::size_t bytes = std::min(fresh_bytes_, geometry.slab_bytes);
        slab* added = make_slab(geometry, fresh_, bytes);
        slab*& link = fresh_after_ == nullptr ? first_ : rest(geometry, fresh_after_).next;
        rest(geometry, added).next = std::exchange(link, added);
        fresh_after_ = added;
        fresh_ += bytes;
        fresh_bytes_ -= bytes;
        ++slab_count_;
        list_last(added);
        return true;
    }

    // Takes a region from upstream; its slabs are made one by one, so that untouched memory stays untouched.
    bool add_region(const slab_geometry& geometry, resource_ref upstream, std::size_t limit) noexcept {
        std::size_t bytes = region_bytes(geometry, slab_count_);
        void* region = ask(geometry, upstream, limit, bytes);
        if (region == nullptr && bytes > geometry.slab_bytes) {
            bytes = geometry.slab_bytes;
            region = ask(geometry, upstream, limit, bytes);
        }
        if (region == nullptr) return false;
        held_bytes_ += bytes;
        fresh_ = reinterpret_cast<std::uintptr_t>(region);
        assert(fresh_ % geometry.slab_bytes == 0);
        fresh_bytes_ = bytes;
        fresh_region_bytes_ = bytes;
        fresh_after_ = predecessor(geometry, fresh_);
        return true;
    }

    void* ask(const slab_geometry& geometry, resource_ref upstream, std::size_t limit,
              std::size_t bytes) const noexcept {
        if (bytes > limit || held_bytes_ > limit - bytes) return nullptr;
        return upstream.try_allocate(bytes, geometry.slab_bytes);
    }

    // The slab with the highest address below `start`; null when there is none. Regions mostly come ascending, and the
    // slab made last is then the answer.
    slab* predecessor(const slab_geometry& geometry, std::uintptr_t start) const noexcept {
        slab* before = nullptr;
        slab* each = first_;
        if (fresh_after_ != nullptr && reinterpret_cast<std::uintptr_t>(fresh_after_) < start) {
            before = fresh_after_;
            each = rest(geometry, before).next;
        }
        for (; each != nullptr && reinterpret_cast<std::uintptr_t>(each) < start; each = rest(geometry, each).next) {
            before = each;
        }
        return before;
    }

    slab* make_slab(const slab_geometry& geometry, std::uintptr_t start, std::size_t bytes) noexcept {
        slab* made = ::new (reinterpret_cast<void*>(geometry.header_address(start))) slab{0, nullptr, this, {0}};
        rest(geometry, made) = slab_rest{nullptr, bytes, std::exchange(fresh_region_bytes_, 0)};
        fill_bitmap(geometry, made);
        poison_slots(geometry, made);
        return made;
    }

    void fill_bitmap(const slab_geometry& geometry, slab* filled) noexcept {
        filled->summary = 0;
        for (std::size_t word = 0; word < geometry.words(); ++word) {
            const std::uint64_t free =
                geometry.usable_mask(start_of(geometry, filled), rest(geometry, filled).bytes, word);
            filled->words[word] = free;
            if (free != 0) filled->summary |= bit(word);
        }
    }

    static void poison_slots(const slab_geometry& geometry, const slab* of) noexcept {
        if constexpr (poisoning) {
            const std::uintptr_t start = start_of(geometry, of);
            const auto header = reinterpret_cast<std::uintptr_t>(of);
            const std::uintptr_t header_end = header + geometry.header_bytes();
            poison(reinterpret_cast<void*>(start), header - start);
            poison(reinterpret_cast<void*>(header_end), start + rest(geometry, of).bytes - header_end);
        }
    }

    // The slab after the last one of the region that begins with `region`.
    static slab* end_of_region(const slab_geometry& geometry, slab* region) noexcept {
        const std::uintptr_t end = start_of(geometry, region) + rest(geometry, region).region_bytes;
        slab* each = region;
        while (each != nullptr && reinterpret_cast<std::uintptr_t>(each) < end) each = rest(geometry, each).next;
        return each;
    }

    void give_region_back(const slab_geometry& geometry, slab* region, resource_ref upstream) noexcept {
        const std::uintptr_t start = start_of(geometry, region);
        const std::size_t bytes = rest(geometry, region).region_bytes;
        const slab* after = end_of_region(geometry, region);
        for (const slab* each = region; each != after; each = rest(geometry, each).next) --slab_count_;
        if (fresh_after_ != nullptr && reinterpret_cast<std::uintptr_t>(fresh_after_) - start < bytes) {
            // Its unmade slabs, if any, go with it.
            fresh_after_ = nullptr;
            fresh_bytes_ = 0;
        }
        held_bytes_ -= bytes;
        unpoison_defined(reinterpret_cast<void*>(start), bytes);
        upstream.deallocate(reinterpret_cast<void*>(start), bytes, geometry.slab_bytes);
    }

    // The hot path reads these two and nothing else of the pool.
    std::uint64_t claimed_ = 0;        // free slots of the claimed word
    std::byte* word_start_ = nullptr;  // the slot of its bit 0
    std::uint64_t* word_ = nullptr;    // the claimed word, in the first slab of the list below
    std::uint64_t claim_ = 0;          // the slots of it that were free when it was claimed
    slab* available_ = nullptr;        // every slab whose summary is not empty, the oldest such first
    slab* available_last_ = nullptr;   // meaningful while there is a first
    slab* first_ = nullptr;            // all slabs, in address order
    slab* fresh_after_ = nullptr;      // the made slab before the fresh ones, in address order
    std::uintptr_t fresh_ = 0;         // the part of the newest region of which no slabs were made yet
    std::size_t fresh_bytes_ = 0;
    std::size_t fresh_region_bytes_ = 0;  // set until the newest region's first slab is made
    std::size_t held_bytes_ = 0;
    std::size_t slab_count_ = 0;
};

}  // namespace acre
