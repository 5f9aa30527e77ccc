// acre::multi_pool and acre::concurrent_multi_pool under the names and interfaces of the standard's pool resources:
// acre::unsynchronized_pool_resource and acre::synchronized_pool_resource have the standard's constructors, options(),
// release() and upstream_resource(), and keep their rules. Code written for the standard's changes only the namespace.
//
// In new code, acre::pmr<acre::multi_pool> takes acre's options and upstreams, and acre::allocator over a multi_pool is
// inline. Differences from the standard's own: sizes are rounded up by at most 7 bytes or an eighth; slots are found
// and freed in constant time; a double free and a pointer of another pool abort with a message. Upstream is asked for
// slabs of at least 4 KiB, so a max_blocks_per_chunk below 512 becomes 512. Slabs are aligned to 16 KiB or more, and a
// monotonic upstream loses the gaps before them.
//
// Cost: a virtual call and 29 instructions to allocate, 34 to free, 31 and 62 for the synchronized one. Blocks larger
// than largest_required_pool_block go to upstream one by one. An object has about 8 KiB, the synchronized one 16 KiB;
// for what each thread keeps see acre::concurrent_multi_pool. Errors: what upstream throws, and bad_alignment. The
// unsynchronized one is not thread-safe. The synchronized one is, except for release(); it calls upstream from one
// thread at a time.
//
//     acre::unsynchronized_pool_resource nodes;
//     std::pmr::map<int, int> m{&nodes};
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/multi_pool.hpp>
#include <acre/pools/size_classes.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory_resource>
#include <new>
#include <utility>
#if ACRE_HAS_THREADS
#include <acre/pools/concurrent_multi_pool.hpp>
#endif

namespace acre {

/// A multi_pool or concurrent_multi_pool with the interface of [mem.res.pool].
template <class Pool>
class pool_resource : public std::pmr::memory_resource {
public:
    static constexpr const char* name = "acre::pool_resource";

    /// Takes no memory. `upstream` is not null and lives longer. An option of 0 means its default; see options().
    pool_resource(const std::pmr::pool_options& options, std::pmr::memory_resource* upstream)
        : upstream_{upstream},
          options_{rounded(options)},
          pool_{{.region_slots = options_.max_blocks_per_chunk}, upstream_} {}
    pool_resource() : pool_resource(std::pmr::pool_options{}, std::pmr::get_default_resource()) {}
    explicit pool_resource(std::pmr::memory_resource* upstream) : pool_resource(std::pmr::pool_options{}, upstream) {}
    explicit pool_resource(const std::pmr::pool_options& options)
        : pool_resource(options, std::pmr::get_default_resource()) {}

    pool_resource(const pool_resource&) = delete;
    pool_resource& operator=(const pool_resource&) = delete;

    /// Gives everything back to upstream.
    ~pool_resource() override { release(); }

    /// Gives everything back to upstream, live allocations included.
    void release() { pool_.release(); }

    /// The resource that memory comes from.
    std::pmr::memory_resource* upstream_resource() const { return upstream_.referred; }

    /// The options in use. largest_required_pool_block is the requested number of bytes rounded up to a size class, at
    /// most the default of 8 KiB. max_blocks_per_chunk is at least 512 and at most the default of 32,768.
    std::pmr::pool_options options() const { return options_; }

    /// The pool: its live(), used() and capacity(), and release_unused().
    Pool& pool() noexcept { return pool_; }
    const Pool& pool() const noexcept { return pool_; }

protected:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (is_pooled(bytes, alignment)) [[likely]] {
            if (void* p = pool_.try_allocate(bytes, alignment)) [[likely]]
                return p;
        }
        return allocate_slow(bytes, alignment);
    }

    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
        if (!is_pooled(bytes, alignment)) [[unlikely]]
            return deallocate_slow(p, bytes, alignment);
        pool_.deallocate(p, bytes, alignment);
    }

    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

private:
    // A pool expects null from an upstream without memory. This keeps the exception, for allocate_slow() to rethrow it.
    struct remembering_upstream {
        static constexpr const char* name = pool_resource::name;

        void* allocate(std::size_t bytes, std::size_t alignment) {
            return referred->allocate(detail::pmr_bytes(bytes, alignment), alignment);
        }
        void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
#if defined(__cpp_exceptions)
            try {
                return allocate(bytes, alignment);
            } catch (...) {
                if (thrown != nullptr) *thrown = std::current_exception();
                return nullptr;
            }
#else
            return allocate(bytes, alignment);
#endif
        }
        void deallocate(void* p, std::size_t bytes, std::size_t alignment) noexcept {
            referred->deallocate(p, detail::pmr_bytes(bytes, alignment), alignment);
        }

        std::pmr::memory_resource* referred;
        // Of the allocate_slow() that runs in this thread. A pointer, because registering the destructor of a
        // thread_local object takes memory, which there may be none of.
        static inline thread_local constinit std::exception_ptr* thrown = nullptr;
    };

    // Keeps what upstream throws while it lives.
    class upstream_exception {
    public:
        upstream_exception() noexcept : outer_{std::exchange(remembering_upstream::thrown, &thrown_)} {}
        upstream_exception(const upstream_exception&) = delete;
        upstream_exception& operator=(const upstream_exception&) = delete;
        ~upstream_exception() { remembering_upstream::thrown = outer_; }

        std::exception_ptr take() noexcept { return std::exchange(thrown_, nullptr); }

    private:
        std::exception_ptr thrown_;
        std::exception_ptr* outer_;  // of an allocation that this one serves as upstream
    };
    static_assert(resource<remembering_upstream>);

    using tables = detail::size_class_tables<typename Pool::classes_type>;
    // The smallest class has the most blocks in a chunk, so its bounds hold for all classes.
    static constexpr const detail::slab_geometry& finest = tables::geometry[0];
    static constexpr std::size_t min_blocks = finest.slots(finest.first_slab_bytes);
    static constexpr std::size_t max_blocks = detail::bitmap_slabs::largest_region_bytes(finest) / finest.stride;

    static std::pmr::pool_options rounded(const std::pmr::pool_options& requested) noexcept {
        std::pmr::pool_options result = requested;
        if (requested.max_blocks_per_chunk == 0) result.max_blocks_per_chunk = max_blocks;
        if (requested.largest_required_pool_block == 0) result.largest_required_pool_block = tables::largest;
        result.max_blocks_per_chunk = detail::clamp(result.max_blocks_per_chunk, min_blocks, max_blocks);
        std::size_t index = 0;
        tables::find(detail::min(result.largest_required_pool_block, tables::largest), 1, index);
        result.largest_required_pool_block = tables::bytes(index);
        return result;
    }

    // False for 0 bytes, too.
    bool is_pooled(std::size_t bytes, std::size_t alignment) const noexcept {
        return tables::last_byte(bytes, alignment) < options_.largest_required_pool_block;
    }

    // Out of line: a block that is not pooled, one of 0 bytes, or no memory.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        const std::size_t at_least_1 = detail::max<std::size_t>(bytes, 1);
        upstream_exception thrown;
        void* p = is_pooled(at_least_1, alignment) ? pool_.try_allocate(at_least_1, alignment)
                                                   : pool_.try_allocate_separately(at_least_1, alignment);
        return p == nullptr ? fail(thrown.take()) : p;
    }

    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t at_least_1 = detail::max<std::size_t>(bytes, 1);
        if (is_pooled(at_least_1, alignment)) return pool_.deallocate(p, at_least_1, alignment);
        pool_.deallocate_separately(p, at_least_1, alignment);
    }

    // A pool resource throws what its upstream throws. If upstream was not called because the size is impossible, this
    // calls it with an impossible size.
    [[gnu::cold]] void* fail([[maybe_unused]] const std::exception_ptr& thrown) {
#if defined(__cpp_exceptions)
        if (thrown) std::rethrow_exception(thrown);
        // Volatile: compilers warn of such constants.
        const volatile std::size_t bytes = SIZE_MAX;
        const volatile std::size_t alignment = std::bit_floor(SIZE_MAX);
        if (void* p = upstream_.referred->allocate(bytes, alignment))
            upstream_.referred->deallocate(p, bytes, alignment);
        throw std::bad_alloc{};
#else
        abort_on_misuse(name, "out of memory without exceptions", this);
#endif
    }

    remembering_upstream upstream_;
    std::pmr::pool_options options_;
    Pool pool_;
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wweak-vtables"  // as in core/error.hpp
#endif

/// A drop-in for std::pmr::unsynchronized_pool_resource, for one thread.
class unsynchronized_pool_resource : public pool_resource<multi_pool> {
public:
    using pool_resource::pool_resource;
};

#if ACRE_HAS_THREADS
/// A drop-in for std::pmr::synchronized_pool_resource, for all threads.
class synchronized_pool_resource : public pool_resource<concurrent_multi_pool> {
public:
    using pool_resource::pool_resource;
};
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace acre
