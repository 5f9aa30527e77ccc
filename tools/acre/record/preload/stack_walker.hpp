// Walks the stack of one thread and finds its node in the call tree.
//
// Most of a stack is the same as at the last walk. So a walk keeps its frames and every stack word that determined
// where they are. The next walk goes outwards only until it meets a kept frame; if all words outside that frame are
// unchanged, it uses the frame's node. In addition, call sites that recur with the same stack have shortcuts, which
// keep all words of a stack: such a walk only compares them.
#pragma once

#include "call_tree.hpp"
#include "rule_table.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is a walker without kept frames.
class stack_walker {
public:
    struct context {
        rule_table& rules;
        call_tree& tree;
        log_file& log;
    };

    /// `slot`: address of the innermost return address; `rbp`: the caller's.
    [[gnu::always_inline]] std::uint32_t walk(const context& in, std::uintptr_t slot, std::uintptr_t rbp) {
        if (in.rules.epoch() != epoch_) [[unlikely]] {
            forget_all();
            epoch_ = in.rules.epoch();
        }
        shortcut* const known = shortcuts_for(slot);
        for (std::size_t i = 0; i < shortcuts_per_slot; ++i) {
            if (known[i].tagged_slot == tagged_slot(slot) && is_unchanged(known[i], slot, rbp)) [[likely]]
                return known[i].node;
        }
        return walk_without_shortcut(in, known, slot, rbp);
    }

    /// To be called before walking another thread's stack.
    void forget_all();

    /// Whether this memory was found readable and may be read again without asking. Any thread may ask.
    bool relies_on(std::uintptr_t at, std::size_t bytes) const {
        const std::uintptr_t begin = __atomic_load_n(&readable_begin_, __ATOMIC_RELAXED);
        const std::uintptr_t end = __atomic_load_n(&readable_end_, __ATOMIC_RELAXED);
        return at < end && (at >= begin || begin - at < bytes);
    }

private:
    static constexpr std::size_t frame_limit = 1024;
    static constexpr std::size_t word_limit = 3 * frame_limit;
    static constexpr std::size_t pages_probed_at_once = 4096;
    static constexpr std::uintptr_t largest_chained_frame = std::uintptr_t{1} << 20;
    static constexpr unsigned shortcut_bits = 9;
    static constexpr std::size_t shortcuts_per_slot = 4;
    static constexpr std::size_t shortcut_words = 124;
    static constexpr std::uintptr_t longest_distance = sizeof(std::uintptr_t) * UINT16_MAX;  // bytes
    static constexpr unsigned child_bits = 14;

    /// A word of the stack and its value.
    struct word {
        const std::uintptr_t* at;
        std::uintptr_t value;
    };

    /// A frame of the last walk; frames are kept outermost first.
    struct frame {
        std::uintptr_t slot;     // address of its return address; 0: must not be reused
        std::uintptr_t address;  // the return address
        std::uintptr_t rbp;      // in the function returned to
        std::uint64_t path;      // hash of its addresses and those outside it; see place_of_child()
        std::uint32_t node;
        std::uint32_t words : 31;     // the first words_[0..words) determine it and the frames outside it
        std::uint32_t needs_rbp : 1;  // whether rbp determines the frames outside it
    };

    /// A whole stack. The words that determine it are apart: most lookups need those of one shortcut of a slot.
    struct shortcut {
        std::uintptr_t tagged_slot;  // see tagged_slot(), of its innermost return address
        std::uintptr_t address;
        std::uintptr_t rbp;
        std::uint32_t node;
        std::uint16_t words;  // 0: met once, no words kept yet
        bool needs_rbp;
    };
    struct words_of_shortcut {
        std::uintptr_t values[shortcut_words];
        std::uint16_t distances[shortcut_words];  // from the innermost return address, in words
    };

    /// An entry of the tree that was met lately.
    struct known_child {
        tagged_address address;
        std::uint32_t parent;
        std::uint32_t node;
    };

    /// A frame of the current walk, not yet in the tree.
    struct fresh_frame {
        std::uintptr_t slot;
        std::uintptr_t address;
        std::uintptr_t rbp;
        tagged_address tagged;
        std::uint64_t path;
        const std::uintptr_t* rbp_at;  // where the caller's rbp was read, or null
        const std::uintptr_t* cfa_at;  // where the caller's frame address was read, or null
        bool rule_needs_rbp;
        bool may_be_met_again;
    };

    /// The position of a walk: about to return to the address in a slot.
    struct position {
        std::uintptr_t slot;
        std::uintptr_t rsp;  // after that return
        std::uintptr_t rbp;
        bool interrupted;  // by a signal: the address is that of an instruction, not after a call
    };

    static std::uintptr_t load(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); }
    static const std::uintptr_t* pointer_to(std::uintptr_t address) {
        return reinterpret_cast<const std::uintptr_t*>(address);
    }

    bool may_read(std::uintptr_t address) {
        if ((address & 7) != 0) [[unlikely]]
            return false;
        return address - readable_begin_ < readable_end_ - readable_begin_ || extend_readable(address);
    }

    /// Outside the known readable part of the stack the memory may be unmapped.
    bool is_readable(const std::uintptr_t* at) const {
        return reinterpret_cast<std::uintptr_t>(at) - readable_begin_ < readable_end_ - readable_begin_;
    }

    /// A slot with a generation in its unused bits, so that all shortcuts can be invalidated without writing to them.
    std::uintptr_t tagged_slot(std::uintptr_t slot) const { return slot | forgotten_; }

    words_of_shortcut& words_of(const shortcut& known) { return shortcut_words_[&known - shortcuts_]; }
    const words_of_shortcut& words_of(const shortcut& known) const { return shortcut_words_[&known - shortcuts_]; }

    /// The shortcuts for a slot and its return address; several, since stacks can differ further out.
    shortcut* shortcuts_for(std::uintptr_t slot) {
        return shortcuts_ + (spread(slot ^ load(slot)) >> (64 - shortcut_bits)) * shortcuts_per_slot;
    }

    /// A shortcut that was met once already, else the next one in turn.
    shortcut& shortcut_to_replace(shortcut* of_slot, std::uintptr_t slot) {
        for (std::size_t i = 0; i < shortcuts_per_slot; ++i) {
            if (of_slot[i].tagged_slot == tagged_slot(slot) && of_slot[i].address == load(slot) &&
                of_slot[i].words == 0)
                return of_slot[i];
        }
        return of_slot[replaced_++ % shortcuts_per_slot];
    }

    bool is_unchanged(const shortcut& known, std::uintptr_t slot, std::uintptr_t rbp) const {
        if (known.words == 0 || (known.needs_rbp && known.rbp != rbp)) return false;
        const words_of_shortcut& kept = words_of(known);
        const std::uintptr_t* const innermost = pointer_to(slot);
        // The outermost word is the first.
        if (!is_readable(innermost + kept.distances[0])) return false;
        std::size_t i = known.words;
        while (i > 0 && innermost[kept.distances[i - 1]] == kept.values[i - 1]) --i;
        return i == 0;
    }

    /// A slot gets a shortcut when it is met for the second time.
    void keep_shortcut(shortcut& into, std::uintptr_t slot, std::uintptr_t rbp, std::uint32_t node) {
        const std::uintptr_t address = load(slot);
        if (into.tagged_slot != tagged_slot(slot) || into.address != address || into.words != 0) {
            into.tagged_slot = tagged_slot(slot);
            into.address = address;
            into.words = 0;
            return;
        }
        if (words_kept_ > shortcut_words || words_kept_ == 0 || !stack_is_whole_ || !words_are_in_one_stack(slot))
            return;
        into.rbp = rbp;
        into.node = node;
        into.words = static_cast<std::uint16_t>(words_kept_);
        into.needs_rbp = frames_[frames_kept_ - 1].needs_rbp != 0;
        words_of_shortcut& kept = words_of(into);
        for (std::size_t i = 0; i < words_kept_; ++i) {
            kept.values[i] = words_[i].value;
            kept.distances[i] = static_cast<std::uint16_t>(words_[i].at - pointer_to(slot));
        }
    }

    /// How many of the first `count` words are unchanged.
    std::size_t unchanged_words(std::size_t count) const {
        std::size_t i = 0;
        while (i < count && is_readable(words_[i].at) && *words_[i].at == words_[i].value) ++i;
        return i;
    }

    /// Whether the kept words are in one stack, from a slot outwards, and at distances that a shortcut can have.
    bool words_are_in_one_stack(std::uintptr_t slot) const {
        const auto outermost = reinterpret_cast<std::uintptr_t>(words_[0].at);
        if (outermost - slot > longest_distance) return false;
        std::size_t i = 0;
        while (i < words_kept_ && is_readable(words_[i].at) &&
               reinterpret_cast<std::uintptr_t>(words_[i].at) - slot <= outermost - slot)
            ++i;
        return i == words_kept_;
    }

    /// An entry's place follows from the addresses of its path, not from its parent's node, so that the places of all
    /// new frames are known before the first is looked up.
    known_child& place_of_child(std::uint64_t path) { return children_[path >> (64 - child_bits)]; }

    /// Sets the paths of the new frames. Each lookup needs the node that the one before it found; the cache misses of
    /// all overlap.
    void fetch_children(std::size_t fresh) {
        std::uint64_t path = frames_kept_ > 0 ? frames_[frames_kept_ - 1].path : 0;
        while (fresh > 0) {
            fresh_frame& each = fresh_[--fresh];
            each.path = path = spread(path ^ each.tagged);
            __builtin_prefetch(&place_of_child(path), 1);
        }
    }

    void push_word(const std::uintptr_t* at) { words_[words_kept_++] = {at, *at}; }

    [[gnu::noinline]] std::uint32_t walk_without_shortcut(const context& in, shortcut* of_slot, std::uintptr_t slot,
                                                          std::uintptr_t rbp) {
        std::uint32_t node = 0;
        tagged_address first;
        if (const std::size_t fresh = walk_fresh(in, {slot, slot + 8, rbp, false}, node); fresh != 0) {
            first = fresh_[0].tagged;
            node = remember_fresh(in, fresh, node);
        } else {
            first = in.rules.find(load(slot), in.log).address;
        }
        node = in.tree.innermost_of(node, first, in.log);
        keep_shortcut(shortcut_to_replace(of_slot, slot), slot, rbp, node);
        return node;
    }
    std::size_t walk_fresh(const context& in, position at, std::uint32_t& node);
    bool step_out(position& at, unwind_rule rule, fresh_frame& here);
    std::uint32_t remember_fresh(const context& in, std::size_t fresh, std::uint32_t node);
    [[gnu::noinline]] std::size_t end_of_stack(const context& in, std::size_t fresh);
    [[gnu::noinline]] bool step_out_of_signal(position& at, fresh_frame& here);
    [[gnu::noinline]] bool extend_readable(std::uintptr_t address);
    [[gnu::noinline]] void forget_outermost(std::size_t frames);

    std::uintptr_t readable_begin_;
    std::uintptr_t readable_end_;
    std::size_t frames_kept_;
    std::size_t words_kept_;
    std::uint32_t epoch_;
    std::uint32_t replaced_;
    std::uintptr_t forgotten_;  // generation of the shortcuts, in the bits that addresses do not use
    bool stack_is_whole_;       // the kept frames reach the end of the stack
    frame frames_[frame_limit];
    word words_[word_limit];
    fresh_frame fresh_[frame_limit];
    shortcut shortcuts_[shortcuts_per_slot << shortcut_bits];
    words_of_shortcut shortcut_words_[shortcuts_per_slot << shortcut_bits];
    known_child children_[std::size_t{1} << child_bits];
};

/// Walks outwards to the first unchanged frame, whose node it sets, or to the end of the stack, node 0. Returns the
/// number of new frames.
inline std::size_t stack_walker::walk_fresh(const context& in, position at, std::uint32_t& node) {
    constexpr std::size_t unknown = ~std::size_t{0};
    std::size_t unchanged = unknown;
    std::size_t kept = frames_kept_;
    std::size_t fresh = 0;
    while (fresh < frame_limit && may_read(at.slot)) {
        const std::uintptr_t address = load(at.slot) + (at.interrupted ? 1 : 0);
        while (kept > 0 && frames_[kept - 1].slot < at.slot) --kept;
        if (kept > 0 && frames_[kept - 1].slot == at.slot && frames_[kept - 1].address == address) {
            const frame& same = frames_[kept - 1];
            if (unchanged == unknown) unchanged = unchanged_words(same.words);
            if (same.words <= unchanged && (!same.needs_rbp || same.rbp == at.rbp)) {
                node = same.node;
                frames_kept_ = kept;
                words_kept_ = same.words;
                return fresh;
            }
        }
        const rule_table::result known = in.rules.find(address, in.log);
        fresh_frame& here = fresh_[fresh++];
        here = {at.slot, address, at.rbp, known.address, 0, nullptr, nullptr, known.rule.needs_rbp(), !at.interrupted};
        if (!step_out(at, known.rule, here)) break;
    }
    node = 0;
    return end_of_stack(in, fresh);
}

/// Moves to the caller; false at the end of the stack.
[[gnu::always_inline]] inline bool stack_walker::step_out(position& at, unwind_rule rule, fresh_frame& here) {
    using from = unwind_rule::frame_from;
    const auto offset = static_cast<std::uintptr_t>(std::intptr_t{rule.cfa_offset});
    std::uintptr_t cfa = 0;
    if (rule.frame == from::stack) [[likely]] {
        cfa = at.rsp + offset;
    } else if (rule.frame == from::rbp) {
        cfa = at.rbp + offset;
    } else if (rule.frame == from::through_rbp) {
        if (!may_read(at.rbp + offset)) return false;
        here.cfa_at = pointer_to(at.rbp + offset);
        cfa = *here.cfa_at;
    } else if (rule.frame == from::chain) {
        if (at.rbp - at.rsp >= largest_chained_frame) return false;
        cfa = at.rbp + offset;
    } else {
        return rule.frame == from::signal && step_out_of_signal(at, here);
    }
    if (cfa <= at.rsp) return false;
    if (rule.saved_rbp != unwind_rule::rbp_from::unchanged) {
        const std::uintptr_t base = rule.saved_rbp == unwind_rule::rbp_from::frame ? cfa : at.rbp;
        const std::uintptr_t saved = base + static_cast<std::uintptr_t>(std::intptr_t{rule.rbp_offset});
        if (!may_read(saved)) return false;
        here.rbp_at = pointer_to(saved);
        at.rbp = *here.rbp_at;
    }
    at.slot = cfa - 8;
    at.rsp = cfa;
    at.interrupted = false;
    return true;
}

/// Adds the new frames to the tree below `node`, outermost first, and keeps them for the next walk.
inline std::uint32_t stack_walker::remember_fresh(const context& in, std::size_t fresh, std::uint32_t node) {
    if (frames_kept_ + fresh > frame_limit) [[unlikely]]
        forget_outermost(frames_kept_ + fresh - frame_limit);
    bool needs_rbp = frames_kept_ > 0 && frames_[frames_kept_ - 1].needs_rbp != 0;
    fetch_children(fresh);
    while (fresh > 0) {
        const fresh_frame& from = fresh_[--fresh];
        known_child& known = place_of_child(from.path);
        if (known.address != from.tagged || known.parent != node) {
            known = {from.tagged, node, in.tree.child(node, from.tagged, in.log)};
        }
        node = known.node;
        if (from.cfa_at != nullptr) [[unlikely]]
            push_word(from.cfa_at);
        if (from.rbp_at != nullptr && needs_rbp) push_word(from.rbp_at);
        push_word(pointer_to(from.slot));
        needs_rbp = from.rule_needs_rbp || (from.rbp_at == nullptr && needs_rbp);
        frames_[frames_kept_++] = {from.may_be_met_again ? from.slot : 0,
                                   from.address,
                                   from.rbp,
                                   from.path,
                                   node,
                                   static_cast<std::uint32_t>(words_kept_) & 0x7fff'ffff,
                                   needs_rbp};
    }
    return node;
}

}  // namespace acre::recorder
