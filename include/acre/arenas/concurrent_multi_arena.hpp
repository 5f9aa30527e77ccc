// An acre::multi_arena for all threads: equal arenas that each count their live allocations; any thread allocates and
// any thread frees, without a lock, and an arena in which nothing lives any more is used again.
//
// Use it where many allocations live about equally long, end in about the order they began, and threads hand them to
// each other: frames, messages, jobs. Use acre::concurrent_multi_pool where lifetimes are mixed (one small survivor
// keeps a whole arena), acre::concurrent_arena where everything ends at one point, acre::multi_arena where one thread
// does all, acre::synchronized<acre::multi_arena> where requests are larger than an arena.
//
// Each thread has an arena open for itself, and allocates in it as a single thread would. What it frees there costs it
// no atomic operation either; any other free is one atomic decrement. At most half of the arenas are open for threads
// of their own: with more threads than that, the others share one arena, in which allocating is one compare-and-swap. A
// thread keeps the arena it has open until it ends, so a request may be refused while other threads have room left in
// theirs; it may also be while another thread is just about to list the last free one.
//
// Cost: allocate 27 instructions; deallocate 22 to 28 in the thread's open arena, else 51, one of them atomic; taking
// the next arena about 190, two of them atomic (counted by bench/limits/multi_arena.cpp); constant time, but for steps
// that another thread's success makes vain. Memory: arenas x (bytes + 96), all at construction; the table of
// acre::per_thread in the C heap: 256 bytes in each thread that uses any such object. In the shared arena nothing is
// resized. Thread rules: allocate, deallocate, try_resize and the questions from any thread; reset and the end while no
// other thread uses it. A thread that ends closes its arena. After a fork the child goes on; arenas that other threads
// had open stay taken there until a reset.
//
//     acre::concurrent_multi_arena frames{{.arenas = 64, .bytes = 64_KiB}};
//     void* frame = frames.allocate(n);     // in one thread
//     frames.deallocate(frame, n);          // in another
//     assert(frames.busy_arenas() == 0);
#pragma once

#include <acre/arenas/detail/concurrent_lock_free_arenas.hpp>
#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/treiber_stack.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>

namespace acre {

/// Number and size of the arenas of an acre::concurrent_multi_arena.
struct concurrent_multi_arena_options {
    std::size_t arenas = 0;  // 1 to 16,777,214
    std::size_t bytes = 0;   // of each arena, at least 1; rounded up to a multiple of 16
};

namespace detail {
/// Arenas in one block of upstream's; their records, and the parts of threads, lie behind them.
class upstream_shared_arenas {
protected:
    static constexpr const char* name = "acre::concurrent_multi_arena";
    static constexpr std::size_t max_alignment = 4096;

    /// The bytes of an arena in `options` are a multiple of 16 already.
    upstream_shared_arenas(const concurrent_multi_arena_options& options, resource_ref upstream)
        : arenas_(options.arenas), arena_bytes_(options.bytes), upstream_(upstream) {
        if (is_alignment(arena_bytes_)) shift_ = std::countr_zero(arena_bytes_);
        bytes_ = static_cast<std::byte*>(upstream_.allocate(total_bytes(options), base_alignment()));
        if (!exceptions_enabled && bytes_ == nullptr) {
            arenas_ = 0;
            return;
        }
        records_ = reinterpret_cast<detail::shared_arena_record<>*>(bytes_ + arenas_bytes(options));
        parts_ = reinterpret_cast<detail::thread_arena<>*>(records_ + arenas_);
        std::uninitialized_value_construct_n(records_, arenas_);
        std::uninitialized_value_construct_n(parts_, part_count());
    }
    upstream_shared_arenas(const upstream_shared_arenas&) = delete;
    upstream_shared_arenas& operator=(const upstream_shared_arenas&) = delete;
    ~upstream_shared_arenas() {
        if (arenas_ == 0) return;
        const std::size_t bytes = total_bytes({arenas_, arena_bytes_});
        unpoison_defined(bytes_, bytes);
        upstream_.deallocate(bytes_, bytes, base_alignment());
    }

public:
    std::size_t arenas() const noexcept { return arenas_; }
    std::size_t arena_bytes() const noexcept { return arena_bytes_; }
    resource_ref upstream() const noexcept { return upstream_; }

protected:
    std::byte* bytes() const noexcept { return bytes_; }
    detail::shared_arena_record<>* records() const noexcept { return records_; }
    detail::thread_arena<>* parts() const noexcept { return parts_; }
    std::size_t part_count() const noexcept { return arenas_ / 2; }
    std::size_t index_of(std::size_t offset) const noexcept {
        // A division takes as long as all the rest of a deallocation; sizes are mostly powers of two.
        return shift_ != 0 ? offset >> shift_ : offset / arena_bytes_;
    }

    /// Bytes of `options`, whose arenas are multiples of 16 bytes and fit the address space.
    static constexpr std::size_t total_bytes(const concurrent_multi_arena_options& options) noexcept {
        return arenas_bytes(options) + options.arenas * sizeof(detail::shared_arena_record<>) +
               options.arenas / 2 * sizeof(detail::thread_arena<>);
    }

private:
    static constexpr std::size_t arenas_bytes(const concurrent_multi_arena_options& options) noexcept {
        return align_up(options.arenas * options.bytes, alignof(detail::shared_arena_record<>));
    }
    std::size_t base_alignment() const noexcept {
        const std::size_t of_arenas = std::min(arena_bytes_ & (0 - arena_bytes_), max_alignment);
        return std::max(of_arenas, alignof(detail::shared_arena_record<>));
    }

    std::byte* bytes_ = nullptr;
    detail::shared_arena_record<>* records_ = nullptr;
    detail::thread_arena<>* parts_ = nullptr;
    std::size_t arenas_;
    std::size_t arena_bytes_;
    int shift_ = 0;
    resource_ref upstream_;
};
}  // namespace detail

/// Arenas that count, taken from upstream at construction, for all threads.
class concurrent_multi_arena : public detail::concurrent_lock_free_arenas<detail::upstream_shared_arenas> {
public:
    static constexpr const char* name = "acre::concurrent_multi_arena";
    using options_type = concurrent_multi_arena_options;

    /// Takes all its memory from `upstream`. Throws bad_option, and what upstream throws; without exceptions it is left
    /// without an arena and refuses every request.
    explicit concurrent_multi_arena(const concurrent_multi_arena_options& options, resource_ref upstream = heap{})
        : concurrent_lock_free_arenas(checked(options), upstream) {}

    /// The resource that all memory came from.
    using detail::upstream_shared_arenas::upstream;

    /// Bytes asked of upstream for these options. SIZE_MAX when there cannot be so many.
    static constexpr std::size_t required_bytes(const concurrent_multi_arena_options& options) noexcept {
        if (options.bytes > max_request / 2) return SIZE_MAX;
        const concurrent_multi_arena_options whole{options.arenas, align_up(options.bytes, granule)};
        // Each has a record, and each second one a part of a thread.
        const auto bytes = array_bytes(whole.arenas, whole.bytes + 2 * sizeof(detail::shared_arena_record<>));
        return bytes && *bytes <= max_request / 2 ? total_bytes(whole) : SIZE_MAX;
    }

private:
    static concurrent_multi_arena_options checked(concurrent_multi_arena_options options) {
        require_at_least(1, name, "arenas", options.arenas);
        require_at_least(1, name, "bytes", options.bytes);
        require_option(options.arenas < detail::treiber_stack<>::none, name, "arenas", options.arenas,
                       "at most 16777214");
        require_option(options.bytes <= max_request / 2, name, "bytes", options.bytes,
                       "less than half of the address space");
        require_option(required_bytes(options) != SIZE_MAX, name, "arenas", options.arenas,
                       "as many as fit the address space");
        options.bytes = align_up(options.bytes, granule);
        return options;
    }
};

static_assert(owning_resource<concurrent_multi_arena> && resettable_resource<concurrent_multi_arena> &&
              resizable_resource<concurrent_multi_arena>);

}  // namespace acre
