// Per-object thread-local storage: a pointer for each thread that uses the object, found without a lock and given up
// when the thread or the object ends. And run_at_thread_exit(), on which it is built.
//
// Used by the concurrent resources, not directly. For a single object known at compile time, a thread_local variable
// does the same for less.
//
// Cost: find() is a thread-local access and one comparison for the object that the thread remembered last, two more for
// others. A table of all such objects, and one for each thread that keeps something, are taken from the C heap; without
// memory nothing is kept. (In a library that dlopen loaded, a thread's first access to thread-local storage itself
// takes memory, without which glibc ends the process.) Thread-safe. After a fork the child has what the calling thread
// kept; what other threads kept stays taken.
//
// Several copies of this header's variables: shared libraries with hidden visibility, or opened with RTLD_LOCAL, each
// have their own. An object belongs to the copy that made it, which alone keeps its states. In code of another copy
// find() finds nothing, and find_and_remember() calls the object's copy: correct, and slower.
#pragma once

#include <acre/core/detail/find_anew.hpp>
#include <acre/core/detail/fork_guard.hpp>
#include <acre/core/detail/minmax.hpp>
#include <acre/core/detail/target.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#if defined(__clang__)
// What each library has of its own is not shared on purpose.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wunique-object-duplication"
#pragma clang diagnostic ignored "-Wexit-time-destructors"  // of a thread_local object, at the end of its thread
#endif

namespace acre::detail {

/// A registered function, linked in the list of its thread.
struct thread_exit_node {
    void (*run)(thread_exit_node*) noexcept;
    thread_exit_node* next;
};

/// The functions that a thread runs when it ends, registered by one library or by the program. Each has a list of its
/// own, because what registers the destructor of a thread_local object stays loaded until the thread ends: so do the
/// functions. A list that libraries share would keep the one that began it.
struct ACRE_OF_THIS_LIBRARY thread_exit_list {
    thread_exit_node* first = nullptr;

    thread_exit_list() noexcept = default;
    thread_exit_list(const thread_exit_list&) = delete;
    thread_exit_list& operator=(const thread_exit_list&) = delete;
    ~thread_exit_list();
};

/// Set by the list's destructor. It has none itself, so it can be read until the thread ends.
ACRE_OF_THIS_LIBRARY inline thread_local constinit bool thread_has_exited = false;

inline thread_exit_list::~thread_exit_list() {
    thread_has_exited = true;
    while (first != nullptr) {
        thread_exit_node* each = first;
        first = each->next;
        each->run(each);
    }
}

/// Set when the list's destructor is registered.
ACRE_OF_THIS_LIBRARY inline thread_local constinit bool thread_has_exit_list = false;

/// Whether the C library has memory to register a thread_local destructor: glibc takes it from the heap and ends the
/// process when there is none. Takes and frees more than glibc needs. The small block is of the size that it takes, for
/// heaps whose threads reuse what they freed. The large one goes back to the heap itself, because glibc's calloc
/// ignores its per-thread cache before version 2.41. Only if other threads took all of that before the registration
/// would the process still end.
[[gnu::noinline]] inline bool can_register_destructor() noexcept {
    constexpr std::size_t registration_bytes = 4 * sizeof(void*);
    constexpr std::size_t uncached_bytes = 4096;
    // Volatile: compilers remove a block that nobody uses, and assume that the heap had it.
    void* volatile small = std::calloc(1, registration_bytes);
    void* volatile large = std::malloc(uncached_bytes);
    const bool can = small != nullptr && large != nullptr;
    std::free(large);
    std::free(small);
    return can;
}

/// Runs `node`, which must live until then, when this thread ends. All nodes run when the first registration's turn
/// among the thread_local destructors comes. Refused with false after that, and while the heap has no memory for the
/// first registration: then the caller must not keep anything for this thread.
ACRE_OF_THIS_LIBRARY inline bool run_at_thread_exit(thread_exit_node& node) noexcept {
    if (thread_has_exited) return false;
    if (!thread_has_exit_list && !can_register_destructor()) return false;
    thread_local thread_exit_list list;
    thread_has_exit_list = true;
    node.next = list.first;
    list.first = &node;
    return true;
}

/// Per-object thread-local storage.
class per_thread {
public:
    using ended_function = void (*)(void* owner, void* state) noexcept;
    using library_function = bool (*)() noexcept;

    /// When a thread ends, calls `ended` with `owner` and the state that the thread kept. `library`, as of the caller,
    /// keeps the code of `ended` loaded until then.
    per_thread(void* owner, ended_function ended, library_function library = &enter_library) noexcept
        : owner_(owner), ended_(ended), home_(&registry()), library_(library) {
        home_->add(*this);
    }
    per_thread(const per_thread&) = delete;
    per_thread& operator=(const per_thread&) = delete;

    ~per_thread() { end(); }

    /// Afterwards `ended` is neither running nor called again, nothing is found, and nothing can be kept. No other
    /// thread may call find() or keep() meanwhile.
    void end() noexcept { home_->remove(*this); }

    /// As end(), but states can be kept again afterwards.
    void renew() noexcept { home_->renew(*this); }

    /// The state that this thread keeps, or null. Always null in code of another copy.
    [[gnu::always_inline]] void* find() const noexcept {
        const table_found_anew kept;
        if (kept.remembers(generation_)) [[likely]]
            return not_null(kept.remembered_state());
        if (!kept.reaches(offset_)) [[unlikely]]
            return nullptr;
        const entry& found = *reinterpret_cast<entry*>(kept.entries() + offset_);
        if (found.generation != generation_) [[unlikely]]
            return nullptr;
        return not_null(found.state);
    }

    /// As find(), and from now on find() is fastest for this object. For calls that are rare: then a thread that uses
    /// several objects in turns does not write this each time. In code of another copy the state is found, and not
    /// remembered.
    [[gnu::noinline]] void* find_and_remember() const noexcept {
        if (is_foreign()) return home_->find(*this);
        void* state = find();
        if (state != nullptr) this_thread.remembered = {generation_, state};
        return state;
    }

    /// True when this thread can keep a state: it is not ending, and the heap has memory for its table.
    bool can_keep() const noexcept {
        if (offset_ == no_offset || !library_()) return false;
        return is_foreign() ? home_->reach(offset_) : reach(offset_);
    }

    /// Keeps `state`, not null, for this thread. Requires can_keep().
    [[gnu::noinline]] void keep(void* state) noexcept {
        assert(state != nullptr);
        if (is_foreign()) return home_->keep(*this, state);
        *entry_at(this_thread, offset_) = {generation_, state};
        this_thread.remembered = {generation_, state};
    }

private:
    static constexpr std::size_t no_offset = SIZE_MAX;
    // Of an object that keeps nothing. No table has it: not even zeroed entries.
    static constexpr std::uint64_t no_generation = UINT64_MAX;

    struct entry {
        // Of the object that `state` belongs to. Offsets are reused, and the same in several copies; generations are
        // not.
        std::uint64_t generation;
        void* state;
    };
    struct table {
        entry remembered;  // a copy of one entry
        std::byte* entries;
        std::size_t bytes;  // of the entries; offsets are in bytes, which saves a shift in find()
        bool will_end;
        thread_exit_node at_exit;
    };

    static entry* entry_at(const table& of, std::size_t offset) noexcept {
        return reinterpret_cast<entry*>(of.entries + offset);
    }

    // Removes the caller's null check from the hot path.
    [[gnu::always_inline]] static void* not_null(void* state) noexcept {
        if (state == nullptr) __builtin_unreachable();
        return state;
    }

    // Every live object of this copy, by its offset. Guarded by this copy's lock of the process.
    class all_objects {
    public:
        // The functions of this copy, for calls from another.
        void* (*find)(const per_thread&) noexcept = &find_here;
        bool (*reach)(std::size_t offset) noexcept = &per_thread::reach;
        void (*keep)(per_thread&, void* state) noexcept = &keep_here;

        void add(per_thread& added) noexcept {
            const process_lock lock{process_};
            std::size_t number = 0;
            while (number < size_ && objects_[number] != nullptr) ++number;
            if (number == size_ && !grow()) return;
            objects_[number] = &added;
            added.offset_ = number * sizeof(entry);
            added.generation_ = next_generation();
        }
        void remove(per_thread& removed) noexcept {
            const process_lock lock{process_};
            if (removed.offset_ != no_offset) objects_[removed.offset_ / sizeof(entry)] = nullptr;
            removed.offset_ = no_offset;
            removed.generation_ = no_generation;
        }
        void renew(per_thread& renewed) noexcept {
            const process_lock lock{process_};
            renewed.generation_ = next_generation();
        }
        // Calls `ended` of each live object that holds a state of this thread; of one library, or of all for null. The
        // lock keeps the object alive.
        void ended(const table& kept, library_function library) noexcept {
            const process_lock lock{process_};
            const std::size_t count = detail::min(kept.bytes / sizeof(entry), size_);
            for (std::size_t number = 0; number < count; ++number) {
                entry& each = *entry_at(kept, number * sizeof(entry));
                const per_thread* owner = objects_[number];
                if (owner == nullptr || owner->generation_ != each.generation) continue;
                if (library != nullptr && library != owner->library_) continue;
                each.generation = 0;
                owner->ended_(owner->owner_, each.state);
            }
        }

    private:
        // Never zero nor no_generation.
        std::uint64_t next_generation() noexcept {
            if (generations_ == 0) generations_ = first_generation();
            return ++generations_;
        }
        // Differs between copies by its address, and between a library and one loaded later at the same address by the
        // time. Mixed (as in splitmix64), so that the generations counted from it do not meet those of another copy.
        std::uint64_t first_generation() const noexcept {
            // The C library of MinGW has no clock that is both finer and of C++.
            const auto seconds = static_cast<std::uint64_t>(std::time(nullptr));
            const auto in_process = static_cast<std::uint64_t>(std::clock());
            std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(this);
            mixed += ((seconds << 32) + in_process) * 0x9e3779b97f4a7c15;
            mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            return (mixed ^ (mixed >> 31)) >> 1;
        }

        bool grow() noexcept {
            const std::size_t size = size_ == 0 ? 16 : 2 * size_;
            void* larger = std::realloc(objects_, size * sizeof(per_thread*));
            if (larger == nullptr) return false;
            objects_ = static_cast<per_thread**>(larger);
            std::memset(objects_ + size_, 0, (size - size_) * sizeof(per_thread*));
            size_ = size;
            return true;
        }

        process_wide& process_ = process;
        per_thread** objects_ = nullptr;
        std::size_t size_ = 0;
        std::uint64_t generations_ = 0;
    };

    // Never destroyed: static objects may use it until the process ends.
    static all_objects& registry() noexcept {
        static constinit all_objects all;
        return all;
    }

    bool is_foreign() const noexcept { return home_ != &registry(); }

    static void* find_here(const per_thread& object) noexcept { return object.find(); }
    static void keep_here(per_thread& object, void* state) noexcept { object.keep(state); }

    // Grows this thread's table to contain `offset`; the table is given up at the thread's end. False when it cannot.
    [[gnu::noinline]] static bool reach(std::size_t offset) noexcept {
        table& kept = this_thread;
        if (!kept.will_end) {
            kept.at_exit.run = &end_of_thread;
            kept.will_end = run_at_thread_exit(kept.at_exit);
        }
        if (!kept.will_end) return false;
        if (offset < kept.bytes) return true;
        const std::size_t bytes = detail::max(16 * sizeof(entry), 2 * offset);
        void* larger = std::realloc(kept.entries, bytes);
        if (larger == nullptr) return false;
        kept.entries = static_cast<std::byte*>(larger);
        // No object has generation zero.
        std::memset(kept.entries + kept.bytes, 0, bytes - kept.bytes);
        kept.bytes = bytes;
        return true;
    }

    static void end_of_thread(thread_exit_node*) noexcept {
        const table kept = this_thread;
        this_thread.remembered = {};
        this_thread.bytes = 0;
        this_thread.entries = nullptr;
        this_thread.will_end = false;
        registry().ended(kept, nullptr);
        std::free(kept.entries);
    }

    // Keeps the library with this code loaded until the thread ends, when the states of the library's objects end
    // first: the thread's table may belong to the program. False when the thread is ending, or without memory.
    ACRE_OF_THIS_LIBRARY static bool enter_library() noexcept {
        thread_local constinit bool entered = false;
        thread_local constinit thread_exit_node at_exit{};
        if (entered) return true;
        at_exit.run = [](thread_exit_node*) noexcept {
            entered = false;
            this_thread.remembered = {};
            registry().ended(this_thread, &enter_library);
        };
        entered = run_at_thread_exit(at_exit);
        return entered;
    }

    [[gnu::used]] static inline thread_local constinit table this_thread{};

#define ACRE_THIS_THREAD "_ZN4acre6detail10per_thread11this_threadE"
#if ACRE_BY_SEGMENT
    // Words of the calling thread's table.
    class table_found_anew {
    public:
        [[gnu::always_inline]] bool remembers(std::uint64_t generation) const noexcept {
            bool is_equal;
            ACRE_COMPARE(is_equal, "e", ACRE_THIS_THREAD, 0, offsetof(table, remembered.generation), generation);
            return is_equal;
        }
        [[gnu::always_inline]] bool reaches(std::size_t offset) const noexcept {
            bool is_above;
            ACRE_COMPARE(is_above, "a", ACRE_THIS_THREAD, 0, offsetof(table, bytes), offset);
            return is_above;
        }
        [[gnu::always_inline]] void* remembered_state() const noexcept {
            void* state;
            ACRE_READ(state, ACRE_THIS_THREAD, 0, offsetof(table, remembered.state));
            return state;
        }
        [[gnu::always_inline]] std::byte* entries() const noexcept {
            std::byte* entries;
            ACRE_READ(entries, ACRE_THIS_THREAD, 0, offsetof(table, entries));
            return entries;
        }
    };
#else
    ACRE_FINDER static const table& find_table() noexcept {
        const table* found;
        ACRE_FIND(found, this_thread, ACRE_THIS_THREAD, 0);
        return *found;
    }
    // The calling thread's table.
    class table_found_anew {
    public:
        [[gnu::always_inline]] bool remembers(std::uint64_t generation) const noexcept {
            return kept_.remembered.generation == generation;
        }
        [[gnu::always_inline]] bool reaches(std::size_t offset) const noexcept { return offset < kept_.bytes; }
        [[gnu::always_inline]] void* remembered_state() const noexcept { return kept_.remembered.state; }
        [[gnu::always_inline]] std::byte* entries() const noexcept { return kept_.entries; }

    private:
        const table& kept_ = find_table();
    };
#endif
#undef ACRE_THIS_THREAD

    void* owner_;
    ended_function ended_;
    std::size_t offset_ = no_offset;
    std::uint64_t generation_ = no_generation;
    all_objects* home_;
    library_function library_;
};

}  // namespace acre::detail

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
