// Every static pool of the program: what it holds, and a way to give back what is unused.
//
// Use it to see where memory is, or where it gets short. A static pool is in the registry from its first use on, for
// ever.
//
// Cost: linear in the number of static pools, and in their slabs. Thread-safe. recycle() waits for nobody, so it may be
// called from a new-handler; for_each waits for the lock of one pool at a time.
//
//     acre::pool_registry::for_each([](const acre::pool_registry::entry& each) {
//         print(each.group, each.slot_bytes, each.live, each.held_bytes);
//     });
//     acre::pool_registry::recycle();
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace acre {

/// The static pools that were used so far.
class pool_registry {
public:
    /// One static pool.
    struct entry {
        std::size_t slot_bytes;
        std::string_view group;
        bool synchronized;       // false: a group that one thread at a time uses
        std::size_t live;        // slots handed out; unsynchronised: when it last grew or gave slabs back
        std::size_t held_bytes;  // from the heap
    };

    /// What a static pool says of itself. It is linked into the registry and must never be destroyed.
    struct node {
        entry (*describe)() noexcept;
        std::size_t (*recycle)() noexcept;  // null: another thread must not
        const node* next;
    };

    /// Calls `function` with the entry of each pool, the newest first. It may use any pool.
    template <class Function>
    static void for_each(Function function) {
        for (const node* each = first(); each != nullptr; each = each->next) function(each->describe());
    }

    /// Gives what is unused back to the heap, of all pools that threads share, while threads use them; returns its
    /// bytes. What other threads keep stays, and a pool whose lock is held just then is left out. A group that is one
    /// thread's is left alone: static_pool::release_unused() is for that thread to call.
    static std::size_t recycle() noexcept {
        std::size_t bytes = 0;
        for (const node* each = first(); each != nullptr; each = each->next) {
            if (each->recycle != nullptr) bytes += each->recycle();
        }
        return bytes;
    }

    /// Puts a pool in; once each. Takes no lock: it may be the upstream of another that holds one.
    static void add(node& added) noexcept {
        // Relaxed: the node before is linked to, not looked at. Release: the new one, for whoever finds it; as this
        // reads and replaces in one step, it hands on those before, too.
        const node* before = first_.load(std::memory_order_relaxed);
        do {
            added.next = before;
        } while (!first_.compare_exchange_weak(before, &added, std::memory_order_release, std::memory_order_relaxed));
    }

private:
    // Nodes are only ever put in front, so what follows the first never changes. Acquire: all of them, as add released
    // them.
    static const node* first() noexcept { return first_.load(std::memory_order_acquire); }

    static inline constinit std::atomic<const node*> first_{nullptr};
};

}  // namespace acre
