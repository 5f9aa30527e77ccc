// What each thread keeps of acre::general_heap: a stack of free slots for each size class.
//
// Used by the library, not directly. A thread's stacks lie in the heap's own memory, which the thread gets at its first
// request and another one after it; thread-local storage has only a pointer to them, so that a program can load a
// library with this heap at any time. Until then, and after its end, a thread has stacks that all threads share: they
// have capacity 0, so that push and pop both take the slow path.
//
// A stack is an array of pointers, taken from the same memory when the thread first needs a slot of the class. One that
// was full, empty and full again is exchanged for one of twice its size, up to four times what it had: a slot that goes
// to the slabs and comes back takes about 60 instructions more than one that stays. Below a stack's lowest slot lies a
// null: taking reads the top, and null means that there is none.
#pragma once

#include <acre/core/detail/target.hpp>
#if ACRE_HAS_GENERAL_HEAP
#include <acre/core/detail/find_anew.hpp>
#include <acre/heaps/detail/counted_blocks.hpp>
#include <acre/heaps/detail/heap_classes.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace acre::detail {

template <std::size_t Private>
class basic_process_heap;

/// A null that is both the end of an empty stack and, behind it, the end of a full one. Never written.
inline constinit void* no_slots[1] = {nullptr};

/// A stack of free slots of one class, by what a thread keeps of it.
struct slot_stack {
    void**& top;  // one above the slot that is handed out next; nulls lie below the lowest
    void**& end;

    bool exists() const noexcept { return end != no_slots + 1; }
    /// The lowest place for a slot.
    void** bottom(std::size_t kept) const noexcept { return end - kept; }
    /// Whether `p` is one of the two slots that the thread freed last, as glibc notices, too. The stack must exist.
    [[gnu::always_inline]] static bool was_just_freed(void* const* top, const void* p) noexcept {
        static_assert(heap_classes::compared == 2);
        return top[-1] == p || top[-2] == p;
    }
};

/// How large a stack has become.
struct stack_growth {
    static constexpr std::uint8_t max_doublings = 2;

    std::uint8_t doublings = 0;
    bool has_run_out = false;  // since it was full

    /// Slots that such a stack of a size class has room for.
    static constexpr std::size_t kept(std::size_t size_class, std::size_t doublings) noexcept {
        return ((heap_classes::layouts[size_class].kept + heap_classes::compared) << doublings) -
               heap_classes::compared;
    }
    std::size_t kept(std::size_t size_class) const noexcept { return kept(size_class, doublings); }
};

/// The stacks of one thread, and its cursors in counted blocks. `Private`: number of classes beyond the size classes.
template <std::size_t Private>
struct thread_slots {
    // The last one is that of counted blocks: always empty and full.
    static constexpr std::size_t stack_count = heap_classes::count + (Private == 0 ? 0 : Private + 1);

    // Apart, so that a class's number leads to each in one instruction.
    void** tops[stack_count];
    void** ends[stack_count];
    /// By class: how many slots the last look into the depot asked for. Of thousands of threads each holds few slots.
    std::uint8_t asked_for[heap_classes::count + Private] = {};
    stack_growth growth[heap_classes::count + Private] = {};
    [[no_unique_address]] std::conditional_t<Private == 0, no_counted_cursors, counted_cursors> counted;
    basic_process_heap<Private>* heap = nullptr;
    thread_slots* next_unused = nullptr;

    constexpr thread_slots() noexcept {
        for (void**& each : tops) each = no_slots + 1;
        for (void**& each : ends) each = no_slots + 1;
    }
    thread_slots(const thread_slots&) = delete;
    thread_slots& operator=(const thread_slots&) = delete;

    slot_stack stack(std::size_t number) noexcept { return {tops[number], ends[number]}; }
};

/// Those of each thread that has none of its own. Never written.
template <std::size_t Private>
inline constinit thread_slots<Private> without_slots{};

/// Those of the calling thread.
template <std::size_t Private>
inline thread_local constinit thread_slots<Private>* this_threads_slots = &without_slots<Private>;

// Where this is called, the compiler keeps the variable, which the assembly below names. The variable itself can't be
// gnu::used: clang 19 crashes on such a template in a module.
template <std::size_t Private>
[[gnu::used]] inline thread_slots<Private>*& keep_threads_slots() noexcept {
    return this_threads_slots<Private>;
}

/// Where a thread is in its life.
struct heap_thread_state {
    bool has_ended = false;    // and gets no slots of its own any more
    bool begins_heap = false;  // meanwhile the C library may allocate
};
template <std::size_t Private>
inline thread_local constinit heap_thread_state this_threads_state{};

#define ACRE_THREADS_SLOTS "_ZN4acre6detail18this_threads_slotsILm0EEE"
#if ACRE_BY_SEGMENT
[[gnu::always_inline]] inline thread_slots<0>& find_threads_slots() noexcept {
    thread_slots<0>* found;
    ACRE_READ(found, ACRE_THREADS_SLOTS, 0, 0);
    return *found;
}
#else
ACRE_FINDER inline thread_slots<0>& find_threads_slots() noexcept {
    thread_slots<0>** found;
    ACRE_FIND(found, this_threads_slots<0>, ACRE_THREADS_SLOTS, 0);
    return **found;
}
#endif
#undef ACRE_THREADS_SLOTS

/// The calling thread's stack of a class, for the hot paths. A heap with private classes is called out of line only.
template <std::size_t Private>
class found_stack {
public:
    [[gnu::always_inline]] explicit found_stack(std::size_t number) noexcept : slots_(find()), number_(number) {}

    [[gnu::always_inline]] void** top() const noexcept { return slots_.tops[number_]; }
    [[gnu::always_inline]] bool ends_at(void** top) const noexcept { return slots_.ends[number_] == top; }
    [[gnu::always_inline]] void set_top(void** top) const noexcept { slots_.tops[number_] = top; }

private:
    [[gnu::always_inline]] static thread_slots<Private>& find() noexcept {
        if constexpr (Private == 0) {
            return find_threads_slots();
        } else {
            return *this_threads_slots<Private>;
        }
    }

    thread_slots<Private>& slots_;
    std::size_t number_;
};

}  // namespace acre::detail

#endif
