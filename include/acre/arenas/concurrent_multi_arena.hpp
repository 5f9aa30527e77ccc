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

#include <acre/arenas/detail/lock_free_arenas.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/per_thread.hpp>
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
/// Equal arenas in the storage of `Storage`, for the threads of a program.
template <class Storage>
class concurrent_lock_free_arenas : public lock_free_arenas<Storage> {
    using base = lock_free_arenas<Storage>;
    using typename base::part;

public:
    /// Storage of `bytes` bytes aligned to `alignment`. Throws request_too_large, out_of_arenas or bad_alignment. Any
    /// thread may call it. Constant time, but for steps that other threads make vain.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (place_in_open(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (place_in_open(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// Takes storage back that any thread allocated; null is a no-op. Constant time: one atomic operation at most,
    /// unless the arena becomes free. Aborts with a sentence on a pointer that is not of this; one deallocation more
    /// than allocations in an arena does when the arena is closed or begun again, unless new allocations have made up
    /// for it.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        this->give_back(this_part(), p, bytes);
    }

    /// Makes the allocation at `p` `new_bytes` long where it is: possible for the last one in the arena that this
    /// thread has open while there is room behind it, and for any when it shrinks. False, and nothing changed, when it
    /// cannot.
    bool try_resize(void* p, std::size_t old_bytes, std::size_t new_bytes) noexcept {
        return this->resize(this_part(), p, old_bytes, new_bytes);
    }

protected:
    template <class... Arguments>
    explicit concurrent_lock_free_arenas(const Arguments&... storage) : base(storage...) {}
    ~concurrent_lock_free_arenas() { threads_.end(); }

private:
    [[gnu::always_inline]] part* this_part() const noexcept { return static_cast<part*>(threads_.find()); }

    [[gnu::always_inline]] bool place_in_open(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        part* mine = this_part();
        if (mine == nullptr || !base::is_ordinary(alignment)) [[unlikely]]
            return false;
        return base::place_in_open(*mine, bytes, p);
    }

    // Out of line: once an arena, and for what few requests ask.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = this->place_slow(find_or_join(), bytes, alignment)) return p;
        return this->fail(bytes, alignment);
    }
    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        return this->place_slow(find_or_join(), bytes, alignment);
    }

    // Null when this thread is ending, has no memory to remember its part with, or enough others have one.
    part* find_or_join() noexcept {
        if (part* found = this_part()) return found;
        if (!threads_.can_keep()) return nullptr;
        part* joined = this->join();
        if (joined != nullptr) threads_.keep(joined);
        return joined;
    }

    static void thread_ended(void* arenas, void* left) noexcept {
        static_cast<concurrent_lock_free_arenas*>(arenas)->leave(*static_cast<part*>(left));
    }

    per_thread threads_{this, &thread_ended};
};

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

namespace detail {
/// Arenas inside the object.
template <std::size_t Arenas, std::size_t Bytes>
class inline_shared_arenas {
protected:
    static constexpr const char* name = "acre::inline_concurrent_multi_arena";
    // More would make the object itself so strictly aligned, wherever it lies.
    static constexpr std::size_t max_alignment = 64;

    inline_shared_arenas() noexcept = default;
    inline_shared_arenas(const inline_shared_arenas&) = delete;
    inline_shared_arenas& operator=(const inline_shared_arenas&) = delete;
    ~inline_shared_arenas() { unpoison_defined(bytes(), Arenas * Bytes); }

public:
    static constexpr std::size_t arenas() noexcept { return Arenas; }
    static constexpr std::size_t arena_bytes() noexcept { return Bytes; }

protected:
    std::byte* bytes() const noexcept { return const_cast<std::byte*>(storage_); }
    detail::shared_arena_record<>* records() const noexcept {
        return const_cast<detail::shared_arena_record<>*>(records_);
    }
    detail::thread_arena<>* parts() const noexcept { return const_cast<detail::thread_arena<>*>(parts_); }
    static constexpr std::size_t part_count() noexcept { return Arenas / 2; }
    static constexpr std::size_t index_of(std::size_t offset) noexcept { return offset / Bytes; }

private:
    alignas(64) std::byte storage_[Arenas * Bytes];
    detail::shared_arena_record<> records_[Arenas];
    detail::thread_arena<> parts_[std::max<std::size_t>(Arenas / 2, 1)];
};
}  // namespace detail

/// `Arenas` arenas of `Bytes` bytes each, rounded up to a multiple of 16, that count, for all threads.
template <std::size_t Arenas, std::size_t Bytes>
class inline_concurrent_multi_arena : public detail::concurrent_lock_free_arenas<
                                          detail::inline_shared_arenas<Arenas, align_up(Bytes, default_alignment)>> {
    using base =
        detail::concurrent_lock_free_arenas<detail::inline_shared_arenas<Arenas, align_up(Bytes, default_alignment)>>;

public:
    static_assert(Arenas > 0 && Bytes > 0,
                  "an inline_concurrent_multi_arena has at least one arena of at least one byte");
    static_assert(Arenas < detail::treiber_stack<>::none, "there are at most 16,777,214 arenas");
    static_assert(Bytes <= max_request / 2 / Arenas, "so many bytes do not fit the address space");

    static constexpr const char* name = "acre::inline_concurrent_multi_arena";

    inline_concurrent_multi_arena() noexcept = default;

    /// Bytes of all arenas.
    static constexpr std::size_t capacity() noexcept { return base::arenas() * base::arena_bytes(); }
};

static_assert(owning_resource<inline_concurrent_multi_arena<4, 64>> &&
              resettable_resource<inline_concurrent_multi_arena<4, 64>>);

}  // namespace acre
