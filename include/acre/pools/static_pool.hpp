// One pool per slot size for the whole program: no object to pass around, ready before the first constructor runs and
// still there after main.
//
// Use it where no object can own a pool: under class-level operators new (acre::pooled does that), in libraries. Use
// acre::pool or acre::concurrent_pool elsewhere. Sizes share pools by size class: static_pool<100> and static_pool<104>
// are the same. `Group` says who shares the pool: by default every thread, each with a cache of its own.
// shared_group<Name> names a further pool that every thread shares. Any other type names a separate pool that one
// thread at a time uses, without a cache and without a lock.
//
// Cost: by default allocate and deallocate have 15 and 37 instructions, in turns 6 and 30, none of them atomic, and one
// lock in 1 to 509 operations; for one thread 21 and 21, without a lock; with double_free_check::none 18 and 18, in
// turns 9 and 9, and for one thread 6 and 6. Memory
// comes from the heap, or from the upstream that the group names, and goes back by release_unused(), or for all shared
// pools by acre::pool_registry::recycle(). A pool that gets no memory calls recycle(), a group of one thread also gives
// its other sizes back, and it tries again before it fails. Each thread keeps the free slots of two magazines, at most
// 64 KiB but always two slots, and one slot more. A double free, a pointer into the middle of a slot and a pointer of
// another resource abort with a message at once, in every build (docs/misuse.md).
//
// After a fork the child goes on with what the forking thread kept; slots that other threads kept stay taken. The
// program has one pool as long as libraries do not hide its symbol from each other. A library that uses one
// may be unloaded (docs/coroutines.md).
//
// acre::pool_registry lists every static pool that was used so far, with its use, and gives unused memory back.
//
//     void* p = acre::static_pool<100>::allocate();
//     acre::static_pool<100>::deallocate(p);
//
//     struct audio;                                       // a group, and the name it has in the registry
//     void* q = acre::static_pool<64, audio>::allocate(); // in the audio thread only
//
//     using jobs = acre::static_pool<64, acre::shared_group<struct job>>;  // another pool for all threads
#pragma once

#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/misuse.hpp>
#if !ACRE_HAS_THREADS
static_assert(
    false,
    "acre::static_pool needs threads, which this target does not have: use a static acre::pool over an acre::buffer");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/detail/find_anew.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/per_thread.hpp>
#include <acre/core/error.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/bitmap_slabs.hpp>
#include <acre/pools/detail/magazine.hpp>
#include <acre/pools/detail/magazine_depot.hpp>
#include <acre/pools/detail/slab_geometry.hpp>
#include <acre/pools/pool_options.hpp>
#include <acre/pools/size_classes.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

namespace acre {

/// The group of all threads.
struct every_thread;

/// A further group of all threads. Its memory comes from `Upstream`, a resource without state that any thread may use.
/// `Check` says what is looked at in a free.
template <class Name, stateless_resource Upstream, double_free_check Check>
struct shared_group;

/// The group `Name` of one thread at a time. Its memory comes from `Upstream`, a resource without state; with heap the
/// plain Name means the same.
template <class Name, stateless_resource Upstream, double_free_check Check>
struct thread_group;

/// Where memory comes from in a group that does not name it: a plain Name, or every_thread, the default of static_pool,
/// pooled and ACRE_POOLED. A program may specialise it, in a header that all of its sources include.
template <class Group>
struct group_upstream {
    /// A resource without state. That of every_thread may be used by any thread.
    using type = heap;
};

/// The static pools that were used so far. A pool enters at its first use and never leaves.
///
/// Cost: linear in the number of static pools and in their slabs. Thread-safe, but for report_live. recycle() never
/// waits, so a new-handler may call it; for_each waits for the lock of one pool at a time.
///
/// To debug: trace(stderr) prints a line when a pool is first used, when it gives memory back and when memory runs out;
/// report_live_at_exit() prints which pools have live slots then.
///
///     acre::pool_registry::for_each([](const acre::pool_registry::entry& each) {
///         print(each.group, each.slot_bytes, each.live, each.held_bytes);
///     });
///     acre::pool_registry::recycle();
class pool_registry {
public:
    /// One static pool.
    struct entry {
        std::size_t slot_bytes;  // of each slot
        std::string_view group;  // name of the group's type
        bool synchronized;       // false: a group that one thread at a time uses
        std::size_t live;        // slots; unsynchronised: when the pool last grew or gave slabs back
        std::size_t held_bytes;  // from the heap
    };

    /// How the registry reaches a pool. Linked into the registry; must never be destroyed.
    struct node {
        std::size_t slot_bytes;             // of each slot
        std::string_view group;             // name of the group's type
        entry (*describe)() noexcept;       // what it holds now
        std::size_t (*live)() noexcept;     // exact while no thread uses the pool
        std::size_t (*recycle)() noexcept;  // gives unused slabs back
        const void* group_key;  // null: all threads share the pool; else only the group's thread may recycle
        const node* next;
        const void* library = &detail::this_library;  // that has this object
    };

    /// Calls `function` with the entry of each pool, the newest first. `function` may use any pool.
    template <class Function>
    static void for_each(Function function) {
        for (const node* each = first(); each != nullptr; each = each->next) function(each->describe());
    }

    /// Gives unused slabs of all shared pools back to the heap, while threads use them, and returns their bytes. Slots
    /// that other threads keep stay, and a pool whose lock is taken is skipped. Groups are skipped: only their own
    /// thread may call static_pool::release_unused().
    static std::size_t recycle() noexcept { return recycle_group(nullptr); }
    /// The same for the pools of a group that one thread at a time uses; only that thread may call it.
    static std::size_t recycle_group(const void* group_key) noexcept {
        std::size_t bytes = 0;
        for (const node* each = first(); each != nullptr; each = each->next) {
            if (each->group_key != group_key) continue;
            const std::size_t given_back = each->recycle();
            if (given_back != 0) print(*each, "gave % bytes back", given_back);
            bytes += given_back;
        }
        return bytes;
    }

    /// Prints to `to` from now on what happens rarely; null, as at the start, prints nothing.
    static void trace(std::FILE* to) noexcept { trace_.store(to, std::memory_order_relaxed); }

    /// Prints a line for each pool that has live slots, and returns their number. No other thread may use a group.
    static std::size_t report_live(std::FILE* to) noexcept {
        std::size_t all = 0;
        for (const node* each = first(); each != nullptr; each = each->next) {
            const std::size_t live = each->live();
            if (live == 0) continue;
            print_to(to, *each, "% still live", live);
            all += live;
        }
        return all;
    }
    /// Calls report_live(stderr) when the program ends, before the destructors of statics that are constructed already.
    /// What these destructors free is still live then. False when the system cannot.
    static bool report_live_at_exit() noexcept {
        return std::atexit([] { report_live(stderr); }) == 0;
    }

    /// Adds a pool, once. Lock-free: the pool may be the upstream of another one that holds a lock.
    static void add(node& added) noexcept {
        // Relaxed load: the older node is linked, not read. Release: publishes the new node, and with it, as this is a
        // read-modify-write, the older ones.
        const node* before = first_.load(std::memory_order_relaxed);
        do {
            added.next = before;
        } while (!first_.compare_exchange_weak(before, &added, std::memory_order_release, std::memory_order_relaxed));
    }

    /// Takes out the pools of a library that is unloaded. No other thread may use the registry, but to add pools.
    static void remove(const void* library) noexcept {
        const node* each = first();
        while (each != nullptr && each->library == library) {
            if (first_.compare_exchange_strong(each, each->next, std::memory_order_relaxed)) each = first();
        }
        for (; each != nullptr; each = each->next) {
            while (each->next != nullptr && each->next->library == library)
                const_cast<node*>(each)->next = each->next->next;
        }
    }

    /// Prints a line about a pool if trace() is on. `pattern` may have one '%', for `number`. Takes no pool's lock.
    [[gnu::cold]] static void print(const node& about, const char* pattern, std::size_t number = 0) noexcept {
        if (std::FILE* to = trace_.load(std::memory_order_relaxed)) print_to(to, about, pattern, number);
    }

private:
    [[gnu::cold]] static void print_to(std::FILE* to, const node& about, const char* pattern,
                                       std::size_t number) noexcept {
        char text[96];
        const detail::word words[] = {number};
        detail::sentence::write(text, sizeof text, pattern, words);
        std::fprintf(to, "acre::static_pool: slots of %zu bytes, %.*s: %s\n", about.slot_bytes,
                     static_cast<int>(about.group.size()), about.group.data(), text);
    }

    // Nodes are only added in front, so everything behind the first is constant. Acquire: pairs with the release in
    // add().
    static const node* first() noexcept { return first_.load(std::memory_order_acquire); }

    static inline constinit std::atomic<const node*> first_{nullptr};
    static inline constinit std::atomic<std::FILE*> trace_{nullptr};  // relaxed: publishes nothing
};

namespace detail {
#if ACRE_HAS_LIBRARY_END
/// The library is unloaded, or the process exits.
ACRE_AT_LIBRARY_END inline void remove_pools_of_library() noexcept {
    pool_registry::remove(&this_library);
}
#endif

/// Bytes of the slots that serve sizes of `bytes`.
constexpr std::size_t shared_slot_bytes(std::size_t bytes) noexcept {
    for (const std::size_t size : default_size_classes::bytes) {
        if (bytes <= size) return size;
    }
    return align_up(bytes, 4096);
}

/// The name of a type, which may be incomplete.
template <class T>
constexpr std::string_view type_name() noexcept {
    const std::string_view function = __PRETTY_FUNCTION__;
    const std::size_t start = function.find("T = ") + 4;
    return function.substr(start, detail::min(function.find("; ", start), function.rfind(']')) - start);
}

/// Its address tells the groups of one thread apart. Names do not: unnamed namespaces may repeat them.
template <class Name>
inline constinit char group_key = 0;

inline constexpr const char* static_pool_name = "acre::static_pool";

/// Who shares a group, its name, and where its memory comes from.
template <class Group>
struct group_traits {
    using name = Group;
    using upstream = typename group_upstream<Group>::type;
    static constexpr bool shared = std::is_same_v<Group, every_thread>;
    static constexpr double_free_check check{};
};
template <class Name, class Upstream, double_free_check Check>
struct group_traits<shared_group<Name, Upstream, Check>> {
    using name = Name;
    using upstream = Upstream;
    static constexpr bool shared = true;
    static constexpr double_free_check check = Check;
};
template <class Name, class Upstream, double_free_check Check>
struct group_traits<thread_group<Name, Upstream, Check>> {
    using name = Name;
    using upstream = Upstream;
    static constexpr bool shared = false;
    static constexpr double_free_check check = Check;
};

/// Slots of `Slot` bytes for one thread at a time.
template <std::size_t Slot, class Name, class Upstream, bool Shared, double_free_check Check = double_free_check{}>
class static_slots {
public:
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, 8);

    [[gnu::always_inline]] static bool take(void*& p) noexcept {
        if constexpr (!checks_frees<Check>) {
            if (all.slabs.take_listed(p)) return true;
        }
        const std::uint8_t* state;
        return all.slabs.take_newest(geometry, p, state);
    }

    [[gnu::noinline]] static void* take_slow() noexcept {
        if (!all.registered) {
            all.registered = true;
            pool_registry::add(all.node);
            pool_registry::print(all.node, "first used; one thread at a time uses it");
        }
        const std::size_t before = held_bytes();
        void* p = all.slabs.refill(geometry, Upstream{}, {});
        if (held_bytes() != before) publish_growth(held_bytes() - before);
        return p;
    }

    [[gnu::always_inline]] static void give_back(void* p) noexcept {
        if constexpr (!checks_frees<Check>) return all.slabs.list(p);
        if (!all.slabs.give_back_newest(geometry, p, bitmap_slabs::place_of(geometry, p))) [[unlikely]]
            give_back_slow(p);
    }

    static bool prepare(std::size_t count) noexcept {
        void* taken = nullptr;
        for (; count > 0; --count) {
            void* slot;
            if (!take(slot)) slot = take_slow();
            if (slot == nullptr) break;
            unpoison(slot, sizeof(void*));
            *static_cast<void**>(slot) = std::exchange(taken, slot);
        }
        while (taken != nullptr) give_back(std::exchange(taken, *static_cast<void**>(taken)));
        return count == 0;
    }

    static std::size_t release_unused() noexcept {
        if (const void* wrong = all.slabs.settle(geometry))
            abort_on_misuse(static_pool_name, all.slabs.mistake_with(geometry, wrong), wrong);
        const std::size_t bytes = all.slabs.release_unused(geometry, Upstream{});
        all.slots = all.slabs.slots(geometry);
        all.live.store(live(), std::memory_order_relaxed);
        all.held.store(held_bytes(), std::memory_order_relaxed);
        return bytes;
    }
    static std::size_t live() noexcept { return all.slabs.used(geometry); }
    static std::size_t held_bytes() noexcept { return all.slabs.held_bytes(); }
    static bool owns(const void* p) noexcept { return all.slabs.owns(geometry, p); }

    static const pool_registry::node& registered_node() noexcept { return all.node; }

private:
    static constexpr std::string_view group_name = type_name<Name>();

    // Out of line: the first free slot of a used-up slab, or a misuse.
    [[gnu::noinline]] static void give_back_slow(void* p) noexcept {
        if (const char* what = all.slabs.give_back_newest_slow(geometry, p)) abort_on_misuse(static_pool_name, what, p);
    }

    static pool_registry::entry describe() noexcept {
        // The group's thread writes them and any thread reads them. The two counters are read separately and may not
        // match.
        return {geometry.slot_bytes, group_name, false, all.live.load(std::memory_order_relaxed),
                all.held.load(std::memory_order_relaxed)};
    }

    // Constant time without counting: the pool grows only when all of its slots are live.
    static void publish_growth(std::size_t bytes) noexcept {
        all.live.store(all.slots + 1, std::memory_order_relaxed);
        all.held.store(held_bytes(), std::memory_order_relaxed);
        const std::size_t each = detail::min(bytes, geometry.slab_bytes);
        all.slots += bytes / each * geometry.usable(each);
    }

    // On cache lines of its own, which no other group's thread writes.
    struct alignas(64) state {
        detail::bitmap_slabs slabs;
        std::size_t slots = 0;
        bool registered = false;
        std::atomic<std::size_t> live{0};  // both relaxed: statistics, which publish nothing else
        std::atomic<std::size_t> held{0};
        pool_registry::node node{geometry.slot_bytes, group_name,       &describe, &static_slots::live,
                                 &release_unused,     &group_key<Name>, nullptr};
    };
    static inline constinit state all{};
    static_assert(std::is_trivially_destructible_v<state>, "acre: usable after main");

public:
    static constexpr std::size_t state_alignment = alignof(state);
};

/// What each thread keeps of a pool that all threads share. Trivially destructible, so that it is usable while the
/// thread ends.
struct static_pool_thread {
    thread_cache cache;
    thread_exit_node at_exit;
    bool attached;
};

#if ACRE_BY_SEGMENT
/// Of no pool: it has no slot and keeps none.
inline thread_local constinit static_pool_thread no_pool_thread{};
/// Keeps the variable, which assembly names. Clang 19 crashes where it is gnu::used itself and comes out of a module.
[[gnu::used]] inline static_pool_thread& keep_no_pool_thread() noexcept {
    return no_pool_thread;
}
#endif

/// Of a group that the program names. That name is part of the variable's symbol, so it is not found by the symbol.
template <std::size_t Slot, class Name, class Upstream, double_free_check Check>
class static_pool_threads {
public:
    /// For functions that are out of line.
    static static_pool_thread& here() noexcept { return local_; }
#if ACRE_BY_SEGMENT
    /// For those that are inlined: in a program the variable has the same distance from another one in each thread.
    [[gnu::always_inline]] static thread_cache& find_cache() noexcept {
        static_pool_thread* other;
        ACRE_FIND(other, no_pool_thread, "_ZN4acre6detail14no_pool_threadE", 0);
        // Relaxed: publishes nothing. Zero until the first thread has told it, which leads to the slow paths.
        const std::uintptr_t distance = distance_.bytes.load(std::memory_order_relaxed);
        return reinterpret_cast<static_pool_thread*>(reinterpret_cast<std::uintptr_t>(other) + distance)->cache;
    }
    static void tell_distance() noexcept {
        distance_.bytes.store(
            reinterpret_cast<std::uintptr_t>(&local_) - reinterpret_cast<std::uintptr_t>(&no_pool_thread),
            std::memory_order_relaxed);
    }
#else
    [[gnu::noinline]] static thread_cache& find_cache() noexcept {
        asm volatile("");
        return local_.cache;
    }
    static void tell_distance() noexcept {}
#endif

private:
    static inline thread_local constinit static_pool_thread local_{};
#if ACRE_BY_SEGMENT
    // On a cache line of its own, which nobody writes.
    struct alignas(64) distance {
        std::atomic<std::uintptr_t> bytes{0};
    };
    static inline constinit distance distance_{};
#endif
};

template <std::size_t Slot>
[[gnu::used]] inline thread_local constinit static_pool_thread default_pool_thread{};

#define ACRE_DETAIL_DEFAULT_POOL_THREAD "_ZN4acre6detail19default_pool_threadILm%c1EEE"
/// Of the default group. It depends on `Slot`, so that a program may specialise group_upstream after this header.
template <std::size_t Slot>
using default_upstream = typename group_upstream<std::enable_if_t<(Slot > 0), every_thread>>::type;

/// Of the default group. GCC prints no larger numbers in symbols.
template <std::size_t Slot, class Upstream>
    requires(Slot <= INT32_MAX && std::is_same_v<Upstream, default_upstream<Slot>>)
class static_pool_threads<Slot, every_thread, Upstream, double_free_check::at_once> {
public:
    static static_pool_thread& here() noexcept { return default_pool_thread<Slot>; }
    static void tell_distance() noexcept {}

#if ACRE_BY_SEGMENT
    /// Reads and writes the words of the cache.
    class found_cache {
    public:
        [[gnu::always_inline]] bool take_front(void*& slot) const noexcept {
            return thread_cache::take_front_of(*this, slot);
        }
        [[gnu::always_inline]] bool put_front(void* slot) const noexcept {
            return thread_cache::put_front_of(*this, slot);
        }

        [[gnu::always_inline]] std::uintptr_t front() const noexcept {
            std::uintptr_t front;
            ACRE_READ(front, ACRE_DETAIL_DEFAULT_POOL_THREAD, Slot, thread_cache::front_at());
            return front;
        }
        [[gnu::always_inline]] void set_front(std::uintptr_t front) const noexcept {
            write<thread_cache::front_at()>(front);
        }
        [[gnu::always_inline]] std::size_t count() const noexcept {
            std::size_t count;
            ACRE_READ(count, ACRE_DETAIL_DEFAULT_POOL_THREAD, Slot, thread_cache::count_at());
            return count;
        }
        [[gnu::always_inline]] magazine* loaded() const noexcept {
            magazine* loaded;
            ACRE_READ(loaded, ACRE_DETAIL_DEFAULT_POOL_THREAD, Slot, thread_cache::loaded_at());
            return loaded;
        }
        [[gnu::always_inline]] bool has_room_for_no_more_than(std::size_t count) const noexcept {
            bool is_equal;
            ACRE_COMPARE(is_equal, "e", ACRE_DETAIL_DEFAULT_POOL_THREAD, Slot, thread_cache::room_at(), count);
            return is_equal;
        }
        [[gnu::always_inline]] void set_count(std::size_t count) const noexcept {
            write<thread_cache::count_at()>(count);
        }

    private:
        template <std::size_t Offset>
        [[gnu::always_inline]] static void write(std::uintptr_t word) noexcept {
            asm volatile("mov{q %0, %%fs:" ACRE_DETAIL_DEFAULT_POOL_THREAD
                         "@tpoff+%c2| QWORD PTR fs:" ACRE_DETAIL_DEFAULT_POOL_THREAD "@tpoff+%c2, %0}"
                         :
                         : "re"(word), "i"(Slot), "i"(Offset));
        }
    };
    [[gnu::always_inline]] static found_cache find_cache() noexcept { return {}; }
#else
    ACRE_FINDER static thread_cache& find_cache() noexcept {
        static_pool_thread* found;
        ACRE_FIND(found, default_pool_thread<Slot>, ACRE_DETAIL_DEFAULT_POOL_THREAD, Slot);
        return found->cache;
    }
#endif
};
#undef ACRE_DETAIL_DEFAULT_POOL_THREAD

/// Slots of `Slot` bytes that all threads share.
template <std::size_t Slot, class Name, class Upstream, double_free_check Check>
class static_slots<Slot, Name, Upstream, true, Check> {
public:
    static constexpr detail::slab_geometry geometry = detail::slab_geometry::of(Slot, 8);

    [[gnu::always_inline]] static bool take(void*& p) noexcept {
        if (!threads::find_cache().take_front(p)) [[unlikely]]
            return false;
        mark_live(p);
        return true;
    }

    [[gnu::noinline]] static void* take_slow() noexcept {
        void* p = attach() ? all.depot.take(config, threads::here().cache) : all.depot.take_uncached(config);
        if (p != nullptr) mark_live(p);
        return p;
    }

    [[gnu::always_inline]] static void give_back(void* p) noexcept {
        if constexpr (checks_frees<Check>) {
            all.depot.slabs().cache(geometry, p, bitmap_slabs::place_of(geometry, p), mark_at,
                                    [p]() __attribute__((always_inline)) { abort_on(p); });
        }
        if (!threads::find_cache().put_front(p)) [[unlikely]]
            give_back_slow(p);
    }

    // Out of line, because the hot paths may read a thread's words where the compiler does not see it.
    [[gnu::noinline]] static bool prepare(std::size_t count) noexcept {
        return attach() && depot().reserve(config, threads::here().cache, count);
    }
    [[gnu::noinline]] static std::size_t release_unused() noexcept { return depot().release_unused(config, cache()); }
    static std::size_t live() noexcept { return depot().live(config); }
    static std::size_t held_bytes() noexcept { return depot().held_bytes(); }
    static bool owns(const void* p) noexcept { return depot().owns(config, p); }

    static const pool_registry::node& registered_node() noexcept { return all.node; }

private:
    using threads = static_pool_threads<Slot, Name, Upstream, Check>;

    static constexpr std::size_t mark_at = free_mark::offset(geometry.slot_bytes);
    static constexpr std::string_view group_name =
        std::is_same_v<Name, every_thread> ? "every_thread" : type_name<Name>();

    static pool_registry::entry describe() noexcept {
        return {geometry.slot_bytes, group_name, true, live(), held_bytes()};
    }
    [[gnu::always_inline]] static void mark_live(void* p) noexcept {
        if constexpr (checks_frees<Check>) bitmap_slabs::uncache(p, mark_at);
    }
    [[noreturn, gnu::noinline, gnu::cold]] static void abort_on(const void* p) noexcept {
        const char* what = all.depot.slabs().mistake_with(geometry, p);
        // Null when two threads freed the slot at once and it was allocated again meanwhile.
        abort_on_misuse(static_pool_name, what == nullptr ? mistake::double_free : what, p);
    }

    static constexpr detail::depot_config config{
        geometry,   static_pool_name,
        Upstream{}, SIZE_MAX,
        SIZE_MAX,   detail::magazine::capacity(geometry.slot_bytes, concurrent_pool_options{}.thread_bytes),
        Upstream{}, checks_frees<Check>};

    [[gnu::noinline]] static void give_back_slow(void* p) noexcept {
        if (attach()) {
            thread_cache& cache = threads::here().cache;
            if (void* before = cache.replace_front(p)) all.depot.put(config, cache, before);
        } else {
            all.depot.put_uncached(config, p);
        }
    }

    // Registers the depot's lock with the fork guard before anyone takes it.
    static detail::magazine_depot& depot() noexcept {
        if (!all.registered.load(std::memory_order_acquire)) register_depot();
        return all.depot;
    }

    [[gnu::noinline]] static void register_depot() noexcept {
        all.forks.guard_static(all.depot.lock(), nullptr, &abandon_other_caches);
        const bool first = !all.listed.exchange(true, std::memory_order_relaxed);
        if (first) pool_registry::add(all.node);
        all.registered.store(true, std::memory_order_release);
        if (first) {
            pool_registry::print(all.node, "first used; all threads share it");
        }
    }

    // False when this thread is ending: then it must not keep slots.
    [[gnu::noinline]] static bool attach() noexcept {
        static_pool_thread& local = threads::here();
        if (local.attached) return true;
        detail::magazine_depot& registered = depot();
        local.at_exit.run = &detach;
        local.attached = detail::run_at_thread_exit(local.at_exit);
        if (!local.attached) return false;
        threads::tell_distance();
        local.cache.open_front();
        registered.attach(local.cache);
        return true;
    }

    static void detach(detail::thread_exit_node*) noexcept {
        static_pool_thread& local = threads::here();
        local.attached = false;
        all.depot.detach(config, local.cache);
        local.cache.close_front();
    }

    // This thread's cache; null when it is not attached.
    [[gnu::noinline]] static detail::thread_cache* cache() noexcept {
        static_pool_thread& local = threads::here();
        return local.attached ? &local.cache : nullptr;
    }

    static void abandon_other_caches(void*) noexcept { all.depot.abandon_other_caches(cache(), false); }
    static std::size_t recycle() noexcept { return depot().try_release_unused(config, cache()); }

    struct state {
        detail::magazine_depot depot;
        std::atomic<bool> registered{false};  // acquire, release: the fork guard knows the lock before anyone takes it
        std::atomic<bool> listed{false};      // relaxed: elects the thread that adds the node, publishes nothing
        detail::fork_guard forks;
        pool_registry::node node{geometry.slot_bytes, group_name, &describe, &live, &recycle, nullptr, nullptr};
    };
    static inline constinit state all{};
    static_assert(std::is_trivially_destructible_v<state> && std::is_trivially_destructible_v<static_pool_thread>,
                  "acre: usable after main and while a thread ends");

public:
    static constexpr std::size_t state_alignment = alignof(state);
};
}  // namespace detail

/// The program's pool for slots of `Size` bytes, 1 or more, in one group.
template <std::size_t Size, class Group>
class static_pool : public detail::no_clear<static_pool<Size, Group>> {
    static_assert(Size > 0, "acre: the slots of a pool have at least one byte");
    static_assert(Size <= max_request / 1024, "acre::static_pool: slots this large: call acre::heap, or an arena");
    using group = detail::group_traits<Group>;
    using upstream_type = typename group::upstream;
    using slots = detail::static_slots<detail::shared_slot_bytes(Size), typename group::name, upstream_type,
                                       group::shared, group::check>;

public:
    static constexpr const char* name = detail::static_pool_name;
    /// acre::shared_resource
    static constexpr bool shared_by_threads = detail::group_traits<Group>::shared;
    /// acre::owning_resource: owns() knows nothing of what the upstream handed out.
    static constexpr bool owns_only_part = true;

    /// Bytes of a slot: Size rounded up to its size class.
    static constexpr std::size_t slot_bytes() noexcept { return slots::geometry.slot_bytes; }
    /// Alignment of every slot, in bytes: the largest power of two that divides the bytes of a slot.
    static constexpr std::size_t slot_alignment() noexcept { return slot_bytes() & (0 - slot_bytes()); }

    /// Returns a slot, contents undefined. When there is no memory it first lets all shared pools, and those of this
    /// group, give back what they do not use; then throws out_of_memory.
    [[gnu::always_inline]] static void* allocate() { return allocate_within(Size); }
    /// As allocate, but null when there is no memory.
    [[gnu::always_inline]] static void* try_allocate() noexcept { return try_allocate_within(Size); }
    /// Frees a slot; null is a no-op. Never fails.
    [[gnu::always_inline]] static void deallocate(void* p) noexcept {
        if (p != nullptr) slots::give_back(p);
    }

    /// True when a slot serves a request of this size and alignment; others go to the heap, or to the group's upstream.
    static constexpr bool serves(std::size_t bytes, std::size_t alignment) noexcept {
        return bytes <= slot_bytes() && alignment <= slot_alignment() && is_alignment(alignment);
    }

    // The interface of a resource: static, so it needs no object.
    /// A slot when one serves the request, and otherwise storage of the upstream. Throws out_of_memory,
    /// request_too_large or bad_alignment. Constant time, but for a pool that grows.
    [[gnu::always_inline]] static void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (serves(bytes, alignment)) [[likely]]
            return allocate_within(bytes);
        return allocate_large(bytes, alignment);
    }
    /// As allocate, but null where that would throw.
    [[gnu::always_inline]] static void* try_allocate(std::size_t bytes,
                                                     std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return try_allocate_within(bytes);
        return try_allocate_large(bytes, alignment);
    }
    /// Frees what allocate returned for the same size and alignment; null is a no-op. Never fails.
    [[gnu::always_inline]] static void deallocate(void* p, std::size_t bytes,
                                                  std::size_t alignment = default_alignment) noexcept {
        if (serves(bytes, alignment)) [[likely]]
            return deallocate(p);
        deallocate_large(p, bytes, alignment);
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        return serves(bytes, alignment) ? slot_bytes() : bytes;
    }

    /// Makes sure that this thread can take `count` slots without the heap, unless other threads take them first. False
    /// when the heap has not enough memory. Linear in `count`.
    static bool prepare(std::size_t count) noexcept {
        return slots::prepare(count) || (recycled() && slots::prepare(count));
    }
    /// Gives slabs without a live slot back to the heap and returns their bytes. Slots that other threads keep count as
    /// live. Linear in the slabs held.
    static std::size_t release_unused() noexcept { return slots::release_unused(); }
    /// Number of live slots: exact while no other thread uses the pool, approximate otherwise. Linear in the slabs
    /// held.
    static std::size_t live() noexcept { return slots::live(); }
    /// Bytes held from the heap, or from the group's upstream.
    static std::size_t capacity() noexcept { return slots::held_bytes(); }
    /// True when `p` lies in a slab of this pool; false for storage of the upstream. Linear in the slabs held.
    static bool owns(const void* p) noexcept { return slots::owns(p); }

    friend constexpr bool operator==(const static_pool&, const static_pool&) noexcept { return true; }

private:
    // A slot of which `bytes` bytes are in use.
    [[gnu::always_inline]] static void* allocate_within(std::size_t bytes) {
        void* p;
        if (!slots::take(p)) [[unlikely]]
            p = allocate_slow();
        if (exceptions_enabled || p != nullptr) unpoison(p, detail::accessible_bytes(bytes));
        return p;
    }
    [[gnu::always_inline]] static void* try_allocate_within(std::size_t bytes) noexcept {
        void* p;
        if (!slots::take(p)) [[unlikely]] {
            p = try_allocate_slow();
            if (p == nullptr) return nullptr;
        }
        unpoison(p, detail::accessible_bytes(bytes));
        return p;
    }

    [[gnu::noinline]] static void* allocate_slow() {
        if (void* p = try_allocate_slow()) return p;
        return raise<out_of_memory>(name, slot_bytes(), slot_alignment());
    }
    [[gnu::noinline]] static void* try_allocate_slow() noexcept {
        if (void* p = slots::take_slow()) [[likely]]
            return p;
        return recycled() ? slots::take_slow() : nullptr;
    }
    // Out of memory: true when the group's other sizes or the shared pools gave some back. No lock is held here.
    [[gnu::cold]] static bool recycled() noexcept {
        std::size_t bytes = pool_registry::recycle();
        if constexpr (!group::shared) bytes += pool_registry::recycle_group(slots::registered_node().group_key);
        pool_registry::print(slots::registered_node(), "out of memory; all pools gave % bytes back", bytes);
        return bytes != 0;
    }

    // Out of line: not the pool's purpose, and compilers warn of class-level operators that inline the heap's.
    [[gnu::noinline]] static void* allocate_large(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_large(bytes, alignment)) return p;
        return upstream_type{}.allocate(bytes, alignment);
    }
    [[gnu::noinline]] static void* try_allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
        void* p = upstream_type{}.try_allocate(bytes, alignment);
        if (p != nullptr || bytes > max_request / 2 || !is_alignment(alignment)) [[likely]]
            return p;
        return recycled() ? upstream_type{}.try_allocate(bytes, alignment) : nullptr;
    }
    [[gnu::noinline]] static void deallocate_large(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        // Only the first slot of a region lies where a block of upstream's begins: upstream would take the whole region
        // back. Few other blocks lie at such an address, so the walk over the slabs is rare.
        const bool may_begin_slab = reinterpret_cast<std::uintptr_t>(p) % slots::geometry.slab_bytes == 0;
        if (may_begin_slab && p != nullptr && slots::owns(p)) abort_on_misuse(name, detail::mistake::wrong_size, p);
        upstream_type{}.deallocate(p, bytes, alignment);
    }
};

}  // namespace acre

#endif  // ACRE_HAS_THREADS
