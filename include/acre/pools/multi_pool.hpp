// A growing pool for any size, freed one by one in any order: what one hoped std::pmr::unsynchronized_pool_resource
// would be.
//
// Use it under containers whose node sizes one does not know, and wherever sizes vary. Use acre::object_pool<T> for one
// type, acre::arena where everything dies together.
//
// Cost: with a size known at compile time, as acre::pool (allocate about 12 instructions, deallocate about 20); with a
// size known at run time, about 26 and 31, and over 512 bytes a call more to free. Requests over 8 KiB go to upstream
// one by one. Memory: sizes are rounded up by at most 7 bytes or an eighth; each class in use holds one slab of 4 KiB
// or more; a multi_pool object itself is about 8 KiB. A double free and a pointer of another pool abort with a sentence
// while the slab is held. Not thread-safe.
//
//     acre::multi_pool nodes;
//     std::map<int, int, std::less<>, acre::allocator<std::pair<const int, int>, acre::multi_pool>> m{nodes};
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/live_report.hpp>
#include <acre/pools/detail/size_classes.hpp>
#include <acre/pools/pool_options.hpp>
#include <algorithm>
#include <cstddef>

namespace acre {

/// Slots of 64 size classes, and upstream blocks for larger requests.
class multi_pool {
public:
    static constexpr const char* name = "acre::multi_pool";
    using options_type = pool_options;

    /// Takes no memory.
    multi_pool() noexcept = default;
    explicit multi_pool(resource_ref upstream) noexcept : upstream_(upstream) {}
    explicit multi_pool(const pool_options& options, resource_ref upstream = heap{})
        : limit_(options.limit_bytes),
          region_slots_(options.region_slots),
          report_(options.report_live),
          upstream_(upstream) {
        require_at_least(detail::size_class_geometry[0].first_slab_bytes, name, "limit_bytes", options.limit_bytes);
    }

    multi_pool(const multi_pool&) = delete;
    multi_pool& operator=(const multi_pool&) = delete;

    /// Gives everything back to upstream, what was not freed included.
    ~multi_pool() {
        report_.write(name, [this] { return live(); });
        release();
    }

    /// Storage of `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory, request_too_large,
    /// limit_exceeded or bad_alignment. Constant time but for a new slab or a large block.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// Takes back what allocate gave with the same size and alignment; null is a no-op.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        const std::size_t last = detail::size_for_class(bytes, alignment) - 1;
        // What is known of the class when compiling need not be read.
        if (__builtin_constant_p(last) && last < detail::largest_size_class)
            return give_back(detail::size_class_table[last / 8], p);
        if (last >= detail::largest_common_class) [[unlikely]]
            return deallocate_slow(p, bytes, alignment);
        const std::size_t index = detail::size_class_table[last / 8];
        classes_[index].give_back_in<detail::common_slab_bytes>(detail::size_class_geometry[index], name, p);
    }

    /// A block of its own from upstream, however few bytes it has; null when there is no memory.
    [[gnu::noinline]] void* try_allocate_separately(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || !within_limit(detail::large_blocks::upstream_bytes(bytes, alignment)))
            return nullptr;
        return large_.try_allocate(upstream_, bytes, alignment);
    }
    /// Takes one back.
    [[gnu::noinline]] void deallocate_separately(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p != nullptr) large_.deallocate(upstream_, name, p, bytes, alignment);
    }

    /// Gives slabs without a live slot back to upstream, and returns their bytes. Linear in the slabs held.
    std::size_t release_unused() noexcept {
        std::size_t bytes = 0;
        for_each_class([&](detail::bitmap_slabs& slabs, const detail::slab_geometry& geometry) {
            bytes += slabs.release_unused(geometry, upstream_);
        });
        return bytes;
    }

    /// Gives everything back to upstream: all that was handed out is void. Growth starts anew.
    void release() noexcept {
        for_each_class([&](detail::bitmap_slabs& slabs, const detail::slab_geometry& geometry) {
            slabs.release(geometry, upstream_);
        });
        large_.release(upstream_);
    }

    /// Takes everything back and keeps the slabs; large blocks go to upstream.
    void reset() noexcept {
        for_each_class(
            [](detail::bitmap_slabs& slabs, const detail::slab_geometry& geometry) { slabs.clear(geometry); });
        large_.release(upstream_);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept {
        std::size_t bytes = large_.held_bytes();
        for (const detail::bitmap_slabs& each : classes_) bytes += each.held_bytes();
        return bytes;
    }

    /// Bytes of the slots and large blocks handed out. Linear in the slabs held.
    std::size_t used() const noexcept {
        std::size_t bytes = large_.held_bytes();
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            bytes += classes_[index].used(detail::size_class_geometry[index]) * detail::size_class_bytes(index);
        }
        return bytes;
    }

    /// Number of allocations not yet taken back. Linear in the slabs held.
    std::size_t live() const noexcept {
        std::size_t count = large_.count();
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            count += classes_[index].used(detail::size_class_geometry[index]);
        }
        return count;
    }

    /// True when `p` lies in storage of this pool. Linear in slabs and large blocks held.
    bool owns(const void* p) const noexcept {
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            if (classes_[index].owns(detail::size_class_geometry[index], p)) return true;
        }
        return large_.owns(p);
    }

    /// The resource that slabs and large blocks come from.
    resource_ref upstream() const noexcept { return upstream_; }

    /// Bytes asked of upstream, in all, for `count` live allocations of `size` bytes aligned to `alignment`. SIZE_MAX
    /// when there cannot be so many.
    static constexpr std::size_t required_bytes(std::size_t count, std::size_t size,
                                                std::size_t alignment = default_alignment) noexcept {
        std::size_t index = 0;
        if (detail::find_size_class(std::max<std::size_t>(size, 1), alignment, index)) {
            return detail::bitmap_slabs::required_bytes(detail::size_class_geometry[index], count);
        }
        const std::size_t each = detail::large_blocks::upstream_bytes(size, alignment);
        if (count != 0 && each > max_request / count) return SIZE_MAX;
        return count * each;
    }

private:
    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::size_t index;
        if ((alignment & (alignment - 1)) != 0 || !detail::find_size_class(bytes, alignment, index)) [[unlikely]]
            return false;
        // What is known of the class when compiling need not be read.
        if (__builtin_constant_p(index)) return classes_[index].take(detail::size_class_geometry[index], p);
        return classes_[index].take(p);
    }

    [[gnu::always_inline]] void give_back(std::size_t index, void* p) noexcept {
        classes_[index].give_back(detail::size_class_geometry[index], name, p);
    }

    // Out of line: once in 64 allocations of a class, or for a large block.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        std::size_t index;
        if (!detail::find_size_class(std::max<std::size_t>(bytes, 1), alignment, index)) {
            return try_allocate_separately(bytes, alignment);
        }
        detail::bitmap_slabs& slabs = classes_[index];
        // The limit holds for all classes together; a class sees what the others leave of it.
        const std::size_t others = limit_ == SIZE_MAX ? 0 : capacity() - slabs.held_bytes();
        return slabs.refill(detail::size_class_geometry[index], upstream_,
                            {limit_ > others ? limit_ - others : 0, region_slots_});
    }

    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index;
        if (detail::find_size_class(std::max<std::size_t>(bytes, 1), alignment, index)) return give_back(index, p);
        deallocate_separately(p, bytes, alignment);
    }

    bool within_limit(std::size_t bytes) const noexcept {
        if (limit_ == SIZE_MAX) return true;
        const std::size_t held = capacity();
        return held <= limit_ && bytes <= limit_ - held;
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!is_alignment(alignment)) return raise(bad_alignment{name, alignment});
        if (bytes > max_request / 2) return raise(request_too_large{name, bytes, max_request / 2});
        std::size_t index;
        const std::size_t needed = detail::find_size_class(std::max<std::size_t>(bytes, 1), alignment, index)
                                       ? classes_[index].next_slab_bytes(detail::size_class_geometry[index])
                                       : detail::large_blocks::upstream_bytes(bytes, alignment);
        if (!within_limit(needed)) return raise(limit_exceeded{name, needed, capacity(), limit_});
        return raise(out_of_memory{name, bytes, alignment});
    }

    template <class Function>
    void for_each_class(Function function) noexcept {
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            function(classes_[index], detail::size_class_geometry[index]);
        }
    }

    detail::bitmap_slabs classes_[detail::size_class_count];
    detail::large_blocks large_;
    std::size_t limit_ = SIZE_MAX;
    std::size_t region_slots_ = SIZE_MAX;
    detail::live_report report_;
    resource_ref upstream_ = heap{};
};

static_assert(owning_resource<multi_pool> && resettable_resource<multi_pool>);

}  // namespace acre
