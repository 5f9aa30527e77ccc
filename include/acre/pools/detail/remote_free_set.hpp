// The set of slot numbers that threads have freed in a wait-free pool: any thread inserts, one thread, the owner,
// collects, and nobody waits.
//
// The set is a tree of bits like hierarchical_bitset: one leaf word per 64 numbers, and above every 64 words one word
// whose bits, the marks, tell which of those 64 have members, up to a single word at the top; at most 4 levels. insert
// is one fetch_or of the leaf word, and sets missing marks above it. collect follows the marks down and takes a whole
// leaf word, 64 numbers, by one exchange.
//
// Cost: insert makes one atomic change, or one per level where marks are missing, and one load per level. collect makes
// one load per level and two atomic changes, at most two more than one per level. Neither ever retries because another
// thread was faster. Memory, provided by the caller: 8 bytes for 64 numbers, and 1/63 more.
//
// Why no number is lost: the owner clears a leaf's mark first and takes the leaf second; an inserting thread changes
// the leaf first and reads the mark second. If the leaf was changed before the owner's exchange, the owner gets the
// number. Otherwise the change reads from the owner's exchange, so the thread sees the cleared mark and sets it again.
// Hence collect finds a number once insert has returned and the owner is synchronised with that. It does so even while
// other threads are stopped midway in an insert into the same word, because each thread checks all marks itself.
//
// A mark may be set late, for a word that the owner has just taken. collect then reads an empty word and clears the
// mark. An insert causes at most one such futile read per level, and only if the owner took its number between two of
// its instructions. One collect makes at most one such read per word, plus one per level for each thread in an insert.
// (If only the thread that found a word empty set its mark, none would be futile, but a thread stopped at that point
// would hide what others freed since. And a fetch_or whose whole result is used is a loop on some processors.)
//
// Idea: the tree of bits of van Emde Boas (1975); bits set by fetch_or from other threads as in the bitmaps of mimalloc
// (Leijen, Zorn and de Moura, 2019).
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>

namespace acre::detail {

/// Numbers of slots that any thread inserts and one thread collects. `Atomic` is std::atomic, or a test's replacement
/// that schedules the threads.
template <template <class> class Atomic = std::atomic>
class remote_free_set {
public:
    using word_type = Atomic<std::uint64_t>;
    static constexpr std::size_t max_levels = 4;
    /// Upper limit of the number of slots.
    static constexpr std::size_t max_slots = std::size_t{1} << (6 * max_levels);

    /// Number of leaf words for `slots` slots.
    static constexpr std::size_t leaf_words(std::size_t slots) noexcept { return slots / 64 + (slots % 64 != 0); }
    /// Number of words of the whole tree for 1 to max_slots slots.
    static constexpr std::size_t words(std::size_t slots) noexcept {
        std::size_t all = 0;
        for (std::size_t level = leaf_words(slots);; level = leaf_words(level)) {
            all += level;
            if (level <= 1) return all;
        }
    }

    /// No set yet: can only be assigned to.
    constexpr remote_free_set() noexcept = default;
    /// The empty set of numbers below `slots`, 1 to max_slots. Constructs words(slots) words in `storage`.
    remote_free_set(void* storage, std::size_t slots) noexcept {
        assert(slots > 0 && slots <= max_slots);
        auto* next = static_cast<word_type*>(storage);
        std::size_t count = leaf_words(slots);
        while (true) {
            levels_[top_] = next;
            for (std::size_t word = 0; word < count; ++word) ::new (static_cast<void*>(next++)) word_type{0};
            if (count <= 1) return;
            count = leaf_words(count);
            ++top_;
        }
    }

    /// Any thread: inserts `slot`. False when it is a member already.
    [[gnu::always_inline]] bool insert(std::size_t slot) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
        // Release: publishes this thread's writes to the slot to the owner, which acquires the bit before it hands the
        // slot out again. Acquire: if the owner took the word before, this thread sees the cleared mark below.
        const std::uint64_t before = levels_[0][slot / 64].fetch_or(bit, std::memory_order_acq_rel);
        if ((before & bit) != 0) [[unlikely]]
            return false;
        std::size_t index = slot / 64;
        for (std::size_t level = 1; level <= top_; ++level, index /= 64) mark(level, index);
        return true;
    }

    /// Owner only: takes the members of the lowest leaf word that has any, and sets `word` to its index and `bits` to
    /// its members. False when the set is empty.
    [[gnu::always_inline]] bool collect(std::size_t& word, std::uint64_t& bits) noexcept {
        while (true) {
            std::size_t level = top_;
            std::size_t index = 0;
            for (; level > 0; --level) {
                // Sequentially consistent, like all operations on marks: see unmark.
                const std::uint64_t marks = levels_[level][index].load(std::memory_order_seq_cst);
                if (marks == 0) break;
                // Unlike std::countr_zero it has no case for 0.
                index = index * 64 + static_cast<unsigned>(__builtin_ctzll(marks));
            }
            if (level > 0) {
                if (level == top_) return false;
                unmark(level, index);
                continue;
            }
            if (top_ > 0) unmark(0, index);
            // Acquire: sees what the threads that set the bits wrote to their slots. Release: threads that insert into
            // this word from now on see that the mark is cleared.
            bits = levels_[0][index].exchange(0, std::memory_order_acq_rel);
            word = index;
            if (bits != 0) return true;
            if (top_ == 0) return false;
        }
    }

    /// The members of leaf word `word`; exact while no other thread inserts.
    std::uint64_t members(std::size_t word) const noexcept {
        // Relaxed: used for counts, and for slots whose state no longer changes.
        return levels_[0][word].load(std::memory_order_relaxed);
    }

private:
    // Marks word `index` of the level below `level` as having members.
    [[gnu::always_inline]] void mark(std::size_t level, std::size_t index) noexcept {
        word_type& above = levels_[level][index / 64];
        const std::uint64_t bit = std::uint64_t{1} << (index % 64);
        // The mark is usually set: a load keeps the cache line shared between the threads that read it.
        if ((above.load(std::memory_order_seq_cst) & bit) == 0) above.fetch_or(bit, std::memory_order_seq_cst);
    }

    // Clears the mark of word `index` of `level`, and upwards the mark of each word that becomes empty by that. The
    // caller takes the leaf afterwards. Another thread may set a mark in a word between the load that found it empty
    // and the clearing of its own mark, so the word is read again. Either this load sees the new mark; or the other
    // thread, which reads the word above after its store here, sees that mark cleared and sets it. Both orders are
    // loads after stores to other words, so only sequential consistency guarantees them.
    [[gnu::always_inline]] void unmark(std::size_t level, std::size_t index) noexcept {
        while (true) {
            word_type& above = levels_[level + 1][index / 64];
            const std::uint64_t bit = std::uint64_t{1} << (index % 64);
            above.fetch_and(~bit, std::memory_order_seq_cst);
            if (level > 0 && levels_[level][index].load(std::memory_order_seq_cst) != 0) {
                above.fetch_or(bit, std::memory_order_seq_cst);
                return;
            }
            if (++level == top_ || above.load(std::memory_order_seq_cst) != 0) return;
            index /= 64;
        }
    }

    std::array<word_type*, max_levels> levels_{};
    std::size_t top_ = 0;  // the level with a single word
};

}  // namespace acre::detail
