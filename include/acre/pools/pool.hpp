// A growing pool of raw slots of one size, freed one by one in any order.
//
// Use it for storage of one size known at compile time. Use acre::object_pool<T> for objects of a type, and
// acre::multi_pool where sizes vary. As a resource it serves requests of up to one slot from slots, and larger or
// stricter aligned ones by a block of their own from upstream.
//
// Cost: allocate about 12 instructions, deallocate about 20, constant time but for a new slab. Memory: 64-byte slots
// cost 3 % more than themselves; the first slab is 4 KiB, later ones 16 KiB (larger for slots over 256
// bytes); nothing is held before the first allocation, and slabs go back by release_unused() or at the end.
// A double free and a pointer of another pool abort with a sentence, in every build. Not thread-safe. Movable.
//
//     acre::pool<64> slots;
//     void* p = slots.allocate();
//     slots.deallocate(p);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/live_report.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/pool_options.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace acre {

/// Slots of `Slot` bytes aligned to `Align`.
template <std::size_t Slot, std::size_t Align = natural_alignment(Slot)>
class pool {
public:
    static_assert(Slot > 0 && Slot <= max_request / 1024, "the slots of a pool have at least one byte");
    static_assert(is_alignment(Align), "the alignment of a pool is a power of two");

    static constexpr const char* name = "acre::pool";
    using options_type = pool_options;
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, Align);

    /// Takes no memory.
    pool() noexcept = default;
    explicit pool(resource_ref upstream) noexcept : upstream_(upstream) {}
    explicit pool(const pool_options& options, resource_ref upstream = heap{}) : pool(options, upstream, name) {}

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
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }

    /// Gives everything back to upstream, slots that were not freed included.
    ~pool() {
        report_live(name);
        release();
    }

    /// A slot of Slot bytes aligned to Align, contents undefined. Throws out_of_memory or limit_exceeded.
    [[gnu::always_inline]] void* allocate() {
        void* p;
        if (slabs_.take(geometry, p)) [[likely]]
            return p;
        return refill();
    }

    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] void* try_allocate() noexcept {
        void* p;
        if (slabs_.take(geometry, p)) [[likely]]
            return p;
        return try_refill();
    }

    /// Takes a slot back; null is a no-op. Never allocates, never throws.
    [[gnu::always_inline]] void deallocate(void* p) noexcept {
        if (p != nullptr) give_back(name, p);
    }

    /// True when a request of this size and alignment is served from a slot; others go to upstream.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= Slot && alignment <= slot_alignment && is_alignment(alignment);
    }

    // The face of a resource.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return allocate();
        return allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return try_allocate();
        return try_allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return deallocate(p);
        deallocate_large(p, bytes, alignment);
    }

    /// Gives slabs without a live slot back to upstream, and returns their bytes. Linear in the slabs held.
    std::size_t release_unused() noexcept { return slabs_.release_unused(geometry, upstream_); }
    /// Gives all slabs back to upstream: every slot handed out is void. Growth starts anew.
    void release() noexcept {
        slabs_.release(geometry, upstream_);
        large_.release(upstream_);
    }
    /// Takes everything back at once and keeps the slabs; blocks for larger requests go to upstream.
    void reset() noexcept {
        slabs_.clear(geometry);
        large_.release(upstream_);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return slabs_.held_bytes() + large_.held_bytes(); }
    /// Slots that can be live at once without asking upstream.
    std::size_t slots() const noexcept { return slabs_.slots(geometry); }
    /// Bytes of the slots handed out, and of the blocks for larger requests. Linear in the slabs held.
    std::size_t used() const noexcept { return slabs_.used(geometry) * geometry.slot_bytes + large_.held_bytes(); }
    /// Number of allocations not yet taken back, larger requests included. Linear in the slabs held.
    std::size_t live() const noexcept { return slabs_.used(geometry) + large_.count(); }
    /// True when `p` lies in storage of this pool. Linear in the slabs held.
    bool owns(const void* p) const noexcept { return slabs_.owns(geometry, p) || large_.owns(p); }
    /// The resource that slabs come from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Bytes asked of upstream, in all, for `count` live slots. SIZE_MAX when there cannot be so many.
    static constexpr std::size_t required_bytes(std::size_t count) noexcept {
        return detail::bitmap_slabs::required_bytes(geometry, count);
    }
    /// Bytes that an acre::buffer beneath, aligned to geometry.slab_bytes, needs for `count` live slots.
    static constexpr std::size_t required_buffer_bytes(std::size_t count) noexcept {
        return detail::bitmap_slabs::required_buffer_bytes(geometry, count);
    }

protected:
    // For pools made of this one, which errors, misuse and what is live at the end are reported of in their name.
    explicit constexpr pool(const char* reported) noexcept : name_(reported) {}
    pool(const pool_options& options, resource_ref upstream, const char* reported)
        : limit_(options.limit_bytes),
          region_slots_(options.region_slots),
          report_(options.report_live),
          name_(reported),
          upstream_(upstream) {
        require_at_least(geometry.first_slab_bytes, reported, "limit_bytes", options.limit_bytes);
    }
    void report_live(const char* reported) noexcept {
        report_.write(reported, [this] { return live(); });
    }
    [[gnu::always_inline]] void give_back(const char* reported, void* slot) noexcept {
        slabs_.give_back(geometry, reported, slot);
    }
    void check_live(const char* reported, void* slot) const noexcept { slabs_.check_live(geometry, reported, slot); }
    bool is_free(const void* slot) const noexcept {
        return slabs_.owns_slot(geometry, slot) && slabs_.is_free(geometry, slot);
    }

    using position = detail::bitmap_slabs::position;
    position first_live() const noexcept { return slabs_.first_live(geometry); }
    void advance(position& at) const noexcept { slabs_.advance(geometry, at); }

private:
    // A slot of 64 bytes lies at multiples of 64: stricter alignments than asked for come for free.
    static constexpr std::size_t slot_alignment =
        std::min(geometry.slot_bytes & (0 - geometry.slot_bytes), geometry.slab_bytes);

    [[gnu::noinline]] void* refill() {
        if (void* p = try_refill()) return p;
        return fail(slabs_.next_slab_bytes(geometry), Slot, Align);
    }

    void* try_refill() noexcept {
        return slabs_.refill(geometry, upstream_, {limit_ - large_.held_bytes(), region_slots_});
    }

    // Out of line: not what a pool is for.
    [[gnu::noinline]] void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        if (!is_alignment(alignment)) return raise(bad_alignment{name_, alignment});
        if (bytes > max_request / 2) return raise(request_too_large{name_, bytes, max_request / 2});
        return fail(detail::large_blocks::upstream_bytes(bytes, alignment), bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || !within_limit(detail::large_blocks::upstream_bytes(bytes, alignment)))
            return nullptr;
        return large_.try_allocate(upstream_, bytes, alignment);
    }

    [[gnu::noinline]] void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p != nullptr) large_.deallocate(upstream_, name_, p, bytes, alignment);
    }

    bool within_limit(std::size_t more) const noexcept { return more <= limit_ - capacity(); }

    // Upstream would have had to give `needed` bytes for a request of `bytes`.
    [[gnu::cold]] void* fail(std::size_t needed, std::size_t bytes, std::size_t alignment) const {
        if (!within_limit(needed)) return raise(limit_exceeded{name_, needed, capacity(), limit_});
        return raise(out_of_memory{name_, bytes, alignment});
    }

    detail::bitmap_slabs slabs_;
    detail::large_blocks large_;
    std::size_t limit_ = SIZE_MAX;
    std::size_t region_slots_ = SIZE_MAX;
    detail::live_report report_;
    const char* name_ = name;
    resource_ref upstream_ = heap{};
};

static_assert(owning_resource<pool<64>> && resettable_resource<pool<64>>);

}  // namespace acre
