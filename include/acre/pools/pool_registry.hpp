// Every static pool of the program: what it holds, and a way to give back what is unused.
//
// Use it to see where memory is, or where it gets short. Cost: linear in the number of static pools, and in their slabs.
// Thread-safe; acre::static_pool puts itself in on its first use, and stays.
//
//     acre::pool_registry::for_each([](const acre::pool_registry::entry& each) { print(each.group, each.slot_bytes, each.held_bytes); });
//     acre::pool_registry::recycle();
#pragma once

#include <acre/core/fork_guard.hpp>
#include <cstddef>
#include <mutex>
#include <string_view>

namespace acre {

/// The static pools that were used so far.
class pool_registry {
public:
    /// One static pool.
    struct entry {
        std::size_t slot_bytes;
        std::string_view group;
        bool synchronized;  // false: a group that one thread at a time uses
        std::size_t live;   // slots handed out, those that threads keep included; unsynchronised: when it last grew
        std::size_t held_bytes;  // from the system; unsynchronised: when it last grew
    };

    /// What a static pool says of itself. It is linked into the registry and must never be destroyed.
    struct node {
        entry (*describe)() noexcept;
        std::size_t (*recycle)() noexcept;  // null: another thread must not
        node* next;
    };

    /// Calls `function` with the entry of each. It must not use a static pool for the first time.
    template <class Function>
    static void for_each(Function function) {
        for (const node* each = first(); each != nullptr; each = each->next) function(each->describe());
    }

    /// Gives slabs without a live slot back to the system, of all pools that threads share, while threads use them; returns
    /// their bytes. A group that is one thread's is left alone: static_pool::release_unused() is for that thread to call.
    static std::size_t recycle() noexcept {
        std::size_t bytes = 0;
        for (const node* each = first(); each != nullptr; each = each->next) {
            if (each->recycle != nullptr) bytes += each->recycle();
        }
        return bytes;
    }

    /// Puts a pool in, once.
    static void add(node& added) noexcept {
        const std::lock_guard lock{detail::process.mutex};
        added.next = first_;
        first_ = &added;
    }

private:
    // Nodes are only ever put in front, so what follows the first never changes.
    static const node* first() noexcept {
        const std::lock_guard lock{detail::process.mutex};
        return first_;
    }

    static inline constinit node* first_ = nullptr;
};

}  // namespace acre
