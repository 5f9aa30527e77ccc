// The mechanism under every pool of acre: slots of one size in slabs, with a map of the free ones in each slab's
// header.
//
// Use a pool, not this: acre::pool, acre::object_pool and acre::multi_pool are made of it. It is told the geometry on
// each call, so that a pool of a compile-time size pays for constants only.
//
// Why it is fast: a free slot is never written or read, so freeing drags nothing through the cache, and addresses come
// out ascending, so the cache can fetch ahead. The map has one byte a slot, so that a free is one store that waits for
// no other (with one bit a slot, frees of neighbours wait for each other's word: 5.4 cycles instead of 3.6, and freeing
// newest first was slower than boost::pool). The bytes of 64 slots are gathered into a word of bits at once, and
// allocating takes the lowest bit of that word.
// A byte that is set already is a double free, a header that names another owner is a pointer of another pool: both are
// detected in every build.
//
// Cost: allocate about 12 instructions, deallocate about 20, both constant time but for a new slab; used() and the walk
// over the live are linear in the slabs held. Not thread-safe.
//
// The idea of a map in each slab is Bonwick's slab allocator (1994) with its free list replaced, as snmalloc and Mesh
// also do; the headers at different offsets are his slab colouring applied to the header instead of the objects.
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace acre::detail {

/// How far the slabs of one pool may grow.
struct slab_limits {
    std::size_t bytes = SIZE_MAX;         // held from upstream, in all
    std::size_t region_slots = SIZE_MAX;  // asked for at once; the smallest slab may be asked for all the same
};

/// Slabs of slots of one size, with their free bits. Its first words are those that allocating reads: they never lie on
/// two cache lines.
class alignas(32) bitmap_slabs {
public:
    /// Header of a slab.
    struct slab {
        std::uintptr_t owner;      // the bitmap_slabs that hands out its slots; + 1 while it is not in the list
        slab* next_available;      // the next slab in the list of those with free slots; meaningful while in it
        slab* next;                // the slab at the next higher address
        std::size_t bytes;         // of this slab
        std::uint32_t groups;      // of slots in it
        std::uint32_t reciprocal;  // the geometry's
        std::size_t region_bytes;  // of the upstream block that begins with this slab; 0: it does not begin one
        std::uint8_t free[slab_geometry::group_slots];  // in truth so many groups: 1 = slot free
    };

    bitmap_slabs() noexcept = default;
    bitmap_slabs(const bitmap_slabs&) = delete;
    bitmap_slabs& operator=(const bitmap_slabs&) = delete;

    /// Sets `p` to a free slot; false when none is gathered: then call refill. Constant time.
    [[gnu::always_inline]] bool take(const slab_geometry& geometry, void*& p) noexcept {
        return take_slot(geometry.slot_bytes, geometry.prefetch_bytes, p);
    }

    /// The same where the geometry is not known when compiling: it is not looked up.
    [[gnu::always_inline]] bool take(void*& p) noexcept { return take_slot(slot_bytes_, 2 * slot_bytes_, p); }

    /// A free slot from another group or slab, or null when upstream has none. Out of line: once in 64 allocations.
    [[gnu::noinline]] void* refill(const slab_geometry& geometry, resource_ref upstream,
                                   const slab_limits& limits) noexcept {
        // A slab is used up before the next one is begun, and they take turns in the order in which they got free
        // slots: where frees mirror allocations, that is the order in which the cache forgets them, last one first.
        while (!gather(geometry)) {
            if (available_ == nullptr && !add_slab(geometry, upstream, limits)) return nullptr;
        }
        void* p = nullptr;
        take(geometry, p);
        return p;
    }

    /// Takes back a slot. Aborts with a sentence naming `name` on a double free or a pointer of another pool.
    [[gnu::always_inline]] void give_back(const slab_geometry& geometry, const char* name, void* p) noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = slab_of(geometry, address);
        if (home->owner != listed()) [[unlikely]]
            return give_back_to_unlisted(geometry, name, p);
        mark_free(geometry, name, home, geometry.slot_index(address), p);
    }

    /// The same where no more of the geometry is known when compiling than the size of the slabs: the rest is in the
    /// slab's header.
    template <std::size_t SlabBytes>
    [[gnu::always_inline]] void give_back_in(const slab_geometry& geometry, const char* name, void* p) noexcept {
        assert(geometry.slab_bytes == SlabBytes);
        const auto address = reinterpret_cast<std::uintptr_t>(p);
        slab* home = reinterpret_cast<slab*>(slab_geometry::header_address<SlabBytes>(address));
        if (home->owner != listed()) [[unlikely]]
            return give_back_to_unlisted(geometry, name, p);
        mark_free(geometry, name, home, slab_geometry::slot_index(address, SlabBytes, home->reciprocal), p);
    }

    /// Aborts with a sentence, as give_back would, unless `p` is a slot of this that is handed out. Constant time.
    void check_live(const slab_geometry& geometry, const char* name, void* p) const noexcept {
        if (!owns_slot(geometry, p)) abort_on_misuse(name, foreign_pointer, p);
        if (is_free(geometry, p)) abort_on_misuse(name, double_free, p);
    }

    /// True when the slab that `p` lies in, if it is one of a pool of this geometry, is one of this.
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

    /// Slots handed out. Linear in the number of slabs.
    std::size_t used(const slab_geometry& geometry) const noexcept {
        std::size_t count = 0;
        for (const slab* each = first_; each != nullptr; each = each->next) count += live(geometry, each);
        return count;
    }

    /// Bytes held from upstream.
    std::size_t held_bytes() const noexcept { return held_bytes_; }

    /// Slots that can be handed out without asking upstream, those handed out included.
    std::size_t slots(const slab_geometry& geometry) const noexcept {
        std::size_t count = geometry.usable(geometry.slab_bytes) * (fresh_bytes_ / geometry.slab_bytes);
        for (const slab* each = first_; each != nullptr; each = each->next) {
            count += geometry.usable(each->bytes);
        }
        return count;
    }

    /// Gives regions without a live slot back to upstream. Linear in the number of slabs; returns the bytes given back.
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

    /// Gives everything back to upstream, live slots included; growth starts anew.
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

    /// Takes over everything of `other`, which is left empty; this must hold nothing. Linear in the number of slabs.
    void take_over(bitmap_slabs& other) noexcept {
        assert(first_ == nullptr);
        gathered_ = std::exchange(other.gathered_, 0);
        group_start_ = std::exchange(other.group_start_, nullptr);
        group_free_ = std::exchange(other.group_free_, nullptr);
        slot_bytes_ = other.slot_bytes_;
        available_ = std::exchange(other.available_, nullptr);
        available_last_ = std::exchange(other.available_last_, nullptr);
        first_ = std::exchange(other.first_, nullptr);
        fresh_after_ = std::exchange(other.fresh_after_, nullptr);
        fresh_ = std::exchange(other.fresh_, 0);
        fresh_bytes_ = std::exchange(other.fresh_bytes_, 0);
        held_bytes_ = std::exchange(other.held_bytes_, 0);
        slab_count_ = std::exchange(other.slab_count_, 0);
        next_group_ = std::exchange(other.next_group_, 0);
        for (slab* each = first_; each != nullptr; each = each->next) {
            each->owner = each->owner == other.listed() ? listed() : unlisted();
        }
    }

    /// A place in the walk over the live slots, in address order.
    struct position {
        slab* home = nullptr;
        std::size_t group = 0;
        std::uint64_t ahead = 0;  // bits of this group not yet visited
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
        for (; at.home != nullptr; at.home = at.home->next, at.group = 0) {
            const std::uintptr_t start = start_of(geometry, at.home);
            for (; at.group < at.home->groups; ++at.group, at.ahead = ~std::uint64_t{0}) {
                const std::uint64_t live = live_bits(geometry, at.home, at.group) & at.ahead;
                if (live == 0) continue;
                const auto index = static_cast<std::size_t>(std::countr_zero(live));
                // All bits above this one: shifting twice keeps bit 63 defined.
                at.ahead = ~std::uint64_t{0} << index << 1;
                at.slot = reinterpret_cast<void*>(start + (at.group * slab_geometry::group_slots + index) *
                                                              geometry.slot_bytes);
                return;
            }
        }
    }

    /// The least that upstream is asked for when the slots held are used up, in bytes.
    std::size_t next_slab_bytes(const slab_geometry& geometry) const noexcept {
        return slab_bytes(geometry, slab_count_);
    }

    /// The most that upstream is asked for at once, in bytes.
    static constexpr std::size_t largest_region_bytes(const slab_geometry& geometry) noexcept {
        return max_slabs_a_region * geometry.slab_bytes;
    }

    /// Bytes of a buffer aligned to a slab that has room for `count` slots, the gaps behind the short first slabs
    /// included: where several slabs at once do not fit, they are asked for one by one. SIZE_MAX when there cannot be
    /// so many.
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

    /// Bytes asked of upstream, in all, by the time `count` slots have been handed out for the first time. SIZE_MAX
    /// when there cannot be so many.
    static constexpr std::size_t required_bytes(const slab_geometry& geometry, std::size_t count) noexcept {
        if (count > max_request / 2 / geometry.slot_bytes) return SIZE_MAX;
        std::size_t bytes = 0;
        std::size_t slots = 0;
        for (std::size_t slabs = 0; slots < count && slabs < slabs_until_steady;) {
            const std::size_t region = region_bytes(geometry, slabs);
            const std::size_t each = std::min(region, geometry.slab_bytes);
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

    static constexpr const char* double_free = "double free";
    static constexpr const char* foreign_pointer = "a pointer of another pool was given back";

    static slab* slab_of(const slab_geometry& geometry, std::uintptr_t address) noexcept {
        return reinterpret_cast<slab*>(geometry.header_address(address));
    }
    static std::uintptr_t start_of(const slab_geometry& geometry, const slab* of) noexcept {
        return geometry.slab_start(reinterpret_cast<std::uintptr_t>(of));
    }
    // The bytes of a group as bits: bit i set = slot i free.
    static std::uint64_t free_bits(const slab* of, std::size_t group) noexcept {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < slab_geometry::group_slots; i += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, of->free + group * slab_geometry::group_slots + i, sizeof eight);
            if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
            // Each byte is 0 or 1: the product brings byte k's bit to bit 56 + k.
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
        // Slots come out ascending, so the cache can be told what will be written next.
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

    // Out of line: a slab that was used up gets a free slot again, or the pointer is not of this pool.
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

    // The first group of `of` from `group` on that has free slots; of->groups when there is none.
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

    // Makes the free slots of the next group of the first slab in the list, or the lowest of them, those that are
    // handed out next. False when there is none: then the slab has left its place at the head.
    bool gather(const slab_geometry& geometry) noexcept {
        if (available_ == nullptr) return false;
        std::size_t group = next_group_;
        std::uint64_t free = 0;
        while (group < available_->groups && (free = free_bits(available_, group)) == 0) ++group;
        if (free == 0) return leave_head(), false;
        gathered_ = lowest(free, geometry.gathered_slots);
        next_group_ = gathered_ == free ? group + 1 : group;
        group_free_ = available_->free + group * slab_geometry::group_slots;
        group_start_ = reinterpret_cast<std::byte*>(start_of(geometry, available_)) +
                       group * slab_geometry::group_slots * geometry.slot_bytes;
        slot_bytes_ = geometry.slot_bytes;
        return true;
    }

    // The first slab of the list goes to its end if slots were freed behind the groups handed out, and else leaves it.
    void leave_head() noexcept {
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

    // Makes the list of slabs with free slots anew; nothing is gathered.
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

    // Bytes of the next slab when `slabs` slabs exist. They double up to the full size, so that a pool of a few
    // objects, or a size class that is hardly used, holds little more than it needs.
    static constexpr std::size_t slab_bytes(const slab_geometry& geometry, std::size_t slabs) noexcept {
        std::size_t bytes = geometry.first_slab_bytes;
        for (; slabs >= 1 && bytes < geometry.slab_bytes; --slabs) bytes *= 2;
        return bytes;
    }

    // Bytes to ask of upstream then: single slabs, and a pool that is large already grows by about 3 % at a time, up to
    // 16 slabs.
    static constexpr std::size_t region_bytes(const slab_geometry& geometry, std::size_t slabs) noexcept {
        return slab_bytes(geometry, slabs) * std::clamp<std::size_t>(slabs / 32, 1, max_slabs_a_region);
    }

    // The most of `bytes` that has no more than `most` slots: whole slabs, or a smaller one down to the first one's
    // size.
    static std::size_t region_within(const slab_geometry& geometry, std::size_t bytes, std::size_t most) noexcept {
        const std::size_t full_slabs = most / geometry.slots(geometry.slab_bytes);
        bytes = std::min(bytes, std::max<std::size_t>(full_slabs, 1) * geometry.slab_bytes);
        while (bytes > geometry.first_slab_bytes && geometry.slots(bytes) > most) bytes /= 2;
        return bytes;
    }

    bool add_slab(const slab_geometry& geometry, resource_ref upstream, const slab_limits& limits) noexcept {
        if (fresh_bytes_ == 0 && !add_region(geometry, upstream, limits)) return false;
        const std::size_t bytes = std::min(fresh_bytes_, geometry.slab_bytes);
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

    // Takes a region from upstream; its slabs are made one by one, so that untouched memory stays untouched.
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

    // The slab with the highest address below `start`; null when there is none. Regions mostly come ascending, and the
    // slab made last is then the answer.
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
        slab* made = slab_of(geometry, start);
        made->owner = unlisted();
        made->next = nullptr;
        made->bytes = bytes;
        made->groups = static_cast<std::uint32_t>(geometry.groups(bytes));
        made->reciprocal = static_cast<std::uint32_t>(geometry.reciprocal);
        made->region_bytes = std::exchange(fresh_region_bytes_, 0);
        fill_map(geometry, made);
        poison_slots(geometry, made);
        return made;
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

    // The slab after the last one of the region that begins with `region`.
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
            // Whoever frees a slot of it later, while the memory is still there, finds no owner.
            each->owner = 0;
            --slab_count_;
        }
        if (fresh_after_ != nullptr && reinterpret_cast<std::uintptr_t>(fresh_after_) - start < bytes) {
            // Its unmade slabs, if any, go with it.
            fresh_after_ = nullptr;
            fresh_bytes_ = 0;
        }
        held_bytes_ -= bytes;
        unpoison_defined(reinterpret_cast<void*>(start), bytes);
        upstream.deallocate(reinterpret_cast<void*>(start), bytes, geometry.slab_bytes);
    }

    // Allocating reads these and nothing else of the pool.
    std::uint64_t gathered_ = 0;          // slots of one group, all free, that are handed out next
    std::byte* group_start_ = nullptr;    // its slot 0
    std::uint8_t* group_free_ = nullptr;  // its part of the map
    std::size_t slot_bytes_ = 0;          // the geometry's
    std::size_t next_group_ = 0;          // of the first slab in the list: where to gather next
    slab* available_ = nullptr;       // the list: every slab with free slots besides those gathered, and perhaps the
    slab* available_last_ = nullptr;  // one gathered from; meaningful while there is a first
    slab* first_ = nullptr;           // all slabs, in address order
    slab* fresh_after_ = nullptr;     // the made slab before the fresh ones, in address order
    std::uintptr_t fresh_ = 0;        // the part of the newest region of which no slabs were made yet
    std::size_t fresh_bytes_ = 0;
    std::size_t fresh_region_bytes_ = 0;  // set until the newest region's first slab is made
    std::size_t held_bytes_ = 0;
    std::size_t slab_count_ = 0;
};

}  // namespace acre::detail
