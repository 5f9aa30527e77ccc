// A growing pool for any size, freed one by one in any order: a faster std::pmr::unsynchronized_pool_resource.
//
// Use it under containers whose node sizes are not known, and wherever sizes vary. Use acre::object_pool<T> for one
// type, acre::arena where everything dies together.
//
// Cost: allocate 18 instructions and deallocate 24 for a size known at compile time. For a size
// known at run time 29 and 34; freeing more than 512 bytes adds a call. Requests over 8 KiB go to upstream
// one by one. Memory: sizes are rounded up by at most 7 bytes or an eighth. Each class in use holds one slab of 4 KiB
// or more; the object itself has about 8 KiB. A double free, a pointer into the middle of a slot, one of another
// resource and a size of another class abort with a message, in every build (docs/misuse.md). Not thread-safe.
// basic_multi_pool takes other size classes (pools/size_classes.hpp).
//
//     acre::multi_pool nodes;
//     std::map<int, int, std::less<>, acre::allocator<std::pair<const int, int>, acre::multi_pool>> m{nodes};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <array>
#include <cstddef>
#include <cstdint>

namespace acre {

/// Slots of the size classes of `Classes`, and upstream blocks for larger requests. `Check` says what is looked at in a
/// free.
template <class Classes, double_free_check Check>
class basic_multi_pool : public detail::no_clear<basic_multi_pool<Classes, Check>> {
    static_assert(size_class_policy<Classes>,
                  "acre::basic_multi_pool: see acre/pools/size_classes.hpp for what a policy provides");

    using tables = detail::size_class_tables<Classes>;

public:
    static constexpr const char* name = "acre::multi_pool";
    using options_type = pool_options;
    using classes_type = Classes;

    /// Takes no memory.
    basic_multi_pool() noexcept = default;
    explicit basic_multi_pool(resource_ref upstream) noexcept : upstream_(upstream) {}
    explicit basic_multi_pool(const pool_options& options, resource_ref upstream = heap{})
        : limit_(options.limit_bytes),
          region_slots_(options.region_slots),
          report_(options.report_live),
          upstream_(upstream) {
        require_at_least(tables::geometry[0].first_slab_bytes, name, "limit_bytes", options.limit_bytes);
    }

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<basic_multi_pool> Other>
    ACRE_IS_NOT_COPIED explicit basic_multi_pool(Other&);
    basic_multi_pool(const basic_multi_pool&) = delete;  // acre: not copied: acre::unique_resource moves
    basic_multi_pool& operator=(const basic_multi_pool&) = delete;

    /// Gives everything back to upstream, live allocations included.
    ~basic_multi_pool() {
        report_.write(name, [this] { return live(); });
        release();
    }

    /// Returns `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory, request_too_large,
    /// limit_exceeded or bad_alignment. Constant time except for a new slab or a large block.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (!take(bytes, alignment, p)) [[unlikely]]
            return allocate_slow(bytes, alignment);
        unpoison(p, bytes);
        return p;
    }

    /// As allocate, but null where that would throw.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (!take(bytes, alignment, p)) [[unlikely]]
            return try_allocate_slow(bytes, alignment);
        unpoison(p, bytes);
        return p;
    }

    /// Frees what allocate returned for the same size and alignment; null is a no-op.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        if (tables::needs_search(alignment)) return deallocate_slow(p, bytes, alignment);
        const std::size_t last = tables::last_granule(bytes, alignment);
        // For a constant size the class and its layout are constants, not loads.
        if (__builtin_constant_p(last) && last < tables::granules(tables::largest))
            return give_back(tables::by_size[last], p);
        if (last >= tables::granules(tables::largest_common)) [[unlikely]]
            return deallocate_slow(p, bytes, alignment);
        using detail::bitmap_slabs;
        bitmap_slabs& slabs = slabs_of(last);
        if constexpr (!checks_frees) return slabs.list(p);
        const auto place = bitmap_slabs::place_in<tables::common_slab_bytes>(p);
        if (!slabs.give_back(tables::geometry[index_of(slabs)], p, place)) [[unlikely]]
            give_back_slow(slabs, p);
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        return tables::bytes_given(bytes, alignment);
    }

    /// As try_allocate, but always a block of its own from upstream, never a slot.
    [[gnu::noinline]] void* try_allocate_separately(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || !within_limit(detail::large_blocks::upstream_bytes(bytes, alignment)))
            return nullptr;
        return large_.try_allocate(upstream_, bytes, alignment);
    }
    /// Frees a block of try_allocate_separately.
    [[gnu::noinline]] void deallocate_separately(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const char* what = large_.deallocate(upstream_, p, bytes, alignment);
        if (what != nullptr) abort_on_misuse(name, owns(p) && !large_.owns(p) ? detail::mistake::wrong_size : what, p);
    }

    /// Gives slabs without a live slot back to upstream and returns their bytes. Linear in the slabs held.
    std::size_t release_unused() noexcept {
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < tables::count; ++index) {
            if (const void* wrong = classes_[index].settle(tables::geometry[index])) {
                abort_on(index, wrong, classes_[index].mistake_with(tables::geometry[index], wrong));
            }
            bytes += classes_[index].release_unused(tables::geometry[index], upstream_);
        }
        return bytes;
    }

    /// Gives everything back to upstream; everything handed out becomes invalid. Growth starts again.
    void release() noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) {
            classes_[index].release(tables::geometry[index], upstream_);
        }
        large_.release(upstream_);
    }

    /// Frees everything and keeps the slabs; large blocks go back to upstream.
    void reset() noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) classes_[index].clear(tables::geometry[index]);
        large_.release(upstream_);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept {
        std::size_t bytes = large_.held_bytes();
        for (const detail::bitmap_slabs& each : classes_) bytes += each.held_bytes();
        return bytes;
    }

    /// Bytes of the live slots and large blocks. Linear in the slabs held.
    std::size_t used() const noexcept {
        std::size_t bytes = large_.held_bytes();
        for (std::size_t index = 0; index < tables::count; ++index) {
            bytes += classes_[index].used(tables::geometry[index]) * tables::bytes(index);
        }
        return bytes;
    }

    /// Number of live allocations. Linear in the slabs held.
    std::size_t live() const noexcept {
        std::size_t count = large_.count();
        for (std::size_t index = 0; index < tables::count; ++index) {
            count += classes_[index].used(tables::geometry[index]);
        }
        return count;
    }

    /// True when `p` lies in storage of this pool. Linear in the slabs and large blocks held.
    bool owns(const void* p) const noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) {
            if (classes_[index].owns(tables::geometry[index], p)) return true;
        }
        return large_.owns(p);
    }

    /// What in the pool's own data does not agree, or null (acre::check_invariants). Linear in the slots held.
    const char* broken_invariant() const noexcept {
        const char* broken = large_.broken_invariant();
        for (std::size_t index = 0; index < tables::count && broken == nullptr; ++index)
            broken = classes_[index].broken_invariant(tables::geometry[index]);
        return broken;
    }

    /// The resource that slabs and large blocks come from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Total bytes asked of upstream for `count` live allocations of `size` bytes aligned to `alignment`. SIZE_MAX when
    /// that is impossible.
    static constexpr std::size_t required_bytes(std::size_t count, std::size_t size,
                                                std::size_t alignment = default_alignment) noexcept {
        std::size_t index = 0;
        if (tables::find(detail::max<std::size_t>(size, 1), alignment, index)) {
            return detail::bitmap_slabs::required_bytes(tables::geometry[index], count);
        }
        const std::size_t each = detail::large_blocks::upstream_bytes(size, alignment);
        if (count != 0 && each > max_request / count) return SIZE_MAX;
        return count * each;
    }

private:
    static constexpr bool checks_frees = detail::checks_frees<Check>;

    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::size_t index;
        if ((alignment & (alignment - 1)) != 0 || !tables::find(bytes, alignment, index)) [[unlikely]]
            return false;
        // For a constant size the layout is constants, not loads.
        if (__builtin_constant_p(index) || tables::needs_search(alignment)) {
            if constexpr (!checks_frees) {
                if (classes_[index].take_listed(p)) return true;
            }
            if (__builtin_constant_p(index)) return classes_[index].take(tables::geometry[index], p);
            return classes_[index].take(p);
        }
        detail::bitmap_slabs& slabs = slabs_of(tables::last_granule(bytes, alignment));
        if constexpr (!checks_frees) {
            if (slabs.take_listed(p)) return true;
        }
        return slabs.take(p);
    }

    [[gnu::always_inline]] void give_back(std::size_t index, void* p) noexcept {
        if constexpr (!checks_frees) return classes_[index].list(p);
        const detail::slab_geometry& geometry = tables::geometry[index];
        if (!classes_[index].give_back(geometry, p, detail::bitmap_slabs::place_of(geometry, p))) [[unlikely]]
            give_back_slow(classes_[index], p);
    }

    // Out of line: the first free slot of a used-up slab, or a misuse.
    [[gnu::noinline]] void give_back_slow(detail::bitmap_slabs& slabs, void* p) noexcept {
        const std::size_t index = index_of(slabs);
        if (const char* what = classes_[index].give_back_slow(tables::geometry[index], p)) abort_on(index, p, what);
    }

    // `p` was freed with a size of class `index`, whose slabs say that this was the mistake `what`.
    [[noreturn, gnu::noinline, gnu::cold]] void abort_on(std::size_t index, const void* p,
                                                         const char* what) const noexcept {
        const bool other_size = owns(p) && !classes_[index].owns(tables::geometry[index], p);
        abort_on_misuse(name, other_size ? detail::mistake::wrong_size : what, p);
    }

    // Out of line: once in 64 allocations of a class, or for a large block.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        std::size_t index;
        if (!tables::find(detail::max<std::size_t>(bytes, 1), alignment, index)) {
            return try_allocate_separately(bytes, alignment);
        }
        void* p = classes_[index].refill_from_held(tables::geometry[index]);
        if (p == nullptr) return refill(index, bytes);
        unpoison(p, bytes);
        return p;
    }

    [[gnu::noinline]] void* refill(std::size_t index, std::size_t bytes) noexcept {
        detail::bitmap_slabs& slabs = classes_[index];
        // All classes share the limit: a class may hold what the other classes do not.
        const std::size_t others = limit_ == SIZE_MAX ? 0 : capacity() - slabs.held_bytes();
        void* p =
            slabs.refill(tables::geometry[index], upstream_, {limit_ > others ? limit_ - others : 0, region_slots_});
        if (p != nullptr) unpoison(p, bytes);
        return p;
    }

    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index;
        if (tables::find(detail::max<std::size_t>(bytes, 1), alignment, index)) return give_back(index, p);
        deallocate_separately(p, bytes, alignment);
    }

    bool within_limit(std::size_t bytes) const noexcept {
        if (limit_ == SIZE_MAX) return true;
        const std::size_t held = capacity();
        return held <= limit_ && bytes <= limit_ - held;
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        std::size_t index;
        const bool pooled = tables::find(detail::max<std::size_t>(bytes, 1), alignment, index);
        return detail::refuse(name, bytes, alignment, capacity(), limit_,
                              pooled ? classes_[index].next_slab_bytes(tables::geometry[index]) : 0);
    }

    using offset_table = std::array<std::uint16_t, tables::granules(tables::largest)>;
    // Where the slabs of a request's class lie in classes_, in bytes, by its last granule: adding this to an address
    // takes fewer instructions than a class number, which would have to be multiplied first.
    static constexpr offset_table offsets = []() -> offset_table {
        offset_table result{};
        // Compilers evaluate this faster over pointers than over arrays.
        std::uint16_t* next = result.data();
        std::uint16_t offset = 0;
        for (const std::size_t size : Classes::bytes) {
            for (const std::uint16_t* const end = result.data() + tables::granules(size); next != end; ++next)
                *next = offset;
            offset = static_cast<std::uint16_t>(offset + sizeof(detail::bitmap_slabs));
        }
        return result;
    }();
    static_assert(tables::count * sizeof(detail::bitmap_slabs) <= std::size_t{UINT16_MAX} + 1);

    [[gnu::always_inline]] detail::bitmap_slabs& slabs_of(std::size_t last_granule) noexcept {
        return *reinterpret_cast<detail::bitmap_slabs*>(reinterpret_cast<std::byte*>(classes_) + offsets[last_granule]);
    }
    std::size_t index_of(const detail::bitmap_slabs& slabs) const noexcept {
        return static_cast<std::size_t>(&slabs - classes_);
    }

    detail::bitmap_slabs classes_[tables::count];
    detail::large_blocks large_;
    std::size_t limit_ = SIZE_MAX;
    std::size_t region_slots_ = SIZE_MAX;
    detail::live_report report_;
    resource_ref upstream_ = heap{};
};

/// A multi-pool with the default size classes.
using multi_pool = basic_multi_pool<default_size_classes>;

}  // namespace acre
