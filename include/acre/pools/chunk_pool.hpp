// N slots of each of a few sizes, taken from upstream once, freed one by one in any order. The compiler knows every
// byte and all waste.
//
// Use it where a few sizes and the greatest number of each are known: packets, messages, nodes of an index. Use
// acre::pool or acre::object_pool for one size, acre::multi_pool where sizes or numbers are not known,
// acre::typed_arena for one class.
//
// The first class whose slots are large enough and aligned strictly enough serves a request. A full class spills to the
// next one that fits; when none has room, `.when_full` decides: an error, or upstream. Freed slots are reused, the
// lowest first. Sizes are rounded up to multiples of 16, so each class serves every ordinary type of its size. Slots
// are aligned to every power of two that divides their size, up to a page.
//
// Cost: for a constant size 12 instructions to allocate a never used slot, 33 to allocate a freed one, 36 to deallocate
// (100,000 slots). A size known at run time adds about 15, with three classes. Constant time always, except for
// requests that upstream serves. Memory: required_bytes(): N slots of each class, and 1 1/63 bits for each.
// Construction takes all of it, and touches each page unless `.prefault = false`. Not thread-safe;
// acre::synchronized<chunk_pool<...>> is, with the same `new`. Neither copied nor moved. A double free, a pointer into
// the middle of a slot and a pointer of another resource abort with a message, in every build (docs/misuse.md). The
// pool does not know its objects: deallocate_all() and its end take their storage back and destroy none; `.report_live`
// says at the end how many were left.
//
//     acre::chunk_pool<100'000, 32, 62, 128> chunks;
//     auto* packet = new (chunks) Packet{};   // its slot is free again if the constructor throws
//     chunks.destroy(packet);
//     auto* row = new (chunks) Point[7];      // an array takes one slot
//     chunks.destroy_array(row);
#pragma once

#include <acre/core/alignment.hpp>
#include <acre/core/detail/lifetime.hpp>
#include <acre/core/detail/live_report.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/no_clear.hpp>
#include <acre/core/detail/nonblocking.hpp>
#include <acre/core/detail/slot_policies.hpp>
#include <acre/core/error.hpp>
#include <acre/core/exhaustion.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/memory/heap.hpp>
#include <acre/pools/detail/large_blocks.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace acre {

namespace detail {

/// One class of a chunk_pool, in bytes.
struct chunk_class {
    std::size_t size;        // the template argument
    std::size_t slot_bytes;  // of each slot: the size rounded up to a multiple of default_alignment
    std::size_t stride;      // from one slot to the next: slot_bytes, and a redzone in builds that poison
    std::size_t alignment;   // of each slot: the largest power of two that divides slot_bytes, up to a page
    std::size_t offset;      // where the slots begin in the storage
    std::size_t all_bytes;   // of all slots
};

template <class... Types>
inline constexpr bool same_integers = true;
template <class First, class... Others>
inline constexpr bool same_integers<First, Others...> =
    std::is_integral_v<First> && !std::is_same_v<First, bool> && (std::is_same_v<First, Others> && ...);

/// True when each number is larger than the one before.
template <std::size_t Count>
constexpr bool is_ascending(const std::array<std::size_t, Count>& numbers) noexcept {
    for (std::size_t i = 1; i < Count; ++i) {
        if (numbers[i] <= numbers[i - 1]) return false;
    }
    return true;
}

/// The size arguments of a chunk_pool, and which rules they keep.
template <auto... Sizes>
struct chunk_sizes {
    static constexpr bool any = sizeof...(Sizes) > 0;
    static constexpr bool one_type = same_integers<decltype(Sizes)...>;
    static constexpr bool possible = [] {
        if constexpr (one_type) {
            return ((static_cast<std::size_t>(Sizes) - 1 < max_request / 2) && ...);
        } else {
            return true;
        }
    }();
    /// The sizes; a valid replacement for invalid ones, so that the compiler reports only the broken rule.
    static constexpr auto values = [] {
        if constexpr (any && one_type && possible) {
            return std::array{static_cast<std::size_t>(Sizes)...};
        } else {
            return std::array{std::size_t{1}};
        }
    }();
    static constexpr bool ascending = is_ascending(values);
};

/// The classes of a chunk_pool of `count` slots each. Stricter alignments come first in the storage, so that there are
/// no gaps between classes.
template <std::size_t Classes>
constexpr std::array<chunk_class, Classes> lay_out_chunks(std::size_t count,
                                                          const std::array<std::size_t, Classes>& sizes) noexcept {
    constexpr std::size_t page_bytes = 4096;
    std::array<chunk_class, Classes> classes{};
    for (std::size_t i = 0; i < Classes; ++i) {
        const std::size_t slot = align_up(sizes[i], default_alignment);
        const std::size_t alignment = detail::min(slot & (0 - slot), page_bytes);
        const std::size_t stride = align_up(slot + redzone_bytes, alignment);
        classes[i] = {sizes[i], slot, stride, alignment, 0, count * stride};
    }
    std::size_t offset = 0;
    for (std::size_t alignment = page_bytes; alignment > 0; alignment /= 2) {
        for (chunk_class& each : classes) {
            if (each.alignment != alignment) continue;
            each.offset = offset;
            offset += each.all_bytes;
        }
    }
    return classes;
}

}  // namespace detail

/// Options of acre::chunk_pool.
struct chunk_pool_options {
    exhaustion when_full = exhaustion::fail;  // abort; fall_back: upstream serves requests that no class has room for
    bool prefault = true;      // touch every page at construction, so that no allocation waits for a page fault
    bool report_live = false;  // the pool's end writes a line to stderr if anything is live
};

template <std::size_t N, auto... Sizes>
class chunk_pool;

template <resource R, class Lock>
class synchronized;

namespace detail {
template <resource R, class Meter>
class instrumented;

/// Which types `new (chunks) T` takes: a chunk_pool, and one behind a lock. One that is counted, limited or traced is
/// refused, since C++ frees without a size what a constructor that throws leaves.
template <std::size_t N, auto... Sizes>
std::true_type takes_new(const chunk_pool<N, Sizes...>&);
template <std::size_t N, auto... Sizes, class Lock>
std::true_type takes_new(const synchronized<chunk_pool<N, Sizes...>, Lock>&);
template <std::size_t N, auto... Sizes, class Meter>
std::false_type takes_new(const instrumented<chunk_pool<N, Sizes...>, Meter>&);

template <class Chunks>
concept chunks_for_new = requires(Chunks& chunks) { detail::takes_new(chunks); };

/// Storage for a new-expression.
template <class Chunks>
[[gnu::always_inline]] inline void* allocate_for_new(Chunks& chunks, std::size_t bytes, std::size_t alignment) {
    static_assert(decltype(detail::takes_new(chunks))::value,
                  "acre: new (chunks) T is not counted, limited or traced: use chunks.create<T>() and destroy()");
    return chunks.allocate(bytes, alignment);
}
}  // namespace detail

}  // namespace acre

/// `new (chunks) T` and `new (chunks) T[n]`. Behind a lock, only the request runs under it, the constructor does not.
/// Without exceptions the result is null when there is no room. Always inline: g++ 12 does not see that the operators
/// delete[] below, templates too, match.
template <acre::detail::chunks_for_new Chunks>
[[nodiscard, gnu::always_inline]] inline void* operator new(std::size_t bytes,
                                                            Chunks& chunks) noexcept(!acre::exceptions_enabled) {
    return acre::detail::allocate_for_new(chunks, bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
template <acre::detail::chunks_for_new Chunks>
[[nodiscard, gnu::always_inline]] inline void* operator new(std::size_t bytes, std::align_val_t alignment,
                                                            Chunks& chunks) noexcept(!acre::exceptions_enabled) {
    return acre::detail::allocate_for_new(chunks, bytes, static_cast<std::size_t>(alignment));
}
template <acre::detail::chunks_for_new Chunks>
[[nodiscard, gnu::always_inline]] inline void* operator new[](std::size_t bytes,
                                                              Chunks& chunks) noexcept(!acre::exceptions_enabled) {
    return acre::detail::allocate_for_new(chunks, bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
template <acre::detail::chunks_for_new Chunks>
[[nodiscard, gnu::always_inline]] inline void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                                              Chunks& chunks) noexcept(!acre::exceptions_enabled) {
    return acre::detail::allocate_for_new(chunks, bytes, static_cast<std::size_t>(alignment));
}

/// C++ calls these when a constructor throws in such an expression. They free storage and destroy nothing.
template <acre::detail::chunks_for_new Chunks>
void operator delete(void* p, Chunks& chunks) noexcept {
    chunks.deallocate_unsized(p);
}
template <acre::detail::chunks_for_new Chunks>
void operator delete(void* p, std::align_val_t, Chunks& chunks) noexcept {
    chunks.deallocate_unsized(p);
}
template <acre::detail::chunks_for_new Chunks>
void operator delete[](void* p, Chunks& chunks) noexcept {
    chunks.deallocate_unsized(p);
}
template <acre::detail::chunks_for_new Chunks>
void operator delete[](void* p, std::align_val_t, Chunks& chunks) noexcept {
    chunks.deallocate_unsized(p);
}

/// With the size, for calls by hand: `operator delete(p, sizeof(T), chunks)`. The size is checked.
template <acre::detail::chunks_for_new Chunks>
void operator delete(void* p, std::size_t bytes, Chunks& chunks) noexcept {
    chunks.deallocate(p, bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
template <acre::detail::chunks_for_new Chunks>
void operator delete[](void* p, std::size_t bytes, Chunks& chunks) noexcept {
    chunks.deallocate(p, bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}

namespace acre {

/// `N` slots of each of `Sizes` bytes, in ascending order.
template <std::size_t N, auto... Sizes>
class chunk_pool : public detail::no_clear<chunk_pool<N, Sizes...>> {
    using named = detail::chunk_sizes<Sizes...>;
    static_assert(
        N > 0, "acre::chunk_pool: there must be one slot of each size at least, so the first number, N, is 1 or more");
    static_assert(named::any, "acre::chunk_pool: at least one size must be named, as in chunk_pool<1000, 32, 64>");
    static_assert(named::one_type,
                  "acre::chunk_pool: the sizes must be integers of one type, not an int beside a std::size_t");
    static_assert(named::possible, "acre::chunk_pool: a size is at least one byte, and not more than can be addressed");
    static_assert(named::ascending, "acre::chunk_pool: the sizes must be sorted, each larger than the one before");

    static constexpr std::size_t slot_count = N > 0 ? N : 1;
    static constexpr bool fits = [] {
        std::size_t remaining = max_request / 2 / slot_count;
        for (const std::size_t size : named::values) {
            if (align_up(size, default_alignment) > remaining) return false;
            remaining -= align_up(size, default_alignment);
        }
        return true;
    }();
    static_assert(fits, "acre::chunk_pool: N slots of each size are more than a program can address");

    static constexpr std::size_t class_count = named::values.size();
    static constexpr std::size_t page_bytes = 4096;

    // The sets of slot numbers know no bytes, so all classes share one type.
    using slots_type = detail::reused_slots<1, slot_count>;
    using all_slots = std::array<slots_type, class_count>;

public:
    static constexpr const char* name = "acre::chunk_pool";
    using options_type = chunk_pool_options;

    /// The classes, in ascending order of size.
    static constexpr std::array<detail::chunk_class, class_count> classes =
        detail::lay_out_chunks(slot_count, named::values);

    /// Strictest alignment of any class, in bytes.
    static constexpr std::size_t max_alignment = [] {
        std::size_t strictest = 1;
        for (const detail::chunk_class& each : classes) strictest = detail::max(strictest, each.alignment);
        return strictest;
    }();

    /// Takes required_bytes() bytes from upstream, all at once. Throws what upstream throws; without exceptions, when
    /// upstream has no memory, the pool has no slots and refuses every request.
    chunk_pool() : chunk_pool(resource_ref{heap{}}) {}
    explicit chunk_pool(resource_ref upstream) : chunk_pool(chunk_pool_options{}, upstream) {}
    /// As above, with options; throws bad_option when `.when_full` is null, which `new` cannot return.
    explicit chunk_pool(const chunk_pool_options& options, resource_ref upstream = heap{})
        : when_full_(checked(options).when_full), report_(options.report_live), upstream_(upstream) {
        base_ = static_cast<std::byte*>(upstream_.allocate(required_bytes(), max_alignment));
        // An upstream should throw, and a program's may return null. All later calls rely on the storage.
        if (exceptions_enabled && base_ == nullptr) raise<out_of_memory>(name, required_bytes(), max_alignment);
        if (!has_storage()) return;
        ::new (static_cast<void*>(slots())) all_slots{};
        if (options.prefault) touch_pages();
        poison(base_, storage_bytes());
    }

    chunk_pool(const chunk_pool&) = delete;
    chunk_pool& operator=(const chunk_pool&) = delete;

    /// Gives everything back to upstream, live allocations included. Destroys no objects.
    ~chunk_pool() {
        report_.write(name, [this] { return live(); });
        large_.release(upstream_);
        if (!has_storage()) return;
        unpoison_defined(base_, required_bytes());
        upstream_.deallocate(base_, required_bytes(), max_alignment);
    }

    /// Returns a slot of the first class that fits and has room. When all that fit are full, throws limit_exceeded;
    /// when no class fits, request_too_large or bad_alignment. With exhaustion::abort it aborts with these sentences;
    /// with exhaustion::fall_back upstream serves both. Constant time.
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

    /// Frees what allocate returned for the same size and alignment; null is a no-op. Constant time.
    [[gnu::always_inline]] void deallocate(void* p, std::size_t bytes,
                                           std::size_t alignment = default_alignment) noexcept {
        if (p == nullptr) return;
        // For a constant size the first class that fits is a constant, and `p` usually lies in it.
        if (__builtin_constant_p(bytes) && give_back_to(first_class(bytes, alignment), p)) [[likely]]
            return;
        deallocate_anywhere(p, bytes, alignment);
    }

    /// Frees what allocate returned; the address tells the size. Null is a no-op. Constant time.
    void deallocate_unsized(void* p) noexcept {
        // Tries each class in turn, so that each divides by a constant.
        const auto gave_back = [&](auto index) { return give_back_to(index, p); };
        if (p == nullptr || first_index(gave_back) < class_count) return;
        if (const char* what = large_.deallocate_unsized(upstream_, p)) abort_on_misuse(name, what, p);
    }

    /// Constructs a T, as `new (chunks) T(arguments...)`. Throws as allocate, and what the constructor throws: then the
    /// slot is free again.
    template <class T, class... Arguments>
    T* create(Arguments&&... arguments) {
        if constexpr (!detail::has_constructors<T>) {
            return ::new (*this) T(std::forward<Arguments>(arguments)...);
        } else {
            const std::size_t before = resets_;
            T* object = ::new (*this) T(std::forward<Arguments>(arguments)...);
            // Otherwise the slot would be handed out again while this object is in it.
            if (resets_ != before) [[unlikely]]
                abort_on_misuse(name, detail::mistake::reset_in_constructor, object);
            if (is_freed(object)) [[unlikely]]
                abort_on_misuse(name, detail::mistake::freed_in_constructor, object);
            return object;
        }
    }

    /// Destroys an object of `new (chunks) T` or create and frees its storage; null is a no-op. T may be a base class
    /// with a virtual destructor that lies at the object's beginning.
    template <class T>
    void destroy(T* object) noexcept {
        if (object == nullptr) return;
        void* p = const_cast<std::remove_cv_t<T>*>(object);
        if constexpr (!std::is_trivially_destructible_v<T>) {
            check_live(p);
            // Otherwise the destructor would call itself without end.
            if (p == destroyed_) [[unlikely]]
                abort_on_misuse(name, detail::mistake::ended_by_itself, p);
            const void* const outer = std::exchange(destroyed_, p);
            detail::destroy_at(object);
            destroyed_ = outer;
        }
        if (give_back_to(first_class(sizeof(T), alignof(T)), p)) [[likely]]
            return;
        deallocate_unsized(p);
    }
    void destroy(std::nullptr_t) noexcept {}

    /// Destroys the objects of `new (chunks) T[n]`, last one first, and frees their storage; null is a no-op. T must
    /// not be a base class.
    template <class T>
    void destroy_array(T* first) noexcept {
        static_assert(
            !std::is_array_v<T>,
            "acre: an array of arrays: the compiler counts its innermost elements, so make it one of structs");
        if (first == nullptr) return;
        auto* p = reinterpret_cast<std::byte*>(const_cast<std::remove_cv_t<T>*>(first));
        if constexpr (!std::is_trivially_destructible_v<T>) {
            // For a T with a destructor the compiler stores the number of objects in front of the first one.
            p -= detail::max(sizeof(std::size_t), alignof(T));
            check_live(p);
            std::size_t count;
            std::memcpy(&count, reinterpret_cast<const std::byte*>(first) - sizeof count, sizeof count);
            while (count > 0) detail::destroy_at(first + --count);
        }
        deallocate_unsized(p);
    }

    /// Takes all storage back at once and destroys no objects; upstream's blocks go back to upstream. One step per 512
    /// slots used, and one per block of upstream.
    void deallocate_all() noexcept {
        ++resets_;
        large_.release(upstream_);
        if (!has_storage()) return;
        for (slots_type& each : *slots()) each.reset();
        poison(base_, storage_bytes());
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static constexpr std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        const std::size_t index = first_class(bytes, alignment);
        return index < class_count ? classes[index].slot_bytes : bytes;
    }

    /// Bytes of all slots.
    static constexpr std::size_t capacity() noexcept {
        std::size_t bytes = 0;
        for (const detail::chunk_class& each : classes) bytes += slot_count * each.slot_bytes;
        return bytes;
    }
    /// Bytes of capacity() that rounding the sizes up costs.
    static constexpr std::size_t waste_bytes() noexcept {
        std::size_t bytes = 0;
        for (const detail::chunk_class& each : classes) bytes += slot_count * (each.slot_bytes - each.size);
        return bytes;
    }
    /// Bytes that construction takes from upstream, aligned to max_alignment: the slots and their bookkeeping.
    static constexpr std::size_t required_bytes() noexcept { return storage_bytes() + sizeof(all_slots); }

    /// Bytes of the live slots. Constant time.
    std::size_t used() const noexcept {
        std::size_t bytes = 0;
        for (std::size_t index = 0; index < class_count; ++index) bytes += live_of(index) * classes[index].slot_bytes;
        return bytes;
    }
    /// Number of live allocations, upstream's blocks included. Constant time.
    std::size_t live() const noexcept {
        std::size_t count = large_.count();
        for (std::size_t index = 0; index < class_count; ++index) count += live_of(index);
        return count;
    }
    /// Number of live slots of the class with this index. Constant time.
    std::size_t live_of(std::size_t index) const noexcept { return has_storage() ? (*slots())[index].used() : 0; }
    /// Bytes held from upstream for requests that no slot served. Constant time.
    std::size_t fallen_back_bytes() const noexcept { return large_.held_bytes(); }

    /// Index of the class whose slots `p` points into; classes.size() when it points into none. Constant time.
    std::size_t class_of(const void* p) const noexcept {
        const std::size_t offset = offset_of(p);
        const auto lies_in = [=](auto index) { return offset - classes[index].offset < classes[index].all_bytes; };
        return has_storage() ? first_index(lies_in) : class_count;
    }
    /// True when `p` points into a slot or a block of upstream. Linear in the number of those blocks.
    bool owns(const void* p) const noexcept { return class_of(p) < class_count || large_.owns(p); }

    /// The resource that storage comes from.
    resource_ref upstream() const noexcept { return upstream_; }

private:
    static chunk_pool_options checked(const chunk_pool_options& options) {
        require_option(options.when_full != exhaustion::null, name, "when_full",
                       static_cast<std::size_t>(options.when_full), "exhaustion::fail, abort or fall_back");
        return options;
    }

    // The index of the first class that `holds`; class_count when there is none. Unrolled, and `holds` gets the index
    // as a constant, so that the compiler can fold constants.
    template <class Predicate>
    [[gnu::always_inline]] static constexpr std::size_t first_index(Predicate holds) noexcept {
        std::size_t found = class_count;
        [&]<std::size_t... Index>(std::index_sequence<Index...>) __attribute__((always_inline)) {
            (void)((holds(std::integral_constant<std::size_t, Index>{}) ? (static_cast<void>(found = Index), true)
                                                                        : false) ||
                   ...);
        }(std::make_index_sequence<class_count>{});
        return found;
    }

    // The first class that fits a request, full or not; class_count when none does.
    [[gnu::always_inline]] static constexpr std::size_t first_class(std::size_t bytes, std::size_t alignment) noexcept {
        return first_index([=](auto index) { return serves(classes[index], bytes, alignment); });
    }
    [[gnu::always_inline]] static constexpr bool serves(const detail::chunk_class& tried, std::size_t bytes,
                                                        std::size_t alignment) noexcept {
        return bytes <= tried.slot_bytes && alignment <= tried.alignment;
    }

    // Without exceptions the pool has no storage when upstream had no memory.
    bool has_storage() const noexcept { return exceptions_enabled || base_ != nullptr; }

    // Bytes of the storage of all slots.
    static constexpr std::size_t storage_bytes() noexcept {
        std::size_t bytes = 0;
        for (const detail::chunk_class& each : classes) bytes += each.all_bytes;
        return bytes;
    }

    all_slots* slots() const noexcept { return reinterpret_cast<all_slots*>(base_ + storage_bytes()); }

    std::size_t offset_of(const void* p) const noexcept {
        return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_);
    }

    [[gnu::always_inline]] bool take(std::size_t bytes, std::size_t alignment, void*& p) noexcept {
        if (!is_alignment(alignment) || !has_storage()) [[unlikely]]
            return false;
        const std::size_t index = first_class(bytes, alignment);
        return index < class_count && take_from(index, bytes, p);
    }

    [[gnu::always_inline]] bool take_from(std::size_t index, std::size_t bytes, void*& p) noexcept {
        std::size_t slot;
        if (!(*slots())[index].take(1, 1, slot)) [[unlikely]]
            return false;
        p = base_ + classes[index].offset + slot * classes[index].stride;
        unpoison(p, bytes);
        return true;
    }

    // Frees `p` and returns true if it lies in this class; `index` may be class_count.
    [[gnu::always_inline]] bool give_back_to(std::size_t index, void* p) noexcept {
        if (index >= class_count) return false;
        const detail::chunk_class& home = classes[index];
        const std::size_t offset = offset_of(p) - home.offset;
        if (!has_storage() || offset >= home.all_bytes) [[unlikely]]
            return false;
        (*slots())[index].give_back(name, p, slot_at(index, offset, p), 1);
        poison(p, home.slot_bytes);
        return true;
    }

    // Index of the slot `p`, which lies `offset` bytes into class `index`. Divides by constants only.
    [[gnu::always_inline]] static std::size_t slot_at(std::size_t index, std::size_t offset, const void* p) noexcept {
        std::size_t slot = 0;
        std::size_t rest = 0;
        first_index([&](auto home) {
            constexpr std::size_t stride = classes[home].stride;
            slot = offset / stride;
            rest = offset % stride;
            return index == home;
        });
        if (rest != 0) [[unlikely]]
            abort_on_misuse(name, detail::mistake::inside_a_slot, p);
        return slot;
    }

    void check_live(const void* p) const noexcept {
        const std::size_t index = class_of(p);
        if (index == class_count) {
            if (const char* what = large_.mistake_with(p)) abort_on_misuse(name, what, p);
            return;
        }
        (*slots())[index].check_live(name, p, slot_at(index, offset_of(p) - classes[index].offset, p), 1);
    }

    // True when the slot at `p` is free; false for a block of upstream.
    bool is_freed(const void* p) const noexcept {
        const std::size_t index = p == nullptr ? class_count : class_of(p);
        if (index == class_count) return false;
        return (*slots())[index].is_freed(slot_at(index, offset_of(p) - classes[index].offset, p));
    }

    // Out of line: the slot lies in another class than its size's, or the size is known at run time only.
    [[gnu::noinline]] void deallocate_anywhere(void* p, std::size_t bytes, std::size_t alignment) noexcept {
        const auto gave_back = [&](auto index) {
            if (offset_of(p) - classes[index].offset >= classes[index].all_bytes) return false;
            if (!serves(classes[index], bytes, alignment)) [[unlikely]]
                abort_on_misuse(name, detail::mistake::wrong_size, p);
            return give_back_to(index, p);
        };
        if (first_index(gave_back) < class_count) return;
        const char* what = detail::allow_blocking([&] { return large_.deallocate(upstream_, p, bytes, alignment); });
        if (what != nullptr) abort_on_misuse(name, what, p);
    }

    // Out of line: the class is full, or no class fits.
    [[gnu::noinline]] void* allocate_slow(std::size_t bytes, std::size_t alignment) {
        if (void* p = try_allocate_slow(bytes, alignment)) return p;
        return refuse(bytes, alignment);
    }

    [[gnu::noinline]] void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || !has_storage()) return nullptr;
        void* p;
        for (std::size_t index = 0; index < class_count; ++index) {
            if (serves(classes[index], bytes, alignment) && take_from(index, bytes, p)) return p;
        }
        if (when_full_ != exhaustion::fall_back) return nullptr;
        return detail::allow_blocking([&] { return large_.try_allocate(upstream_, bytes, alignment); });
    }

    template <class Error, class... Arguments>
    void* fail(Arguments... arguments) const {
        if (when_full_ == exhaustion::abort) abort_with(Error{arguments...});
        return raise<Error>(arguments...);
    }

    [[gnu::noinline, gnu::cold]] void* refuse(std::size_t bytes, std::size_t alignment) const {
        const bool falls_back = when_full_ == exhaustion::fall_back;
        if (!detail::can_be_honoured(alignment)) return fail<bad_alignment>(name, alignment);
        if (falls_back && bytes > max_request / 2) return raise<request_too_large>(name, bytes, max_request / 2);
        if (falls_back) return raise<out_of_memory>(name, bytes, alignment);
        if (alignment > max_alignment) return fail<bad_alignment>(name, alignment);
        const std::size_t first = first_class(bytes, alignment);
        if (first == class_count) return fail<request_too_large>(name, bytes, largest(alignment));
        // The sum over all classes that fit.
        std::size_t held = 0;
        std::size_t limit = 0;
        for (std::size_t index = first; index < class_count; ++index) {
            if (!serves(classes[index], bytes, alignment)) continue;
            held += live_of(index) * classes[index].slot_bytes;
            limit += slot_count * classes[index].slot_bytes;
        }
        return fail<limit_exceeded>(name, classes[first].slot_bytes, held, limit);
    }

    static constexpr std::size_t largest(std::size_t alignment) noexcept {
        std::size_t bytes = 0;
        for (const detail::chunk_class& each : classes) {
            if (alignment <= each.alignment) bytes = detail::max(bytes, each.slot_bytes);
        }
        return bytes;
    }

    // Writes to each page of the slots; the pages of the sets behind them are written already.
    void touch_pages() noexcept {
        for (std::size_t at = 0; at < storage_bytes(); at += page_bytes) {
            static_cast<volatile std::byte&>(base_[at]) = std::byte{0};
        }
    }

    std::byte* base_ = nullptr;
    exhaustion when_full_;
    detail::live_report report_;
    detail::large_blocks large_;
    resource_ref upstream_;
    std::size_t resets_ = 0;
    const void* destroyed_ = nullptr;  // the object whose destructor runs in destroy(), the innermost one
};

}  // namespace acre
