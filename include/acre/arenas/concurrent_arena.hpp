// A growing arena for all threads: any thread allocates at about the cost of an arena of its own, and one reset takes
// everything back.
//
// Use it where threads build something together that ends as a whole: a frame, a parse, an index. Use acre::arena where
// one thread allocates, acre::thread_scratch for what only one thread needs, acre::concurrent_multi_pool where objects
// end one by one.
//
// Each thread bumps a pointer through a window of its own, cut out of shared blocks under a lock. A thread has no
// window before its first allocation. Windows begin at 1 KiB, or at the size of the first request, and double to
// window_bytes (16 KiB). The rest of a finished thread's window serves the next thread. Requests larger than a quarter
// of window_bytes go to the blocks directly.
//
// Cost: allocate about 23 instructions, none of them atomic; one lock a window. Memory: as acre::arena, and the unused
// rest of each thread's window, which counts as used; 64 bytes a thread.
// Thread rules: allocate and the queries from any thread at any time; reset() and the destructor while no thread
// allocates (builds without NDEBUG abort with a sentence if one does). Only trivially destructible objects, since reset
// would run destructors in another thread. After a fork the child can go on.
//
//     acre::concurrent_arena frame;
//     Node* node = frame.create<Node>(7);  // in any thread
//     frame.reset();                       // when all have finished
//
// Idea: the thread-local allocation buffers (TLAB) of generational garbage collectors.
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_THREADS
static_assert(false, "acre::concurrent_arena needs threads, which this target does not have: use acre::arena");
#else

#include <acre/arenas/arena.hpp>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/forwarding.hpp>
#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// How a concurrent_arena grows.
struct concurrent_arena_options {
    std::size_t first_block_bytes = 0;   // as in arena_options
    std::size_t max_block_bytes = 0;     // as in arena_options
    std::size_t limit_bytes = SIZE_MAX;  // never holds more than this in blocks from upstream
    std::size_t window_bytes = 16_KiB;   // windows double up to this; at least 64, a multiple of 8
};

/// Allocations of any size, by any thread, that die together.
class concurrent_arena : public detail::typed_calls<concurrent_arena> {
public:
    static constexpr const char* name = "acre::concurrent_arena";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;
    using options_type = concurrent_arena_options;

    /// Takes no memory. Throws bad_option.
    concurrent_arena() : concurrent_arena(resource_ref{heap{}}) {}
    explicit concurrent_arena(resource_ref upstream) : concurrent_arena(concurrent_arena_options{}, upstream) {}
    explicit concurrent_arena(const concurrent_arena_options& options, resource_ref upstream = heap{})
        : window_bytes_(options.window_bytes),
          blocks_(arena_options{options.first_block_bytes, options.max_block_bytes, options.limit_bytes}, upstream,
                  name),
          upstream_(upstream) {
        require_at_least(smallest_window, name, "window_bytes", options.window_bytes);
        require_option(options.window_bytes % arena::granule == 0, name, "window_bytes", options.window_bytes,
                       "a multiple of 8");
        forks_.guard(lock_, this, &forget_other_threads);
    }

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<concurrent_arena> Other>
    ACRE_IS_NOT_COPIED explicit concurrent_arena(Other&);
    concurrent_arena(const concurrent_arena&) = delete;
    concurrent_arena& operator=(const concurrent_arena&) = delete;

    /// Gives everything back to upstream. No thread may use it any more; threads that used it may end meanwhile.
    ~concurrent_arena() {
        check_nobody_allocates();
        threads_.end();
        forks_.unguard();
        give_windows_back();
    }

    /// Uninitialised storage of `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory,
    /// request_too_large, limit_exceeded or bad_alignment. Constant time but for a new block.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (bump(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    using detail::typed_calls<concurrent_arena>::allocate;
    using detail::typed_calls<concurrent_arena>::try_allocate;

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (bump(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// The storage is free again at the next reset; null is a no-op.
    void deallocate(void* p, std::size_t bytes, std::size_t = default_alignment) noexcept {
        if (p == nullptr) return;
        detail::check_allocation(name, p, bytes);
        poison(p, bytes);
    }

    /// A trivially destructible T constructed from `arguments`. Throws as allocate, and what the constructor throws.
    template <class T, class... Arguments>
    T* create(Arguments&&... arguments) {
        static_assert(std::is_trivially_destructible_v<T>,
                      "acre: nobody would destroy it: use acre::arena, or a concurrent_pool");
        void* storage = allocate(sizeof(T), alignof(T));
        if (!exceptions_enabled && storage == nullptr) return nullptr;
        return ::new (storage) T(std::forward<Arguments>(arguments)...);
    }

    /// Takes all storage back; `policy` says which blocks stay. No thread may allocate meanwhile. Linear in the threads
    /// that used it and in the blocks.
    void reset(reset_policy policy = keep_all) noexcept {
        check_nobody_allocates();
        const bool keeps_nothing = policy.what == reset_policy::kind::release;
        if (keeps_nothing) threads_.renew();
        const detail::lock_guard lock{lock_};
        if (keeps_nothing) give_windows_back();
        for (window* each = windows_; each != nullptr; each = each->next) each->close();
        blocks_.reset(policy);
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept {
        const detail::lock_guard lock{lock_};
        return blocks_.capacity() + window_count_ * sizeof(window);
    }
    /// Bytes of windows and of larger requests. Linear in the blocks in use.
    std::size_t used() const noexcept {
        const detail::lock_guard lock{lock_};
        return blocks_.used();
    }
    /// True when `p` points into a block in use. Linear in the number of blocks.
    bool owns(const void* p) const noexcept {
        const detail::lock_guard lock{lock_};
        return blocks_.owns(p);
    }
    /// The resource that blocks come from.
    resource_ref upstream() const noexcept { return upstream_; }

private:
    static constexpr std::size_t smallest_window = 64;
    static constexpr std::size_t first_window = 1_KiB;
#if defined(NDEBUG)
    static constexpr bool checked = false;
#else
    static constexpr bool checked = true;
#endif

    // The bump pointer of one thread, on a cache line of its own.
    struct alignas(64) window {
        std::uintptr_t position = 0;
        std::uintptr_t end = 0;
        std::size_t next_bytes = 0;   // of the thread's next window
        window* next = nullptr;       // in the list of all
        window* next_idle = nullptr;  // in the list of those without a thread
        void close() noexcept {
            position = 0;
            end = 0;
            next_bytes = 0;
        }
    };
    static_assert(sizeof(window) == 64, "acre: two threads never share a cache line");

    // Counts the threads inside allocate, in checked builds. Relaxed: the check may miss a misuse.
    class allocating {
    public:
        explicit allocating([[maybe_unused]] concurrent_arena& used) noexcept : count_(used.allocating_) {
            if constexpr (checked) count_.fetch_add(1, std::memory_order_relaxed);
        }
        allocating(const allocating&) = delete;
        allocating& operator=(const allocating&) = delete;
        ~allocating() {
            if constexpr (checked) count_.fetch_sub(1, std::memory_order_relaxed);
        }

    private:
        std::atomic<int>& count_;
    };

    void check_nobody_allocates() noexcept {
        if (checked && allocating_.load(std::memory_order_relaxed) != 0)
            abort_on_misuse(name, "it was reset, or ended, while a thread allocated", this);
    }

    [[gnu::always_inline]] window* this_window() const noexcept { return static_cast<window*>(threads_.find()); }

    [[gnu::always_inline]] bool bump(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        window* own = this_window();
        if (own == nullptr || !is_alignment(alignment)) [[unlikely]]
            return false;
        const allocating now{*this};
        return cut(*own, bytes, alignment, p);
    }

    // A closed window has no room. Sizes are compared before they are rounded, so no sum wraps; a window ends at a
    // multiple of the granule.
    [[gnu::always_inline]] static bool cut(window& from, std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        const std::size_t needed = detail::max<std::size_t>(bytes, 1);
        const std::uintptr_t start = align_up(from.position, detail::max(alignment, arena::granule));
        const std::size_t room = start > from.end ? 0 : from.end - start;
        if (needed > room - detail::min(room, redzone_bytes)) [[unlikely]]
            return false;
        p = reinterpret_cast<void*>(start);
        from.position = start + align_up(needed, arena::granule) + redzone_bytes;
        unpoison(p, bytes);
        return true;
    }

    // Out of line: the window is used up or the request is large.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        const detail::lock_guard lock{lock_};
        // There may be memory by now.
        if (void* p = blocks_.try_allocate(bytes, alignment)) return p;
        return blocks_.fail(bytes, alignment, name);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        const allocating now{*this};
        window* own = find_or_make_window();
        const detail::lock_guard lock{lock_};
        if (own == nullptr || is_large(bytes, alignment)) return blocks_.try_allocate(bytes, alignment);
        void* p = nullptr;
        // The window of a finished thread may have room.
        if (cut(*own, bytes, alignment, p)) return p;
        if (open(*own, bytes + alignment)) {
            cut(*own, bytes, alignment, p);
            return p;
        }
        // There may be room for the request where there is none for a window.
        return blocks_.try_allocate(bytes, alignment);
    }

    bool is_large(std::size_t bytes, std::size_t alignment) const noexcept {
        return bytes > window_bytes_ / 4 || alignment > window_bytes_ / 4;
    }

    // With the lock held: a new window with room for `needed` bytes. The rest of the one before is lost.
    bool open(window& opened, std::size_t needed) noexcept {
        const std::size_t wanted =
            detail::clamp(opened.next_bytes, detail::min(first_window, window_bytes_), window_bytes_);
        const std::size_t bytes =
            detail::max(wanted, align_up(needed + arena::granule + redzone_bytes, arena::granule));
        void* p = blocks_.try_allocate(bytes, arena::granule);
        if (p == nullptr) return false;
        poison(p, bytes);
        opened.position = reinterpret_cast<std::uintptr_t>(p);
        opened.end = opened.position + bytes;
        opened.next_bytes = 2 * wanted;
        return true;
    }

    // This thread's window; null when it is ending or there is no memory.
    window* find_or_make_window() noexcept {
        if (void* found = threads_.find_and_remember()) return static_cast<window*>(found);
        if (!threads_.can_keep()) return nullptr;
        window* made = idle_or_new_window();
        if (made != nullptr) threads_.keep(made);
        return made;
    }
    window* idle_or_new_window() noexcept {
        const detail::lock_guard lock{lock_};
        if (idle_ != nullptr) return std::exchange(idle_, idle_->next_idle);
        void* p = upstream_.try_allocate(sizeof(window), alignof(window));
        if (p == nullptr) return nullptr;
        auto* made = ::new (p) window;
        made->next = std::exchange(windows_, made);
        ++window_count_;
        return made;
    }

    // Requires that no thread finds its window any more.
    void give_windows_back() noexcept {
        idle_ = nullptr;
        window_count_ = 0;
        while (windows_ != nullptr) {
            window* each = std::exchange(windows_, windows_->next);
            upstream_.deallocate(each, sizeof(window), alignof(window));
        }
    }

    // The window becomes idle.
    static void thread_ended(void* arena, void* kept) noexcept {
        auto& self = *static_cast<concurrent_arena*>(arena);
        auto& ended = *static_cast<window*>(kept);
        const detail::lock_guard lock{self.lock_};
        ended.next_idle = std::exchange(self.idle_, &ended);
    }
    // In the child after a fork: the rest of other threads' windows is lost until the reset.
    static void forget_other_threads(void* arena) noexcept {
        // Relaxed: the child has one thread.
        static_cast<concurrent_arena*>(arena)->allocating_.store(0, std::memory_order_relaxed);
    }

    // Read in each call, so not on a cache line that other threads write.
    detail::per_thread threads_{this, &thread_ended};
    std::size_t window_bytes_;
    std::atomic<int> allocating_{0};
    alignas(64) mutable spin_lock lock_;
    arena blocks_;
    window* windows_ = nullptr;
    window* idle_ = nullptr;
    std::size_t window_count_ = 0;
    resource_ref upstream_;
    detail::fork_guard forks_;
};

static_assert(owning_resource<concurrent_arena> && resettable_resource<concurrent_arena>);

}  // namespace acre

#endif  // ACRE_HAS_THREADS
