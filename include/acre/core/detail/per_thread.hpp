// What an object keeps for each thread that uses it: found without a lock, and given back when the thread ends or the
// object does, whichever is first.
//
// Used by the concurrent resources, not directly. Where there is one object of a kind, known at compile time, a
// thread_local variable does the same for less.
//
// Cost: finding is a thread-local access and two comparisons. A table of all such objects, and one for each thread that
// keeps something, are taken from the C heap; where that has no memory nothing is kept. Thread-safe. After a fork the
// child has what the calling thread had; what other threads kept stays taken.
#pragma once

#include <acre/core/detail/fork_guard.hpp>
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace acre::detail {

/// What to run, and the next of this thread.
struct thread_exit_node {
    void (*run)(thread_exit_node*) noexcept;
    thread_exit_node* next;
};

/// What a thread still has to run. It is destroyed with the thread.
struct thread_exit_list {
    thread_exit_node* first = nullptr;

    thread_exit_list() noexcept = default;
    thread_exit_list(const thread_exit_list&) = delete;
    thread_exit_list& operator=(const thread_exit_list&) = delete;
    ~thread_exit_list();
};

/// Outlives the list, whose destructor sets it.
inline thread_local constinit bool thread_has_exited = false;

inline thread_exit_list::~thread_exit_list() {
    thread_has_exited = true;
    while (first != nullptr) {
        thread_exit_node* each = first;
        first = each->next;
        each->run(each);
    }
}

/// Has `node` run when this thread ends; false when it is ending already: then it will not be run.
inline bool run_at_thread_exit(thread_exit_node& node) noexcept {
    if (thread_has_exited) return false;
    thread_local thread_exit_list list;
    node.next = list.first;
    list.first = &node;
    return true;
}

/// Something of this object's for each thread.
class per_thread {
public:
    using ended_function = void (*)(void* owner, void* state) noexcept;

    /// `ended` is called with `owner` and what a thread kept when that thread ends.
    per_thread(void* owner, ended_function ended) noexcept : owner_(owner), ended_(ended) { registry().add(*this); }
    per_thread(const per_thread&) = delete;
    per_thread& operator=(const per_thread&) = delete;

    ~per_thread() { end(); }

    /// When this returns, `ended` is not running and is not called any more; nothing is found and nothing can be kept.
    /// No other thread may look for anything meanwhile.
    void end() noexcept { registry().remove(*this); }

    /// As end, but from then on things can be kept anew.
    void renew() noexcept { registry().renew(*this); }

    /// What this thread keeps; null when that is nothing.
    [[gnu::always_inline]] void* find() const noexcept {
        const table& kept = this_thread;
        if (place_ >= kept.bytes) [[unlikely]]
            return nullptr;
        const entry& found = *entry_at(kept, place_);
        if (found.generation != generation_) [[unlikely]]
            return nullptr;
        // So that no caller's check of it stays on the hot path.
        if (found.state == nullptr) __builtin_unreachable();
        return found.state;
    }

    /// True when this thread can keep something: it is not ending, and there is memory for its table.
    bool can_keep() const noexcept { return place_ != no_place && reach(place_); }

    /// Keeps `state`, which is not null, for this thread, which can keep something.
    void keep(void* state) noexcept {
        assert(state != nullptr);
        *entry_at(this_thread, place_) = {generation_, state};
    }

private:
    static constexpr std::size_t no_place = SIZE_MAX;

    struct entry {
        std::uint64_t generation;  // of the object that keeps `state`: places are used again, generations are not
        void* state;
    };
    struct table {
        std::byte* entries;
        std::size_t bytes;  // of the entries: places are counted in bytes, which saves a shift where one is looked for
        bool will_end;
        thread_exit_node at_exit;
    };

    static entry* entry_at(const table& of, std::size_t place) noexcept {
        return reinterpret_cast<entry*>(of.entries + place);
    }

    // Every live object, by its place. Behind the lock of the process.
    class all_objects {
    public:
        void add(per_thread& added) noexcept {
            const process_lock lock;
            std::size_t number = 0;
            while (number < size_ && objects_[number] != nullptr) ++number;
            if (number == size_ && !grow()) return;
            objects_[number] = &added;
            added.place_ = number * sizeof(entry);
            added.generation_ = ++generations_;
        }
        void remove(per_thread& removed) noexcept {
            const process_lock lock;
            if (removed.place_ != no_place) objects_[removed.place_ / sizeof(entry)] = nullptr;
            removed.place_ = no_place;
        }
        void renew(per_thread& renewed) noexcept {
            const process_lock lock;
            renewed.generation_ = ++generations_;
        }
        // Tells each object that is still the one that something was kept for. The lock keeps it there meanwhile.
        void ended(const table& kept) noexcept {
            const process_lock lock;
            const std::size_t count = std::min(kept.bytes / sizeof(entry), size_);
            for (std::size_t number = 0; number < count; ++number) {
                const entry& each = *entry_at(kept, number * sizeof(entry));
                const per_thread* owner = objects_[number];
                if (owner != nullptr && owner->generation_ == each.generation) owner->ended_(owner->owner_, each.state);
            }
        }

    private:
        bool grow() noexcept {
            const std::size_t size = size_ == 0 ? 16 : 2 * size_;
            void* larger = std::realloc(objects_, size * sizeof(per_thread*));
            if (larger == nullptr) return false;
            objects_ = static_cast<per_thread**>(larger);
            std::memset(objects_ + size_, 0, (size - size_) * sizeof(per_thread*));
            size_ = size;
            return true;
        }

        per_thread** objects_ = nullptr;
        std::size_t size_ = 0;
        std::uint64_t generations_ = 0;
    };

    // Never destroyed: objects of static storage duration may outlive any that is.
    static all_objects& registry() noexcept {
        static constinit all_objects all;
        return all;
    }

    // True when this thread's table reaches over `place` and will be given up at the thread's end.
    static bool reach(std::size_t place) noexcept {
        table& kept = this_thread;
        if (!kept.will_end) {
            kept.at_exit.run = &end_of_thread;
            kept.will_end = run_at_thread_exit(kept.at_exit);
        }
        if (!kept.will_end) return false;
        if (place < kept.bytes) return true;
        const std::size_t bytes = std::max(16 * sizeof(entry), 2 * place);
        void* larger = std::realloc(kept.entries, bytes);
        if (larger == nullptr) return false;
        kept.entries = static_cast<std::byte*>(larger);
        // No object has the generation zero.
        std::memset(kept.entries + kept.bytes, 0, bytes - kept.bytes);
        kept.bytes = bytes;
        return true;
    }

    static void end_of_thread(thread_exit_node*) noexcept {
        const table kept = this_thread;
        this_thread.bytes = 0;
        this_thread.entries = nullptr;
        this_thread.will_end = false;
        registry().ended(kept);
        std::free(kept.entries);
    }

    static inline thread_local constinit table this_thread{};

    void* owner_;
    ended_function ended_;
    std::size_t place_ = no_place;
    std::uint64_t generation_ = 0;
};

}  // namespace acre::detail
