// The heap of the process, under acre::general_heap and libacre-malloc.so: slots from the calling thread's stacks,
// larger requests as runs of units.
//
// Used by the library, not directly. Constant-initialised and never destroyed: it works before main and after the
// handlers of exit. It reserves its range at the first request. Nothing here allocates memory elsewhere; registering a
// thread may call the C library's calloc, which may be this heap.
//
// A heap with private classes keeps apart what its user asks to: a private class has slabs of its own with slots of one
// of the sizes, and a counted group has blocks in which a pointer moves forward. Freeing needs not know about them: the
// table of the range says of which class an address is. libacre-plan.so routes sites of a program by them
// (docs/plan.md); general_heap and libacre-malloc.so have none.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <pthread.h>
#include <acre/core/alignment.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/lock_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/literals.hpp>
#include <acre/core/locks.hpp>
#include <acre/core/misuse.hpp>
#include <acre/core/sanitizer.hpp>
#include <acre/heaps/detail/counted_blocks.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <acre/heaps/detail/heap_depots.hpp>
#include <acre/heaps/detail/heap_range.hpp>
#include <acre/heaps/detail/heap_threads.hpp>
#include <acre/memory/detail/pages.hpp>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

namespace acre::detail {

/// What a heap knows of its private classes.
template <std::size_t Private>
struct private_classes {
    std::size_t opened = 0;
    std::uint8_t size_classes[Private] = {};
    bool is_evicted[counted_cursors::count] = {};           // by counted group
    std::uint32_t threads_of[counted_cursors::count] = {};  // that have had blocks of the group
};
struct no_private_classes {};

/// `Private`: number of classes beyond the size classes. Of several such heaps in a process each has its own range.
template <std::size_t Private>
class basic_process_heap {
    using thread_slots = detail::thread_slots<Private>;

public:
    static constexpr std::size_t min_alignment = heap_classes::min_alignment;

    constexpr basic_process_heap() noexcept = default;
    basic_process_heap(const basic_process_heap&) = delete;
    basic_process_heap& operator=(const basic_process_heap&) = delete;

    /// Storage of `bytes` bytes, aligned to 16. Null when there is none.
    [[gnu::always_inline]] void* allocate(std::size_t bytes) noexcept {
        if (bytes > heap_classes::finely_looked_up) [[unlikely]]
            return allocate_larger(bytes);
        return take(heap_classes::class_of_small(bytes));
    }

    /// As above, but null also where a request is not served at once: to be followed by allocate(). Before the heap has
    /// begun it is never served at once, and reads no thread-local storage, which may not exist yet.
    [[gnu::always_inline]] void* allocate_at_once(std::size_t bytes) noexcept {
        if (bytes >= __atomic_load_n(&not_at_once_, __ATOMIC_RELAXED)) [[unlikely]]
            return nullptr;
        return take_of_at_once(heap_classes::class_of_small(bytes));
    }

    /// As above, of zeroes.
    void* allocate_zero(std::size_t bytes) noexcept {
        if (bytes > heap_classes::largest) {
            bool is_zero;
            void* p = take_units(bytes, 1, is_zero);
            if (p == nullptr || is_zero) return p;
            unpoison(p, bytes);
            return zeroed_run(p, bytes);
        }
        void* p = allocate(bytes);
        if (p == nullptr) return p;
        unpoison(p, bytes);
        return std::memset(p, 0, bytes);
    }

    /// As allocate(), aligned to any power of two.
    [[gnu::noinline]] void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
        if (alignment <= min_alignment) return allocate(bytes);
        if (const std::size_t size_class = heap_classes::class_of_aligned(bytes, alignment)) return take(size_class);
        bool is_zero;
        return take_units(bytes, alignment, is_zero);
    }

    /// Takes back what any thread allocated; null is a no-op.
    [[gnu::always_inline]] void free(void* p) noexcept {
        free_or(p, [](void* elsewhere) { free_elsewhere(elsewhere); });
    }

    /// As above, but `elsewhere(p)` takes back what does not lie in memory of the heap, null too.
    template <class Elsewhere>
    [[gnu::always_inline]] void free_or(void* p, Elsewhere elsewhere) noexcept {
        const std::byte* const start = shared_.range.start();
        const auto offset =
            narrowed<std::size_t>(reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(start));
        if (offset >= shared_.range.bytes()) [[unlikely]]
            return elsewhere(p);
        prefetch(p);
        const std::size_t size_class = heap_range::class_at(start, offset);
        const found_stack<Private> stack{size_class};
        void** const top = stack.top();
        if (stack.ends_at(top)) [[unlikely]]
            return free_slow(size_class, p);
        if (slot_stack::was_just_freed(top, p)) [[unlikely]]
            abort_on_misuse(name, mistake::double_free, p);
        stack.set_top(top + 1);
        *top = p;
    }

    /// Bytes that may be used of an allocation: at least those asked for.
    std::size_t usable_size(const void* p) noexcept { return usable_size(p, &mistake::in_a_question); }

    /// Grows or shrinks an allocation where it is. False when it cannot grow there.
    bool resize(void* p, std::size_t bytes) noexcept {
        heap_range& range = shared_.range;
        if (!range.owns(p)) abort_on_misuse(name, mistake::foreign_resized, p);
        if (const std::size_t number = range.class_of(p)) return bytes <= slot_bytes(number, p);
        if (bytes > max_request) return false;
        const std::size_t wanted = units_for(bytes);
        bool done = true;
        with_large(p, &mistake::in_a_resize, [&](unit_number first, unit_number length) {
            if (wanted > length) done = range.extend(first, wanted);
            if (wanted < length) range.shrink(first, static_cast<unit_number>(wanted));
        });
        return done;
    }

    /// As realloc, for `p` not null. Null when there is no memory: then `p` stays as it is.
    [[gnu::noinline]] void* reallocate(void* p, std::size_t bytes) noexcept {
        const std::size_t before = usable_size(p, &mistake::in_a_resize);
        const bool is_slot = before <= heap_classes::largest;
        // A slot that would stay half empty is exchanged, and a run of units that a slot can replace.
        const bool stays = is_slot ? bytes >= before / 2 : bytes > heap_classes::largest;
        if (stays && resize(p, bytes)) return p;
        void* moved = allocate(bytes);
        if (moved == nullptr) return bytes <= before && resize(p, bytes) ? p : nullptr;
        const std::size_t kept = detail::min(before, bytes);
        unpoison(moved, kept);
        if (kept >= min_moved && move_pages(moved, p, kept)) {
            free_large(p, false);
        } else {
            std::memcpy(moved, p, kept);
            free(p);
        }
        return moved;
    }

    /// Whether there was a request that could be served.
    bool has_begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
    /// Whether the calling thread's thread-local storage has its first values.
    static bool has_threads_memory() noexcept { return this_threads_slots<Private> != nullptr; }

    /// True when `p` lies in memory of the heap.
    bool owns(const void* p) const noexcept { return shared_.range.owns(p); }

    /// Gives the memory of free runs back to the system but for `kept` bytes, and before that the calling thread's free
    /// slots to their slabs. Returns the bytes that went back.
    [[gnu::noinline]] std::size_t trim(std::size_t kept) noexcept {
        give_free_slots_back();
        const lock_guard guard{shared_.lock};
        return shared_.range.give_back(kept / heap_range::unit_bytes, 1);
    }

    void set_allowance(std::size_t bytes, std::size_t milliseconds) noexcept {
        const lock_guard guard{shared_.lock};
        shared_.range.set_allowance(bytes, milliseconds);
    }

    struct figures {
        std::size_t large_bytes = 0;      // of large blocks in use
        std::size_t slot_bytes = 0;       // of slots in use, and of those that threads keep
        std::size_t free_slot_bytes = 0;  // of the free slots of slabs
        std::size_t free_bytes = 0;       // of free runs that may hold data
    };
    figures count() noexcept {
        figures result;
        std::size_t slabs = 0;
        for (std::size_t number = 1; number < slot_classes; ++number) {
            const heap_depot::figures each = depots_[number].count();
            if (each.slots == 0) continue;
            const std::size_t bytes = heap_classes::bytes(size_class_of(number));
            result.slot_bytes += each.handed_out * bytes;
            result.free_slot_bytes += (each.slots - each.handed_out) * bytes;
            slabs += each.units * heap_range::unit_bytes;
        }
        const lock_guard guard{shared_.lock};
        const std::size_t in_use = shared_.range.bytes_in_use();
        result.large_bytes = in_use > slabs ? in_use - slabs : 0;
        result.free_bytes = shared_.range.bytes_free_with_data();
        return result;
    }

    /// What in the heap's own data does not agree, or null. Takes each lock in turn.
    const char* broken_invariant() noexcept {
        for (heap_depot& each : depots_)
            if (const char* broken = each.broken_invariant(shared_.range)) return broken;
        const lock_guard guard{shared_.lock};
        return shared_.range.broken_invariant();
    }

    static constexpr const char* name = "acre::general_heap";

    /// Opens a class of slots of the same size as those of `size_class`, in slabs of their own; 0 when there are too
    /// many. It is never closed.
    std::size_t open_private_class(std::size_t size_class) noexcept
        requires(Private != 0)
    {
        const lock_guard guard{shared_.lock};
        if (privates_.opened == Private) return 0;
        __atomic_store_n(&privates_.size_classes[privates_.opened], static_cast<std::uint8_t>(size_class),
                         __ATOMIC_RELAXED);
        return heap_classes::count + privates_.opened++;
    }

    /// A slot of any class; null when there is none.
    void* take_of(std::size_t number) noexcept { return take(number); }

    /// As above, but null also where the calling thread has none at hand.
    [[gnu::always_inline]] void* take_of_at_once(std::size_t number) noexcept {
        const found_stack<Private> stack{number};
        void** const top = stack.top();
        void* p = top[-1];
        if (p != nullptr) [[likely]]
            stack.set_top(top - 1);
        return p;
    }

    /// Whether the slots of a private class have been put to those of its size, because these needed memory while it
    /// held more than twice what it needed.
    bool has_joined(std::size_t number) noexcept { return depots_[number].has_joined(); }

    /// Storage of up to `counted_block::largest` bytes from a block of this group, of which the calling thread has some
    /// of its own. Null when there is no memory, and from the time on when the group's blocks hold a third more than
    /// the bytes in use.
    void* take_counted(std::size_t group, std::size_t bytes) noexcept
        requires(Private != 0)
    {
        if (void* p = take_counted_at_once(group, bytes)) return p;
        return take_counted_slow(group, bytes);
    }

    /// As above, but null also where the block that the calling thread fills has no room.
    [[gnu::always_inline]] void* take_counted_at_once(std::size_t group, std::size_t bytes) noexcept
        requires(Private != 0)
    {
        return this_threads_slots<Private>->counted.of[group].take(bytes);
    }

private:
    /// Number of classes of slots, class 0 included.
    static constexpr std::size_t slot_classes = heap_classes::count + Private;
    /// Units of counted blocks have it.
    static constexpr std::size_t counted_class = slot_classes;
    static_assert(counted_class <= 255, "acre: a byte for each unit says its class");

    static constexpr std::size_t min_moved = std::size_t{1} << 20;  // moving fewer bytes by their pages costs more

    static std::size_t units_for(std::size_t bytes) noexcept {
        return (detail::max<std::size_t>(bytes, 1) + heap_range::unit_bytes - 1) >> heap_classes::unit_shift;
    }

    [[gnu::always_inline]] void* take(std::size_t size_class) noexcept {
        const found_stack<Private> stack{size_class};
        void** const top = stack.top();
        void* p = top[-1];
        if (p == nullptr) [[unlikely]]
            return take_slow(size_class);
        stack.set_top(top - 1);
        return p;
    }

    // Discards the pages instead of zeroing them, so that untouched pages stay unbacked. When the program touches them,
    // the first ones come back as huge pages, the others one by one as with glibc.
    static void* zeroed_run(void* p, std::size_t bytes) noexcept {
        if (bytes < min_discarded) return std::memset(p, 0, bytes);
        const int error = errno;
        const std::size_t whole = align_up(bytes, heap_range::unit_bytes);
        const bool discarded = pages::discard(p, whole) == 0;
        if (discarded) {
            const auto start = reinterpret_cast<std::uintptr_t>(p);
            const std::size_t before = padding_to(start, heap_range::huge_bytes);
            const std::size_t huge = (whole - before) / heap_range::huge_bytes * heap_range::huge_bytes;
            pages::advise_huge(static_cast<std::byte*>(p) + before, detail::min(huge, heap_range::max_huge_bytes));
        }
        errno = error;
        return discarded ? p : std::memset(p, 0, bytes);
    }
    static constexpr std::size_t min_discarded = 32_MiB;  // from here on glibc maps each request anew

    [[gnu::noinline]] void* allocate_larger(std::size_t bytes) noexcept {
        if (bytes <= heap_classes::largest) return take(heap_classes::class_of_medium(bytes));
        bool is_zero;
        return take_units(bytes, 1, is_zero);
    }

    // Of the calling thread, and the slabs that hold no others.
    [[gnu::noinline, gnu::cold]] void give_free_slots_back() noexcept {
        thread_slots& own = *this_threads_slots<Private>;
        for (std::size_t number = slot_classes; number-- > 1;) {
            if (own.stack(number).exists()) empty(own, number);
            depots_[number].trim(shared_);
        }
    }

    [[gnu::noinline]] void* take_units(std::size_t bytes, std::size_t alignment, bool& is_zero) noexcept {
        if (bytes > max_request || alignment > max_request || !begin()) return nullptr;
        const std::size_t aligned_units = alignment <= heap_range::unit_bytes ? 1 : alignment / heap_range::unit_bytes;
        const auto take = [&] {
            const lock_guard guard{shared_.lock};
            return shared_.range.take(units_for(bytes), aligned_units, is_zero);
        };
        unit_number first = take();
        if (first == 0) [[unlikely]] {
            give_free_slots_back();
            first = take();
        }
        return first == 0 ? nullptr : shared_.range.address(first);
    }

    // The calling thread's stack is empty, or it has none.
    [[gnu::noinline]] void* take_slow(std::size_t number) noexcept {
        if (!begin()) return nullptr;
        const heap_class_number of{number, size_class_of(number)};
        thread_slots* const own = own_slots();
        if (own == nullptr || !give_stack(own->stack(number), of.size_class)) {
            void* p = nullptr;
            take_slots(of, &p, 1);
            return p;
        }
        const slot_stack stack = own->stack(number);
        stack_growth& growth = own->growth[number];
        growth.has_run_out = true;
        give_back_after_peak();
        void** const bottom = stack.bottom(growth.kept(of.size_class));
        const std::size_t taken = take_slots(of, bottom, next_batch(*own, number, of.size_class));
        if (taken == 0) return take_after_giving_back(of);
        stack.top = bottom + taken - 1;
        return *stack.top;
    }

    // A limit on memory is reached.
    [[gnu::noinline, gnu::cold]] void* take_after_giving_back(heap_class_number of) noexcept {
        void* p = nullptr;
        give_free_slots_back();
        take_slots(of, &p, 1);
        return p;
    }

    // A program that frees no run of units any more, because its slabs are never empty, still gives back what a peak
    // left.
    void give_back_after_peak() noexcept {
        if (!shared_.range.is_peak_to_be_looked_at()) [[likely]]
            return;
        const lock_guard guard{shared_.lock};
        shared_.range.look_at_peak();
    }

    // How many slots the calling thread takes at once: few at first, then twice as many each time, up to half of its
    // stack.
    static std::size_t next_batch(thread_slots& own, std::size_t number, std::size_t size_class) noexcept {
        const std::size_t kept = own.growth[number].kept(size_class);
        std::uint8_t& asked_for = own.asked_for[number];
        const std::size_t wanted =
            asked_for == 0 ? detail::max<std::size_t>(first_batch_bytes / heap_classes::bytes(size_class), 1)
                           : 2U * asked_for;
        asked_for = static_cast<std::uint8_t>(detail::min<std::size_t>(wanted, (kept + 1) / 2));
        return asked_for;
    }
    static constexpr std::size_t first_batch_bytes = 256;

    // The calling thread's stack is full, or it has none, or `p` is no slot. Ends in a jump, so that it needs no stack
    // for the objects of counted blocks, of which each comes here.
    [[gnu::noinline]] void free_slow(std::size_t number, void* p) noexcept {
        if (number == 0) return free_large(p);
        if constexpr (Private != 0) {
            if (number == counted_class) return free_counted(p);
        }
        free_slot_slow(number, p);
    }

    [[gnu::noinline]] void free_slot_slow(std::size_t number, void* p) noexcept {
        const std::size_t size_class = size_class_of(number);
        thread_slots* const own = own_slots();
        if (own == nullptr || !give_stack(own->stack(number), size_class)) return report(give_slots(number, &p, 1));
        const slot_stack stack = own->stack(number);
        if (stack.top == stack.end) {
            if (slot_stack::was_just_freed(stack.top, p)) abort_on_misuse(name, mistake::double_free, p);
            stack_growth& growth = own->growth[number];
            if (!growth.has_run_out || !grow(stack, growth, size_class)) give_older_half(stack, growth, number);
            growth.has_run_out = false;
        }
        *stack.top++ = p;
    }

    void give_older_half(slot_stack stack, stack_growth growth, std::size_t number) noexcept {
        const std::size_t kept = growth.kept(size_class_of(number));
        void** const bottom = stack.bottom(kept);
        const std::size_t half = (kept + 1) / 2;
        const heap_depot::noticed mistake = give_slots(number, bottom, half);
        std::memmove(bottom, bottom + half, (kept - half) * sizeof(void*));
        stack.top = bottom + (kept - half);
        report(mistake);
    }

    // Exchanges a full stack for one of twice its size. False when it is as large as it gets, or without memory.
    [[gnu::noinline]] bool grow(slot_stack stack, stack_growth& growth, std::size_t size_class) noexcept {
        if (growth.doublings == stack_growth::max_doublings) return false;
        const std::size_t kept = growth.kept(size_class);
        void** const before = stack.bottom(kept);
        const lock_guard guard{shared_.lock};
        void** const array = take_array(size_class, growth.doublings + 1U);
        if (array == nullptr) return false;
        std::memcpy(array, before, kept * sizeof(void*));
        give_array(before, size_class, growth.doublings++);
        stack.top = array + kept;
        stack.end = array + growth.kept(size_class);
        return true;
    }

    // The place for the lowest slot of an array; null without memory. The caller holds the range's lock.
    void** take_array(std::size_t size_class, std::size_t doublings) noexcept {
        void**& unused = unused_arrays_[size_class][doublings];
        if (void** const array = unused) {
            unused = static_cast<void**>(*array);
            return array;
        }
        const std::size_t places = heap_classes::compared + stack_growth::kept(size_class, doublings);
        auto** const array = static_cast<void**>(shared_.range.take_for_heap(places * sizeof(void*)));
        if (array == nullptr) return nullptr;
        for (std::size_t i = 0; i < heap_classes::compared; ++i) array[i] = nullptr;
        return array + heap_classes::compared;
    }
    void give_array(void** array, std::size_t size_class, std::size_t doublings) noexcept {
        *array = unused_arrays_[size_class][doublings];
        unused_arrays_[size_class][doublings] = array;
    }

    [[gnu::noinline]] void free_large(void* p, bool with_data = true) noexcept {
        with_large(p, &in_a_free,
                   [&](unit_number first, unit_number length) { shared_.range.give(first, length, with_data); });
    }
    [[gnu::noinline]] static void free_elsewhere(void* p) noexcept {
        if (p != nullptr) abort_on_misuse(name, mistake::foreign_pointer, p);
    }

    [[gnu::noinline]] void* take_counted_slow(std::size_t group, std::size_t bytes) noexcept
        requires(Private != 0)
    {
        thread_slots* const own = begin() ? own_slots() : nullptr;
        if (own == nullptr) return nullptr;
        counted_cursor& cursor = own->counted.of[group];
        if (__atomic_load_n(&privates_.is_evicted[group], __ATOMIC_RELAXED)) {
            cursor.leave([this](counted_block& block) { give_block(block); });
            return nullptr;
        }
        if (cursor.next_empty()) return cursor.take(bytes);
        const bool is_first = cursor.blocks == 0;
        if (cursor.is_sparse(__atomic_load_n(&privates_.threads_of[group], __ATOMIC_RELAXED) > 1)) {
            __atomic_store_n(&privates_.is_evicted[group], true, __ATOMIC_RELAXED);
            cursor.leave([this](counted_block& block) { give_block(block); });
            return nullptr;
        }
        void* const block = take_block();
        if (block == nullptr) return nullptr;
        if (is_first) __atomic_fetch_add(&privates_.threads_of[group], 1U, __ATOMIC_RELAXED);
        cursor.begin(*::new (block) counted_block{own, cursor});
        return cursor.take(bytes);
    }

    void* take_block() noexcept {
        const lock_guard guard{shared_.lock};
        bool is_zero;
        const unit_number first = shared_.range.take(counted_block::units, counted_block::units, is_zero);
        if (first == 0) return nullptr;
        for (unit_number each = first; each != first + counted_block::units; ++each)
            shared_.range.set_class(each, counted_class);
        return shared_.range.address(first);
    }
    [[gnu::noinline]] void give_block(counted_block& block) noexcept {
        const lock_guard guard{shared_.lock};
        const unit_number first = shared_.range.unit_of(&block);
        for (unit_number each = first; each != first + counted_block::units; ++each) shared_.range.set_class(each, 0);
        shared_.range.give(first, counted_block::units);
    }

    [[gnu::noinline]] void free_counted(void* p) noexcept
        requires(Private != 0)
    {
        counted_block& block = counted_block::of(p);
        if (!block.is_live(p)) abort_on_misuse(name, mistake::double_free, p);
        if (block.free(p, this_threads_slots<Private>)) give_block(block);
    }

    // The thread ends: the last free of each of its blocks gives it back.
    void leave_counted(thread_slots& from) noexcept
        requires(Private != 0)
    {
        for (counted_cursor& each : from.counted.of) each.leave([this](counted_block& block) { give_block(block); });
    }

    // The sentence for a mistake, of that for the same mistake in a free.
    using sentence_of_act = const char* (*)(const char*) noexcept;

    std::size_t usable_size(const void* p, sentence_of_act in_act) noexcept {
        heap_range& range = shared_.range;
        if (!range.owns(p)) abort_on_misuse(name, in_act(mistake::foreign_pointer), p);
        if (const std::size_t number = range.class_of(p)) return slot_bytes(number, p);
        std::size_t bytes = 0;
        with_large(p, in_act,
                   [&](unit_number, unit_number length) { bytes = std::size_t{length} * heap_range::unit_bytes; });
        return bytes;
    }

    static const char* in_a_free(const char* what) noexcept { return what; }

    // Calls act(first, length) under the lock with the run of units at `p`. The lock is released before a mistake is
    // reported: what runs then may allocate.
    template <class Act>
    void with_large(const void* p, sentence_of_act in_act, Act act) noexcept {
        unit_record::kind is;
        {
            const lock_guard guard{shared_.lock};
            const unit_number unit = shared_.range.unit_of(p);
            const unit_record& run = shared_.range.record(unit);
            is = run.is();
            if (is == unit_record::kind::large && shared_.range.address(unit) == p) [[likely]]
                return act(unit, run.length);
        }
        abort_on_misuse(
            name, in_act(is == unit_record::kind::free ? mistake::double_free : mistake::inside_an_allocation), p);
    }

    static void report(heap_depot::noticed mistake) noexcept {
        if (mistake.what != nullptr) [[unlikely]]
            abort_on_misuse(name, mistake.what, mistake.pointer);
    }

    // Moves whole pages to another address, without copying them; the old ones stay usable.
    static bool move_pages(void* to, void* from, std::size_t bytes) noexcept {
        return pages::move(to, from, align_up(bytes, heap_range::unit_bytes)) == 0;
    }

    // Threads that end later must not call thread_ends(), which may be unloaded. What they keep stays taken.
    struct key_end {
        basic_process_heap& heap;
        explicit key_end(basic_process_heap& owner) noexcept : heap(owner) {}
        key_end(const key_end&) = delete;
        key_end& operator=(const key_end&) = delete;
        ~key_end() {
            if (heap.has_key_.exchange(false, std::memory_order_relaxed)) pthread_key_delete(heap.key_);
        }
    };

    // Before the first use of anything. False without address space.
    bool begin() noexcept {
        if (begun_.load(std::memory_order_acquire)) [[likely]]
            return true;
        return begin_slow();
    }
    // The fork guard is set before anyone takes a lock that a child could find taken.
    [[gnu::noinline]] bool begin_slow() noexcept {
        bool& begins = this_threads_state<Private>.begins_heap;
        if (!begins) {
            begins = true;
            forks_.guard_static(this, &lock_all, &unlock_all, this, &child_begins);
            make_key();
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"  // meant
#endif
            // Runs when the library with this code is unloaded, or the process exits.
            static const key_end end_of_key{*this};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
            begins = false;
        }
        const lock_guard guard{shared_.lock};
        if (begun_.load(std::memory_order_relaxed)) return true;
        if (!shared_.range.reserve()) return false;
        __atomic_store_n(&not_at_once_, heap_classes::finely_looked_up + 1, __ATOMIC_RELAXED);
        begun_.store(true, std::memory_order_release);
        return true;
    }
    // Without a lock: another library may stand in front of the C library's function, and allocate. Until it returns,
    // what it allocates comes slot by slot.
    void make_key() noexcept {
        pthread_key_t made{};
        if (pthread_key_create(&made, &thread_ends) != 0) return;
        {
            const lock_guard guard{shared_.lock};
            if (!has_key_.load(std::memory_order_relaxed)) {
                key_ = made;
                has_key_.store(true, std::memory_order_release);
                return;
            }
        }
        // Another thread was first.
        pthread_key_delete(made);
    }

    // Brings the memory of a slot that is freed into the cache; the next allocation gets that slot. A program that
    // reads an object before it frees it may find the place to read only in other memory, as Perl finds the last byte
    // of a string by a length that lies elsewhere. The processor knows the slot's address earlier than that place, and
    // asks for the line while it still waits for the other memory: Perl's lists of strings are destroyed in a quarter
    // less time (bench/results/whole_programs.md). Not where a thread may free what another one allocated: the
    // line would leave that thread's cache for nothing.
    [[gnu::always_inline]] void prefetch(const void* p) const noexcept {
        if (!several_threads_.load(std::memory_order_relaxed)) [[likely]]
            __builtin_prefetch(p);
    }

    // The calling thread's slots. Null when it has ended, or when there is no memory.
    thread_slots* own_slots() noexcept {
        thread_slots* const own = this_threads_slots<Private>;
        return own != &without_slots<Private> ? own : register_thread();
    }
    [[gnu::noinline]] thread_slots* register_thread() noexcept {
        if (this_threads_state<Private>.has_ended || !has_key_.load(std::memory_order_acquire)) return nullptr;
        thread_slots* const own = take_thread_slots();
        if (own == nullptr) return nullptr;
        if (has_threads_.exchange(true, std::memory_order_relaxed))
            several_threads_.store(true, std::memory_order_relaxed);
        own->heap = this;
        // First: the C library may call back.
        keep_threads_slots<Private>() = own;
        pthread_setspecific(key_, own);
        return own;
    }
    thread_slots* take_thread_slots() noexcept {
        constexpr std::size_t bytes = align_up(sizeof(thread_slots), 64);
        const lock_guard guard{shared_.lock};
        void* place = unused_slots_;
        if (place != nullptr) {
            unused_slots_ = unused_slots_->next_unused;
        } else {
            place = shared_.range.take_for_heap(bytes);
            if (place == nullptr) return nullptr;
        }
        return ::new (place) thread_slots;
    }

    // Gives the calling thread a stack, if it has none. False when there is no memory.
    bool give_stack(slot_stack stack, std::size_t size_class) noexcept {
        return stack.exists() || give_new_stack(stack, size_class);
    }
    [[gnu::noinline]] bool give_new_stack(slot_stack stack, std::size_t size_class) noexcept {
        const lock_guard guard{shared_.lock};
        void** const array = take_array(size_class, 0);
        if (array == nullptr) return false;
        stack.top = array;
        stack.end = array + stack_growth::kept(size_class, 0);
        return true;
    }

    void empty(thread_slots& own, std::size_t number) noexcept {
        const slot_stack stack = own.stack(number);
        void** const bottom = stack.bottom(own.growth[number].kept(size_class_of(number)));
        const auto count = static_cast<std::size_t>(stack.top - bottom);
        stack.top = bottom;
        report(give_slots(number, bottom, count));
    }

    heap_depot::noticed give_slots(std::size_t number, void* const* slots, std::size_t count) noexcept {
        return depots_[number].give(shared_, size_class_of(number), slots, count);
    }

    std::size_t take_slots(heap_class_number of, void** begin, std::size_t wanted) noexcept {
        if constexpr (Private != 0) {
            // Before a class gets another slab.
            if (of.number == of.size_class) {
                const std::size_t taken = depots_[of.number].take(shared_, of, begin, wanted, false);
                if (taken != 0) return taken;
                join_sparse(of.size_class);
            }
        }
        return depots_[of.number].take(shared_, of, begin, wanted);
    }

    // Slots that are kept apart may not hold more memory than they use where other slots of that size need it. They may
    // while nothing does: when all objects of a phase die, few slots are in use for a while, and the next phase needs
    // them again.
    [[gnu::noinline]] void join_sparse(std::size_t size_class) noexcept
        requires(Private != 0)
    {
        for (std::size_t i = 0; i < Private; ++i) {
            const std::size_t number = heap_classes::count + i;
            if (size_class_of(number) != size_class) continue;
            const heap_depot::figures now = depots_[number].count();
            const bool is_sparse =
                now.handed_out * 2 < now.slots && now.slots * heap_classes::bytes(size_class) >= min_joined;
            if (is_sparse) depots_[number].join(depots_[size_class], shared_, {number, size_class});
        }
    }
    static constexpr std::size_t min_joined = 64_KiB;

    // The size class of a class of slots.
    static std::size_t size_class_of(std::size_t number) noexcept {
        if constexpr (Private == 0) {
            return number;
        } else {
            return number < heap_classes::count
                       ? number
                       : __atomic_load_n(&privates_.size_classes[number - heap_classes::count], __ATOMIC_RELAXED);
        }
    }

    // Bytes of the slot or of the counted block's object at `p`.
    static std::size_t slot_bytes(std::size_t number, const void* p) noexcept {
        if constexpr (Private != 0) {
            if (number == counted_class) return counted_block::bytes_of(p);
        }
        return heap_classes::bytes(size_class_of(number));
    }

    static void thread_ends(void* of) noexcept {
        auto& slots = *static_cast<thread_slots*>(of);
        slots.heap->take_stacks(slots);
    }

    void take_stacks(thread_slots& from) noexcept {
        this_threads_state<Private>.has_ended = true;
        this_threads_slots<Private> = &without_slots<Private>;
        if constexpr (Private != 0) leave_counted(from);
        for (std::size_t number = slot_classes; number-- > 1;) {
            const slot_stack stack = from.stack(number);
            if (!stack.exists()) continue;
            empty(from, number);
            const std::size_t size_class = size_class_of(number);
            const stack_growth growth = from.growth[number];
            const lock_guard guard{shared_.lock};
            give_array(stack.bottom(growth.kept(size_class)), size_class, growth.doublings);
        }
        const lock_guard guard{shared_.lock};
        from.next_unused = unused_slots_;
        unused_slots_ = &from;
    }

    static void lock_all(void* heap) noexcept {
        auto& self = *static_cast<basic_process_heap*>(heap);
        // Those of private classes first: they join others.
        for (std::size_t number = slot_classes; number-- > 0;) self.depots_[number].lock().lock();
        self.shared_.lock.lock();
    }
    static void unlock_all(void* heap) noexcept {
        auto& self = *static_cast<basic_process_heap*>(heap);
        self.shared_.lock.unlock();
        for (heap_depot& each : self.depots_) each.lock().unlock();
    }
    static void child_begins(void*) noexcept {}

    std::atomic<bool> several_threads_{false};  // have allocated; relaxed: nothing depends on it but speed
    std::atomic<bool> has_threads_{false};      // one, at least
    std::size_t not_at_once_ = 0;               // from so many bytes on
    locked_range shared_;
    std::atomic<bool> begun_{false};
    std::atomic<bool> has_key_{false};
    pthread_key_t key_{};
    fork_guard forks_;
    // Slots of threads that ended, and arrays of stacks, of those and of stacks that grew; guarded by the range's lock.
    thread_slots* unused_slots_ = nullptr;
    void** unused_arrays_[heap_classes::count][stack_growth::max_doublings + 1] = {};
    heap_depot depots_[slot_classes];
    // One heap of a process has private classes.
    static inline constinit std::conditional_t<Private == 0, no_private_classes, private_classes<Private>> privates_{};
};

using process_heap = basic_process_heap<0>;

/// The heap of the process.
inline constinit process_heap the_heap;

}  // namespace acre::detail

#endif  // ACRE_HAS_GENERAL_HEAP
