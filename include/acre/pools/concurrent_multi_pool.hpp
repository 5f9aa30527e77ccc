// A growing pool of any size for all threads: any thread allocates and any thread frees, at about the cost of a
// multi_pool that one thread has for itself. A faster std::pmr::synchronized_pool_resource.
//
// Use it under containers and buffers that threads share or hand to each other. Use acre::multi_pool where one thread
// does all, acre::concurrent_object_pool<T> for one type, acre::synchronized_pool_resource in code written for
// std::pmr::synchronized_pool_resource.
//
// Each thread keeps two magazines of free slots for each size class that it uses. It exchanges full and empty ones with
// the class's depot under a lock, once in as many operations as a magazine has slots (pools/detail/magazine_depot.hpp).
// A thread that ends returns its magazines. The pool may end before its threads do. One thread at a time calls
// upstream.
//
// Cost: for a size known at compile time allocate and deallocate have 17 and 37 instructions, for others 31 and 62,
// none of them atomic; one lock in 1 to 509 operations. Requests over 8 KiB go to upstream one by one. Memory: sizes
// are rounded up by at most 7 bytes or an eighth. Each class in use holds a slab of 4 KiB or more; the object has about
// 16 KiB. A thread that uses it keeps 4 KiB, and for each class that it uses one or two magazines of up to 4 KiB and at
// most thread_bytes (64 KiB) of free slots. A request may be refused at the limit while other threads keep free slots.
// A double free, a pointer into the middle of a slot, a pointer of another resource and a size of another class abort
// with a message at once, in every build (docs/misuse.md). After a fork the child goes on with what the forking thread
// kept; slots that other threads kept stay taken. basic_concurrent_multi_pool takes other size classes, and
// double_free_check::none, which looks at nothing in a free: 25 and 24 instructions.
//
//     acre::concurrent_multi_pool memory;
//     void* p = memory.allocate(100);     // in one thread
//     memory.deallocate(p, 100);          // in another
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#if !ACRE_HAS_THREADS
static_assert(false,
              "acre::concurrent_multi_pool needs threads, which this target does not have: use acre::multi_pool");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/shared_upstream.hpp>
#include <acre/pools/detail/slot_face.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace acre {

/// Slots of the size classes of `Classes`, and upstream blocks for larger requests, for all threads. `Check` says what
/// is looked at in a free.
template <class Classes, double_free_check Check>
class basic_concurrent_multi_pool : public detail::no_clear<basic_concurrent_multi_pool<Classes, Check>> {
    static_assert(size_class_policy<Classes>,
                  "acre::basic_concurrent_multi_pool: see acre/pools/size_classes.hpp for what a policy provides");

    using tables = detail::size_class_tables<Classes>;

public:
    static constexpr const char* name = "acre::concurrent_multi_pool";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;
    using options_type = concurrent_pool_options;
    using classes_type = Classes;

    /// Takes no memory from upstream.
    basic_concurrent_multi_pool() : basic_concurrent_multi_pool(resource_ref{heap{}}) {}
    explicit basic_concurrent_multi_pool(resource_ref upstream)
        : basic_concurrent_multi_pool(concurrent_pool_options{}, upstream) {}
    explicit basic_concurrent_multi_pool(const concurrent_pool_options& options, resource_ref upstream = heap{})
        : shared_(upstream, options.limit_bytes), options_(options), report_(options.report_live) {
        require_at_least(tables::geometry[0].first_slab_bytes, name, "limit_bytes", options.limit_bytes);
        forks_.guard(this, &lock_all, &unlock_all, &abandon_other_caches);
    }

    /// Refused by a sentence: a resource is not copied.
    template <detail::copy_of<basic_concurrent_multi_pool> Other>
    ACRE_IS_NOT_COPIED explicit basic_concurrent_multi_pool(Other&);
    basic_concurrent_multi_pool(const basic_concurrent_multi_pool&) = delete;
    basic_concurrent_multi_pool& operator=(const basic_concurrent_multi_pool&) = delete;

    /// Gives everything back to upstream, live allocations included. No thread may use the pool any more; threads that
    /// did may end meanwhile, or go on.
    ~basic_concurrent_multi_pool() {
        report_.write(name, [this] { return live(); });
        per_thread_.end();
        forks_.unguard();
        give_all_back();
    }

    /// Returns `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory, request_too_large,
    /// limit_exceeded or bad_alignment.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return allocate_slow(bytes, alignment);
    }

    /// As allocate, but null where that would throw.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }

    /// Frees what any thread allocated with the same size and alignment; null is a no-op. Never fails.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        std::size_t index;
        if (!tables::find(bytes, alignment, index)) [[unlikely]]
            return deallocate_slow(p, bytes, alignment);
        put(index, p);
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        return tables::bytes_given(bytes, alignment);
    }

    /// As try_allocate, but always a block of its own from upstream, never a slot.
    [[gnu::noinline]] void* try_allocate_separately(std::size_t bytes, std::size_t alignment) noexcept {
        return is_alignment(alignment) ? depots_[0].take_large(config(0), bytes, alignment) : nullptr;
    }
    /// Frees a block of try_allocate_separately.
    [[gnu::noinline]] void deallocate_separately(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        if (p == nullptr) return;
        const char* what = depots_[0].put_large(config(0), p, bytes, alignment);
        if (what != nullptr) abort_on_misuse(name, owns_slot(p) ? detail::mistake::wrong_size : what, p);
    }

    /// Gives slabs without a live slot back to upstream, while other threads go on, and returns their bytes. Free slots
    /// that other threads keep count as live; this thread's do not. Linear in the slabs held.
    std::size_t release_unused() noexcept {
        thread_caches* own = this_caches();
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < tables::count; ++index) {
            bytes += depots_[index].release_unused(config(index), cache_of(own, index));
        }
        return bytes;
    }

    /// Gives everything back to upstream; everything handed out becomes invalid. No other thread may use the pool
    /// meanwhile.
    void release() noexcept {
        per_thread_.renew();
        give_all_back();
    }
    /// Frees everything and keeps the slabs; large blocks go back to upstream. No other thread may use the pool
    /// meanwhile.
    void reset() noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) depots_[index].reset(config(index));
    }

    /// Bytes held from upstream.
    std::size_t capacity() const noexcept { return shared_.held(); }
    /// Number of live allocations: exact while no other thread uses the pool, approximate otherwise. Linear in the
    /// slabs held.
    std::size_t live() const noexcept {
        std::size_t count = depots_[0].large_count();
        for (std::size_t index = 0; index < tables::count; ++index) count += depots_[index].live(config(index));
        return count;
    }
    /// Bytes of the live slots and large blocks. As exact as live().
    std::size_t used() const noexcept {
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < tables::count; ++index) bytes += depots_[index].used_bytes(config(index));
        return bytes;
    }
    /// True when `p` lies in storage of this pool. Linear in the slabs and large blocks held.
    bool owns(const void* p) const noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) {
            if (depots_[index].owns(config(index), p)) return true;
        }
        return false;
    }
    /// What in the pool's own data does not agree, or null (acre::check_invariants). Linear in the slots held.
    const char* broken_invariant() const noexcept {
        const char* broken = nullptr;
        for (std::size_t index = 0; index < tables::count && broken == nullptr; ++index)
            broken = depots_[index].broken_invariant(config(index));
        return broken;
    }
    /// The resource that slabs and large blocks come from.
    resource_ref upstream() const noexcept { return shared_.upstream(); }

private:
    // The caches of one thread, one per class; each is attached to its depot on first use.
    struct thread_caches {
        detail::thread_cache caches[tables::count];
        bool attached[tables::count] = {};
        thread_caches* next_all = nullptr;
        thread_caches* next_idle = nullptr;
    };

    // Bytes of the limit that caches and magazines leave to slabs: they only make the pool faster.
    static constexpr std::size_t spared_bytes = 64 * 1024;

    [[gnu::always_inline]] thread_caches* this_caches() const noexcept {
        return static_cast<thread_caches*>(per_thread_.find());
    }

    static detail::thread_cache* cache_of(thread_caches* of, std::size_t index) noexcept {
        return of != nullptr && of->attached[index] ? &of->caches[index] : nullptr;
    }

    detail::depot_config config(std::size_t index) const noexcept {
        const detail::slab_geometry& geometry = tables::geometry[index];
        return {geometry,
                name,
                resource_ref{shared_},
                SIZE_MAX,
                options_.region_slots,
                detail::magazine::capacity(geometry.slot_bytes, options_.thread_bytes),
                resource_ref{sparing_},
                detail::checks_frees<Check>};
    }

    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        std::size_t index;
        if ((alignment & (alignment - 1)) != 0 || !tables::find(bytes, alignment, index)) [[unlikely]]
            return false;
        thread_caches* own = this_caches();
        if (own == nullptr || !own->caches[index].take(p)) [[unlikely]]
            return false;
        mark_live(index, p);
        unpoison(p, bytes);
        return true;
    }

    // For a constant class its layout is constants. Otherwise that of the common classes needs only the slab's header.
    [[gnu::always_inline]] static detail::bitmap_slabs::place place_of(std::size_t index, const void* p) noexcept {
        using detail::bitmap_slabs;
        if (__builtin_constant_p(index) || index >= tables::common_count)
            return bitmap_slabs::place_of(tables::geometry[index], p);
        return bitmap_slabs::place_in<tables::common_slab_bytes>(p);
    }
    // Without a look at the table: sizes are multiples of 8 bytes, so only the first class may have slots of one word.
    [[gnu::always_inline]] static constexpr std::size_t mark_at(std::size_t index) noexcept {
        return detail::free_mark::offset(index == 0 ? tables::bytes(0) : SIZE_MAX);
    }
    [[gnu::always_inline]] static void mark_live(std::size_t index, void* p) noexcept {
        if constexpr (detail::checks_frees<Check>) detail::bitmap_slabs::uncache(p, mark_at(index));
    }

    [[gnu::always_inline]] void put(std::size_t index, void* p) noexcept {
        if constexpr (!detail::checks_frees<Check>) return keep(index, p);
        // Out of line, so that the usual path saves no registers for it.
        if (!__builtin_constant_p(index) && index >= tables::common_count) [[unlikely]]
            return put_uncommon(index, p);
        put_at(index, p, place_of(index, p));
    }
    [[gnu::noinline]] void put_uncommon(std::size_t index, void* p) noexcept {
        put_at(index, p, detail::bitmap_slabs::place_of(tables::geometry[index], p));
    }
    [[gnu::always_inline]] void put_at(std::size_t index, void* p, const detail::bitmap_slabs::place& at) noexcept {
        depots_[index].slabs().cache(tables::geometry[index], p, at, mark_at(index),
                                     [this, index, p]() __attribute__((always_inline)) { abort_on(index, p); });
        keep(index, p);
    }
    [[gnu::always_inline]] void keep(std::size_t index, void* p) noexcept {
        thread_caches* own = this_caches();
        if (own == nullptr || !own->caches[index].put(p)) [[unlikely]]
            put_slow(index, p);
    }

    bool owns_slot(const void* p) const noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) {
            if (depots_[index].owns_slot(config(index), p)) return true;
        }
        return false;
    }

    // `p` was freed with a size of class `index`.
    [[noreturn, gnu::noinline, gnu::cold]] void abort_on(std::size_t index, const void* p) const noexcept {
        const bool other_size = owns(p) && !depots_[index].owns_slot(config(index), p);
        const char* what =
            other_size ? detail::mistake::wrong_size : depots_[index].slabs().mistake_with(tables::geometry[index], p);
        // Null when two threads freed the slot at once and it was allocated again meanwhile.
        abort_on_misuse(name, what == nullptr ? detail::mistake::double_free : what, p);
    }

    // Out of line: once per magazine, or for a large block.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        return fail(bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment)) return nullptr;
        // From the start: this thread's cache for 1 byte may have slots.
        if (bytes == 0) return try_allocate(1, alignment);
        std::size_t index;
        if (!tables::find(bytes, alignment, index)) return try_allocate_separately(bytes, alignment);
        detail::thread_cache* cache = find_or_attach_cache(index);
        void* p =
            cache == nullptr ? depots_[index].take_uncached(config(index)) : depots_[index].take(config(index), *cache);
        if (p == nullptr) return nullptr;
        mark_live(index, p);
        unpoison(p, bytes);
        return p;
    }

    [[gnu::noinline]] void put_slow(std::size_t index, void* p) noexcept {
        if (detail::thread_cache* cache = find_or_attach_cache(index)) {
            depots_[index].put(config(index), *cache, p);
        } else {
            depots_[index].put_uncached(config(index), p);
        }
    }

    // Out of line: a large block, or one of 0 bytes.
    [[gnu::noinline]] void deallocate_slow(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        std::size_t index;
        if (tables::find(detail::max<std::size_t>(bytes, 1), alignment, index)) return put(index, p);
        deallocate_separately(p, bytes, alignment);
    }

    // Null when this thread is ending or there is no memory for its caches.
    detail::thread_cache* find_or_attach_cache(std::size_t index) noexcept {
        auto* own = static_cast<thread_caches*>(per_thread_.find_and_remember());
        if (own == nullptr) own = make_caches();
        if (own == nullptr) return nullptr;
        if (!own->attached[index]) {
            depots_[index].attach(own->caches[index]);
            own->attached[index] = true;
        }
        return &own->caches[index];
    }

    thread_caches* make_caches() noexcept {
        if (!per_thread_.can_keep()) return nullptr;
        thread_caches* own = idle_or_new_caches();
        if (own != nullptr) per_thread_.keep(own);
        return own;
    }
    thread_caches* idle_or_new_caches() noexcept {
        const detail::lock_guard lock{caches_lock_};
        if (idle_ != nullptr) return std::exchange(idle_, idle_->next_idle);
        void* p = sparing_.try_allocate(sizeof(thread_caches), alignof(thread_caches));
        if (p == nullptr) return nullptr;
        auto* added = ::new (p) thread_caches;
        added->next_all = std::exchange(all_caches_, added);
        return added;
    }

    static void thread_ended(void* pool, void* caches) noexcept {
        auto& self = *static_cast<basic_concurrent_multi_pool*>(pool);
        auto& ended = *static_cast<thread_caches*>(caches);
        self.detach(ended);
        const detail::lock_guard lock{self.caches_lock_};
        ended.next_idle = std::exchange(self.idle_, &ended);
    }

    void detach(thread_caches& detached) noexcept {
        for (std::size_t index = 0; index < tables::count; ++index) {
            if (detail::thread_cache* cache = cache_of(&detached, index)) depots_[index].detach(config(index), *cache);
            detached.attached[index] = false;
        }
    }

    // Takes the locks in the pool's own order: it never takes one of the first two kinds while it holds another.
    static void lock_all(void* pool) noexcept {
        auto& self = *static_cast<basic_concurrent_multi_pool*>(pool);
        self.caches_lock_.lock();
        for (detail::magazine_depot& each : self.depots_) each.lock().lock();
        self.shared_.lock().lock();
    }
    static void unlock_all(void* pool) noexcept {
        auto& self = *static_cast<basic_concurrent_multi_pool*>(pool);
        self.shared_.lock().unlock();
        for (detail::magazine_depot& each : self.depots_) each.lock().unlock();
        self.caches_lock_.unlock();
    }
    static void abandon_other_caches(void* pool) noexcept {
        auto& self = *static_cast<basic_concurrent_multi_pool*>(pool);
        thread_caches* own = self.this_caches();
        for (std::size_t index = 0; index < tables::count; ++index) {
            self.depots_[index].abandon_other_caches(cache_of(own, index), false);
        }
        for (thread_caches* each = self.all_caches_; each != nullptr; each = each->next_all) {
            if (each == own) continue;
            for (bool& attached : each->attached) attached = false;
        }
    }

    void give_all_back() noexcept {
        for (thread_caches* each = all_caches_; each != nullptr; each = each->next_all) detach(*each);
        for (std::size_t index = 0; index < tables::count; ++index) depots_[index].release(config(index));
        idle_ = nullptr;
        while (all_caches_ != nullptr) {
            thread_caches* each = std::exchange(all_caches_, all_caches_->next_all);
            shared_.deallocate(each, sizeof(thread_caches), alignof(thread_caches));
        }
    }

    [[gnu::cold]] void* fail(std::size_t bytes, std::size_t alignment) const {
        std::size_t index;
        const bool pooled = tables::find(detail::max<std::size_t>(bytes, 1), alignment, index);
        return detail::refuse(name, bytes, alignment, capacity(), shared_.limit(),
                              pooled ? depots_[index].next_slab_bytes(config(index)) : 0);
    }

    // Every call reads this: it shares no cache line with the members below, which other threads write.
    detail::per_thread per_thread_{this, &thread_ended};
    // Mutable: const members of the pool take its lock.
    mutable detail::shared_upstream shared_;
    mutable detail::sparing_upstream<spared_bytes> sparing_{shared_};
    concurrent_pool_options options_;
    detail::live_report report_;
    detail::fork_guard forks_;
    spin_lock caches_lock_;
    thread_caches* all_caches_ = nullptr;
    thread_caches* idle_ = nullptr;  // those of threads that have ended
    detail::magazine_depot depots_[tables::count];
};

/// A concurrent multi-pool with the default size classes.
using concurrent_multi_pool = basic_concurrent_multi_pool<default_size_classes>;

}  // namespace acre

#endif  // ACRE_HAS_THREADS
