// The numbers of the slots that came back from any thread, for one thread that collects them: any thread inserts at any
// time, nobody waits for anybody.
//
// Used by acre::wait_free pools, not directly. The set is a tree of bits as acre::hierarchical_bitset is: a leaf word
// for 64 numbers, and above every 64 words one word that marks which of them have members, up to a single word at the
// top, at most 4 levels. Inserting is one fetch_or of the leaf word; a mark above is set where it is missing.
// Collecting follows the marks down and takes a whole leaf word, 64 numbers, by one exchange.
//
// Cost: insert is one atomic change of a word, at most one a level, and a load a level; collect is a load a level and
// two atomic changes, at most one a level and two more. Nothing is tried again because another thread was faster.
// Memory: 8 bytes for 64 numbers and 1/63 more, which the caller provides.
//
// Nothing is lost. The owner clears the mark of a leaf and takes the leaf after that; who inserts into the leaf looks
// for the mark after that. Was the leaf changed before the owner took it, the owner has the number. Else that change
// saw the owner's exchange, and the thread the cleared mark: it sets it again. So when insert has returned and is known
// to the owner, collect finds the number, even while other threads were stopped in the middle of an insert into the
// same word: each thread looks at all marks itself, rather than trust whoever found the word empty to get to run again.
//
// A mark may be set late, for a word that the owner has just taken: then collect looks at the word once in vain and
// clears the mark. An insert causes at most one such look a level, and only if the owner took its number between two of
// its instructions; one call makes at most as many as there are words, and threads in an insert. (Were marks set only
// by who found a word empty, there would be none, but a thread stopped at that point would hide what others gave back
// since; and a fetch_or whose result is more than one bit is a loop on some processors.)
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

/// Numbers of slots that any thread inserts and one thread collects. `Atomic` is std::atomic, or what a test puts in
/// its place to decide which thread takes the next step.
template <template <class> class Atomic = std::atomic>
class remote_free_set {
public:
    using word_type = Atomic<std::uint64_t>;
    static constexpr std::size_t max_levels = 4;
    /// The most slots that there may be.
    static constexpr std::size_t max_slots = std::size_t{1} << (6 * max_levels);

    /// Words with a bit for each of `slots` slots.
    static constexpr std::size_t leaf_words(std::size_t slots) noexcept { return slots / 64 + (slots % 64 != 0); }
    /// Words of the whole tree for 1 to max_slots slots.
    static constexpr std::size_t words(std::size_t slots) noexcept {
        std::size_t all = 0;
        for (std::size_t level = leaf_words(slots);; level = leaf_words(level)) {
            all += level;
            if (level <= 1) return all;
        }
    }

    /// Has no words: nothing may be called.
    constexpr remote_free_set() noexcept = default;
    /// The empty set of numbers below `slots`, 1 to max_slots, in `storage` for words(slots) words, which are made
    /// here.
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

    /// Any thread: `slot` came back. False when it is there already.
    [[gnu::always_inline]] bool insert(std::size_t slot) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
        // Release: what this thread wrote to the slot is done before the owner, who acquires the bit, hands it out
        // again. Acquire: when the owner took the word before, its cleared mark is seen below.
        const std::uint64_t before = levels_[0][slot / 64].fetch_or(bit, std::memory_order_acq_rel);
        if ((before & bit) != 0) [[unlikely]]
            return false;
        std::size_t index = slot / 64;
        for (std::size_t level = 1; level <= top_; ++level, index /= 64) mark(level, index);
        return true;
    }

    /// The owner: takes the members of one leaf word, sets `word` to its number and `bits` to them; false when there is
    /// none. The word of the lowest numbers comes first.
    [[gnu::always_inline]] bool collect(std::size_t& word, std::uint64_t& bits) noexcept {
        while (true) {
            std::size_t level = top_;
            std::size_t index = 0;
            for (; level > 0; --level) {
                // Sequentially consistent, as all of the marks' operations: see unmark.
                const std::uint64_t marks = levels_[level][index].load(std::memory_order_seq_cst);
                if (marks == 0) break;
                // Unlike std::countr_zero it need not count in a word without a bit.
                index = index * 64 + static_cast<unsigned>(__builtin_ctzll(marks));
            }
            if (level > 0) {
                if (level == top_) return false;
                unmark(level, index);
                continue;
            }
            if (top_ > 0) unmark(0, index);
            // Acquire: what the threads that set the bits wrote to their slots is done. Release: who inserts into this
            // word from now on sees that the mark is cleared.
            bits = levels_[0][index].exchange(0, std::memory_order_acq_rel);
            word = index;
            if (bits != 0) return true;
            if (top_ == 0) return false;
        }
    }

    /// Members of leaf word `word`: exact while no other thread inserts.
    std::uint64_t members(std::size_t word) const noexcept {
        // Relaxed: asked for counts, and for a slot whose state the caller knows to be settled.
        return levels_[0][word].load(std::memory_order_relaxed);
    }

private:
    // Marks word `index` of the level below as having members.
    [[gnu::always_inline]] void mark(std::size_t level, std::size_t index) noexcept {
        word_type& above = levels_[level][index / 64];
        const std::uint64_t bit = std::uint64_t{1} << (index % 64);
        // Most often it is marked, and a load leaves the cache line shared between the threads that look.
        if ((above.load(std::memory_order_seq_cst) & bit) == 0) above.fetch_or(bit, std::memory_order_seq_cst);
    }

    // Clears the mark of word `index` of `level`, and the mark of each word that has none left thereby. The leaf is
    // taken after that. A summary word may be marked in by others between the look that found it empty and the clearing
    // of its own mark: so it is looked at again. Either this look sees their mark, or they, who look at the word above
    // after they marked here, see that cleared, and mark it. That is an argument about loads that follow stores to
    // other words, which only sequential consistency orders.
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
