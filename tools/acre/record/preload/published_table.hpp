// A hash table that is read without a lock while one writer at a time adds entries. Old tables are never freed, so a
// reader may go on using one.
#pragma once

#include "system.hpp"

namespace acre::recorder {

/// A return address with facts in the upper 16 bits: the number of its module in the lower ones of these, and the bits
/// below.
using tagged_address = std::uint64_t;

/// The call before the address goes to a function of its module, not to a table of jumps to other modules.
inline constexpr tagged_address calls_own_module = tagged_address{1} << 63;

/// Of a node of the call tree, see raw::innermost_bit.
inline constexpr tagged_address innermost_node = tagged_address{1} << 62;

constexpr std::uint32_t module_of(tagged_address address) {
    return static_cast<std::uint32_t>((address & ~(calls_own_module | innermost_node)) >> 48);
}

constexpr std::uint64_t spread(std::uint64_t key) {
    return key * 0x9e37'79b9'7f4a'7c15;
}

/// Zeroed memory is an empty table. Entry: a trivial type with `hash(key, entry)`, whose upper bits must spread well.
/// Keys are not 0.
template <typename Entry>
class published_table {
public:
    /// The key of a removed entry, which is dropped when the table grows.
    static constexpr tagged_address forgotten = ~tagged_address{0};

    struct hit {
        tagged_address key;
        const Entry* entry;  // null: not found
    };

    /// The first entry with that hash for which `matches(key, entry)` is true.
    template <typename Matches>
    hit find(std::uint64_t hash, Matches matches) const {
        const table* now = table_.load(std::memory_order_acquire);
        if (now == nullptr) [[unlikely]]
            return {0, nullptr};
        for (std::size_t i = hash >> now->shift;; i = (i + 1) & now->mask) {
            const cell& each = now->cells[i];
            // Acquire: pairs with the release of the key, which follows the entry.
            const tagged_address key = each.key.load(std::memory_order_acquire);
            if (key == 0) return {0, nullptr};
            if (matches(key, each.entry)) [[likely]]
                return {key, &each.entry};
        }
    }

    /// Ensures that the next add() succeeds; false if out of memory. One thread at a time.
    bool make_room() {
        table* now = table_.load(std::memory_order_relaxed);
        if (now != nullptr && now->used * 2 <= now->mask) return true;
        table* larger = make_table(now == nullptr ? 13 : 65 - now->shift);
        if (larger == nullptr) return false;
        for (std::size_t i = 0; now != nullptr && i <= now->mask; ++i) {
            const tagged_address key = now->cells[i].key.load(std::memory_order_relaxed);
            if (key != 0 && key != forgotten) insert(*larger, key, now->cells[i].entry);
        }
        // The old table stays, since other threads may still read it.
        table_.store(larger, std::memory_order_release);
        return true;
    }

    /// Adds an entry, after make_room. One thread at a time.
    void add(tagged_address key, const Entry& entry) { insert(*table_.load(std::memory_order_relaxed), key, entry); }

    /// Removes the entries whose key is not `kept`. One thread at a time.
    template <typename Kept>
    void forget_unless(Kept kept) {
        table* now = table_.load(std::memory_order_relaxed);
        for (std::size_t i = 0; now != nullptr && i <= now->mask; ++i) {
            const tagged_address key = now->cells[i].key.load(std::memory_order_relaxed);
            if (key == 0 || key == forgotten || kept(key)) continue;
            now->cells[i].key.store(forgotten, std::memory_order_release);
        }
    }

private:
    static constexpr std::size_t large_page = std::size_t{2} << 20;

    struct cell {
        std::atomic<tagged_address> key;  // 0: empty
        Entry entry;
    };
    struct table {
        std::size_t mask;
        unsigned shift;
        std::size_t used;
        cell cells[];
    };

    static table* make_table(unsigned bits) {
        const std::size_t count = std::size_t{1} << bits;
        const std::size_t bytes = sizeof(table) + count * sizeof(cell);
        auto* made = static_cast<table*>(take_pages(bytes));
        if (made == nullptr) return nullptr;
        // Lookups jump about: with small pages most of them would miss the processor's table of translations, too.
        if (bytes >= large_page) system_call(__NR_madvise, made, bytes, MADV_HUGEPAGE);
        made->mask = count - 1;
        made->shift = 64 - bits;
        return made;
    }

    static void insert(table& into, tagged_address key, const Entry& entry) {
        std::size_t i = Entry::hash(key, entry) >> into.shift;
        while (into.cells[i].key.load(std::memory_order_relaxed) != 0) i = (i + 1) & into.mask;
        into.cells[i].entry = entry;
        into.cells[i].key.store(key, std::memory_order_release);
        ++into.used;
    }

    std::atomic<table*> table_;
};

}  // namespace acre::recorder
