// Storage for N objects of exactly T inside the object. It has no upstream, and as a static object it is usable before
// any initialiser runs and after main.
//
// Use it for a class whose maximum number of objects is known: entities of a game, nodes of a parser. Its class-level
// operators new and delete become one line each. Use acre::object_pool<T> where the number is not known, acre::arena
// where sizes vary, acre::inline_arena where the objects die together with a function.
//
// Cost: allocate is 7 instructions (8 where the storage is larger than 256 KiB). Deallocate is none, since nothing is
// reused before reset() by default. With `.reuse`, freed objects and runs of neighbours are reused: constant time for
// one object; an array takes a step for each freed run before its own, and for each 64 slots of those. An array needs
// array_slots(count) neighbouring slots. With `.synchronized`, any thread may allocate and deallocate: one atomic
// addition, or if `.reuse` is set, too, a lock that all arenas of this type share. reset() and prefault() require that
// no other thread allocates. Memory: N * sizeof(T) bytes and 24 more; with `.reuse` a bit per object and 1/63 more.
// Static storage lies in .bss: unused pages cost nothing. The destructor does not destroy live objects; it is trivial
// unless freed storage is poisoned, or `.report_live` lets it say how many objects are left. Neither copied nor moved.
// Where freed storage is poisoned, redzones lie between allocations, in storage that is larger by them; with `.reuse`
// there are none, since a run may be freed in pieces.
//
//     struct Orc {
//         static void* operator new(std::size_t bytes);
//         static void operator delete(void* p, std::size_t bytes) noexcept;
//         int strength;
//     };
//     constinit acre::typed_arena<Orc, 1'000'000> orcs;
//     void* Orc::operator new(std::size_t bytes) { return orcs.class_new(bytes); }
//     void Orc::operator delete(void* p, std::size_t bytes) noexcept { orcs.class_delete(p, bytes); }
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/declarations.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/detail/slot_policies.hpp>
#include <acre/core/detail/target.hpp>
#include <acre/core/error.hpp>
#include <acre/core/exhaustion.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/core/typed_arena_options.hpp>
#include <acre/memory/heap.hpp>
#include <atomic>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

#if ACRE_HAS_THREADS
/// Poisons storage before its first use. A constructor that runs at compile time could not poison it.
///
/// A thread that reads `done`, in a load or in the failed exchange, acquires the poisoning that the store released: the
/// thread's own unpoisoning must come after it.
class poison_at_first_use {
public:
    void operator()(const void* storage, std::size_t bytes) noexcept {
        int seen = state_.load(std::memory_order_acquire);
        if (seen == done) return;
        seen = untouched;
        if (state_.compare_exchange_strong(seen, in_progress, std::memory_order_acq_rel)) {
            poison(storage, bytes);
            state_.store(done, std::memory_order_release);
            state_.notify_all();
            return;
        }
        while (seen != done) {
            state_.wait(in_progress, std::memory_order_acquire);
            seen = state_.load(std::memory_order_acquire);
        }
    }

private:
    static constexpr int untouched = 0, in_progress = 1, done = 2;
    std::atomic<int> state_{untouched};
};
#else
class poison_at_first_use {
public:
    void operator()(const void* storage, std::size_t bytes) noexcept {
        if (!std::exchange(done_, true)) poison(storage, bytes);
    }

private:
    bool done_ = false;
};
#endif

/// In its place in builds that do not poison.
class never_poisoned {
public:
    void operator()(const void*, std::size_t) const noexcept {}
};

/// A second base class of one that derives from T: its names are ambiguous there if T has them, too. So operators of
/// any parameters are found, also protected and private ones.
struct with_operators_new {
    static void* operator new(std::size_t);
    static void* operator new[](std::size_t);
    static void operator delete(void*);
    static void operator delete[](void*);
};
template <class T>
struct derived_with_operators_new : T, with_operators_new {};

template <class T>
concept derivable = std::is_class_v<T> && !std::is_final_v<T>;
/// No class can be derived only to look at it where a virtual destructor is private or protected.
template <class T>
concept derivable_to_look = derivable<T> && (!std::has_virtual_destructor_v<T> || std::is_destructible_v<T>);

/// True when T has a public operator new, that of every `new` or one that is given `Arena`.
template <class T, class Arena>
concept has_new = requires(std::size_t bytes) { T::operator new(bytes); } ||
                  requires(std::size_t bytes) { T::operator new(bytes, std::nothrow); } ||
                  requires(std::size_t bytes) { T::operator new(bytes, std::align_val_t{}); } ||
                  requires(std::size_t bytes, Arena& arena) { T::operator new(bytes, arena); };
/// The same for operator new[].
template <class T, class Arena>
concept has_new_array = requires(std::size_t bytes) { T::operator new[](bytes); } ||
                        requires(std::size_t bytes) { T::operator new[](bytes, std::nothrow); } ||
                        requires(std::size_t bytes) { T::operator new[](bytes, std::align_val_t{}); } ||
                        requires(std::size_t bytes, Arena& arena) { T::operator new[](bytes, arena); };

/// True when objects of a class derived from T may come from T's own operator new, whatever its parameters are; of a
/// class whose virtual destructor is not public, from a public one.
template <class T, class Arena>
concept has_inherited_new =
    (derivable<T> && has_new<T, Arena>) ||
    (derivable_to_look<T> && !requires(std::size_t bytes) { derived_with_operators_new<T>::operator new(bytes); });
template <class T, class Arena>
concept has_inherited_new_array =
    (derivable<T> && has_new_array<T, Arena>) ||
    (derivable_to_look<T> && !requires(std::size_t bytes) { derived_with_operators_new<T>::operator new[](bytes); });

/// True when T's own operator new[] is asked for more bytes than the objects take: a cookie in front of them.
template <class T, class Arena>
concept has_new_with_cookie =
    has_new_array<T, Arena> &&
    (!std::is_trivially_destructible_v<T> || requires(void* p, std::size_t bytes) { T::operator delete[](p, bytes); });

/// The slot policy of a typed_arena of T with these options.
template <class T, std::size_t Count, bool Reuse, bool Synchronized, std::size_t SlotBytes = sizeof(T)>
using typed_arena_slots =
    std::conditional_t<Reuse,
                       std::conditional_t<Synchronized, detail::locked_slots<detail::reused_slots<SlotBytes, Count>, T>,
                                          detail::reused_slots<SlotBytes, Count>>,
                       std::conditional_t<Synchronized, detail::shared_bump_slots<SlotBytes, Count>,
                                          detail::bump_slots<SlotBytes, Count>>>;

/// The same where the arena reports what is live: a policy with reuse knows it, another counts.
template <class Slots, bool Synchronized>
using counting_typed_arena_slots =
    std::conditional_t<Slots::reuses, Slots,
                       counted_slots<Slots, std::conditional_t<Synchronized, std::atomic<std::size_t>, std::size_t>>>;

}  // namespace detail

/// Storage for `N` objects of exactly T. `Fallback` serves requests when full, if `.when_full` says so, and class-level
/// new of other sizes.
template <class T, std::size_t N, typed_arena_options Options, class Fallback>
class typed_arena : public detail::no_clear<typed_arena<T, N, Options, Fallback>> {
    static_assert(resource<Fallback>, "acre::typed_arena: the fallback is a resource, as acre::heap");
    static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                  "acre::typed_arena holds single objects that are not const");
    static_assert(
        N > 0, "acre::typed_arena<T, N>: write N, the number of objects: there must be room for one object at least");
    static constexpr bool fits = N <= max_request / sizeof(T);
    static_assert(fits, "acre::typed_arena: N objects of T are more than a program can address");
    static_assert(
        !fits || N * sizeof(T) <= Options.limit_bytes,
        "acre::typed_arena: N objects of T take more bytes than limit_bytes allows: lower N, or raise limit_bytes");
    static_assert(
        !Options.require_final || !detail::derivable<T>,
        "acre::typed_arena: require_final asks for a final class, since a derived class of the same size would "
        "share the arena: write `final` behind the name of T");

    static constexpr bool may_be_null = Options.when_full == exhaustion::null;
    static constexpr bool aborts = Options.when_full == exhaustion::abort;
    static constexpr bool never_throws = may_be_null || aborts;
    static constexpr bool falls_back = Options.when_full == exhaustion::fall_back;

    // When an assertion above fails, an array of 1 avoids a second error.
    static constexpr std::size_t slot_count = fits ? N : 1;
    static constexpr std::size_t storage_bytes = slot_count * sizeof(T);
    // How many times its offset a slot's address lies behind the start; the gaps are redzones, and small objects begin
    // at multiples of poison_granule. With `.reuse` there are none, since a run may be freed in pieces.
    static constexpr std::size_t stretch = [] {
        if (!poisoning || Options.reuse) return std::size_t{1};
        if (sizeof(T) >= redzone_bytes) return std::size_t{2};
        return align_up((redzone_bytes + sizeof(T) - 1) / sizeof(T) + 1,
                        poison_granule / detail::min(poison_granule, sizeof(T) & (0 - sizeof(T))));
    }();
    static constexpr std::size_t stretched_bytes = storage_bytes * stretch;
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t cache_line_bytes = 64;

    // Addresses ascend, but hardware prefetchers stop at the end of a page. Prefetching makes allocating in touched
    // storage of a million objects a fifth faster. Storage that fits into a cache does not need it.
    static constexpr std::size_t prefetch_bytes = 1024;
    static constexpr bool fetches_ahead = !Options.reuse && storage_bytes >= 256 * 1024;

public:
    static constexpr const char* name = "acre::typed_arena";
    /// acre::shared_resource
    static constexpr bool shared_by_threads = Options.synchronized;
    /// acre::owning_resource: owns() knows nothing of what the fallback handed out.
    static constexpr bool owns_only_part = falls_back;
    static constexpr typed_arena_options options = Options;
    using value_type = T;

    /// Largest alignment served: at least that of T and of any scalar, and what sizeof(T) implies, up to a page.
    static constexpr std::size_t max_alignment =
        detail::max(detail::max(alignof(T), default_alignment), detail::min(sizeof(T) & (0 - sizeof(T)), page_bytes));

    /// Writes nothing: an object of static storage duration needs no initialisation.
    constexpr typed_arena() noexcept
        requires std::default_initializable<Fallback>
        : nothing_{} {}
    constexpr explicit typed_arena(Fallback fallback) noexcept : nothing_{}, fallback_(fallback) {}

    typed_arena(const typed_arena&) = delete;
    typed_arena& operator=(const typed_arena&) = delete;

    /// Destroys no objects. Trivial unless `.report_live` is set: a static one serves objects that end after it.
    ~typed_arena() = default;
    ~typed_arena()
        requires(poisoning || Options.report_live)
    {
        if constexpr (Options.report_live) detail::live_report{true}.write(name, [this] { return live(); });
        if constexpr (poisoning) unpoison(storage_, stretched_bytes);
    }

    /// Lets `count` objects fit from now on: a capacity chosen at run time, of which N is the upper bound. To be called
    /// before the first allocation. Throws bad_option unless 1 <= count <= N, and when anything was allocated.
    void limit_slots(std::size_t count) {
        require_option(count >= 1 && count <= N, name, "limit_slots", count, "1 to N");
        require_option(slots_.used() == skipped_, name, "limit_slots", count, "only before the first allocation");
        skipped_ = (N - count) * sizeof(T);
        slots_.skip(skipped_);
    }

    /// Sets the function that is called before a request fails for want of room, as often as it returns true: true says
    /// that it freed something. It may throw where `.when_full` is fail. As std::set_new_handler, but for this arena;
    /// no other thread may allocate meanwhile. Null is none.
    void set_full_handler(bool (*handler)()) noexcept { full_handler_ = handler; }

    /// Uninitialised storage of one T. Not for the body of T's operator new, see class_new(). When full it first asks
    /// the handler; then it throws limit_exceeded, aborts with that sentence, returns null or asks the fallback, as
    /// `.when_full` says.
    [[gnu::always_inline]] T* allocate_one() noexcept(never_throws) {
        require_class_new();
        return static_cast<T*>(allocate(sizeof(T), alignof(T)));
    }
    /// As allocate_one, but null when it cannot.
    [[gnu::always_inline]] T* try_allocate_one() noexcept {
        require_class_new();
        return static_cast<T*>(try_allocate(sizeof(T), alignof(T)));
    }

    /// Uninitialised storage of `count` adjacent objects of T; a distinct pointer for 0. Not for the body of T's
    /// operator new[], see class_new_array(). When full, as allocate_one; request_too_large if there can never be room.
    T* allocate_n(std::size_t count) noexcept(never_throws) {
        require_class_new_array();
        const auto bytes = array_bytes(count, sizeof(T));
        return static_cast<T*>(allocate(bytes ? *bytes : SIZE_MAX, alignof(T)));
    }
    /// As allocate_n, but null when it cannot.
    T* try_allocate_n(std::size_t count) noexcept {
        require_class_new_array();
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes ? static_cast<T*>(try_allocate(*bytes, alignof(T))) : nullptr;
    }

    /// Takes back storage of allocate_one; null is a no-op. Without `.reuse` no instruction.
    [[gnu::always_inline]] void deallocate_one(T* p) noexcept { deallocate(p, sizeof(T), alignof(T)); }
    /// Takes back storage of allocate_n(count).
    void deallocate_n(T* p, std::size_t count) noexcept { deallocate(p, count * sizeof(T), alignof(T)); }

    /// A T constructed from `arguments`. Fails as allocate_one, and throws what the constructor throws: then its
    /// storage is free again (without `.reuse`, only if nothing was allocated after it).
    template <class U = T, class... Arguments>
    U* create(Arguments&&... arguments) {
        require_exactly<U>();
        return the_same<U>(construct(allocate(sizeof(T), alignof(T)), std::forward<Arguments>(arguments)...));
    }
    /// As create, but null when there is no room.
    template <class U = T, class... Arguments>
    U* try_create(Arguments&&... arguments) {
        require_exactly<U>();
        void* storage = try_allocate(sizeof(T), alignof(T));
        return storage == nullptr ? nullptr : the_same<U>(construct(storage, std::forward<Arguments>(arguments)...));
    }
    /// Destroys the object and takes its storage back; null is a no-op.
    template <class U>
    void destroy(U* object) noexcept {
        require_exactly<U>();
        if (object == nullptr) return;
        if constexpr (!std::is_trivially_destructible_v<T>) {
            check_live(object);
            detail::destroy_at(object);
        }
        deallocate(object, sizeof(T), alignof(T));
    }
    void destroy(std::nullptr_t) noexcept {}

    // The bodies of T's class-level operators. The fallback serves other sizes (derived classes). A derived class of
    // T's size cannot be told from T and shares the slots; `.require_final` refuses it.

    /// For `operator new(std::size_t bytes)`. With exhaustion::null that operator must be noexcept.
    [[gnu::always_inline]] void* class_new(std::size_t bytes) noexcept(never_throws) {
        if (bytes == sizeof(T)) [[likely]]
            return allocate(sizeof(T), alignof(T));
        return new_slow(bytes);
    }
    /// For `operator new(std::size_t bytes, const std::nothrow_t&) noexcept`.
    void* try_class_new(std::size_t bytes) noexcept {
        return bytes == sizeof(T) ? try_allocate(sizeof(T), alignof(T))
                                  : fallback_.try_allocate(bytes, alignment_of_size(bytes));
    }
    /// For `operator delete(void* p) noexcept`, where T is final.
    template <class U = T>
    [[gnu::always_inline]] void class_delete(void* p) noexcept {
        static_assert(!std::is_class_v<U> || std::is_final_v<U>,
                      "acre::typed_arena: an operator delete without a size cannot tell T from a derived class: make T "
                      "final, or declare operator delete(void*, std::size_t)");
        deallocate_one(static_cast<T*>(p));
    }
    /// For `operator delete(void* p, std::size_t bytes) noexcept`.
    [[gnu::always_inline]] void class_delete(void* p, std::size_t bytes) noexcept {
        if (bytes == sizeof(T)) [[likely]]
            return deallocate_one(static_cast<T*>(p));
        // An object of another size never lies in the arena.
        if (p != nullptr && owns(p)) [[unlikely]]
            abort_on_misuse(name, detail::mistake::wrong_size, p);
        fallback_.deallocate(p, bytes, alignment_of_size(bytes));
    }
    /// For `operator new[](std::size_t bytes)`. `bytes` includes the compiler's cookie and is rounded up to slots.
    void* class_new_array(std::size_t bytes) noexcept(never_throws) { return allocate(bytes, array_alignment); }
    /// For `operator new[](std::size_t bytes, const std::nothrow_t&) noexcept`.
    void* try_class_new_array(std::size_t bytes) noexcept { return try_allocate(bytes, array_alignment); }
    /// For `operator delete[](void* p) noexcept`, where taking back does nothing.
    template <class U = T>
    void class_delete_array(void* p) noexcept {
        static_assert(std::is_same_v<U, T> && !Options.reuse && !Options.report_live && !falls_back,
                      "acre::typed_arena: an operator delete[] without a size cannot tell how many slots to take back: "
                      "declare operator delete[](void*, std::size_t)");
        deallocate(p, sizeof(T), array_alignment);
    }
    /// For `operator delete[](void* p, std::size_t bytes) noexcept`.
    void class_delete_array(void* p, std::size_t bytes) noexcept { deallocate(p, bytes, array_alignment); }

    // The members of a resource: as many neighbouring slots as `bytes` need.

    /// Fails as allocate_one; with request_too_large or bad_alignment if there can never be room.
    [[gnu::always_inline]] void* allocate(std::size_t bytes,
                                          std::size_t alignment = default_alignment) noexcept(never_throws) {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return refuse(bytes, alignment);
    }
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        void* p;
        if (take(bytes, alignment, p)) [[likely]]
            return p;
        return try_allocate_slow(bytes, alignment);
    }
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           [[maybe_unused]] std::size_t alignment = default_alignment) noexcept {
        if constexpr (falls_back) {
            if (!owns(p)) return fallback_.deallocate(p, bytes, alignment);
        }
        if (p == nullptr) return;
        check_owned(p);
        poison(p, bytes);
        slots_.give_back(name, p, offset_of(p), slots_for(bytes));
    }

    /// Takes all storage back and destroys no objects: for objects that were destroyed, or need no destructor. Constant
    /// time; with `.reuse` a step for each 512 slots used. Not with exhaustion::fall_back: storage of the fallback has
    /// to go back one by one.
    void deallocate_all() noexcept
        requires(!falls_back)
    {
        poison(storage_, stretched_bytes);
        slots_.reset();
        if (skipped_ != 0) slots_.skip(skipped_);
    }
    /// As deallocate_all, for a T that needs no destructor.
    template <class U = T>
    void reset() noexcept
        requires(!falls_back)
    {
        static_assert(std::is_trivially_destructible_v<U>,
                      "acre::typed_arena does not know which objects live, so reset() would skip their destructors: "
                      "destroy each, then call deallocate_all()");
        deallocate_all();
    }

    /// Touches each unused page, so that allocating takes no page fault later. Linear in the free bytes.
    void prefault() noexcept {
        slots_.prefault();
        if constexpr (poisoning) return;
        for (std::size_t at = slots_.untouched_from(); at < storage_bytes; at += page_bytes) touch(at);
        if (slots_.untouched_from() < storage_bytes) touch(storage_bytes - 1);
    }

    /// Number of objects that fit; see limit_slots().
    static constexpr std::size_t slots() noexcept { return N; }
    /// Bytes of the storage.
    static constexpr std::size_t capacity() noexcept { return storage_bytes; }
    /// Bytes handed out in whole slots; without `.reuse` freed ones count, too.
    std::size_t used() const noexcept { return slots_.used() - skipped_; }
    /// Number of slots handed out and not taken back; with `.reuse` or `.report_live`.
    std::size_t live() const noexcept
        requires(Options.reuse || Options.report_live)
    {
        if constexpr (Options.reuse)
            return used() / sizeof(T);
        else
            return slots_.live();
    }
    /// True when `p` lies in the storage; false for storage of the fallback.
    bool owns(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(storage_) < stretched_bytes;
    }

    /// Bytes of storage that `count` single objects take. SIZE_MAX when that overflows.
    static constexpr std::size_t required_bytes(std::size_t count) noexcept {
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes ? *bytes : SIZE_MAX;
    }
    /// Neighbouring slots that `new T[count]` takes, with the compiler's cookie; the first is aligned as a std::size_t.
    /// SIZE_MAX when that overflows.
    static constexpr std::size_t array_slots(std::size_t count) noexcept {
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes && *bytes <= max_request - cookie_bytes ? slots_for(*bytes + cookie_bytes) : SIZE_MAX;
    }

private:
    // If operator delete[] takes the size, compilers store the length in front of the array, aligned as T.
    static constexpr std::size_t cookie_bytes = detail::max(sizeof(std::size_t), alignof(T));
    static constexpr std::size_t array_alignment = detail::max(alignof(std::size_t), alignof(T));

    template <class U>
    static constexpr void require_exactly() noexcept {
        static_assert(std::is_same_v<U, T>,
                      "acre::typed_arena holds objects of exactly T, not of a derived or another class: give each "
                      "class an arena of its own");
    }

    // An operator new of T that ignores its size, and one that divides it by sizeof(T), are wrong in silence.
    static constexpr void require_class_new() noexcept {
        static_assert(!detail::has_inherited_new<T, typed_arena>,
                      "acre::typed_arena: the class has an operator new, which a larger derived class inherits: call "
                      "class_new(bytes) there, or make the class final; elsewhere call create() or allocate(bytes)");
    }
    static constexpr void require_class_new_array() noexcept {
        static_assert(
            !detail::has_inherited_new_array<T, typed_arena>,
            "acre::typed_arena: the class has an operator new[], which arrays of a larger derived class use, "
            "too: call class_new_array(bytes) there, or make the class final; elsewhere call allocate(bytes)");
        static_assert(!detail::has_new_with_cookie<T, typed_arena>,
                      "acre::typed_arena: the class has an operator new[], which is asked for a cookie in front of the "
                      "objects, too: call class_new_array(bytes) there; elsewhere call allocate(bytes)");
    }

    // Converts any pointer, so that require_exactly() is the only error.
    template <class U>
    static U* the_same(T* object) noexcept {
        return static_cast<U*>(static_cast<void*>(object));
    }

    static constexpr std::size_t slots_for(std::size_t bytes) noexcept {
        return bytes / sizeof(T) + (bytes % sizeof(T) != 0) + (bytes == 0);
    }

    // The largest alignment of a type of this size: sizes are multiples of alignments.
    static constexpr std::size_t alignment_of_size(std::size_t bytes) noexcept {
        return bytes == 0 ? 1 : bytes & (0 - bytes);
    }

    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        if (!is_alignment(alignment) || alignment > max_alignment) [[unlikely]]
            return false;
        const std::size_t count = slots_for(bytes);
        if (count > slot_count) [[unlikely]]
            return false;
        std::size_t offset;
        if (!slots_.take(count, alignment, offset)) [[unlikely]]
            return false;
        p = storage_ + offset * stretch;
        if constexpr (fetches_ahead) __builtin_prefetch(storage_ + offset + prefetch_bytes, 1);
        poison_first_(storage_, stretched_bytes);
        unpoison(p, bytes);
        return true;
    }

    std::size_t offset_of(const void* p) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(p) - storage_) / stretch;
    }

    // Without reuse a free changes nothing, so only builds with assertions check the pointer.
    void check_owned([[maybe_unused]] const void* p) const noexcept {
        if constexpr (slots_type::reuses) {
            if (!owns(p)) abort_on_misuse(name, "a pointer was freed that is not of this arena", p);
        } else {
            assert(owns(p));
        }
    }

    // Before a destructor runs: it would end the members of a dead object again.
    void check_live([[maybe_unused]] const void* p) const noexcept {
        if constexpr (slots_type::reuses) {
            if (falls_back && !owns(p)) return;
            check_owned(p);
            slots_.check_live(name, p, offset_of(p), 1);
        }
    }

    template <class... Arguments>
    T* construct(void* storage, Arguments&&... arguments) {
        auto* const slot = static_cast<T*>(storage);
        // Only where allocate() may return null: compilers warn of a use without a look at what create() returns.
        if ((may_be_null || !exceptions_enabled) && slot == nullptr) return nullptr;
        return detail::construct_at_or<T>(
            slot, [this, slot]() noexcept { undo(slot); }, std::forward<Arguments>(arguments)...);
    }

    void undo(T* slot) noexcept {
        if (falls_back && !owns(slot)) return fallback_.deallocate(slot, sizeof(T), alignof(T));
        poison(slot, sizeof(T));
        slots_.undo(name, slot, offset_of(slot), 1);
    }

    void touch(std::size_t offset) noexcept { static_cast<volatile std::byte&>(storage_[offset]) = std::byte{0}; }

    [[gnu::noinline, gnu::cold]] void* refuse(std::size_t bytes, std::size_t alignment) noexcept(never_throws) {
        if (void* p = ask_handler(bytes, alignment)) return p;
        if constexpr (may_be_null) {
            return nullptr;
        } else if constexpr (falls_back) {
            return fallback_.allocate(bytes, alignment);
        } else {
            if (!is_alignment(alignment) || alignment > max_alignment) return fail<bad_alignment>(name, alignment);
            const std::size_t count = slots_for(bytes);
            const std::size_t all_bytes = storage_bytes - skipped_;
            if (count > all_bytes / sizeof(T)) return fail<request_too_large>(name, bytes, all_bytes);
            return fail<limit_exceeded>(name, count * sizeof(T), used(), all_bytes);
        }
    }

    // Tries again as long as the handler says that it made room.
    void* ask_handler(std::size_t bytes, std::size_t alignment) noexcept(never_throws) {
        if (full_handler_ != nullptr) {
            const bool possible = is_alignment(alignment) && alignment <= max_alignment &&
                                  slots_for(bytes) <= (storage_bytes - skipped_) / sizeof(T);
            void* p;
            while (possible && detail::allow_blocking(full_handler_)) {
                if (take(bytes, alignment, p)) return p;
            }
        }
        return nullptr;
    }

    template <class Error, class... Arguments>
    static void* fail(Arguments... arguments) noexcept(never_throws) {
        if constexpr (aborts) abort_with(Error{arguments...});
        return raise<Error>(arguments...);
    }

    [[gnu::noinline, gnu::cold]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (void* p = ask_handler(bytes, alignment)) return p;
        if constexpr (falls_back) return fallback_.try_allocate(bytes, alignment);
        return nullptr;
    }

    [[gnu::noinline]] void* new_slow(std::size_t bytes) noexcept(never_throws) {
        if constexpr (!never_throws) return fallback_.allocate(bytes, alignment_of_size(bytes));
        void* p = fallback_.try_allocate(bytes, alignment_of_size(bytes));
        if (aborts && p == nullptr) abort_with(out_of_memory{name, bytes, alignment_of_size(bytes)});
        return p;
    }

    using plain_slots = detail::typed_arena_slots<T, slot_count, Options.reuse, Options.synchronized>;
    using slots_type =
        std::conditional_t<Options.report_live, detail::counting_typed_arena_slots<plain_slots, Options.synchronized>,
                           plain_slots>;

    // A plain array needs an initialiser to be constant-initialised, and would then be zeroed on the stack. In a union
    // it stays uninitialised.
    union {
        std::byte nothing_;
        alignas(max_alignment) std::byte storage_[stretched_bytes];
    };
    // Shared by threads, so not on a cache line with objects.
    alignas(Options.synchronized ? cache_line_bytes : alignof(slots_type)) slots_type slots_;
    std::size_t skipped_ = 0;  // bytes at the beginning that limit_slots() left out
    bool (*full_handler_)() = nullptr;
    [[no_unique_address]] std::conditional_t<poisoning, detail::poison_at_first_use, detail::never_poisoned>
        poison_first_;
    [[no_unique_address]] Fallback fallback_;
};

}  // namespace acre
