// What each thread keeps of acre::general_heap: a stack of free slots for each size class.
//
// Used by the library, not directly. A stack is an array of pointers, taken from the heap's own memory when the thread
// first needs a slot of the class, and used again by other threads after it. One that was full, empty and full again is
// exchanged for one of twice its size, up to four times what it had: a slot that goes to the slabs and comes back
// takes about 60 instructions more than one that stays. Below a stack's lowest slot lies a null: taking reads the top,
// and null means that there is none. Until a thread's first use, and after it ends, the stack has capacity 0, so that
// push and pop both take the slow path.
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

/// A stack of free slots of one class.
struct slot_stack {
    void** top = no_slots + 1;  // one above the slot that is handed out next; nulls lie below the lowest
    void** end = no_slots + 1;

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
    enum class state : unsigned char { is_new, registered, ended };

    // The last one is that of counted blocks: always empty and full.
    slot_stack stacks[heap_classes::count + (Private == 0 ? 0 : Private + 1)];
    /// By class: how many slots the last look into the depot asked for. Of thousands of threads each holds few slots.
    std::uint8_t asked_for[heap_classes::count + Private] = {};
    stack_growth growth[heap_classes::count + Private] = {};
    [[no_unique_address]] std::conditional_t<Private == 0, no_counted_cursors, counted_cursors> counted;
    basic_process_heap<Private>* heap = nullptr;
    state phase = state::is_new;
    bool sets_fork_guard = false;  // meanwhile the C library may allocate
};

template <std::size_t Private>
inline thread_local constinit thread_slots<Private> this_threads_slots{};

// Where this is called, the compiler keeps the variable, which the assembly below names. The variable itself can't be
// gnu::used: clang 19 crashes on such a template in a module.
template <std::size_t Private>
[[gnu::used]] inline thread_slots<Private>& keep_threads_slots() noexcept {
    return this_threads_slots<Private>;
}

#define ACRE_THREADS_SLOTS "_ZN4acre6detail18this_threads_slotsILm0EEE"
ACRE_FINDER inline thread_slots<0>& find_threads_slots() noexcept {
    thread_slots<0>* found;
    ACRE_FIND(found, this_threads_slots<0>, ACRE_THREADS_SLOTS, 0);
    return *found;
}

/// The calling thread's stack of a class, for the hot paths. A heap with private classes is called out of line only.
template <std::size_t Private>
class found_stack {
public:
    [[gnu::always_inline]] explicit found_stack(std::size_t number) noexcept : stack_(slots().stacks[number]) {}

    [[gnu::always_inline]] void** top() const noexcept { return stack_.top; }
    [[gnu::always_inline]] bool ends_at(void** top) const noexcept { return stack_.end == top; }
    [[gnu::always_inline]] void set_top(void** top) const noexcept { stack_.top = top; }

private:
    [[gnu::always_inline]] static thread_slots<Private>& slots() noexcept {
        if constexpr (Private == 0) {
            return find_threads_slots();
        } else {
            return this_threads_slots<Private>;
        }
    }

    slot_stack& stack_;
};

#if ACRE_BY_SEGMENT
template <>
class found_stack<0> {
public:
    [[gnu::always_inline]] explicit found_stack(std::size_t number) noexcept : offset_(number * sizeof(slot_stack)) {}

    [[gnu::always_inline]] void** top() const noexcept {
        void** top;
        asm volatile("mov{q %%fs:" ACRE_THREADS_SLOTS "@tpoff+%c2(%1), %0| %0, QWORD PTR fs:" ACRE_THREADS_SLOTS
                     "@tpoff+%c2[%1]}"
                     : "=r"(top)
                     : "r"(offset_), "i"(top_at));
        return top;
    }
    [[gnu::always_inline]] bool ends_at(void** top) const noexcept {
        bool is_equal;
        asm volatile("cmp{q %1, %%fs:" ACRE_THREADS_SLOTS "@tpoff+%c3(%2)| QWORD PTR fs:" ACRE_THREADS_SLOTS
                     "@tpoff+%c3[%2], %1}"
                     : "=@cce"(is_equal)
                     : "r"(top), "r"(offset_), "i"(end_at));
        return is_equal;
    }
    [[gnu::always_inline]] void set_top(void** top) const noexcept {
        asm volatile("mov{q %0, %%fs:" ACRE_THREADS_SLOTS "@tpoff+%c2(%1)| QWORD PTR fs:" ACRE_THREADS_SLOTS
                     "@tpoff+%c2[%1], %0}"
                     :
                     : "r"(top), "r"(offset_), "i"(top_at));
    }

private:
    static constexpr std::size_t top_at = offsetof(thread_slots<0>, stacks) + offsetof(slot_stack, top);
    static constexpr std::size_t end_at = offsetof(thread_slots<0>, stacks) + offsetof(slot_stack, end);

    std::size_t offset_;
};
#endif
#undef ACRE_THREADS_SLOTS

}  // namespace acre::detail

#endif
