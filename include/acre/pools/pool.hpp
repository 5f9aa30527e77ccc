// A growing pool of raw slots of one size, freed one by one in any order.
//
// Use it for storage of one size known at compile time. Use acre::object_pool<T> for objects of a type, and
// acre::multi_pool where sizes vary. As a resource it serves requests that fit a slot from slots; larger or more
// strictly aligned ones get a block of their own from upstream.
//
// Cost: allocate 21 instructions, or 16 right after a free; deallocate 20; constant time except for a new slab. Memory:
// 3 % more than the slots at 64 bytes. The first slab has 4 KiB, later ones 16 KiB, more for slots over 256 bytes. The
// pool holds nothing before the first allocation; release_unused() and the destructor give slabs back. A double free, a
// pointer into the middle of a slot and a pointer of another resource abort with a message, in every build
// (docs/misuse.md); with double_free_check::none a free looks at nothing, and both calls have 6 instructions. Not
// thread-safe. Movable.
//
//     acre::pool<64> slots;
//     void* p = slots.allocate();
//     slots.deallocate(p);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`. `Check` says what is looked at in a free.
template <std::size_t Slot, std::size_t Align, double_free_check Check>
class pool : public detail::slot_face<pool<Slot, Align, Check>, Slot, Align> {
    using face = detail::slot_face<pool, Slot, Align>;
    friend face;

public:
    static constexpr const char* name = "acre::pool";
    using options_type = pool_options;
    /// How slots lie in slabs: slot_bytes, slab_bytes and so on, all in bytes.
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, Align);
    /// Alignment of every slot in bytes; stricter requests get a block of their own.
    static constexpr std::size_t max_alignment = geometry.slot_alignment();

    /// Takes no memory.
    pool() noexcept = default;
    explicit pool(resource_ref upstream) noexcept : upstream_(upstream) {}
    explicit pool(const pool_options& options, resource_ref upstream = heap{}) : pool(options, upstream, name) {}

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<pool> Other>
    ACRE_IS_NOT_COPIED explicit pool(Other&);
    /// Takes over the slots of `other`, which is left empty. Linear in the number of slabs.
    pool(pool&& other) noexcept
        : large_(std::move(other.large_)),
          limit_(other.limit_),
          region_slots_(other.region_slots_),
          report_(other.report_),
          name_(other.name_),
          upstream_(other.upstream_) {
        slabs_.take_over(other.slabs_);
    }
    pool& operator=(pool&& other) noexcept {
        if (this == &other) return *this;
        detail::destroy_at(this);
        return *detail::construct_at(this, std::move(other));
    }

    /// Gives everything back to upstream, live slots included.
    ~pool() {
        report_live();
        release();
    }

    /// Returns a slot of Slot bytes aligned to Align, contents undefined. Throws out_of_memory or limit_exceeded.
    [[gnu::always_inline]] void* allocate() {
        void* p;
        if (!take(p)) [[unlikely]]
            return refill();
        unpoison(p, Slot);
        return p;
    }

    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] void* try_allocate() noexcept {
        void* p;
        if (!take(p)) [[unlikely]]
            return try_refill();
        unpoison(p, Slot);
        return p;
    }

    /// Frees a slot; null is a no-op. Never allocates, never throws.
    [[gnu::always_inline]] void deallocate(void* p) noexcept {
        if (p != nullptr) give_back(name, p);
    }

    using face::allocate;
    using face::deallocate;
    using face::try_allocate;

    /// Gives slabs without a live slot back to upstream and returns their bytes. Linear in the slabs held.
    std::size_t release_unused() noexcept {
        settle();
        return slabs_.release_unused(geometry, upstream_);
    }
    /// Gives all slabs back to upstream; every slot handed out becomes invalid. Growth starts again at the first slab.
    void release() noexcept {
        slabs_.release(geometry, upstream_);
        large_.release(upstream_);
    }
    /// Frees every slot at once and keeps the slabs; blocks of larger requests go back to upstream.
    void reset() noexcept {
        slabs_.clear(geometry);
        large_.release(upstream_);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return slabs_.held_bytes() + large_.held_bytes(); }
    /// Number of slots that can be live at once without an upstream call.
    std::size_t slots() const noexcept { return slabs_.slots(geometry); }
    /// Bytes of the live slots and of the blocks of larger requests. Linear in the slabs held.
    std::size_t used() const noexcept { return slabs_.used(geometry) * geometry.slot_bytes + large_.held_bytes(); }
    /// Number of live allocations, larger requests included. Linear in the slabs held.
    std::size_t live() const noexcept { return slabs_.used(geometry) + large_.count(); }
    /// True when `p` lies in storage of this pool. Linear in the slabs held.
    bool owns(const void* p) const noexcept { return slabs_.owns(geometry, p) || large_.owns(p); }
    /// What in the pool's own data does not agree, or null (acre::check_invariants). Linear in the slots held.
    const char* broken_invariant() const noexcept {
        const char* const of_slabs = slabs_.broken_invariant(geometry);
        return of_slabs != nullptr ? of_slabs : large_.broken_invariant();
    }
    /// The resource that slabs come from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Total bytes asked of upstream for `count` live slots; SIZE_MAX when that is impossible.
    static constexpr std::size_t required_bytes(std::size_t count) noexcept {
        return detail::bitmap_slabs::required_bytes(geometry, count);
    }
    /// Bytes that an acre::buffer as upstream, aligned to geometry.slab_bytes, needs for `count` live slots.
    static constexpr std::size_t required_buffer_bytes(std::size_t count) noexcept {
        return detail::bitmap_slabs::required_buffer_bytes(geometry, count);
    }

protected:
    // For derived pools: errors, misuse and live allocations at the end are reported under `derived`.
    explicit constexpr pool(const char* derived) noexcept : name_(derived) {}
    pool(const pool_options& options, resource_ref upstream, const char* derived)
        : limit_(options.limit_bytes),
          region_slots_(options.region_slots),
          report_(options.report_live),
          name_(derived),
          upstream_(upstream) {
        require_at_least(geometry.first_slab_bytes, derived, "limit_bytes", options.limit_bytes);
    }
    void report_live() noexcept {
        report_.write(name_, [this] { return live(); });
    }
    // The name of the derived pool as a constant, which costs deallocate no load.
    [[gnu::always_inline]] void give_back(const char* derived, void* slot) noexcept {
        if constexpr (!checks_frees) {
            slabs_.list(slot);
        } else {
            if (!slabs_.give_back_newest(geometry, slot, detail::bitmap_slabs::place_of(geometry, slot))) [[unlikely]]
                give_back_slow(derived, slot);
        }
    }
    static constexpr bool checks_frees = detail::checks_frees<Check>;
    static constexpr bool marks_destroying = checks_frees;
    /// Around the destructor of the object in `slot`. Aborts with a message unless it is a live slot.
    [[gnu::always_inline]] void begin_destroying(const char* derived, void* slot) noexcept {
        if (!slabs_.mark_ending(geometry, slot)) [[unlikely]]
            abort_on(derived, slot);
    }
    [[gnu::always_inline]] void end_destroying(const char* derived, void* slot) noexcept {
        slabs_.mark_live(geometry, slot);
        give_back(derived, slot);
    }
    /// True between these two calls.
    bool is_destroying(const void* slot) const noexcept { return slabs_.is_ending(geometry, slot); }
    /// A slot, and its byte of the slab's map, which tells was_freed() later whether the slot is free.
    struct watched_slot {
        void* slot;
        const std::uint8_t* state;  // none for no slot
    };
    /// As allocate and try_allocate.
    [[gnu::always_inline]] watched_slot allocate_watched()
        requires checks_frees
    {
        watched_slot taken;
        if (slabs_.take_newest(geometry, taken.slot, taken.state)) [[likely]]
            unpoison(taken.slot, Slot);
        else
            taken = refill_watched();
        return taken;
    }
    [[gnu::always_inline]] watched_slot try_allocate_watched() noexcept
        requires checks_frees
    {
        watched_slot taken;
        if (slabs_.take_newest(geometry, taken.slot, taken.state)) [[likely]]
            unpoison(taken.slot, Slot);
        else
            taken = try_refill_watched();
        return taken;
    }
    [[gnu::always_inline]] static bool was_freed(const std::uint8_t* state) noexcept {
        return detail::bitmap_slabs::was_freed(state);
    }
    bool is_free(const void* slot) const noexcept {
        settle();
        return slabs_.owns_slot(geometry, slot) && slabs_.is_free(geometry, slot);
    }

    using position = detail::bitmap_slabs::position;
    position first_live() const noexcept {
        settle();
        return slabs_.first_live(geometry);
    }
    void advance(position& at) const noexcept {
        settle();
        slabs_.advance(geometry, at);
    }

    /// Calls `visit` with each live slot in address order. `visit` may free this slot and others.
    template <class Visit>
    [[gnu::always_inline]] void for_each_slot(Visit visit) const {
        settle();
        slabs_.for_each_live(geometry, [this, &visit](void* slot) __attribute__((always_inline)) {
            visit(slot);
            settle();
        });
    }
    /// The same at the end of all objects, for their destructors.
    template <class Visit>
    void for_each_live(Visit visit) noexcept {
        visiting_ = true;
        for_each_slot(visit);
        visiting_ = false;
    }
    /// True while for_each_live runs.
    bool visiting() const noexcept { return visiting_; }

private:
    [[gnu::always_inline]] bool take(void*& p) noexcept {
        if constexpr (!checks_frees) {
            if (slabs_.take_listed(p)) return true;
        }
        const std::uint8_t* state;
        return slabs_.take_newest(geometry, p, state);
    }

    // Lets the slabs know which slots are free.
    void settle() const noexcept {
        if constexpr (!checks_frees) {
            // No pool that has handed out slots is a constant.
            const void* wrong = const_cast<detail::bitmap_slabs&>(slabs_).settle(geometry);
            if (wrong != nullptr) abort_on(name_, wrong);
        }
    }

    [[gnu::noinline]] void* refill() {
        if (void* p = try_refill()) return p;
        return detail::refuse(name_, Slot, Align, capacity(), limit_, slabs_.next_slab_bytes(geometry));
    }

    void* try_refill() noexcept {
        void* p = slabs_.refill(geometry, upstream_, {limit_ - large_.held_bytes(), region_slots_});
        if (p != nullptr) unpoison(p, Slot);
        return p;
    }

    [[gnu::noinline]] watched_slot refill_watched() { return watched(refill()); }
    [[gnu::noinline]] watched_slot try_refill_watched() noexcept { return watched(try_refill()); }
    static watched_slot watched(void* p) noexcept {
        return {p, p == nullptr ? nullptr : detail::bitmap_slabs::state_at(geometry, p)};
    }

    // Out of line: the first free slot of a used-up slab, or a misuse.
    [[gnu::noinline]] void give_back_slow(const char* derived, void* slot) noexcept {
        if (slabs_.give_back_newest_slow(geometry, slot) != nullptr) abort_on(derived, slot);
    }

    [[noreturn, gnu::noinline, gnu::cold]] void abort_on(const char* derived, const void* slot) const noexcept {
        const char* what = large_.owns(slot) ? detail::mistake::wrong_size : slabs_.mistake_with(geometry, slot);
        abort_on_misuse(derived, what, slot);
    }

    // Out of line: requests that no slot fits are not the pool's purpose.
    [[gnu::noinline]] void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        return detail::refuse(name_, bytes, alignment, capacity(), limit_);
    }
    [[gnu::noinline]] void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        if (detail::large_blocks::upstream_bytes(bytes, alignment) > limit_ - capacity()) return nullptr;
        return large_.try_allocate(upstream_, bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const char* what = large_.deallocate(upstream_, p, bytes, alignment);
        if (what != nullptr) abort_on_misuse(name_, slabs_.owns(geometry, p) ? detail::mistake::wrong_size : what, p);
    }

    detail::bitmap_slabs slabs_;
    detail::large_blocks large_;
    std::size_t limit_ = SIZE_MAX;
    std::size_t region_slots_ = SIZE_MAX;
    detail::live_report report_;
    bool visiting_ = false;  // while the destructors of live objects run, which may destroy other objects
    const char* name_ = name;
    resource_ref upstream_ = heap{};
};

}  // namespace acre
