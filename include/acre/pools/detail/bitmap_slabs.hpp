// The mechanism under the growing pools: slots of one size in slabs, with a map of the free ones in each slab's header.
// The geometry is an argument of each call, so that a pool of a compile-time size works with constants.
//
// Why it is fast: it never writes or reads a free slot, so a free touches no cache line of the slot. Addresses come out
// ascending, so the cache can prefetch. A pool of one size first hands out the slot that was freed last, which is in
// the cache. A pool of many sizes hands out up to two slots that were freed lately before it gathers more from the map:
// a class at random has one at hand or not, which the processor cannot predict. Where each allocation follows a free in
// a pool of 20,000 slots, that is 5 ns in place of 27. The map has one byte per slot, so that a free is one independent
// store. (With one bit per slot, frees of neighbours wait for each other's word: 5.4 cycles instead of 3.6, and freeing
// newest first was slower than boost::pool.) The bytes of 64 slots are gathered into one word; allocating takes its
// lowest bit. Pools that threads share mark the free slots that their magazines keep (free_mark.hpp), instead of
// writing the map. A map byte that is set already, or a mark, is a double free; a header that names another owner is a
// pointer of another pool; an address that is no multiple of the slot size lies in the middle of a slot. Every build
// detects these.
//
// Cost: allocate 18 to 21 instructions, deallocate 20 to 22, constant time except for a new slab. used() and the walk
// over live slots are linear in the slabs held. Not thread-safe.
//
// The map in each slab replaces the free list of Bonwick's slab allocator (1994), as in snmalloc and Mesh; the headers
// at different offsets are his slab colouring, applied to headers instead of objects.
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/free_mark.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/pool_options.hpp>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace acre::detail {

/// Whether a pool looks at what is freed. Builds that poison freed storage always do.
template <double_free_check Check>
inline constexpr bool checks_frees = poisoning || Check == double_free_check::at_once;

/// Upper limits for the slabs of one pool.
struct slab_limits {
    std::size_t bytes = SIZE_MAX;         // held from upstream
    std::size_t region_slots = SIZE_MAX;  // in one upstream call; does not apply to the smallest slab
};

/// Slabs of slots of one size. The alignment keeps the members that allocating reads on one cache line.
class alignas(32) bitmap_slabs {
public:
    /// Whose a slab is. Begins its header, so that the pointers lie at odd addresses, where programs keep none: a free
    /// may find other memory in the place of a header, for instance a stack, that holds the pool's address.
    struct [[gnu::packed]] misaligned_names {
        std::uint8_t unused;
        const bitmap_slabs* owner;
        const bitmap_slabs* lister;  // the same while the slab is in its available list, else null
    };

    /// Header of a slab.
    struct slab {
        misaligned_names names;
        slab* next_available;      // in the list of slabs with free slots; meaningful while in it
        slab* next;                // the slab at the next higher address
        std::size_t bytes;         // of this slab
        std::uint32_t groups;      // number of groups of slots
        std::uint32_t reciprocal;  // copy of the geometry's
        std::size_t region_bytes;  // of the upstream block that begins with this slab; 0 when none does
        // The map: a slot_state for each slot of a full slab. On cache lines of its own, because threads read the
        // members above while others write it.
        alignas(slab_geometry::header_line) std::uint8_t states[slab_geometry::group_slots];
    };

    /// What a byte of the map says about its slot. Only a free slot has the lowest bit.
    struct slot_state {
        static constexpr std::uint8_t live = 0;  // or in a magazine, with a free_mark
        static constexpr std::uint8_t free = 1;
        static constexpr std::uint8_t none = 4;    // no slot: under the header, or beyond the end of the slab
        static constexpr std::uint8_t ending = 8;  // live, but the destructor of its object runs
    };

    bitmap_slabs() noexcept = default;
    bitmap_slabs(const bitmap_slabs&) = delete;

    /// Sets `p` to a free slot; false when no slot is gathered: then call refill. Constant time.
    [[gnu::always_inline]] bool take(const slab_geometry& geometry, void*& p) noexcept {
        return take_slot(geometry.stride, geometry.prefetch_bytes, p);
    }
    /// The same for a pool of one size, which frees by give_back_newest: first the slot that was freed last. Sets
    /// `state` to the slot's byte of the map.
    [[gnu::always_inline]] bool take_newest(const slab_geometry& geometry, void*& p,
                                            const std::uint8_t*& state) noexcept {
        p = newest_;
        if (p == nullptr) {
            const std::uint64_t free = gathered_;
            if (free == 0) [[unlikely]]
                return false;
            state = take_lowest(free, geometry.stride, geometry.prefetch_bytes, p);
            return true;
        }
        newest_ = nullptr;
        const place at = place_of(geometry, p);
        state = at.home->states + at.slot;
        set_state(at, slot_state::live);
        return true;
    }

    /// As take() above, for a geometry known at run time only: uses the slot size cached here, not the geometry.
    [[gnu::always_inline]] bool take(void*& p) noexcept { return take_slot(stride_, 2 * stride_, p); }

    /// Returns a free slot from another group or slab, or null when upstream has no memory. Out of line: once in 64
    /// allocations.
    [[gnu::noinline]] void* refill(const slab_geometry& geometry, resource_ref upstream,
                                   const slab_limits& limits) noexcept {
        void* p = refill_from_held(geometry);
        if (p == nullptr && add_slab(geometry, upstream, limits)) p = refill_from_held(geometry);
        return p;
    }
    /// As refill, but null when the slabs held have no free slot.
    [[gnu::noinline]] void* refill_from_held(const slab_geometry& geometry) noexcept {
        // Before the map is gathered, which has them, too: the caller may not have tried take().
        if (void* p = std::exchange(newest_, nullptr)) {
            set_state(place_of(geometry, p), slot_state::live);
            return p;
        }
        if (void* p = nullptr; take_recent(p)) return p;
        // Uses up one slab before the next, in the order in which slabs got free slots. Where frees mirror allocations,
        // the slabs that the cache would evict last come first.
        for (; available_ != nullptr; retire_head()) {
            for (std::size_t group = next_group_; group < available_->groups; ++group) {
                const std::uint64_t free = free_bits(available_, group);
                if (free != 0) return take_first(geometry, group, free);
            }
        }
        return nullptr;
    }

    /// Where a pointer points to, if it is a slot of a pool of this geometry.
    struct place {
        slab* home;
        std::size_t slot;
        bool begins_slot;  // false: it points into the middle of the slot
    };
    [[gnu::always_inline]] static place place_of(const slab_geometry& geometry, const void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        return {slab_of(geometry, address), geometry.slot_index(address), geometry.begins_slot(address)};
    }
    /// The same where only the slab size is a compile-time constant: the reciprocal comes from the slab's header.
    template <std::size_t SlabBytes>
    [[gnu::always_inline]] static place place_in(const void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        auto* home = reinterpret_cast<slab*>(slab_geometry::header_address<SlabBytes>(address));
        if (is_poisoned(home) || is_poisoned(&home->reciprocal)) return {home, 0, false};
        const std::uint32_t reciprocal = home->reciprocal;
        const std::uint64_t number = slab_geometry::slot_number(address, SlabBytes, reciprocal);
        return {home, slab_geometry::integral_part(number), slab_geometry::begins_slot(number, reciprocal)};
    }

    /// Frees the slot `p`, whose place is `at`. False, and nothing has changed, when it is the first free slot of a
    /// used-up slab, and when it is no live slot of this: then call give_back_slow, as the last that a function does,
    /// so that the usual path saves no register for it. For pools that one thread at a time uses.
    [[gnu::always_inline]] bool give_back(const slab_geometry& geometry, void* p, const place& at) noexcept {
        if (!mark_given_back(at)) [[unlikely]]
            return false;
        remember(p, at);
        poison(p, geometry.slot_bytes);
        return true;
    }
    /// The same for a pool of one size: the next allocation gets the slot.
    [[gnu::always_inline]] bool give_back_newest(const slab_geometry& geometry, void* p, const place& at) noexcept {
        if (!mark_given_back(at)) [[unlikely]]
            return false;
        if constexpr (!poisoning) newest_ = p;
        poison(p, geometry.slot_bytes);
        return true;
    }
    /// Frees a slot that give_back did not. Returns null, or the sentence for the mistake: then nothing has changed.
    [[nodiscard]] const char* give_back_slow(const slab_geometry& geometry, void* p) noexcept {
        const char* what = give_back_to_used_up(geometry, p);
        if (what == nullptr) remember(p, place_of(geometry, p));
        return what;
    }
    /// The same for one that give_back_newest did not.
    [[nodiscard]] const char* give_back_newest_slow(const slab_geometry& geometry, void* p) noexcept {
        const char* what = give_back_to_used_up(geometry, p);
        if (what == nullptr && !poisoning) newest_ = p;
        return what;
    }

    /// For pools that look at nothing in a free: lists a slot by a pointer in it, without a check. The slab still
    /// counts it as taken.
    [[gnu::always_inline]] void list(void* p) noexcept {
        *static_cast<next_slot*>(p) = listed_;
        listed_ = p;
    }
    /// Sets `p` to the slot listed last; false when none is.
    [[gnu::always_inline]] bool take_listed(void*& p) noexcept {
        p = listed_;
        if (p == nullptr) [[unlikely]]
            return false;
        listed_ = *static_cast<next_slot*>(p);
        return true;
    }
    /// Returns the listed slots to their slabs. Null, or one that is no live slot of this: it was listed by mistake.
    [[nodiscard, gnu::noinline]] void* settle(const slab_geometry& geometry) noexcept {
        while (listed_ != nullptr) {
            void* p = std::exchange(listed_, *static_cast<next_slot*>(listed_));
            if (!give_back_cached(geometry, p, false)) return p;
        }
        return nullptr;
    }

    /// Any thread: frees a slot into a magazine, with the checks of give_back. The slab still counts it as taken, and
    /// the slot gets a free_mark, `mark_at` bytes from its begin. Pools that look at nothing in a free do not call it.
    template <class OnMisuse>
    [[gnu::always_inline]] void cache(const slab_geometry& geometry, void* p, const place& at, std::size_t mark_at,
                                      OnMisuse on_misuse) const noexcept {
        if (!owns_slab(at.home) || !at.begins_slot) [[unlikely]]
            on_misuse();
        // Not atomic, as in give_back: while the slot is live no other thread writes its byte.
        if (at.home->states[at.slot] != slot_state::live || free_mark::is_set(p, mark_at, this)) [[unlikely]]
            on_misuse();
        free_mark::set(p, mark_at, this);
        poison(p, geometry.slot_bytes);
    }
    /// Makes a slot live that cache() freed and its thread took from a magazine.
    [[gnu::always_inline]] static void uncache(void* p, std::size_t mark_at) noexcept { free_mark::clear(p, mark_at); }
    /// True when a magazine got the slot `p` and the program has not written over its mark.
    bool is_marked(void* p, std::size_t mark_at) const noexcept { return free_mark::is_set(p, mark_at, this); }
    /// Marks a slot that goes to a magazine without cache(): from its slab, or at the end of its destructor.
    void mark_cached(const slab_geometry& geometry, void* p) const noexcept {
        free_mark::set(p, free_mark::offset(geometry.slot_bytes), this);
    }
    /// Returns a slot to its slab that cache() freed, or that was freed without a look (then it is not `marked`). False
    /// when it is no live slot of this: freed twice, or by mistake; and when it has lost its mark: two threads freed it
    /// at the same moment and it was handed out again, or the program wrote to it.
    bool give_back_cached(const slab_geometry& geometry, void* p, bool marked) noexcept {
        const place at = place_of(geometry, p);
        if (!owns_slab(at.home) || !at.begins_slot || state_of(at) != slot_state::live) [[unlikely]]
            return false;
        if (marked && !is_marked(p, free_mark::offset(geometry.slot_bytes))) [[unlikely]]
            return false;
        mark_free(geometry, at, p);
        if (at.home->names.lister == nullptr) list_last(at.home);
        return true;
    }

    /// The sentence for the mistake in freeing `p`; null when it is a live slot of this. Constant time. May read
    /// anywhere in the slab that `p` would lie in.
    const char* mistake_with(const slab_geometry& geometry, const void* p) const noexcept {
        const place at = place_of(geometry, p);
        if (!owns_slab(at.home)) return mistake::foreign_pointer;
        const std::uint8_t state = state_of(at);
        if (state == slot_state::none) {
            const bool in_slab = reinterpret_cast<std::uintptr_t>(p) - start_of(geometry, at.home) < at.home->bytes;
            return in_slab ? mistake::not_handed_out : mistake::foreign_pointer;
        }
        if (!at.begins_slot) return mistake::inside_a_slot;
        if (state == slot_state::ending) return mistake::ended_by_itself;
        return state == slot_state::live ? nullptr : mistake::double_free;
    }

    /// Any thread: marks the live slot at `p`, whose object's destructor is about to run: until mark_live a free of it
    /// is a mistake. False when it is not a live slot of this; then nothing has changed.
    [[gnu::always_inline]] bool mark_ending(const slab_geometry& geometry, const void* p) const noexcept {
        const place at = place_of(geometry, p);
        if (!owns_slab(at.home) || !at.begins_slot || state_of(at) != slot_state::live) return false;
        set_state(at, slot_state::ending);
        return true;
    }
    /// Marks a slot as live again that was marked as ending.
    [[gnu::always_inline]] static void mark_live(const slab_geometry& geometry, const void* p) noexcept {
        set_state(place_of(geometry, p), slot_state::live);
    }
    /// True when the slot at `p`, which must lie in a slab of this, is marked as ending.
    static bool is_ending(const slab_geometry& geometry, const void* p) noexcept {
        return state_of(place_of(geometry, p)) == slot_state::ending;
    }

    /// True when the slab that `p` lies in belongs to this. `p` must lie in a slab of some pool of this geometry.
    bool owns_slot(const slab_geometry& geometry, const void* p) const noexcept {
        return owns_slab(slab_of(geometry, reinterpret_cast<std::uintptr_t>(p)));
    }

    /// True when the slot at `p`, which must lie in a slab of this, is not live.
    static bool is_free(const slab_geometry& geometry, const void* p) noexcept {
        return (state_of(place_of(geometry, p)) & ~slot_state::ending) != slot_state::live;
    }

    /// The byte of the map of the slot that `p` points to.
    static const std::uint8_t* state_at(const slab_geometry& geometry, const void* p) noexcept {
        const place at = place_of(geometry, p);
        return at.home->states + at.slot;
    }
    /// True when the slot of this byte is not live. For pools that one thread at a time uses.
    [[gnu::always_inline]] static bool was_freed(const std::uint8_t* state) noexcept {
        return *state != slot_state::live;
    }

    /// True when `p` lies in a slab of this. Linear in the number of slabs.
    bool owns(const slab_geometry& geometry, const void* p) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        for (const slab* each = first_; each != nullptr; each = each->next) {
            const std::uintptr_t start = start_of(geometry, each);
            if (address >= start && address - start < each->bytes) return true;
        }
        return false;
    }

    /// Number of live slots. Linear in the number of slabs.
    std::size_t used(const slab_geometry& geometry) const noexcept {
        std::size_t count = 0;
        for (const slab* each = first_; each != nullptr; each = each->next) count += live(geometry, each);
        // A slot that was freed twice makes the list a ring.
        for (const void* each = listed_; each != nullptr && count > 0; each = *static_cast<const next_slot*>(each))
            --count;
        return count;
    }

    /// What in the slabs' own data does not agree, or null (acre::check_invariants). Linear in the slots held.
    const char* broken_invariant(const slab_geometry& geometry) const noexcept {
        std::size_t slabs = 0;
        std::size_t listed = 0;
        std::size_t bytes = fresh_region_bytes_;
        for (const slab *each = first_, *before = nullptr; each != nullptr; before = each, each = each->next) {
            const bool is_header = slab_of(geometry, reinterpret_cast<std::uintptr_t>(each)) == each && each > before;
            if (!is_header || ++slabs > slab_count_ || each->names.owner != this ||
                each->groups != geometry.groups(each->bytes))
                return "the header of a slab was overwritten";
            if (!has_valid_map(geometry, each)) return "the map of a slab was overwritten";
            if (each->names.lister == nullptr && next_free_group(each, 0) != each->groups)
                return "a slab with free slots is not listed";
            listed += each->names.lister == this;
            bytes += each->region_bytes;
        }
        if (slabs != slab_count_ || bytes != held_bytes_) return "slabs hold other bytes than counted";
        const slab* last = available_ == nullptr ? nullptr : available_last_;
        for (const slab* each = available_; each != nullptr; each = each == last ? nullptr : each->next_available)
            if (listed-- == 0 || each->names.lister != this) return "the list of slabs with free slots was overwritten";
        if (listed != 0) return "a listed slab is not in the list of slabs with free slots";
        if (gathered_ != 0 && (gathered_ & ~bits_of<slot_state::free>(group_states_)) != 0)
            return "a slot to be handed out next is not free";
        for (std::uint32_t i = 0; i < recent_count_; ++i)
            if (!is_free_state(recent_states_[i])) return "a slot to be handed out next is not free";
        return nullptr;
    }

    /// Bytes held from upstream.
    std::size_t held_bytes() const noexcept { return held_bytes_; }

    /// Number of slots that can be live without an upstream call.
    std::size_t slots(const slab_geometry& geometry) const noexcept {
        std::size_t count = geometry.usable(geometry.slab_bytes) * (fresh_bytes_ / geometry.slab_bytes);
        for (const slab* each = first_; each != nullptr; each = each->next) {
            count += geometry.usable(each->bytes);
        }
        return count;
    }

    /// Gives regions without a live slot back to upstream and returns their bytes. Linear in the number of slabs.
    std::size_t release_unused(const slab_geometry& geometry, resource_ref upstream) noexcept {
        const std::size_t before = held_bytes_;
        forget_next();
        for (slab** link = &first_; *link != nullptr;) {
            slab* region = *link;
            slab* after = end_of_region(geometry, region);
            if (live_until(geometry, region, after) == 0) {
                *link = after;
                give_region_back(geometry, region, upstream);
            } else {
                while (*link != after) link = &(*link)->next;
            }
        }
        relist();
        return before - held_bytes_;
    }

    /// Gives everything back to upstream, live slots included; growth starts again at the first slab.
    void release(const slab_geometry& geometry, resource_ref upstream) noexcept {
        forget_next();
        listed_ = nullptr;
        while (first_ != nullptr) {
            slab* region = first_;
            first_ = end_of_region(geometry, region);
            give_region_back(geometry, region, upstream);
        }
        available_ = nullptr;
        next_group_ = 0;
        assert(held_bytes_ == 0 && fresh_bytes_ == 0 && slab_count_ == 0);
    }

    /// Marks every slot free and keeps the slabs.
    void clear(const slab_geometry& geometry) noexcept {
        forget_next();
        listed_ = nullptr;
        for (slab* each = first_; each != nullptr; each = each->next) {
            fill_map(geometry, each);
            poison_slots(geometry, each);
        }
        relist();
    }

    /// Takes over everything that `other` holds and leaves it empty; this must be empty. Linear in the number of slabs.
    void take_over(bitmap_slabs& other) noexcept {
        assert(first_ == nullptr);
        *this = other;
        other = bitmap_slabs{};
        for (slab* each = first_; each != nullptr; each = each->next) {
            each->names.owner = this;
            if (each->names.lister != nullptr) each->names.lister = this;
        }
    }

    /// A position in the walk over the live slots, in address order. It keeps the live slots of a group as a word, so
    /// that a step takes the lowest bit of it and reads one byte: whether the slot was freed meanwhile.
    struct position {
        slab* home = nullptr;                  // null at the end
        const std::uint8_t* states = nullptr;  // the map bytes of the group
        std::byte* start = nullptr;            // slot 0 of the group
        std::uint64_t ahead = 0;               // slots that were live when the walk reached the group, still to visit
        void* slot = nullptr;                  // null at the end
    };

    /// The first live slot.
    position first_live(const slab_geometry& geometry) const noexcept {
        position at;
        if (first_ != nullptr) at = next_group(geometry, first_, first_->states);
        advance(geometry, at);
        return at;
    }

    /// The next live slot. Skips slots freed meanwhile; may visit slots allocated meanwhile.
    [[gnu::always_inline]] static void advance(const slab_geometry& geometry, position& at) noexcept {
        for (;;) {
            if (at.ahead == 0) [[unlikely]] {
                at.slot = nullptr;
                if (at.home == nullptr) return;
                at = next_group(geometry, at.home, at.states + slab_geometry::group_slots);
                continue;
            }
            const auto index = static_cast<std::size_t>(std::countr_zero(at.ahead));
            at.ahead &= at.ahead - 1;
            at.slot = at.start + index * geometry.stride;
            if (!is_free_state(at.states + index)) [[likely]]
                return;
        }
    }

    /// Calls `visit` with each live slot, as advance() would find them, with less work between two of them.
    template <class Visit>
    [[gnu::always_inline]] void for_each_live(const slab_geometry& geometry, Visit visit) const noexcept {
        if (first_ == nullptr) return;
        position at = next_group(geometry, first_, first_->states);
        for (; at.home != nullptr; at = next_group(geometry, at.home, at.states + slab_geometry::group_slots)) {
            if (at.ahead == ~std::uint64_t{0}) {
                for (std::size_t index = 0; index < slab_geometry::group_slots; ++index) {
                    if (!is_free_state(at.states + index)) [[likely]]
                        visit(at.start + index * geometry.stride);
                }
                continue;
            }
            for (; at.ahead != 0; at.ahead &= at.ahead - 1) {
                const auto index = static_cast<std::size_t>(std::countr_zero(at.ahead));
                if (!is_free_state(at.states + index)) [[likely]]
                    visit(at.start + index * geometry.stride);
            }
        }
    }

    /// Bytes of the next slab.
    std::size_t next_slab_bytes(const slab_geometry& geometry) const noexcept {
        return slab_bytes(geometry, slab_count_);
    }

    /// Upper limit of the bytes in one upstream call.
    static constexpr std::size_t largest_region_bytes(const slab_geometry& geometry) noexcept {
        return max_slabs_a_region * geometry.slab_bytes;
    }

    /// Bytes of a buffer, aligned to a slab, with room for `count` slots, including the gaps behind the short first
    /// slabs. (Where several slabs do not fit, the pool asks for one at a time.) SIZE_MAX when that is impossible.
    static constexpr std::size_t required_buffer_bytes(const slab_geometry& geometry, std::size_t count) noexcept {
        if (count == 0) return 0;
        if (count > max_request / 2 / geometry.stride) return SIZE_MAX;
        std::size_t slots = 0;
        for (std::size_t slabs = 0;; ++slabs) {
            const std::size_t bytes = slab_bytes(geometry, slabs);
            if (bytes == geometry.slab_bytes) {
                const std::size_t each = geometry.usable(bytes);
                return bytes * (slabs + (count - slots + each - 1) / each);
            }
            slots += geometry.usable(bytes);
            if (slots >= count) return geometry.slab_bytes * slabs + bytes;
        }
    }

    /// Total bytes asked of upstream by the time `count` slots are live for the first time. SIZE_MAX when that is
    /// impossible.
    static constexpr std::size_t required_bytes(const slab_geometry& geometry, std::size_t count) noexcept {
        if (count > max_request / 2 / geometry.stride) return SIZE_MAX;
        std::size_t bytes = 0;
        std::size_t slots = 0;
        for (std::size_t slabs = 0; slots < count && slabs < slabs_until_steady;) {
            const std::size_t region = region_bytes(geometry, slabs);
            const std::size_t each = detail::min(region, geometry.slab_bytes);
            bytes += region;
            slabs += region / each;
            slots += region / each * geometry.usable(each);
        }
        if (slots >= count) return bytes;
        const std::size_t per_region = max_slabs_a_region * geometry.usable(geometry.slab_bytes);
        return bytes + (count - slots + per_region - 1) / per_region * max_slabs_a_region * geometry.slab_bytes;
    }

private:
    static_assert(offsetof(slab, states) == slab_geometry::header_front);

    bitmap_slabs& operator=(const bitmap_slabs&) noexcept = default;

    // A pointer where objects of the program were and will be.
    using next_slot [[gnu::may_alias]] = void*;

    // In a pool that threads share, a thread frees while another reads the map of the same slab under a lock. So map
    // bytes are atomic, and relaxed: the checks need no order, since a slot changes its state in one thread at a time,
    // and whoever hands it to another thread synchronises with that.
    static std::uint8_t state_of(const place& at) noexcept {
        return __atomic_load_n(at.home->states + at.slot, __ATOMIC_RELAXED);
    }
    static void set_state(const place& at, std::uint8_t state) noexcept {
        __atomic_store_n(at.home->states + at.slot, state, __ATOMIC_RELAXED);
    }
    // Slab headers are never poisoned. If this address is, it is not a header, so it is not read.
    bool owns_slab(const slab* of) const noexcept { return !is_poisoned(of) && of->names.owner == this; }

    static slab* slab_of(const slab_geometry& geometry, std::uintptr_t address) noexcept {
        return reinterpret_cast<slab*>(geometry.header_address(address));
    }
    static std::uintptr_t start_of(const slab_geometry& geometry, const slab* of) noexcept {
        return geometry.slab_start(reinterpret_cast<std::uintptr_t>(of));
    }
    static bool is_free_state(const std::uint8_t* state) noexcept {
        return (__atomic_load_n(state, __ATOMIC_RELAXED) & slot_state::free) != 0;
    }
    // The map of a group as bits: bit i set = slot i free.
    [[gnu::always_inline]] static std::uint64_t free_bits(const slab* of, std::size_t group) noexcept {
        return bits_of<slot_state::free>(of->states + group * slab_geometry::group_slots);
    }
    // The same for the slots that are live: there, and not free.
    [[gnu::always_inline]] static std::uint64_t live_bits(const std::uint8_t* states) noexcept {
        return ~(bits_of<slot_state::free>(states) | bits_of<slot_state::none>(states));
    }
    // Which of the 64 bytes of a group have the bit that `State` is.
    template <std::uint8_t State>
    [[gnu::always_inline]] static std::uint64_t bits_of(const std::uint8_t* states) noexcept {
        return bits_of_16<State>(states) | bits_of_16<State>(states + 16) << 16 | bits_of_16<State>(states + 32) << 32 |
               bits_of_16<State>(states + 48) << 48;
    }
    template <std::uint8_t State>
    [[gnu::always_inline]] static std::uint64_t bits_of_16(const std::uint8_t* states) noexcept {
#if defined(__SSE2__) && !defined(ACRE_HAS_THREAD_SANITIZER)
        // Not atomic, as far as the language knows: another thread may mark a live slot as ending, or as live again.
        // The processor reads the bits looked for of such a byte, which stay 0, as it reads the rest.
        using eight_lanes [[gnu::vector_size(16)]] = std::int16_t;
        using bytes [[gnu::vector_size(16)]] = char;
        eight_lanes read;
        std::memcpy(&read, states, sizeof read);
        constexpr int to_the_highest = std::countl_zero(State);
        return static_cast<unsigned>(__builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(read << to_the_highest)));
#else
        std::uint64_t bits = 0;
        for (unsigned i = 0; i < 16; i += sizeof(map_word)) bits |= std::uint64_t{bits_of_word<State>(states + i)} << i;
        return bits;
#endif
    }
    // The same of as many bytes as fit a register.
    using map_word [[gnu::may_alias]] = std::uintptr_t;
    template <std::uint8_t State>
    static std::uintptr_t bits_of_word(const std::uint8_t* states) noexcept {
        constexpr std::uintptr_t lowest_bits = ~std::uintptr_t{0} / 0xff;
        constexpr int bytes = sizeof(map_word);
        // The product moves the bit of byte k to bit k of the highest byte.
        constexpr auto gather = static_cast<std::uintptr_t>(0x0102'0408'1020'4080 >> (64 - 8 * bytes));
        std::uintptr_t word = __atomic_load_n(reinterpret_cast<const map_word*>(states), __ATOMIC_RELAXED);
        if constexpr (std::endian::native == std::endian::big) {
            word = bytes == 8 ? narrowed<std::uintptr_t>(__builtin_bswap64(word))
                              : __builtin_bswap32(static_cast<std::uint32_t>(word));
        }
        return (((word >> std::countr_zero(State)) & lowest_bits) * gather) >> (8 * bytes - 8);
    }

    // The first group with a live slot from the one of `states` on, which is of `home` or just behind its last one.
    // Out of line: once in up to 64 steps. By value, so that a walk keeps its position in registers.
    [[gnu::noinline]] static position next_group(const slab_geometry& geometry, slab* home,
                                                 const std::uint8_t* states) noexcept {
        for (; home != nullptr; home = home->next, states = home == nullptr ? nullptr : home->states) {
            const std::uint8_t* end = home->states + home->groups * slab_geometry::group_slots;
            for (; states != end; states += slab_geometry::group_slots) {
                const std::uint64_t live = live_bits(states);
                if (live == 0) continue;
                const auto first = static_cast<std::size_t>(states - home->states);
                auto* start = reinterpret_cast<std::byte*>(start_of(geometry, home)) + first * geometry.stride;
                // Headers lie apart, so the processor does not expect the next one.
                __builtin_prefetch(home->next);
                __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(home->next) +
                                                                 slab_geometry::header_front + first));
                return {home, states, start, live, nullptr};
            }
        }
        return {};
    }

    // The slots under the header and beyond the end are none, all others are in one of the three states.
    static bool has_valid_map(const slab_geometry& geometry, const slab* of) noexcept {
        const std::size_t covered = geometry.first_covered(start_of(geometry, of));
        const std::size_t slots = geometry.slots(of->bytes);
        for (std::size_t slot = 0; slot < of->groups * slab_geometry::group_slots; ++slot) {
            const std::uint8_t state = __atomic_load_n(of->states + slot, __ATOMIC_RELAXED);
            const bool is_none = slot >= slots || slot - covered < geometry.covered;
            const bool is_slot = state == slot_state::live || state == slot_state::free || state == slot_state::ending;
            if (is_none ? state != slot_state::none : !is_slot) return false;
        }
        return true;
    }

    static std::size_t live(const slab_geometry& geometry, const slab* of) noexcept {
        std::size_t free = 0;
        for (std::size_t group = 0; group < of->groups; ++group) {
            free += static_cast<std::size_t>(std::popcount(free_bits(of, group)));
        }
        assert(free <= geometry.usable(of->bytes));
        return geometry.usable(of->bytes) - free;
    }

    static std::size_t live_until(const slab_geometry& geometry, const slab* from, const slab* end) noexcept {
        std::size_t count = 0;
        for (; from != end; from = from->next) count += live(geometry, from);
        return count;
    }

    // Slots that were freed lately, so that they are still in the cache. While there are two, further frees add none.
    // With eight, batches of mixed sizes took 1.35 of the time before, in place of 1.09: each of many classes has a few
    // at hand or none, which the processor cannot predict.
    static constexpr std::uint32_t max_recent = 2;

    // An allocation gets the slot, as it gets newest_, before more are gathered from the map, so a slot is never both
    // among these and gathered. Under AddressSanitizer a freed slot is used again as late as possible.
    [[gnu::always_inline]] void remember(void* p, const place& at) noexcept {
        if constexpr (!poisoning) {
            const std::uint32_t count = recent_count_;
            if (count < max_recent) {
                recent_slots_[count] = p;
                recent_states_[count] = at.home->states + at.slot;
                recent_count_ = count + 1;
            }
        }
    }

    [[gnu::always_inline]] bool take_recent(void*& p) noexcept {
        if (recent_count_ == 0) [[unlikely]]
            return false;
        const std::uint32_t last = --recent_count_;
        assert(*recent_states_[last] == slot_state::free);
        __atomic_store_n(recent_states_[last], slot_state::live, __ATOMIC_RELAXED);
        p = recent_slots_[last];
        return true;
    }

    [[gnu::always_inline]] bool take_slot(std::size_t stride, std::size_t prefetch_bytes, void*& p) noexcept {
        const std::uint64_t free = gathered_;
        if (free == 0) return take_recent(p);
        take_lowest(free, stride, prefetch_bytes, p);
        return true;
    }
    // Takes the lowest of the gathered slots `free` and returns its byte of the map.
    [[gnu::always_inline]] const std::uint8_t* take_lowest(std::uint64_t free, std::size_t stride,
                                                           std::size_t prefetch_bytes, void*& p) noexcept {
        gathered_ = free & (free - 1);
        const std::size_t index = static_cast<unsigned>(std::countr_zero(free));
        __atomic_store_n(group_states_ + index, slot_state::live, __ATOMIC_RELAXED);
        p = group_start_ + index * stride;
        // Slots come out ascending, so the next ones to be written are known.
        __builtin_prefetch(static_cast<std::byte*>(p) + prefetch_bytes, 1);
        return group_states_ + index;
    }

    const char* give_back_to_used_up(const slab_geometry& geometry, void* p) noexcept {
        if (const char* what = mistake_with(geometry, p)) return what;
        const place at = place_of(geometry, p);
        assert(at.home->names.lister == nullptr);
        mark_free(geometry, at, p);
        list_last(at.home);
        return nullptr;
    }

    [[gnu::always_inline]] bool mark_given_back(const place& at) noexcept {
        if (is_poisoned(&at.home->names) || at.home->names.lister != this || !at.begins_slot) [[unlikely]]
            return false;
        // Not atomic, and the array indexed twice: so the compiler compares and stores in memory, without an
        // instruction for the byte's address.
        if (at.home->states[at.slot] != slot_state::live) [[unlikely]]
            return false;
        at.home->states[at.slot] = slot_state::free;
        return true;
    }

    [[gnu::always_inline]] static void mark_free(const slab_geometry& geometry, const place& at, void* p) noexcept {
        set_state(at, slot_state::free);
        poison(p, geometry.slot_bytes);
    }

    // Slabs may be given back, or all slots become free.
    void forget_next() noexcept {
        gathered_ = 0;
        recent_count_ = 0;
        newest_ = nullptr;
    }

    // The first group from `group` on that has free slots; of->groups when there is none.
    static std::size_t next_free_group(const slab* of, std::size_t group) noexcept {
        while (group < of->groups && free_bits(of, group) == 0) ++group;
        return group;
    }

    static std::uint64_t lowest(std::uint64_t bits, std::size_t count) noexcept {
        if (count >= slab_geometry::group_slots) return bits;
        std::uint64_t rest = bits;
        for (; count > 0 && rest != 0; --count) rest &= rest - 1;
        return bits & ~rest;
    }

    // Gathers the slots `free` of group `group` of the first available slab, or the lowest of them, and takes the
    // first.
    [[gnu::always_inline]] void* take_first(const slab_geometry& geometry, std::size_t group,
                                            std::uint64_t free) noexcept {
        gathered_ = lowest(free, geometry.gathered_slots);
        next_group_ = gathered_ == free ? group + 1 : group;
        group_states_ = available_->states + group * slab_geometry::group_slots;
        group_start_ = reinterpret_cast<std::byte*>(start_of(geometry, available_)) +
                       group * slab_geometry::group_slots * geometry.stride;
        stride_ = static_cast<std::uint32_t>(geometry.stride);
        void* p = nullptr;
        take(geometry, p);
        return p;
    }

    // Moves the first slab to the end of the list if slots were freed in groups already gathered; else removes it.
    void retire_head() noexcept {
        slab* head = available_;
        available_ = head == available_last_ ? nullptr : head->next_available;
        next_group_ = 0;
        if (next_free_group(head, 0) != head->groups) {
            list_last(head);
        } else {
            head->names.lister = nullptr;
        }
    }

    void list_last(slab* added) noexcept {
        added->names.lister = this;
        (available_ == nullptr ? available_ : available_last_->next_available) = added;
        available_last_ = added;
    }

    // Rebuilds the list of slabs with free slots. No slot may be gathered.
    void relist() noexcept {
        assert(gathered_ == 0);
        available_ = nullptr;
        next_group_ = 0;
        for (slab* each = first_; each != nullptr; each = each->next) {
            each->names.lister = nullptr;
            if (next_free_group(each, 0) != each->groups) list_last(each);
        }
    }

    static constexpr std::size_t max_slabs_a_region = 16;
    static constexpr std::size_t slabs_until_steady = 32 * max_slabs_a_region;

    // Bytes of the next slab when `slabs` slabs exist. Sizes double up to the full one, so that a small pool, or a
    // rarely used size class, holds little more than it needs.
    static constexpr std::size_t slab_bytes(const slab_geometry& geometry, std::size_t slabs) noexcept {
        std::size_t bytes = geometry.first_slab_bytes;
        for (; slabs >= 1 && bytes < geometry.slab_bytes; --slabs) bytes *= 2;
        return bytes;
    }

    // Bytes of the next upstream call: a single slab; a large pool grows by about 3 %, up to 16 slabs.
    static constexpr std::size_t region_bytes(const slab_geometry& geometry, std::size_t slabs) noexcept {
        return slab_bytes(geometry, slabs) * detail::clamp<std::size_t>(slabs / 32, 1, max_slabs_a_region);
    }

    // Lowers `bytes` until it has at most `max_slots` slots: to whole slabs, or to a smaller one of at least
    // first_slab_bytes.
    static std::size_t region_within(const slab_geometry& geometry, std::size_t bytes, std::size_t max_slots) noexcept {
        const std::size_t full_slabs = max_slots / geometry.slots(geometry.slab_bytes);
        bytes = detail::min(bytes, detail::max<std::size_t>(full_slabs, 1) * geometry.slab_bytes);
        while (bytes > geometry.first_slab_bytes && geometry.slots(bytes) > max_slots) bytes /= 2;
        return bytes;
    }

    bool add_slab(const slab_geometry& geometry, resource_ref upstream, const slab_limits& limits) noexcept {
        if (fresh_bytes_ == 0 && !add_region(geometry, upstream, limits)) return false;
        const std::size_t bytes = detail::min(fresh_bytes_, geometry.slab_bytes);
        slab* added = make_slab(geometry, fresh_, bytes);
        slab*& link = fresh_after_ == nullptr ? first_ : fresh_after_->next;
        added->next = std::exchange(link, added);
        fresh_after_ = added;
        fresh_ += bytes;
        fresh_bytes_ -= bytes;
        ++slab_count_;
        list_last(added);
        return true;
    }

    // Takes a region from upstream. Its slabs are made one by one, so that unused memory stays untouched.
    bool add_region(const slab_geometry& geometry, resource_ref upstream, const slab_limits& limits) noexcept {
        std::size_t bytes = region_within(geometry, region_bytes(geometry, slab_count_), limits.region_slots);
        void* region = ask(geometry, upstream, limits.bytes, bytes);
        if (region == nullptr && bytes > geometry.slab_bytes) {
            bytes = geometry.slab_bytes;
            region = ask(geometry, upstream, limits.bytes, bytes);
        }
        if (region == nullptr) return false;
        held_bytes_ += bytes;
        fresh_ = reinterpret_cast<std::uintptr_t>(region);
        assert(fresh_ % geometry.slab_bytes == 0);
        fresh_bytes_ = bytes;
        fresh_region_bytes_ = bytes;
        fresh_after_ = predecessor(fresh_);
        return true;
    }

    void* ask(const slab_geometry& geometry, resource_ref upstream, std::size_t limit,
              std::size_t bytes) const noexcept {
        if (bytes > limit || held_bytes_ > limit - bytes) return nullptr;
        return upstream.try_allocate(bytes, geometry.slab_bytes);
    }

    // The slab with the highest address below `start`; null when there is none. Regions mostly come in ascending order:
    // then it is the slab made last.
    slab* predecessor(std::uintptr_t start) const noexcept {
        slab* before = nullptr;
        slab* each = first_;
        if (fresh_after_ != nullptr && reinterpret_cast<std::uintptr_t>(fresh_after_) < start) {
            before = fresh_after_;
            each = before->next;
        }
        for (; each != nullptr && reinterpret_cast<std::uintptr_t>(each) < start; each = each->next) {
            before = each;
        }
        return before;
    }

    slab* make_slab(const slab_geometry& geometry, std::uintptr_t start, std::size_t bytes) noexcept {
        slab* added = slab_of(geometry, start);
        added->names.owner = this;
        added->names.lister = nullptr;
        added->next = nullptr;
        added->bytes = bytes;
        added->groups = static_cast<std::uint32_t>(geometry.groups(bytes));
        added->reciprocal = static_cast<std::uint32_t>(geometry.reciprocal);
        added->region_bytes = std::exchange(fresh_region_bytes_, 0);
        fill_map(geometry, added);
        poison_slots(geometry, added);
        return added;
    }

    void fill_map(const slab_geometry& geometry, slab* filled) noexcept {
        const std::size_t slots = geometry.slots(filled->bytes);
        const std::size_t all = geometry.map_end() - slab_geometry::header_front;
        std::memset(filled->states, slot_state::free, slots);
        std::memset(filled->states + slots, slot_state::none, all - slots);
        std::memset(filled->states + geometry.first_covered(start_of(geometry, filled)), slot_state::none,
                    geometry.covered);
    }

    static void poison_slots(const slab_geometry& geometry, const slab* of) noexcept {
        if constexpr (poisoning) {
            const std::uintptr_t start = start_of(geometry, of);
            const auto header = reinterpret_cast<std::uintptr_t>(of);
            const std::uintptr_t header_end = header + geometry.map_end();
            poison(reinterpret_cast<void*>(start), header - start);
            poison(reinterpret_cast<void*>(header_end), start + of->bytes - header_end);
        }
    }

    // The first slab behind the region that begins with `region`.
    static slab* end_of_region(const slab_geometry& geometry, slab* region) noexcept {
        const std::uintptr_t end = start_of(geometry, region) + region->region_bytes;
        slab* each = region;
        while (each != nullptr && reinterpret_cast<std::uintptr_t>(each) < end) each = each->next;
        return each;
    }

    void give_region_back(const slab_geometry& geometry, slab* region, resource_ref upstream) noexcept {
        const std::uintptr_t start = start_of(geometry, region);
        const std::size_t bytes = region->region_bytes;
        const slab* after = end_of_region(geometry, region);
        for (slab* each = region; each != after; each = each->next) {
            // A later free of one of its slots, while the memory is still mapped, finds no owner and aborts.
            each->names.owner = nullptr;
            each->names.lister = nullptr;
            --slab_count_;
        }
        if (fresh_after_ != nullptr && reinterpret_cast<std::uintptr_t>(fresh_after_) - start < bytes) {
            // The region's slabs that were not made yet go with it.
            fresh_after_ = nullptr;
            fresh_bytes_ = 0;
        }
        held_bytes_ -= bytes;
        unpoison_defined(reinterpret_cast<void*>(start), bytes);
        upstream.deallocate(reinterpret_cast<void*>(start), bytes, geometry.slab_bytes);
    }

    // Allocating reads only these five, and a recent slot.
    std::uint64_t gathered_ = 0;            // free slots of one group, handed out next
    std::byte* group_start_ = nullptr;      // slot 0 of that group
    std::uint8_t* group_states_ = nullptr;  // the map bytes of that group
    std::uint32_t stride_ = 0;              // copy of the geometry's
    std::uint32_t recent_count_ = 0;        // slots freed lately, handed out when none is gathered
    std::size_t next_group_ = 0;            // of the first available slab: where to gather next
    slab* available_ = nullptr;             // list of slabs with free slots; perhaps also the slab gathered from
    slab* available_last_ = nullptr;        // its last slab; meaningful while the list is not empty
    slab* first_ = nullptr;                 // all slabs, in address order
    slab* fresh_after_ = nullptr;           // the slab before fresh_ in address order
    std::uintptr_t fresh_ = 0;              // the part of the newest region where no slab was made yet
    std::size_t fresh_bytes_ = 0;
    std::size_t fresh_region_bytes_ = 0;  // bytes of the newest region until its first slab is made
    std::size_t held_bytes_ = 0;
    std::size_t slab_count_ = 0;
    void* listed_ = nullptr;  // slots that were freed without a look
    // The recent slots, and their bytes in the map. In arrays of their own: the compiler stores a pair of neighbours as
    // one vector, from which a load of the second half right after it waits (AMD Zen 4: 13.5 ns for a replacement in
    // place of 9.9).
    void* recent_slots_[max_recent] = {};
    std::uint8_t* recent_states_[max_recent] = {};
    void* newest_ = nullptr;  // in a pool of one size: the slot freed last, if nothing was allocated since
};

}  // namespace acre::detail
