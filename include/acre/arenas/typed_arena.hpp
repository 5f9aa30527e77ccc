// Room for N objects of exactly T, inside the object: an arena that is keyed on the type, takes nothing from anywhere,
// and may be static, in a function or at namespace scope: it is ready before any initialiser runs and stays so after
// main.
//
// Use it for a class whose number is known: entities of a game, nodes of a parser, orders of a day; its class-level
// operators new and delete become one line each. Use acre::object_pool<T> where the number is not known, acre::arena
// where sizes vary, acre::inline_arena where the objects die together with a function.
//
// Cost: allocate is 7 instructions (8 where the storage is larger than 256 KiB), deallocate none: by default nothing is
// reused before reset(). With `.reuse` freed single objects and runs of neighbours are: constant time for one object;
// an array takes a step for each freed run before its own and for each 64 slots of those; the room it needs is
// array_slots(count) neighbours. With `.synchronized` any thread may allocate and deallocate: one atomic addition, or a
// std::mutex with `.reuse` as well. reset() and prefault() are for one thread while no other allocates.
// Memory: N * sizeof(T) bytes and a counter; with `.reuse` a bit an object and 1/63 more. Storage of static duration
// lies in .bss: pages that were never used cost nothing. Trivially destroyed (but where freed storage is poisoned):
// objects that still live are not destroyed. Neither copied nor moved.
//
//     constinit acre::typed_arena<Orc, 1'000'000> orcs;
//
//     void* Orc::operator new(std::size_t bytes) { return orcs.class_new(bytes); }
//     void Orc::operator delete(void* p, std::size_t bytes) noexcept { orcs.class_delete(p, bytes); }
//     void* Orc::operator new[](std::size_t bytes) { return orcs.class_new_array(bytes); }
//     void Orc::operator delete[](void* p, std::size_t bytes) noexcept { orcs.class_delete_array(p, bytes); }
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/construct.hpp>
#include <acre/core/detail/slot_policies.hpp>
#include <acre/core/error.hpp>
#include <acre/core/exhaustion.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <algorithm>
#include <atomic>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

/// What a typed_arena does; a template argument.
struct typed_arena_options {
    std::size_t limit_bytes = max_request;    // N * sizeof(T) may be no more than this: checked by the compiler
    exhaustion when_full = exhaustion::fail;  // what becomes of a request when there is no room
    bool reuse = false;                       // freed storage is handed out again
    bool synchronized = false;                // any thread may allocate and deallocate
};

namespace detail {

/// Poisons storage before its first use. A constructor that runs at compile time could not.
///
/// Whoever finds `done`, by any of the loads or by the refused exchange, acquires what the store of it released: the
/// poisoning, which must not come after an unpoisoning of its own. Taking the turn hands nothing over.
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

/// The same where nothing is poisoned.
class never_poisoned {
public:
    void operator()(const void*, std::size_t) const noexcept {}
};

/// How a typed_arena with these options keeps its slots.
template <std::size_t SlotBytes, std::size_t Count, bool Reuse, bool Synchronized>
using typed_arena_slots =
    std::conditional_t<Reuse,
                       std::conditional_t<Synchronized, detail::locked_slots<detail::reused_slots<SlotBytes, Count>>,
                                          detail::reused_slots<SlotBytes, Count>>,
                       std::conditional_t<Synchronized, detail::shared_bump_slots<SlotBytes, Count>,
                                          detail::bump_slots<SlotBytes, Count>>>;

}  // namespace detail

/// Room for `N` objects of exactly T. `Fallback` serves what `.when_full` and other sizes of class-level new send
/// there.
template <class T, std::size_t N, typed_arena_options Options = typed_arena_options{}, resource Fallback = heap>
class typed_arena {
    static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                  "acre::typed_arena holds single objects that are not const");
    static_assert(N > 0, "acre::typed_arena: there must be room for one object at least");
    static constexpr bool fits = N <= max_request / sizeof(T);
    static_assert(fits, "acre::typed_arena: N objects of T are more than a program can address");
    static_assert(!fits || N * sizeof(T) <= Options.limit_bytes,
                  "acre::typed_arena: N objects of T take more bytes than limit_bytes allows");

    static constexpr bool may_be_null = Options.when_full == exhaustion::null;
    static constexpr bool falls_back = Options.when_full == exhaustion::fall_back;

    // Errors above are enough: without this an array too large would add its own.
    static constexpr std::size_t slot_count = fits ? N : 1;
    static constexpr std::size_t storage_bytes = slot_count * sizeof(T);
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t cache_line_bytes = 64;

    // Slots come out ascending, and processors fetch ahead no further than to the end of a page: told to, allocating in
    // a million orcs' memory that was touched before takes a fifth less time. What fits into a cache needs no telling.
    static constexpr std::size_t prefetch_bytes = 1024;
    static constexpr bool fetches_ahead = !Options.reuse && storage_bytes >= 256 * 1024;

public:
    static constexpr const char* name = "acre::typed_arena";
    static constexpr typed_arena_options options = Options;
    using value_type = T;

    /// Requests aligned to this many bytes or fewer are served: as every object is, and what T's size gives, up to a
    /// page.
    static constexpr std::size_t max_alignment =
        std::max({alignof(T), default_alignment, std::min(sizeof(T) & (0 - sizeof(T)), page_bytes)});

    /// Touches nothing: an object of static storage duration needs no initialisation.
    constexpr typed_arena() noexcept
        requires std::default_initializable<Fallback>
        : nothing_{} {}
    constexpr explicit typed_arena(Fallback fallback) noexcept : nothing_{}, fallback_(fallback) {}

    typed_arena(const typed_arena&) = delete;
    typed_arena& operator=(const typed_arena&) = delete;

    /// Nothing: what is static serves those that end later, too.
    ~typed_arena() = default;
    ~typed_arena()
        requires poisoning
    {
        unpoison(storage_, storage_bytes);
    }

    /// Uninitialised storage of one T. When there is no room: throws limit_exceeded, returns null or asks the fallback,
    /// as `.when_full` says.
    [[gnu::always_inline]] T* allocate_one() noexcept(may_be_null) {
        return static_cast<T*>(allocate(sizeof(T), alignof(T)));
    }
    /// As allocate_one, but null when it cannot.
    [[gnu::always_inline]] T* try_allocate_one() noexcept {
        return static_cast<T*>(try_allocate(sizeof(T), alignof(T)));
    }

    /// Uninitialised storage of `count` objects of T, side by side; of none: a pointer like no other. When there is no
    /// room, as allocate_one; throws request_too_large where there could never be.
    T* allocate_n(std::size_t count) noexcept(may_be_null) {
        const auto bytes = array_bytes(count, sizeof(T));
        return static_cast<T*>(allocate(bytes ? *bytes : SIZE_MAX, alignof(T)));
    }
    /// As allocate_n, but null when it cannot.
    T* try_allocate_n(std::size_t count) noexcept {
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes ? static_cast<T*>(try_allocate(*bytes, alignof(T))) : nullptr;
    }

    /// Takes back what allocate_one gave; null is a no-op. Without `.reuse` no instruction.
    [[gnu::always_inline]] void deallocate_one(T* p) noexcept { deallocate(p, sizeof(T), alignof(T)); }
    /// Takes back what allocate_n gave for `count`.
    void deallocate_n(T* p, std::size_t count) noexcept { deallocate(p, count * sizeof(T), alignof(T)); }

    /// A T constructed from `arguments`. Fails as allocate_one, and throws what the constructor throws: then its
    /// storage is free again, without `.reuse` if nothing was allocated after it.
    template <class U = T, class... Arguments>
    U* create(Arguments&&... arguments) {
        require_exactly<U>();
        return construct(allocate_one(), std::forward<Arguments>(arguments)...);
    }
    /// As create, but null when there is no room.
    template <class U = T, class... Arguments>
    U* try_create(Arguments&&... arguments) {
        require_exactly<U>();
        return construct(try_allocate_one(), std::forward<Arguments>(arguments)...);
    }
    /// Destroys the object and takes its storage back; null is a no-op.
    template <class U>
    void destroy(U* object) noexcept {
        require_exactly<U>();
        if (object == nullptr) return;
        std::destroy_at(object);
        deallocate_one(object);
    }

    // The bodies of T's class-level operators. Sizes other than T's, of derived classes, go to the fallback both ways.

    /// For `operator new(std::size_t bytes)`. With exhaustion::null that operator must be noexcept.
    [[gnu::always_inline]] void* class_new(std::size_t bytes) noexcept(may_be_null) {
        if (bytes == sizeof(T)) [[likely]]
            return allocate_one();
        return new_slow(bytes);
    }
    /// For `operator new(std::size_t bytes, const std::nothrow_t&) noexcept`.
    void* try_class_new(std::size_t bytes) noexcept {
        return bytes == sizeof(T) ? try_allocate_one() : fallback_.try_allocate(bytes, alignment_of_size(bytes));
    }
    /// For `operator delete(void* p, std::size_t bytes) noexcept`; the size is needed.
    [[gnu::always_inline]] void class_delete(void* p, std::size_t bytes) noexcept {
        if (bytes == sizeof(T)) [[likely]]
            return deallocate_one(static_cast<T*>(p));
        fallback_.deallocate(p, bytes, alignment_of_size(bytes));
    }
    /// For `operator new[](std::size_t bytes)`: `bytes` holds the compiler's cookie, too, and is rounded up to slots.
    void* class_new_array(std::size_t bytes) noexcept(may_be_null) { return allocate(bytes, array_alignment); }
    /// For `operator new[](std::size_t bytes, const std::nothrow_t&) noexcept`.
    void* try_class_new_array(std::size_t bytes) noexcept { return try_allocate(bytes, array_alignment); }
    /// For `operator delete[](void* p, std::size_t bytes) noexcept`; the size is needed.
    void class_delete_array(void* p, std::size_t bytes) noexcept { deallocate(p, bytes, array_alignment); }

    // The face of a resource: as many neighbouring slots as `bytes` need.

    /// Fails as allocate_one, with request_too_large or bad_alignment where there could never be room.
    [[gnu::always_inline]] void* allocate(std::size_t bytes,
                                          std::size_t alignment = default_alignment) noexcept(may_be_null) {
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

    /// Takes everything back at once; objects are not destroyed. Constant time; with `.reuse` a step for each 512 slots
    /// used. An arena that falls back has no reset: what lies elsewhere goes back one by one.
    void reset() noexcept
        requires(!falls_back)
    {
        poison(storage_, storage_bytes);
        slots_.reset();
    }

    /// Touches each page that no object lies in, so that allocating takes no page fault later. Linear in the free
    /// bytes.
    void prefault() noexcept {
        slots_.prefault();
        if constexpr (poisoning) return;
        for (std::size_t at = slots_.untouched_from(); at < storage_bytes; at += page_bytes) touch(at);
        if (slots_.untouched_from() < storage_bytes) touch(storage_bytes - 1);
    }

    /// Number of objects that there is room for.
    static constexpr std::size_t slots() noexcept { return N; }
    /// Bytes of the storage.
    static constexpr std::size_t capacity() noexcept { return storage_bytes; }
    /// Bytes handed out, whole slots; without `.reuse` those freed count, too.
    std::size_t used() const noexcept { return slots_.used(); }
    /// True when `p` lies in the storage; not for what came from the fallback.
    bool owns(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(storage_) < storage_bytes;
    }

    /// Bytes of storage that `count` single objects take. SIZE_MAX when there cannot be so many.
    static constexpr std::size_t required_bytes(std::size_t count) noexcept {
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes ? *bytes : SIZE_MAX;
    }
    /// Neighbouring slots that `new T[count]` takes, the compiler's cookie included; the first of them at a multiple of
    /// what a std::size_t is aligned to. SIZE_MAX when there cannot be so many.
    static constexpr std::size_t array_slots(std::size_t count) noexcept {
        const auto bytes = array_bytes(count, sizeof(T));
        return bytes && *bytes <= max_request - cookie_bytes ? slots_for(*bytes + cookie_bytes) : SIZE_MAX;
    }

private:
    // A class whose operator delete[] takes the size has its arrays' length stored in front of them, aligned as T is.
    static constexpr std::size_t cookie_bytes = std::max(sizeof(std::size_t), alignof(T));
    static constexpr std::size_t array_alignment = std::max(alignof(std::size_t), alignof(T));

    template <class U>
    static constexpr void require_exactly() noexcept {
        static_assert(std::is_same_v<U, T>,
                      "acre::typed_arena holds objects of exactly T: a derived class has no place here");
    }

    static constexpr std::size_t slots_for(std::size_t bytes) noexcept {
        return bytes / sizeof(T) + (bytes % sizeof(T) != 0) + (bytes == 0);
    }

    // A type of this size is aligned to no more than this: sizes are multiples of alignments.
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
        p = storage_ + offset;
        if constexpr (fetches_ahead) __builtin_prefetch(storage_ + offset + prefetch_bytes, 1);
        poison_first_(storage_, storage_bytes);
        unpoison(p, bytes);
        return true;
    }

    std::size_t offset_of(const void* p) const noexcept {
        return static_cast<std::size_t>(static_cast<const std::byte*>(p) - storage_);
    }

    // Where nothing is reused a wrong pointer spoils nothing, so only builds with assertions look.
    void check_owned([[maybe_unused]] const void* p) const noexcept {
        if constexpr (slots_type::reuses) {
            if (!owns(p)) abort_on_misuse(name, "a pointer was freed that is not of this arena", p);
        } else {
            assert(owns(p));
        }
    }

    template <class... Arguments>
    T* construct(T* place, Arguments&&... arguments) {
        if (place == nullptr) return nullptr;
        return detail::construct_at_or<T>(
            place, [this, place]() noexcept { undo(place); }, std::forward<Arguments>(arguments)...);
    }

    void undo(T* place) noexcept {
        if (falls_back && !owns(place)) return fallback_.deallocate(place, sizeof(T), alignof(T));
        poison(place, sizeof(T));
        slots_.undo(name, place, offset_of(place), 1);
    }

    void touch(std::size_t offset) noexcept { static_cast<volatile std::byte&>(storage_[offset]) = std::byte{0}; }

    [[gnu::noinline, gnu::cold]] void* refuse(std::size_t bytes, std::size_t alignment) noexcept(may_be_null) {
        if constexpr (may_be_null) {
            return nullptr;
        } else if constexpr (falls_back) {
            return fallback_.allocate(bytes, alignment);
        } else {
            if (!is_alignment(alignment) || alignment > max_alignment) return raise(bad_alignment{name, alignment});
            const std::size_t count = slots_for(bytes);
            if (count > slot_count) return raise(request_too_large{name, bytes, storage_bytes});
            return raise(limit_exceeded{name, count * sizeof(T), used(), storage_bytes});
        }
    }

    [[gnu::noinline, gnu::cold]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if constexpr (falls_back) return fallback_.try_allocate(bytes, alignment);
        return (void)bytes, (void)alignment, nullptr;
    }

    [[gnu::noinline]] void* new_slow(std::size_t bytes) noexcept(may_be_null) {
        if constexpr (may_be_null) return fallback_.try_allocate(bytes, alignment_of_size(bytes));
        return fallback_.allocate(bytes, alignment_of_size(bytes));
    }

    using slots_type = detail::typed_arena_slots<sizeof(T), slot_count, Options.reuse, Options.synchronized>;

    // Without an initialiser for the bytes an object of static storage duration would not be constant-initialised; with
    // one, an object on the stack would be zeroed.
    union {
        std::byte nothing_;
        alignas(max_alignment) std::byte storage_[storage_bytes];
    };
    // What threads share does not lie in a cache line with the first objects or the last.
    alignas(Options.synchronized ? cache_line_bytes : alignof(slots_type)) slots_type slots_;
    [[no_unique_address]] std::conditional_t<poisoning, detail::poison_at_first_use, detail::never_poisoned>
        poison_first_;
    [[no_unique_address]] Fallback fallback_;
};

}  // namespace acre
