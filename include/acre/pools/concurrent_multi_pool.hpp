// A growing pool of any size for all threads: any thread allocates, any thread frees, at about the cost of a multi_pool
// of its own. What one hoped std::pmr::synchronized_pool_resource would be.
//
// Use it under containers and buffers that threads share or hand to each other. Use acre::multi_pool where one thread
// does all, acre::concurrent_object_pool<T> for one type, acre::synchronized_pool_resource in code that is written for
// the standard's.
//
// Each thread keeps two magazines of free slots for each size class that it uses; full and empty ones are exchanged
// with the class's depot under a lock, once in as many operations as a magazine has slots. A thread that ends gives its
// magazines back. The pool may end before its threads do. Upstream is called by one thread at a time.
//
// Cost: allocate and deallocate about 30 instructions each, none of them atomic; one lock in 4 to 509 operations.
// Requests over 8 KiB go to upstream one by one. Memory: sizes are rounded up by at most 7 bytes or an eighth; each
// class in use holds a slab of 4 KiB or more; the object is about 16 KiB; a thread that uses it keeps 4 KiB, a magazine
// or two of up to 4 KiB for each class that it uses, and at most thread_bytes of free slots of each class (64 KiB). A
// request may be refused at the limit while other threads keep free slots. A slot freed twice in a row aborts with a
// sentence at once; other double frees, pointers of other pools and frees with a wrong size do when their magazine goes
// to the slabs, and double frees under AddressSanitizer at once. After a fork the child goes on with what the thread
// kept that forked; what other threads kept stays taken.
//
//     acre::concurrent_multi_pool memory;
//     void* p = memory.allocate(100);     // in one thread
//     memory.deallocate(p, 100);          // in another
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_pool_options.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <acre/pools/detail/live_report.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/shared_upstream.hpp>
#include <acre/pools/detail/size_classes.hpp>
#include <acre/pools/detail/thread_cache.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace acre {

/// Slots of 64 size classes, and upstream blocks for larger requests, for all threads.
class concurrent_multi_pool {
public:
    static constexpr const char* name = "acre::concurrent_multi_pool";
    using options_type = concurrent_pool_options;

    /// Takes no memory from upstream.
    concurrent_multi_pool() : concurrent_multi_pool(resource_ref{heap{}}) {}
    explicit concurrent_multi_pool(resource_ref upstream)
        : concurrent_multi_pool(concurrent_pool_options{}, upstream) {}
    explicit concurrent_multi_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : shared_(upstream, options.limit_bytes), options_(options), report_(options.report_live) {
        require_at_least(detail::size_class_geometry[0].first_slab_bytes, name, "limit_bytes", options.limit_bytes);
        forks_.guard(this, &lock_all, &unlock_all, &forget_other_threads);
    }

    concurrent_multi_pool(const concurrent_multi_pool&) = delete;
    concurrent_multi_pool& operator=(const concurrent_multi_pool&) = delete;

    /// Gives everything back to upstream, what was not freed included. No thread may use it any more; threads that did
    /// may end meanwhile, or go on.
    ~concurrent_multi_pool() {
        report_.write(name, [this] { return live(); });
        caches_.end();
        forks_.unguard();
        give_all_back();
    }

    /// Storage of `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory, request_too_large,
    /// limit_exceeded or bad_alignment.
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

    /// Takes back what any thread allocated with the same size and alignment; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        std::size_t index;
        if (!detail::find_size_class(bytes, alignment, index)) [[unlikely]]
            return deallocate_slow(p, bytes, alignment);
        put(index, p);
    }

    /// A block of its own from upstream, however few bytes it has; null when there is no memory.
    [[gnu::noinline]] void* try_allocate_separately(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) ? depots_[0].take_large(source(0), bytes, alignment) : nullptr;
    }
    /// Takes one back.
    [[gnu::noinline]] void deallocate_separately(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p != nullptr) depots_[0].put_large(source(0), p, bytes, alignment);
    }

    /// Gives slabs without a live slot back to upstream, while other threads go on; returns the bytes given back. What
    /// other threads keep counts as live, what this one keeps does not. Linear in the slabs held.
    std::size_t release_unused() noexcept {
        thread_part* mine = this_part();
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            bytes += depots_[index].release_unused(source(index), cache_of(mine, index));
        }
        return bytes;
    }

    /// Gives everything back to upstream: all that was handed out is void. No other thread may use it meanwhile.
    void release() noexcept {
        caches_.renew();
        give_all_back();
    }
    /// Takes everything back and keeps the slabs; large blocks go to upstream. No other thread may use it meanwhile.
    void reset() noexcept {
        for (std::size_t index = 0; index < detail::size_class_count; ++index) depots_[index].reset(source(index));
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return shared_.held(); }
    /// Number of allocations not yet taken back: exact while no other thread uses the pool, else near it. Linear in the
    /// slabs held.
    std::size_t live() const noexcept {
        std::size_t count = depots_[0].large_count();
        for (std::size_t index = 0; index < detail::size_class_count; ++index)
            count += depots_[index].live(source(index));
        return count;
    }
    /// Bytes of the slots and large blocks handed out. As exact as live().
    std::size_t used() const noexcept {
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            bytes += depots_[index].used_bytes(source(index));
        }
        return bytes;
    }
    /// True when `p` lies in storage of this pool. Linear in slabs and large blocks held.
    bool owns(const void* p) const noexcept {
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            if (depots_[index].owns(source(index), p)) return true;
        }
        return false;
    }
    /// The resource that slabs and large blocks come from.
    resource_ref upstream() const noexcept { return shared_.upstream(); }

private:
    // What a thread keeps: a cache of each class, which counts with its depot from the first use on.
    struct thread_part {
        detail::thread_cache caches[detail::size_class_count];
        std::uint64_t joined = 0;          // bit i: caches[i] counts
        thread_part* next_made = nullptr;  // all of them
        thread_part* next_idle = nullptr;  // of those that no thread has
    };
    static_assert(detail::size_class_count <= 64);

    // Of the limit, left to slabs when something is asked for that only makes the pool faster.
    static constexpr std::size_t spared_bytes = 64 * 1024;

    [[gnu::always_inline]] thread_part* this_part() const noexcept { return static_cast<thread_part*>(caches_.find()); }

    static detail::thread_cache* cache_of(thread_part* part, std::size_t index) noexcept {
        return part != nullptr && (part->joined >> index & 1) != 0 ? &part->caches[index] : nullptr;
    }

    detail::depot_config source(std::size_t index) const noexcept {
        const detail::slab_geometry& geometry = detail::size_class_geometry[index];
        return {geometry,
                name,
                resource_ref{shared_},
                SIZE_MAX,
                options_.region_slots,
                detail::magazine::capacity(geometry.slot_bytes, options_.thread_bytes),
                resource_ref{sparing_}};
    }

    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::size_t index;
        if ((alignment & (alignment - 1)) != 0 || !detail::find_size_class(bytes, alignment, index)) [[unlikely]]
            return false;
        thread_part* mine = this_part();
        if (mine == nullptr || !mine->caches[index].take(p)) [[unlikely]]
            return false;
        unpoison(p, detail::size_class_geometry[index].slot_bytes);
        return true;
    }

    [[gnu::always_inline]] void put(std::size_t index, void* p) noexcept {
        // Known in this build alone; otherwise the slot's header would have to be looked at.
        if (is_poisoned(p)) [[unlikely]]
            abort_on_misuse(name, "double free", p);
        poison(p, detail::size_class_geometry[index].slot_bytes);
        thread_part* mine = this_part();
        if (mine == nullptr || !mine->caches[index].put(name, p)) [[unlikely]]
            put_slow(index, p);
    }

    // Out of line: once a magazine, or for a large block.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        // The depot is asked for slots only when this thread has none.
        if (bytes == 0) return try_allocate(1, alignment);
        std::size_t index;
        if (!detail::find_size_class(bytes, alignment, index)) return try_allocate_separately(bytes, alignment);
        detail::thread_cache* cache = make_cache(index);
        void* p =
            cache == nullptr ? depots_[index].take_one(source(index)) : depots_[index].take(source(index), *cache);
        if (p != nullptr) unpoison(p, detail::size_class_geometry[index].slot_bytes);
        return p;
    }

    [[gnu::noinline]] void put_slow(std::size_t index, void* p) noexcept {
        if (detail::thread_cache* cache = make_cache(index)) {
            depots_[index].put(source(index), *cache, p);
        } else {
            depots_[index].put_one(source(index), p);
        }
    }

    // Out of line: a large block, or one of no bytes.
    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index;
        if (detail::find_size_class(std::max<std::size_t>(bytes, 1), alignment, index)) return put(index, p);
        deallocate_separately(p, bytes, alignment);
    }

    // This thread's cache of a class; null when it is ending or there is no memory.
    detail::thread_cache* make_cache(std::size_t index) noexcept {
        thread_part* mine = this_part();
        if (mine == nullptr) mine = make_part();
        if (mine == nullptr) return nullptr;
        if ((mine->joined >> index & 1) == 0) {
            depots_[index].join(mine->caches[index]);
            mine->joined |= std::uint64_t{1} << index;
        }
        return &mine->caches[index];
    }

    thread_part* make_part() noexcept {
        if (!caches_.can_keep()) return nullptr;
        thread_part* made = idle_or_new_part();
        if (made != nullptr) caches_.keep(made);
        return made;
    }
    thread_part* idle_or_new_part() noexcept {
        const std::lock_guard lock{parts_lock_};
        if (idle_ != nullptr) return std::exchange(idle_, idle_->next_idle);
        void* p = sparing_.try_allocate(sizeof(thread_part), alignof(thread_part));
        if (p == nullptr) return nullptr;
        auto* made = ::new (p) thread_part;
        made->next_made = std::exchange(made_, made);
        return made;
    }

    static void thread_ended(void* pool, void* part) noexcept {
        auto& self = *static_cast<concurrent_multi_pool*>(pool);
        auto& ended = *static_cast<thread_part*>(part);
        self.leave(ended);
        const std::lock_guard lock{self.parts_lock_};
        ended.next_idle = std::exchange(self.idle_, &ended);
    }

    void leave(thread_part& left) noexcept {
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            if (detail::thread_cache* cache = cache_of(&left, index)) depots_[index].leave(source(index), *cache);
        }
        left.joined = 0;
    }

    // The locks in the order in which this takes them: none of the first two kinds is held while another is taken.
    static void lock_all(void* pool) noexcept {
        auto& self = *static_cast<concurrent_multi_pool*>(pool);
        self.parts_lock_.lock();
        for (detail::magazine_depot& each : self.depots_) each.lock().lock();
        self.shared_.lock().lock();
    }
    static void unlock_all(void* pool) noexcept {
        auto& self = *static_cast<concurrent_multi_pool*>(pool);
        self.shared_.lock().unlock();
        for (detail::magazine_depot& each : self.depots_) each.lock().unlock();
        self.parts_lock_.unlock();
    }
    static void forget_other_threads(void* pool) noexcept {
        auto& self = *static_cast<concurrent_multi_pool*>(pool);
        thread_part* mine = self.this_part();
        for (std::size_t index = 0; index < detail::size_class_count; ++index) {
            self.depots_[index].forget_others(cache_of(mine, index), false);
        }
        for (thread_part* each = self.made_; each != nullptr; each = each->next_made) {
            if (each != mine) each->joined = 0;
        }
    }

    void give_all_back() noexcept {
        for (thread_part* each = made_; each != nullptr; each = each->next_made) leave(*each);
        for (std::size_t index = 0; index < detail::size_class_count; ++index) depots_[index].release(source(index));
        idle_ = nullptr;
        while (made_ != nullptr) {
            thread_part* each = std::exchange(made_, made_->next_made);
            shared_.deallocate(each, sizeof(thread_part), alignof(thread_part));
        }
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        if (!is_alignment(alignment)) return raise(bad_alignment{name, alignment});
        if (bytes > max_request / 2) return raise(request_too_large{name, bytes, max_request / 2});
        std::size_t index;
        const std::size_t needed = detail::find_size_class(std::max<std::size_t>(bytes, 1), alignment, index)
                                       ? depots_[index].next_slab_bytes(source(index))
                                       : detail::large_blocks::upstream_bytes(bytes, alignment);
        const std::size_t held = capacity();
        if (needed > shared_.limit() - held) return raise(limit_exceeded{name, needed, held, shared_.limit()});
        return raise(out_of_memory{name, bytes, alignment});
    }

    // Threads read these on each call, and must not wait for what others write behind them.
    detail::per_thread caches_{this, &thread_ended};
    // Asked by operations that change nothing of the pool themselves.
    mutable detail::shared_upstream shared_;
    mutable detail::sparing_upstream<spared_bytes> sparing_{shared_};
    concurrent_pool_options options_;
    detail::live_report report_;
    detail::fork_guard forks_;
    spin_lock parts_lock_;
    thread_part* made_ = nullptr;
    thread_part* idle_ = nullptr;
    detail::magazine_depot depots_[detail::size_class_count];
};

static_assert(owning_resource<concurrent_multi_pool> && resettable_resource<concurrent_multi_pool>);

}  // namespace acre
