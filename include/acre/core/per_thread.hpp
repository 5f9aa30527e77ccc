// What an object keeps for each thread that uses it: found without a lock, and given back when the thread ends or the
// object does, whichever is first.
//
// Used by the concurrent resources, not directly. Where there is one object of a kind, known at compile time, a
// thread_local variable does the same for less.
//
// Cost: finding is a thread-local access and two comparisons; the first time in a thread takes memory from the heap for a
// table of all such objects. Thread-safe. After a fork the child has what the calling thread had; what other threads kept
// stays taken.
#pragma once

#include <acre/core/fork_guard.hpp>
#include <acre/core/thread_exit.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace acre {

/// Something of this object's for each thread.
class per_thread {
public:
    using ended_function = void (*)(void* owner, void* state) noexcept;

    /// `ended` is called with `owner` and what a thread kept when that thread ends.
    per_thread(void* owner, ended_function ended) : owner_(owner), ended_(ended) { registry().add(*this); }
    per_thread(const per_thread&) = delete;
    per_thread& operator=(const per_thread&) = delete;

    ~per_thread() { end(); }

    /// When this returns, `ended` is not running and is not called any more, and nothing is found.
    void end() noexcept { registry().remove(*this); }

    /// What this thread keeps; null when that is nothing.
    [[gnu::always_inline]] void* find() const noexcept {
        const table& kept = this_thread;
        if (number_ >= kept.size || kept.entries[number_].generation != generation_) [[unlikely]]
            return nullptr;
        return kept.entries[number_].state;
    }

    /// Keeps `state` for this thread. False when there is no memory, or the thread is ending: then nothing is kept.
    [[gnu::noinline]] bool keep(void* state) noexcept {
        if (!reach(number_)) return false;
        this_thread.entries[number_] = {generation_, state};
        return true;
    }

private:
    struct entry {
        std::uint64_t generation;  // of the object that keeps `state`: numbers are used again, generations are not
        void* state;
    };
    struct table {
        entry* entries;
        std::size_t size;
        bool will_end;
        thread_exit_node at_exit;
    };

    // Every live object, by number. Behind the lock of the process.
    class all_objects {
    public:
        void add(per_thread& added) {
            const std::lock_guard lock{detail::process.mutex};
            std::size_t number = 0;
            while (number < size_ && objects_[number] != nullptr) ++number;
            if (number == size_) grow();
            objects_[number] = &added;
            added.number_ = number;
            added.generation_ = ++generations_;
        }
        void remove(const per_thread& removed) noexcept {
            const std::lock_guard lock{detail::process.mutex};
            if (objects_[removed.number_] == &removed) objects_[removed.number_] = nullptr;
        }
        // Tells each object that is still the one that something was kept for.
        void ended(const table& kept) noexcept {
            const std::lock_guard lock{detail::process.mutex};
            for (std::size_t number = 0; number < kept.size; ++number) {
                const entry& each = kept.entries[number];
                per_thread* owner = number < size_ ? objects_[number] : nullptr;
                if (owner != nullptr && owner->generation_ == each.generation) owner->ended_(owner->owner_, each.state);
            }
        }

    private:
        void grow() {
            const std::size_t size = size_ == 0 ? 16 : 2 * size_;
            void* larger = std::realloc(objects_, size * sizeof(per_thread*));
            if (larger == nullptr) std::abort();
            objects_ = static_cast<per_thread**>(larger);
            std::memset(objects_ + size_, 0, (size - size_) * sizeof(per_thread*));
            size_ = size;
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

    static bool reach(std::size_t number) noexcept {
        table& kept = this_thread;
        if (!kept.will_end) {
            kept.at_exit.run = &end_of_thread;
            kept.will_end = run_at_thread_exit(kept.at_exit);
        }
        if (!kept.will_end) return false;
        if (number < kept.size) return true;
        const std::size_t size = number < 8 ? 16 : 2 * number;
        void* larger = std::realloc(kept.entries, size * sizeof(entry));
        if (larger == nullptr) return false;
        kept.entries = static_cast<entry*>(larger);
        std::memset(kept.entries + kept.size, 0, (size - kept.size) * sizeof(entry));
        kept.size = size;
        return true;
    }

    static void end_of_thread(thread_exit_node*) noexcept {
        const table kept = this_thread;
        this_thread.size = 0;
        this_thread.entries = nullptr;
        this_thread.will_end = false;
        registry().ended(kept);
        std::free(kept.entries);
    }

    static inline thread_local constinit table this_thread{};

    void* owner_;
    ended_function ended_;
    std::size_t number_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace acre
