// One pool of the whole program for slots of a size: no object to hand around, ready before the first constructor runs
// and still there after main.
//
// Use it where there is nowhere to keep a pool: under class-level operators new (acre::pooled does that), in libraries.
// Use acre::pool or acre::concurrent_object_pool where there is. Sizes share pools by size class: static_pool<100> and
// static_pool<104> are the same. `Group` says who shares: by default every thread, each with a cache of its own; any
// other type is the name of a pool apart that one thread at a time uses, without a cache and without a lock.
//
// Cost: allocate and deallocate about 9 instructions each for the default, none of them atomic, and a lock in 4 to 509
// operations; 13 and 20 for a group, without a lock. Memory comes from the heap and goes back by release_unused(), or
// for all shared ones by acre::pool_registry::recycle(); each thread keeps the free slots of two magazines: at most 64
// KiB of them, or eight. A slot freed twice in a row aborts with a sentence at once; other double frees and pointers of
// other pools do when their magazine goes to the slabs, and under AddressSanitizer at once; in a group always at once.
//
// After a fork the child goes on with what the thread kept that forked; what other threads kept stays taken. There is
// one pool in the program as long as libraries do not hide it from each other; a library that uses one must not be
// unloaded.
//
//     void* p = acre::static_pool<100>::allocate();
//     acre::static_pool<100>::deallocate(p);
//
//     struct audio;                                       // a group, and the name it has in the registry
//     void* q = acre::static_pool<64, audio>::allocate(); // in the audio thread only
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/concurrent_pool_options.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/size_classes.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/detail/thread_cache.hpp>
#include <acre/pools/pool_registry.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre {

/// The group that every thread is in.
struct every_thread;

namespace detail {
/// Bytes of the slots that sizes of `bytes` share.
constexpr std::size_t shared_slot_bytes(std::size_t bytes) noexcept {
    return bytes <= detail::largest_size_class ? detail::size_class_bytes(detail::size_class_of(bytes))
                                               : align_up(bytes, 4096);
}

/// The name of a type, which need not be complete.
template <class T>
constexpr std::string_view type_name() noexcept {
    const std::string_view function = __PRETTY_FUNCTION__;
    const std::size_t start = function.find("T = ") + 4;
    return function.substr(start, std::min(function.find("; ", start), function.rfind(']')) - start);
}

inline constexpr const char* static_pool_name = "acre::static_pool";

/// Slots of `Slot` bytes that one thread at a time uses.
template <std::size_t Slot, class Group>
class static_slots {
public:
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, 8);

    [[gnu::always_inline]] static bool take(void*& p) noexcept { return all.slabs.take(geometry, p); }

    [[gnu::noinline]] static void* take_slow() noexcept {
        if (!all.registered) {
            all.registered = true;
            pool_registry::add(all.node);
        }
        const std::size_t before = held_bytes();
        void* p = all.slabs.refill(geometry, heap{}, {});
        if (held_bytes() != before) publish_growth(held_bytes() - before);
        return p;
    }

    [[gnu::always_inline]] static void give_back(void* p) noexcept {
        all.slabs.give_back(geometry, static_pool_name, p);
    }

    static bool prepare(std::size_t count) noexcept {
        void* taken = nullptr;
        for (; count > 0; --count) {
            void* slot;
            if (!take(slot)) slot = take_slow();
            if (slot == nullptr) break;
            *static_cast<void**>(slot) = std::exchange(taken, slot);
        }
        while (taken != nullptr) give_back(std::exchange(taken, *static_cast<void**>(taken)));
        return count == 0;
    }

    static std::size_t release_unused() noexcept {
        const std::size_t bytes = all.slabs.release_unused(geometry, heap{});
        all.slots = all.slabs.slots(geometry);
        all.live.store(live(), std::memory_order_relaxed);
        all.held.store(held_bytes(), std::memory_order_relaxed);
        return bytes;
    }
    static std::size_t live() noexcept { return all.slabs.used(geometry); }
    static std::size_t held_bytes() noexcept { return all.slabs.held_bytes(); }
    static bool owns(const void* p) noexcept { return all.slabs.owns(geometry, p); }

private:
    static pool_registry::entry describe() noexcept {
        // Written by the group's thread, read by any: numbers that need not fit together.
        return {geometry.slot_bytes, type_name<Group>(), false, all.live.load(std::memory_order_relaxed),
                all.held.load(std::memory_order_relaxed)};
    }

    // In constant time: it grows when every slot that there was is handed out.
    static void publish_growth(std::size_t bytes) noexcept {
        all.live.store(all.slots + 1, std::memory_order_relaxed);
        all.held.store(held_bytes(), std::memory_order_relaxed);
        const std::size_t each = std::min(bytes, geometry.slab_bytes);
        all.slots += bytes / each * geometry.usable(each);
    }

    // On cache lines of its own: another group's thread must not slow this one down.
    struct alignas(64) state {
        detail::bitmap_slabs slabs;
        std::size_t slots = 0;
        bool registered = false;
        std::atomic<std::size_t> live{0};  // both relaxed: numbers for others to read, by which nothing is found
        std::atomic<std::size_t> held{0};
        pool_registry::node node{&describe, nullptr, nullptr};
    };
    static inline constinit state all{};
    static_assert(std::is_trivially_destructible_v<state>, "it is there after main");

public:
    static constexpr std::size_t state_alignment = alignof(state);
};

/// Slots of `Slot` bytes that all threads share.
template <std::size_t Slot>
class static_slots<Slot, every_thread> {
public:
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, 8);

    [[gnu::always_inline]] static bool take(void*& p) noexcept {
        if (!mine.cache.take(p)) [[unlikely]]
            return false;
        unpoison(p, geometry.slot_bytes);
        return true;
    }

    [[gnu::noinline]] static void* take_slow() noexcept {
        void* p = join() ? all.depot.take(source, mine.cache) : all.depot.take_one(source);
        if (p != nullptr) unpoison(p, geometry.slot_bytes);
        return p;
    }

    [[gnu::always_inline]] static void give_back(void* p) noexcept {
        // Known in this build alone; otherwise the slot's header would have to be looked at.
        if (is_poisoned(p)) [[unlikely]]
            abort_on_misuse(static_pool_name, "double free", p);
        poison(p, geometry.slot_bytes);
        if (!mine.cache.put(static_pool_name, p)) [[unlikely]]
            give_back_slow(p);
    }

    static bool prepare(std::size_t count) noexcept { return join() && depot().reserve(source, mine.cache, count); }
    static std::size_t release_unused() noexcept { return depot().release_unused(source, cache()); }
    static std::size_t live() noexcept { return depot().live(source); }
    static std::size_t held_bytes() noexcept { return depot().held_bytes(); }
    static bool owns(const void* p) noexcept { return depot().owns(source, p); }

private:
    static constexpr detail::depot_config source{
        geometry, static_pool_name,
        heap{},   SIZE_MAX,
        SIZE_MAX, detail::magazine::capacity(geometry.slot_bytes, concurrent_pool_options{}.thread_bytes),
        heap{}};

    [[gnu::noinline]] static void give_back_slow(void* p) noexcept {
        if (join()) {
            all.depot.put(source, mine.cache, p);
        } else {
            all.depot.put_one(source, p);
        }
    }

    // The depot, whose lock is not to be taken before forks know of it.
    static detail::magazine_depot& depot() noexcept {
        if (!all.registered.load(std::memory_order_acquire)) make_known();
        return all.depot;
    }

    [[gnu::noinline]] static void make_known() noexcept {
        all.forks.guard_static(all.depot.lock(), nullptr, &forget_other_threads);
        if (!all.listed.exchange(true, std::memory_order_relaxed)) pool_registry::add(all.node);
        all.registered.store(true, std::memory_order_release);
    }

    // True when this thread may keep slots: from its first use of the pool until it ends.
    static bool join() noexcept {
        if (mine.joined) return true;
        detail::magazine_depot& joined = depot();
        mine.at_exit.run = &leave;
        mine.joined = detail::run_at_thread_exit(mine.at_exit);
        if (mine.joined) joined.join(mine.cache);
        return mine.joined;
    }

    static void leave(detail::thread_exit_node*) noexcept {
        mine.joined = false;
        all.depot.leave(source, mine.cache);
    }

    // What this thread keeps; null when it keeps nothing.
    static detail::thread_cache* cache() noexcept { return mine.joined ? &mine.cache : nullptr; }

    static void forget_other_threads(void*) noexcept { all.depot.forget_others(cache(), false); }

    static pool_registry::entry describe() noexcept {
        return {geometry.slot_bytes, "every_thread", true, live(), held_bytes()};
    }
    static std::size_t recycle() noexcept { return depot().try_release_unused(source, cache()); }

    // Destroyed by nobody, so that it may be used while the thread ends.
    struct thread_part {
        detail::thread_cache cache;
        detail::thread_exit_node at_exit;
        bool joined;
    };
    struct state {
        detail::magazine_depot depot;
        std::atomic<bool> registered{false};  // acquired and released: forks know of the lock before it is taken
        std::atomic<bool> listed{false};      // relaxed: it says who puts the node in, and hands nothing over
        detail::fork_guard forks;
        pool_registry::node node{&describe, &recycle, nullptr};
    };
    static inline constinit state all{};
    static inline thread_local constinit thread_part mine{};
    static_assert(std::is_trivially_destructible_v<state> && std::is_trivially_destructible_v<thread_part>,
                  "they are there after main, and while the thread ends");

public:
    static constexpr std::size_t state_alignment = alignof(state);
};
}  // namespace detail

/// The pool of the program for slots of `Size` bytes, 1 or more, and of one group.
template <std::size_t Size, class Group = every_thread>
class static_pool {
    static_assert(Size > 0 && Size <= max_request / 1024, "the slots of a pool have at least one byte");
    using slots = detail::static_slots<detail::shared_slot_bytes(Size), Group>;

public:
    static constexpr const char* name = detail::static_pool_name;

    /// Bytes of a slot: Size rounded up to its size class.
    static constexpr std::size_t slot_bytes() noexcept { return slots::geometry.slot_bytes; }
    /// Alignment of every slot, in bytes: the largest power of two that divides the bytes of a slot.
    static constexpr std::size_t slot_alignment() noexcept { return slot_bytes() & (0 - slot_bytes()); }

    /// A slot, contents undefined. Throws out_of_memory.
    [[gnu::always_inline]] static void* allocate() {
        void* p;
        if (slots::take(p)) [[likely]]
            return p;
        return allocate_slow();
    }
    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] static void* try_allocate() noexcept {
        void* p;
        if (slots::take(p)) [[likely]]
            return p;
        return slots::take_slow();
    }
    /// Takes a slot back; null is a no-op. Never fails.
    [[gnu::always_inline]] static void deallocate(void* p) noexcept {
        if (p != nullptr) slots::give_back(p);
    }

    /// True when a request of this size and alignment is served from a slot; others go to the heap.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= slot_bytes() && alignment <= slot_alignment() && is_alignment(alignment);
    }

    // The face of a resource, which is the same whatever object it is called through.
    [[gnu::always_inline]] static void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return allocate();
        return allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] static void* try_allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return try_allocate();
        return try_allocate_large(bytes, alignment);
    }
    [[gnu::always_inline]] static void deallocate(void* p, std::size_t bytes,
                                                  std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return deallocate(p);
        deallocate_large(p, bytes, alignment);
    }

    /// Makes sure that this thread can take `count` slots without the heap, if no other takes them; false when the heap
    /// has not so much. Linear in `count`.
    static bool prepare(std::size_t count) noexcept { return slots::prepare(count); }
    /// Gives slabs without a live slot back to the heap; returns the bytes given back. What other threads keep counts
    /// as live. Linear in the slabs held.
    static std::size_t release_unused() noexcept { return slots::release_unused(); }
    /// Slots handed out: exact while no other thread uses the pool, else near it. Linear in the slabs held.
    static std::size_t live() noexcept { return slots::live(); }
    /// Bytes held from the heap.
    static std::size_t capacity() noexcept { return slots::held_bytes(); }
    /// True when `p` lies in a slab of this pool. Linear in the slabs held.
    static bool owns(const void* p) noexcept { return slots::owns(p); }

    friend constexpr bool operator==(const static_pool&, const static_pool&) noexcept { return true; }

private:
    [[gnu::noinline]] static void* allocate_slow() {
        if (void* p = slots::take_slow()) return p;
        return raise(out_of_memory{name, slot_bytes(), slot_alignment()});
    }

    // Out of line: not what a pool is for; and compilers warn of class-level operators in which they see the heap's.
    [[gnu::noinline]] static void* allocate_large(std::size_t bytes, std::size_t alignment) {
        return heap{}.allocate(bytes, alignment);
    }
    [[gnu::noinline]] static void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        return heap{}.try_allocate(bytes, alignment);
    }
    [[gnu::noinline]] static void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        heap{}.deallocate(p, bytes, alignment);
    }
};

static_assert(owning_resource<static_pool<64>>);

}  // namespace acre
