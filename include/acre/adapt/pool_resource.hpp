// acre::multi_pool with the name and the interface of std::pmr::unsynchronized_pool_resource: its constructors, options(),
// release() and upstream_resource(), and its rules. Code that uses the standard's needs no other change than the namespace.
//
// In code of your own, acre::pmr<acre::multi_pool> takes acre's options and upstreams, and acre::allocator over a
// multi_pool is inline. What differs from the standard's own: blocks are rounded up by at most 7 bytes or an eighth,
// slots are found and freed in constant time, a double free and a pointer of another pool abort with a sentence, and
// memory is asked of upstream by slabs of at least 4 KiB, so that a max_blocks_per_chunk under 512 is taken for 512.
//
// Cost: a virtual call and about 30 instructions each way; blocks larger than largest_required_pool_block go to upstream
// one by one. An object is about 8 KiB. Errors: what upstream throws. Not thread-safe.
//
//     acre::unsynchronized_pool_resource nodes;
//     std::pmr::map<int, int> m{&nodes};
#pragma once

#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/pools/bitmap_slabs.hpp>
#include <acre/pools/large_blocks.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/size_classes.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory_resource>
#include <new>
#include <utility>

namespace acre {

/// A drop-in for std::pmr::unsynchronized_pool_resource. The specification is that of [mem.res.pool].
class unsynchronized_pool_resource : public std::pmr::memory_resource {
public:
    static constexpr const char* name = "acre::unsynchronized_pool_resource";

    /// Takes no memory. `upstream`, not null, lives longer. Zero in an option is its default; see options().
    unsynchronized_pool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream)
        : upstream_{upstream},
          options_{rounded(options)},
          pool_{{.region_slots = options_.max_blocks_per_chunk}, upstream_} {}
    unsynchronized_pool_resource()
        : unsynchronized_pool_resource(std::pmr::pool_options{}, std::pmr::get_default_resource()) {}
    explicit unsynchronized_pool_resource(std::pmr::memory_resource* upstream)
        : unsynchronized_pool_resource(std::pmr::pool_options{}, upstream) {}
    explicit unsynchronized_pool_resource(const std::pmr::pool_options& options)
        : unsynchronized_pool_resource(options, std::pmr::get_default_resource()) {}

    unsynchronized_pool_resource(const unsynchronized_pool_resource&) = delete;
    unsynchronized_pool_resource& operator=(const unsynchronized_pool_resource&) = delete;

    /// Gives everything back to upstream.
    ~unsynchronized_pool_resource() override { release(); }

    /// Gives everything back to upstream, what was not freed included.
    void release() {
        pool_.release();
        large_.release(upstream_);
    }

    /// The resource that memory comes from.
    std::pmr::memory_resource* upstream_resource() const { return upstream_.referred; }

    /// The options in use. largest_required_pool_block, bytes, is that of the largest blocks that are pooled: what was
    /// asked for rounded up to a size class, at most 8 KiB, the default. max_blocks_per_chunk is between 512 and 32,768,
    /// the default.
    std::pmr::pool_options options() const { return options_; }

    /// The pool: its live(), used() and capacity(), and release_unused(). Blocks larger than those it pools are not in it.
    multi_pool& pool() noexcept { return pool_; }
    const multi_pool& pool() const noexcept { return pool_; }

private:
    // What pools ask is to be answered by null; whoever asked this resource is to see what upstream threw.
    struct remembering_upstream {
        static constexpr const char* name = unsynchronized_pool_resource::name;

        void* allocate(std::size_t bytes, std::size_t alignment) { return referred->allocate(bytes, alignment); }
        void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
#if defined(__cpp_exceptions)
            try {
                return referred->allocate(bytes, alignment);
            } catch (...) {
                thrown = std::current_exception();
                return nullptr;
            }
#else
            return referred->allocate(bytes, alignment);
#endif
        }
        void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
            referred->deallocate(p, bytes, alignment);
        }

        std::pmr::memory_resource* referred;
        std::exception_ptr thrown = nullptr;
    };
    static_assert(resource<remembering_upstream>);

    // The classes' chunks hold the fewer blocks the larger those are: what is true of the first holds for all.
    static constexpr const slab_geometry& finest = size_class_geometry[0];
    static constexpr std::size_t fewest_blocks = finest.slots(finest.first_slab_bytes);
    static constexpr std::size_t most_blocks = bitmap_slabs::largest_region_bytes(finest) / finest.slot_bytes;

    static std::pmr::pool_options rounded(const std::pmr::pool_options& asked) noexcept {
        std::pmr::pool_options result = asked;
        if (asked.max_blocks_per_chunk == 0) result.max_blocks_per_chunk = most_blocks;
        if (asked.largest_required_pool_block == 0) result.largest_required_pool_block = largest_size_class;
        result.max_blocks_per_chunk = std::clamp(result.max_blocks_per_chunk, fewest_blocks, most_blocks);
        const std::size_t largest = std::min(result.largest_required_pool_block, largest_size_class);
        result.largest_required_pool_block = size_class_bytes(size_class_of(largest));
        return result;
    }

    // False for no bytes, too.
    bool is_pooled(std::size_t bytes, std::size_t alignment) const noexcept {
        return size_for_class(bytes, alignment) - 1 < options_.largest_required_pool_block;
    }

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (is_pooled(bytes, alignment)) [[likely]] {
            if (void* p = pool_.try_allocate(bytes, alignment)) [[likely]]
                return p;
        }
        return allocate_rarely(bytes, alignment);
    }

    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        if (!is_pooled(bytes, alignment)) [[unlikely]]
            return deallocate_rarely(p, bytes, alignment);
        pool_.deallocate(p, bytes, alignment);
    }

    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    // Out of line: a block that is not pooled, one of no bytes, or no memory.
    [[gnu::noinline]] void* allocate_rarely(std::size_t bytes, std::size_t alignment) {
        if (!is_alignment(alignment)) return raise(bad_alignment{name, alignment});
        if (bytes == 0) return do_allocate(1, alignment);
        if (!is_pooled(bytes, alignment)) {
            if (void* p = large_.try_allocate(upstream_, bytes, alignment)) return p;
        }
        return fail();
    }

    [[gnu::noinline]] void deallocate_rarely(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        if (bytes == 0) return do_deallocate(p, 1, alignment);
        large_.deallocate(upstream_, name, p, bytes, alignment);
    }

    // A pool resource throws what its upstream throws, and nothing else. Where upstream was not asked, since there cannot
    // be so many bytes, it is asked for what it cannot have.
    [[gnu::cold]] void* fail() {
#if defined(__cpp_exceptions)
        if (upstream_.thrown) std::rethrow_exception(std::exchange(upstream_.thrown, nullptr));
        // Volatile, or the compiler warns of it.
        const volatile std::size_t bytes = SIZE_MAX;
        constexpr std::size_t alignment = std::bit_floor(SIZE_MAX);
        if (void* p = upstream_.referred->allocate(bytes, alignment))
            upstream_.referred->deallocate(p, bytes, alignment);
        throw std::bad_alloc{};
#else
        abort_on_misuse(name, "out of memory without exceptions", this);
#endif
    }

    remembering_upstream upstream_;
    std::pmr::pool_options options_;
    multi_pool pool_;
    large_blocks large_;
};

}  // namespace acre
