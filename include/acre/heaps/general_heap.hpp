// A heap for everything: any size, any alignment, any thread, and frees that need no size. A faster malloc, as a
// resource.
//
// Use it as upstream in place of acre::heap, for storage that threads hand to each other, and where code frees without
// knowing the size. To put a whole program on it, without a change or a rebuild, use libacre-malloc.so
// (docs/malloc_library.md). Use a pool or an arena where sizes or lifetimes are known: they take less memory, and
// their frees are cheaper still. Needs a POSIX system with virtual memory and threads.
//
// It has no state: all its objects are the heap of the process, which works before main and after the handlers of exit.
// One range of address space holds all its memory. Requests of up to 32 KiB get slots of 72 sizes, from slabs; each
// thread keeps some free slots of each size that it uses, and exchanges half of them at a time with the slabs. Larger
// requests get runs of 16 KiB units. A thread that ends gives its free slots back.
//
// Cost: allocate about 17 instructions and deallocate 26 or 27, none of them atomic; a lock once in 4 to 128
// operations. A large request takes one lock. Memory: sizes are rounded up to multiples of 16 bytes, over 256 bytes by
// at most an eighth, large ones to 16 KiB of addresses. A thread keeps at most 62 free slots of a size of up to 256
// bytes, 16 KiB of each larger one, or 6 slots; four times as many of a size whose slots went to and fro between the
// thread and the slabs. Free memory stays with the heap as general_heap_options says. From 2 MiB on, and for
// requests of 16 MiB, it asks for transparent huge pages. Thread-safe. After a fork the child goes on with what the
// forking thread kept. A pointer of another heap aborts with a sentence at once; a double free at once where the
// allocation is large or one of the two slots of its size that the thread freed last; an address inside an allocation
// at once where that is large. Otherwise it aborts when the slot goes back to its slab (docs/misuse.md).
//
//     acre::general_heap memory;
//     void* p = memory.allocate(100);     // in one thread
//     memory.deallocate(p);               // in another
//     std::vector<int, acre::allocator<int, acre::general_heap>> numbers;
#pragma once

#include <acre/core/detail/target.hpp>
#if !ACRE_HAS_GENERAL_HEAP
static_assert(false, "acre::general_heap needs a POSIX system with virtual memory and threads: use acre::heap");
#else

#include <acre/core/alignment.hpp>
#include <acre/core/error.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/resource.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/detail/process_heap.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre {

/// How much free memory the heap keeps.
struct general_heap_options {
    /// Bytes that free runs of units may always hold.
    std::size_t keep_bytes = detail::heap_range::default_kept_bytes;
    /// Beyond that the heap keeps no more than was in use at once within this time, or up to twice as long ago.
    std::size_t keep_milliseconds = detail::heap_range::default_kept_milliseconds;
};

/// What the heap holds, in bytes.
struct general_heap_figures {
    std::size_t slot_bytes = 0;       ///< slots in use, and free ones that threads keep
    std::size_t free_slot_bytes = 0;  ///< other free slots
    std::size_t large_bytes = 0;      ///< allocations of more than 32 KiB
    std::size_t free_run_bytes = 0;   ///< free units that may hold data
};

/// The heap of the process.
class general_heap {
public:
    static constexpr const char* name = detail::process_heap::name;
    /// acre::shared_resource
    static constexpr bool shared_by_threads = true;

    /// Storage of `bytes` bytes aligned to `alignment`, any power of two. Throws out_of_memory, request_too_large or
    /// bad_alignment.
    [[gnu::always_inline]] void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (void* p = try_allocate(bytes, alignment)) [[likely]]
            return p;
        return fail(bytes, alignment);
    }

    /// As allocate, but null when it cannot.
    [[gnu::always_inline]] void* try_allocate(std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        if (alignment > detail::heap_classes::min_alignment || !is_alignment(alignment) || poisoning) [[unlikely]]
            return try_allocate_slow(bytes, alignment);
        return detail::the_heap.allocate(bytes);
    }

    /// Takes back what any thread allocated, or any object of this type; null is a no-op.
    [[gnu::always_inline]] void deallocate(void* p, [[maybe_unused]] std::size_t bytes = 0,
                                           [[maybe_unused]] std::size_t alignment = default_alignment) noexcept {
        if constexpr (poisoning) return deallocate_poisoned(p);
        detail::the_heap.free(p);
    }

    /// As deallocate: acre::malloc_face over this heap needs no bytes in front of its blocks.
    void deallocate_unsized(void* p) noexcept { deallocate(p); }

    /// The allocation at `p`, not null, with `bytes` bytes, in place or moved to another one that is aligned to 16
    /// bytes; contents are kept up to the smaller size. Null, and the allocation as it was, when there is no memory.
    /// Cost: that of allocate, of deallocate and a copy where it moves; from 1 MiB on it moves pages instead.
    void* reallocate(void* p, std::size_t bytes) noexcept {
        if constexpr (poisoning) return reallocate_poisoned(p, bytes);
        return detail::the_heap.reallocate(p, bytes);
    }

    /// Grows or shrinks an allocation where it is. False when it cannot grow there.
    bool try_resize(void* p, [[maybe_unused]] std::size_t old_bytes, std::size_t new_bytes) noexcept {
        if (new_bytes > max_request - redzone_bytes) return false;
        if (poisoning && new_bytes == 0) new_bytes = 1;
        if (!detail::the_heap.resize(p, new_bytes + redzone_bytes)) return false;
        poison_resized(p, old_bytes, new_bytes);
        return true;
    }

    /// Bytes that a request gets (acre::allocate_at_least).
    static std::size_t bytes_given(std::size_t bytes, std::size_t alignment) noexcept {
        using classes = detail::heap_classes;
        if (poisoning || bytes > classes::largest || alignment > classes::min_alignment) return bytes;
        return classes::bytes(classes::class_of(detail::max<std::size_t>(bytes, 1)));
    }

    /// Bytes of the allocation at `p`: at least as many as were asked for. All may be used.
    std::size_t usable_size(const void* p) const noexcept {
        const std::size_t bytes = detail::the_heap.usable_size(p) - redzone_bytes;
        // Who asks may use them.
        if constexpr (poisoning) unpoison(p, bytes);
        return bytes;
    }

    /// True when `p` lies in memory of the heap.
    bool owns(const void* p) const noexcept { return detail::the_heap.owns(p); }

    /// Gives free memory back to the system but for `keep_bytes`, and returns the bytes that went back. The calling
    /// thread's free slots go to their slabs; those that other threads keep stay.
    std::size_t release_unused(std::size_t keep_bytes = 0) noexcept { return detail::the_heap.trim(keep_bytes); }

    /// Sets how much free memory the heap keeps from now on.
    void set_options(const general_heap_options& options) noexcept {
        detail::the_heap.set_allowance(options.keep_bytes, options.keep_milliseconds);
    }

    /// What the heap holds. Linear in the slabs with free slots; exact while no other thread uses the heap.
    general_heap_figures figures() const noexcept {
        const auto now = detail::the_heap.count();
        return {now.slot_bytes, now.free_slot_bytes, now.large_bytes, now.free_bytes};
    }

    /// What in the heap's own data does not agree, or null (acre::check_invariants). Linear in the runs of units and in
    /// the slots of the slabs with free ones; other threads wait meanwhile.
    const char* broken_invariant() const noexcept { return detail::the_heap.broken_invariant(); }

    friend bool operator==(const general_heap&, const general_heap&) noexcept = default;

private:
    static bool begins_a_unit(const void* p) noexcept {
        return reinterpret_cast<std::uintptr_t>(p) % detail::heap_classes::unit_bytes == 0;
    }
    [[gnu::noinline]] static void* try_allocate_slow(std::size_t bytes, std::size_t alignment) noexcept {
        if (!is_alignment(alignment) || bytes > max_request - redzone_bytes) return nullptr;
        // Where it poisons, a live allocation has a first byte: so a free of poisoned storage is a double free.
        if (poisoning && bytes == 0) bytes = 1;
        void* p = detail::the_heap.allocate_aligned(bytes + redzone_bytes, alignment);
        if constexpr (poisoning) {
            if (p == nullptr) return p;
            poison(p, detail::the_heap.usable_size(p));
            unpoison(p, bytes);
            // In the slab of `p` another slot ends in front of it, with a redzone. In front of a unit there may be the
            // heap's own data.
            if (!begins_a_unit(p)) poison(static_cast<std::byte*>(p) - redzone_bytes, redzone_bytes);
        }
        return p;
    }
    [[gnu::noinline]] static void deallocate_poisoned(void* p) noexcept {
        if (p == nullptr) return;
        const std::size_t bytes = detail::the_heap.usable_size(p);
        if (is_poisoned(p)) abort_on_misuse(name, detail::mistake::double_free, p);
        // In front of an allocation lies a redzone, as try_allocate_slow says.
        if (!begins_a_unit(p) && !is_poisoned(static_cast<std::byte*>(p) - 1))
            abort_on_misuse(name, detail::mistake::inside_a_slot, p);
        poison(p, bytes);
        detail::the_heap.free(p);
    }
    [[gnu::noinline]] void* reallocate_poisoned(void* p, std::size_t bytes) noexcept {
        const std::size_t before = detail::the_heap.usable_size(p) - redzone_bytes;
        // What was asked for may end before `before`.
        if (try_resize(p, before, bytes)) return unpoison(p, bytes), p;
        void* moved = try_allocate(bytes);
        if (moved == nullptr) return nullptr;
        const std::size_t kept = before < bytes ? before : bytes;
        unpoison(p, kept);
        std::memcpy(moved, p, kept);
        deallocate_poisoned(p);
        return moved;
    }
    [[gnu::noinline, gnu::cold]] static void* fail(std::size_t bytes, std::size_t alignment) {
        if (!detail::can_be_honoured(alignment)) return raise<bad_alignment>(name, alignment);
        if (bytes > max_request || alignment > max_request - bytes) {
            return raise<request_too_large>(name, bytes, max_request - alignment);
        }
        return raise<out_of_memory>(name, bytes, alignment);
    }
};

static_assert(stateless_resource<general_heap> && owning_resource<general_heap> && shared_resource<general_heap> &&
              resizable_resource<general_heap>);

}  // namespace acre

#endif  // ACRE_HAS_GENERAL_HEAP
