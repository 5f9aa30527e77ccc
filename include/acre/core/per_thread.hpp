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

#include <acre/core/fork_guard.hpp>
#include <acre/core/thread_exit.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace acre {

/// Something of this object's for each thread.
class per_thread {
public:
    using ended_function = void (*)(void* owner, void* state) noexcept;

    /// `ended` is called with `owner` and what a thread kept when that thread ends.
    per_thread(void* owner, ended_function ended) noexcept : owner_(owner), ended_(ended) { registry().add(*this); }
    per_thread(const per_thread&) = delete;
    per_thread& operator=(const per_thread&) = delete;

    ~per_thread() { end(); }

    /// When this returns, `ended` is not running and is not called any more; nothing is found and nothing can be kept. No
    /// other thread may look for anything meanwhile.
    void end() noexcept { registry().remove(*this); }

    /// As end, but from then on things can be kept anew.
    void renew() noexcept { registry().renew(*this); }

    /// What this thread keeps; null when that is nothing.
    [[gnu::always_inline]] void* find() const noexcept {
        const table& kept = this_thread;
        if (number_ >= kept.size || kept.entries[number_].generation != generation_) [[unlikely]]
            return nullptr;
        return kept.entries[number_].state;
    }

    /// True when this thread can keep something: it is not ending, and there is memory for its table.
    bool can_keep() const noexcept { return number_ != no_number && reach(number_); }

    /// Keeps `state` for this thread, which can keep something.
    void keep(void* state) noexcept { this_thread.entries[number_] = {generation_, state}; }

private:
    static constexpr std::size_t no_number = SIZE_MAX;

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
        void add(per_thread& added) noexcept {
            const process_lock lock;
            std::size_t number = 0;
            while (number < size_ && objects_[number] != nullptr) ++number;
            if (number == size_ && !grow()) return;
            objects_[number] = &added;
            added.number_ = number;
            added.generation_ = ++generations_;
        }
        void remove(per_thread& removed) noexcept {
            const process_lock lock;
            if (removed.number_ != no_number) objects_[removed.number_] = nullptr;
            removed.number_ = no_number;
        }
        void renew(per_thread& renewed) noexcept {
            const process_lock lock;
            renewed.generation_ = ++generations_;
        }
        // Tells each object that is still the one that something was kept for. The lock keeps it there meanwhile.
        void ended(const table& kept) noexcept {
            const process_lock lock;
            for (std::size_t number = 0; number < kept.size && number < size_; ++number) {
                const entry& each = kept.entries[number];
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

    // True when this thread's table has room for `number` and will be given up at the thread's end.
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
    std::size_t number_ = no_number;
    std::uint64_t generation_ = 0;
};

}  // namespace acre
