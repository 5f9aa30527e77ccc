// Guesses each event of a trace from the events before it. The writer and the reader guess alike, so the file contains
// only what differs.
//
// Each guess is what happened last in the same situation: after the thread's previous stack, at this stack, or next to
// the object that was freed last.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "error.hpp"
#include "format.hpp"
#include "huge_pages.hpp"
#include "live_table.hpp"
#include "model.hpp"

namespace acre::tool {

using object_guesses = std::array<std::uint64_t, format::object_guesses>;

/// `Objects`: live_objects for a reader, which finds objects by their numbers; linked_objects for a writer that knows
/// their places.
template <typename Objects>
class event_context {
public:
    explicit event_context(std::size_t nodes) : indices_{indices_for(nodes)}, live_{indices_} {}

    /// The stacks are fewer than `nodes` from now on; never fewer than before. While all have an index of their own, a
    /// context that grew guesses like one that was made for all of them.
    void grow(std::size_t nodes) {
        const std::size_t wanted = indices_for(nodes);
        if (wanted <= indices_) return;
        indices_ = wanted;
        live_.grow(wanted);
    }

    using stacks = std::array<std::uint32_t, format::stack_guesses>;

    /// What the guesses of one event come from. Valid until the context grows.
    class situation;

    /// `stack`: the event's.
    situation at(std::uint32_t thread, std::uint32_t stack) noexcept {
        thread_memory& of_thread = of_thread_[thread % format::thread_indices];
        return {of_thread, of_stack_[index_of(of_thread.stack)], of_stack_[index_of(stack)]};
    }

    /// The stacks that most recently followed the thread's previous stack.
    const stacks& guess_stacks(std::uint32_t thread) noexcept { return at(thread, no_stack).guess_stacks(); }

    /// Guesses at the object of a free: the neighbours of the object that the thread freed last, the newest object, the
    /// same-site neighbours of the object that the thread freed last, and those of the object that was freed last at
    /// this stack. They may no longer be live.
    object_guesses guess_objects(const situation& here) const noexcept {
        const linked_objects::neighbours& of_thread = here.of_thread_.freed;
        const stack_memory& of_stack = here.of_stack_;
        return {of_thread.newer,
                of_thread.older,
                live_.newest(),
                of_thread.newer_of_site,
                of_thread.older_of_site,
                of_stack.after_newer_of_site - 1,
                of_stack.after_older_of_site - 1};
    }

    /// To be called with each event; sets its place, and the size of a free. False if a free's object is not live.
    bool pass(event& e, const situation& here)
        requires std::same_as<Objects, live_objects>
    {
        if (e.allocates) {
            e.place = live_.insert(e.object, e.size, index_of(e.stack));
        } else if (const auto gone = live_.take(e.object)) {
            e.place = gone->place;
            e.size = gone->size;
            here.of_thread_.freed = gone->among;
        } else {
            return false;
        }
        here.remember(e, here.has_guessed(e.stack));
        return true;
    }

    /// The same for an object at a place, which a free's must have. `guessed`: whether one of guess_stacks() was right.
    void pass(const event& e, linked_objects::place place, const situation& here, bool guessed)
        requires std::same_as<Objects, linked_objects>
    {
        if (e.allocates) {
            live_.insert(place, e.object, e.size, index_of(e.stack));
        } else {
            here.of_thread_.freed = live_.remove(place);
        }
        here.remember(e, guessed);
    }

    const Objects& objects() const noexcept { return live_; }

    std::size_t live() const noexcept { return live_.size(); }

private:
    /// What happened at a stack; stacks with the same index share it. Zeroed memory is a stack at which nothing did.
    struct stack_memory {
        stacks next;  // that followed it, the newest first
        std::uint64_t size;
        std::uint64_t after_newer_of_site;  // 1 more than the number of the next newer object of the last freed here
        std::uint64_t after_older_of_site;
        std::uint8_t unlike_malloc;  // the operation, with the bits inverted that first_operation has
        std::uint8_t alignment_log2;
    };
    static_assert(linked_objects::none + 1 == 0);

    static constexpr std::uint8_t first_operation = format::operation_code(operation::malloc, true);

    struct thread_memory {
        std::uint32_t stack = no_stack;  // of its last event
        linked_objects::neighbours freed;
    };

    static std::size_t indices_for(std::size_t nodes) { return std::min(std::bit_ceil(nodes), format::stack_indices); }
    std::uint32_t index_of(std::uint32_t stack) const noexcept {
        return stack & static_cast<std::uint32_t>(indices_ - 1);
    }

    untouched_table<stack_memory> of_stack_{format::stack_indices};
    std::size_t indices_;  // a power of two
    std::vector<thread_memory> of_thread_ = std::vector<thread_memory>(format::thread_indices);
    Objects live_;
};

template <typename Objects>
class event_context<Objects>::situation {
public:
    const stacks& guess_stacks() const noexcept { return before_.next; }

    /// The last operation at this stack, as a format::operation_code.
    std::uint8_t guess_operation() const noexcept { return of_stack_.unlike_malloc ^ event_context::first_operation; }

    /// The last requested size and alignment at this stack.
    std::uint64_t guess_size() const noexcept { return of_stack_.size; }
    std::uint8_t guess_alignment() const noexcept { return of_stack_.alignment_log2; }

private:
    friend event_context;

    situation(thread_memory& of_thread, stack_memory& before, stack_memory& of_stack) noexcept
        : of_thread_{of_thread}, before_{before}, of_stack_{of_stack} {}

    bool has_guessed(std::uint32_t stack) const noexcept {
        const stacks& next = before_.next;
        return next[0] == stack || next[1] == stack || next[2] == stack || next[3] == stack;
    }
    static_assert(format::stack_guesses == 4);

    void remember(const event& e, bool guessed) const noexcept {
        if (e.allocates) {
            of_stack_.size = e.size;
            of_stack_.alignment_log2 = e.alignment_log2;
        } else {
            of_stack_.after_newer_of_site = of_thread_.freed.newer_of_site + 1;
            of_stack_.after_older_of_site = of_thread_.freed.older_of_site + 1;
        }
        of_stack_.unlike_malloc = format::operation_code(e.op, e.allocates) ^ event_context::first_operation;
        stacks& next = before_.next;
        if (!guessed) next = {e.stack, next[0], next[1], next[2]};
        of_thread_.stack = e.stack;
    }

    thread_memory& of_thread_;
    stack_memory& before_;    // at the thread's previous stack
    stack_memory& of_stack_;  // at the event's stack
};

/// The open scopes of each thread, which writer and reader check marks against.
class open_scopes {
public:
    /// Throws tool_error if a mark ends a scope that is not the innermost of its thread.
    void pass(const mark& m) {
        if (m.kind == mark_kind::scope_begin) {
            if (count_ == format::max_open_scopes) throw tool_error{"too many scopes are open"};
            of_thread_[m.thread].push_back(m.name);
            ++count_;
        } else if (m.kind == mark_kind::scope_end) {
            const auto found = of_thread_.find(m.thread);
            if (found == of_thread_.end() || found->second.back() != m.name) {
                throw tool_error{"a mark ends a scope that is not the innermost of its thread"};
            }
            found->second.pop_back();
            if (found->second.empty()) of_thread_.erase(found);
            --count_;
        }
    }

private:
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> of_thread_;  // names, innermost last
    std::size_t count_ = 0;
};

}  // namespace acre::tool
