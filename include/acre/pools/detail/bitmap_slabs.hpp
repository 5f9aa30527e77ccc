// The mechanism under the growing pools: slots of one size in slabs, with a map of the free ones in each slab's header.
// The geometry is an argument of each call, so that a pool of a compile-time size works with constants.
//
// Why it is fast: it never writes or reads a free slot, so a free touches no cache line of the slot. Addresses come out
// ascending, so the cache can prefetch. The map has one byte per slot, so that a free is one independent store. (With
// one bit per slot, frees of neighbours wait for each other's word: 5.4 cycles instead of 3.6, and freeing newest first
// was slower than boost::pool.) The bytes of 64 slots are gathered into one word; allocating takes its lowest bit.
// A map byte that is set already is a double free; a header that names another owner is a pointer of another pool.
// Every build detects both.
//
// Cost: allocate about 12 instructions, deallocate about 20, constant time except for a new slab. used() and the walk
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
#include <acre/pools/detail/slab_geometry.hpp>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace acre::detail {

/// Upper limits for the slabs of one pool.
struct slab_limits {
    std::size_t bytes = SIZE_MAX;         // held from upstream
    std::size_t region_slots = SIZE_MAX;  // in one upstream call; does not apply to the smallest slab
};

/// Slabs of slots of one size. The alignment keeps the members that allocating reads on one cache line.
class alignas(32) bitmap_slabs {
public:
    /// Header of a slab.
    struct slab {
        std::uintptr_t owner;      // address of the bitmap_slabs; + 1 while the slab is not in the available list
        slab* next_available;      // in the list of slabs with free slots; meaningful while in it
        slab* next;                // the slab at the next higher address
        std::size_t bytes;         // of this slab
        std::uint32_t groups;      // number of groups of slots
        std::uint32_t reciprocal;  // copy of the geometry's
        std::size_t region_bytes;  // of the upstream block that begins with this slab; 0 when none does
        std::uint8_t free[slab_geometry::group_slots];  // really `groups` times as many: 1 = slot free
    };

    bitmap_slabs() noexcept = default;
    bitmap_slabs(const bitmap_slabs&) = delete;

    /// Sets `p` to a free slot; false when no slot is gathered: then call refill. Constant time.
    [[gnu::always_inline]] bool take(const slab_geometry& geometry, void*& p) noexcept {
        return take_slot(geometry.slot_bytes, geometry.prefetch_bytes, p);
    }

    /// As take() above, for a geometry known at run time only: uses the slot size cached here, not the geometry.
    [[gnu::always_inline]] bool take(void*& p) noexcept { return take_slot(slot_bytes_, 2 * slot_bytes_, p); }

    /// Returns a free slot from another group or slab, or null when upstream has no memory. Out of line: once in 64
    /// allocations.
    [[gnu::noinline]] void* refill(const slab_geometry& geometry, resource_ref upstream,
                                   const slab_limits& limits) noexcept {
        // Uses up one slab before the next, in the order in which slabs got free slots. Where frees mirror allocations,
        // the slabs that the cache would evict last come first.
        while (!gather(geometry)) {
            if (available_ == nullptr && !add_slab(geometry, upstream, limits)) return nullptr;
        }
        void* p = nullptr;
        take(geometry, p);
        return p;
    }

    /// Frees a slot. Aborts with a message naming `name` on a double free or a pointer of another pool.
    [[gnu::always_inline]] void give_back(const slab_geometry& geometry, const char* name, void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = slab_of(geometry, address);
        if (home->owner != listed()) [[unlikely]]
            return give_back_to_unlisted(geometry, name, p);
        mark_free(geometry, name, home, geometry.slot_index(address), p);
    }

    /// As give_back, where only the slab size is a compile-time constant: the reciprocal comes from the slab's header.
    template <std::size_t SlabBytes>
    [[gnu::always_inline]] void give_back_in(const slab_geometry& geometry, const char* name, void* p) noexcept {
        assert(geometry.slab_bytes == SlabBytes);
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = reinterpret_cast<slab*>(slab_geometry::header_address<SlabBytes>(address));
        if (home->owner != listed()) [[unlikely]]
            return give_back_to_unlisted(geometry, name, p);
        mark_free(geometry, name, home, slab_geometry::slot_index(address, SlabBytes, home->reciprocal), p);
    }

    /// Aborts with a message, as give_back would, unless `p` is a live slot of this. Constant time.
    void check_live(const slab_geometry& geometry, const char* name, void* p) const noexcept {
        if (!owns_slot(geometry, p)) abort_on_misuse(name, foreign_pointer, p);
        if (is_free(geometry, p)) abort_on_misuse(name, double_free, p);
    }

    /// True when the slab that `p` lies in belongs to this. `p` must lie in a slab of some pool of this geometry.
    bool owns_slot(const slab_geometry& geometry, const void* p) const noexcept {
        const std::uintptr_t owner = slab_of(geometry, reinterpret_cast<std::uintptr_t>(p))->owner;
        return owner == listed() || owner == unlisted();
    }

    /// True when the slot at `p`, which must lie in a slab of this, is free.
    static bool is_free(const slab_geometry& geometry, const void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        return slab_of(geometry, address)->free[geometry.slot_index(address)] != 0;
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
        return count;
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
        gathered_ = 0;
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
        gathered_ = 0;
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
        gathered_ = 0;
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
            each->owner = each->owner == other.listed() ? listed() : unlisted();
        }
    }

    /// A position in the walk over the live slots, in address order.
    struct position {
        slab* home = nullptr;
        std::size_t group = 0;
        std::uint64_t unvisited = 0;  // slots of this group still to visit
        void* slot = nullptr;         // null at the end
    };

    /// The first live slot.
    position first_live(const slab_geometry& geometry) const noexcept {
        position result{first_, 0, ~std::uint64_t{0}, nullptr};
        advance(geometry, result);
        return result;
    }

    /// The next live slot. Skips slots freed meanwhile; may visit slots allocated meanwhile.
    void advance(const slab_geometry& geometry, position& at) const noexcept {
        at.slot = nullptr;
        for (; at.home != nullptr; at.home = at.home->next, at.group = 0) {
            const std::uintptr_t start = start_of(geometry, at.home);
            for (; at.group < at.home->groups; ++at.group, at.unvisited = ~std::uint64_t{0}) {
                const std::uint64_t live = live_bits(geometry, at.home, at.group) & at.unvisited;
                if (live == 0) continue;
                const auto index = static_cast<std::size_t>(std::countr_zero(live));
                // All bits above this one; two shifts, because a shift by 64 would be undefined.
                at.unvisited = ~std::uint64_t{0} << index << 1;
                at.slot = reinterpret_cast<void*>(start + (at.group * slab_geometry::group_slots + index) *
                                                              geometry.slot_bytes);
                return;
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
        if (count > max_request / 2 / geometry.slot_bytes) return SIZE_MAX;
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
        if (count > max_request / 2 / geometry.slot_bytes) return SIZE_MAX;
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
    static_assert(offsetof(slab, free) == slab_geometry::header_front);

    bitmap_slabs& operator=(const bitmap_slabs&) noexcept = default;

    static constexpr const char* double_free = "double free";
    static constexpr const char* foreign_pointer = "a pointer of another pool was given back";

    static slab* slab_of(const slab_geometry& geometry, std::uintptr_t address) noexcept {
        return reinterpret_cast<slab*>(geometry.header_address(address));
    }
    static std::uintptr_t start_of(const slab_geometry& geometry, const slab* of) noexcept {
        return geometry.slab_start(reinterpret_cast<std::uintptr_t>(of));
    }
    // The map bytes of a group as bits: bit i set = slot i free.
    static std::uint64_t free_bits(const slab* of, std::size_t group) noexcept {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < slab_geometry::group_slots; i += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, of->free + group * slab_geometry::group_slots + i, sizeof eight);
            if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
            // Each byte is 0 or 1: the product moves the bit of byte k to bit 56 + k.
            bits |= (eight * 0x0102'0408'1020'4080) >> 56 << i;
        }
        return bits;
    }

    std::uint64_t live_bits(const slab_geometry& geometry, const slab* of, std::size_t group) const noexcept {
        return geometry.usable_mask(start_of(geometry, of), of->bytes, group) & ~free_bits(of, group);
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

    [[gnu::always_inline]] bool take_slot(std::size_t slot_bytes, std::size_t prefetch_bytes, void*& p) noexcept {
        const std::uint64_t free = gathered_;
        if (free == 0) [[unlikely]]
            return false;
        gathered_ = free & (free - 1);
        const std::size_t index = static_cast<unsigned>(std::countr_zero(free));
        group_free_[index] = 0;
        p = group_start_ + index * slot_bytes;
        // Slots come out ascending, so the next ones to be written are known.
        __builtin_prefetch(static_cast<std::byte*>(p) + prefetch_bytes, 1);
        unpoison(p, slot_bytes);
        return true;
    }

    std::uintptr_t listed() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }
    std::uintptr_t unlisted() const noexcept { return listed() + 1; }

    [[gnu::always_inline]] static void mark_free(const slab_geometry& geometry, const char* name, slab* home,
                                                 std::size_t slot, void* p) noexcept {
        assert((reinterpret_cast<std::uintptr_t>(p) - start_of(geometry, home)) % geometry.slot_bytes == 0 &&
               "a pointer into the middle of a slot was given back");
        std::uint8_t& free = home->free[slot];
        if (free != 0) [[unlikely]]
            abort_on_misuse(name, double_free, p);
        free = 1;
        poison(p, geometry.slot_bytes);
    }

    // Out of line: the first free slot of a used-up slab, or a pointer of another pool.
    [[gnu::noinline]] void give_back_to_unlisted(const slab_geometry& geometry, const char* name, void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = slab_of(geometry, address);
        if (home->owner != unlisted()) abort_on_misuse(name, foreign_pointer, p);
        mark_free(geometry, name, home, geometry.slot_index(address), p);
        list_last(home);
    }

    static bool has_free(const slab* of, std::size_t group) noexcept {
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < slab_geometry::group_slots; i += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, of->free + group * slab_geometry::group_slots + i, sizeof eight);
            any |= eight;
        }
        return any != 0;
    }

    // The first group from `group` on that has free slots; of->groups when there is none.
    static std::size_t next_free_group(const slab* of, std::size_t group) noexcept {
        while (group < of->groups && !has_free(of, group)) ++group;
        return group;
    }

    static std::uint64_t lowest(std::uint64_t bits, int count) noexcept {
        if (count >= static_cast<int>(slab_geometry::group_slots)) return bits;
        std::uint64_t rest = bits;
        for (; count > 0 && rest != 0; --count) rest &= rest - 1;
        return bits & ~rest;
    }

    // Gathers free slots, lowest first, from the next group of the first available slab. False when that slab has no
    // more: then it is no longer the first.
    bool gather(const slab_geometry& geometry) noexcept {
        if (available_ == nullptr) return false;
        std::size_t group = next_group_;
        std::uint64_t free = 0;
        while (group < available_->groups && (free = free_bits(available_, group)) == 0) ++group;
        if (free == 0) return retire_head(), false;
        gathered_ = lowest(free, geometry.gathered_slots);
        next_group_ = gathered_ == free ? group + 1 : group;
        group_free_ = available_->free + group * slab_geometry::group_slots;
        group_start_ = reinterpret_cast<std::byte*>(start_of(geometry, available_)) +
                       group * slab_geometry::group_slots * geometry.slot_bytes;
        slot_bytes_ = geometry.slot_bytes;
        return true;
    }

    // Moves the first slab to the end of the list if slots were freed in groups already gathered; else removes it.
    void retire_head() noexcept {
        slab* head = available_;
        available_ = head == available_last_ ? nullptr : head->next_available;
        next_group_ = 0;
        if (next_free_group(head, 0) != head->groups) {
            list_last(head);
        } else {
            head->owner = unlisted();
        }
    }

    void list_last(slab* added) noexcept {
        added->owner = listed();
        (available_ == nullptr ? available_ : available_last_->next_available) = added;
        available_last_ = added;
    }

    // Rebuilds the list of slabs with free slots. No slot may be gathered.
    void relist() noexcept {
        assert(gathered_ == 0);
        available_ = nullptr;
        next_group_ = 0;
        for (slab* each = first_; each != nullptr; each = each->next) {
            each->owner = unlisted();
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
        added->owner = unlisted();
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
        std::memset(filled->free, 1, slots);
        std::memset(filled->free + slots, 0, filled->groups * slab_geometry::group_slots - slots);
        std::memset(filled->free + geometry.first_covered(start_of(geometry, filled)), 0, geometry.covered);
    }

    static void poison_slots(const slab_geometry& geometry, const slab* of) noexcept {
        if constexpr (poisoning) {
            const std::uintptr_t start = start_of(geometry, of);
            const auto header = reinterpret_cast<std::uintptr_t>(of);
            const std::uintptr_t header_end = header + geometry.header_bytes();
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
            each->owner = 0;
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

    // Allocating reads only these four.
    std::uint64_t gathered_ = 0;          // free slots of one group, handed out next
    std::byte* group_start_ = nullptr;    // slot 0 of that group
    std::uint8_t* group_free_ = nullptr;  // the map bytes of that group
    std::size_t slot_bytes_ = 0;          // copy of the geometry's
    std::size_t next_group_ = 0;          // of the first available slab: where to gather next
    slab* available_ = nullptr;           // list of slabs with free slots; perhaps also the slab gathered from
    slab* available_last_ = nullptr;      // its last slab; meaningful while the list is not empty
    slab* first_ = nullptr;               // all slabs, in address order
    slab* fresh_after_ = nullptr;         // the slab before fresh_ in address order
    std::uintptr_t fresh_ = 0;            // the part of the newest region where no slab was made yet
    std::size_t fresh_bytes_ = 0;
    std::size_t fresh_region_bytes_ = 0;  // bytes of the newest region until its first slab is made
    std::size_t held_bytes_ = 0;
    std::size_t slab_count_ = 0;
};

}  // namespace acre::detail
