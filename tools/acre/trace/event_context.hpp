// Guesses each event of a trace from the events before it. The writer and the reader guess alike, so the file contains
// only what differs.
//
// Each guess is what happened last in the same situation: after the thread's previous stack, at this stack, or next to
// the object that was freed last.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "error.hpp"
#include "format.hpp"
#include "live_table.hpp"
#include "model.hpp"

namespace acre::tool {

class event_context {
public:
    explicit event_context(std::size_t nodes)
        : of_stack_(std::min(std::bit_ceil(nodes), format::stack_indices)), live_{of_stack_.size()} {}

    /// The stacks are fewer than `nodes` from now on; never fewer than before. While all have an index of their own, a
    /// context that grew guesses like one that was made for all of them.
    void grow(std::size_t nodes) {
        const std::size_t wanted = std::min(std::bit_ceil(nodes), format::stack_indices);
        if (wanted <= of_stack_.size()) return;
        of_stack_.resize(wanted);
        live_.grow(wanted);
    }

    using stacks = std::array<std::uint32_t, format::stack_guesses>;
    using objects = std::array<std::uint64_t, format::object_guesses>;

    /// The stacks that most recently followed the thread's previous stack.
    const stacks& guess_stacks(std::uint32_t thread) const noexcept { return at(at(thread_index(thread)).stack).next; }

    /// The last operation at this stack, as a format::operation_code.
    std::uint8_t guess_operation(std::uint32_t stack) const noexcept { return at(stack).operation; }

    /// The last requested size and alignment at this stack.
    std::uint64_t guess_size(std::uint32_t stack) const noexcept { return at(stack).size; }
    std::uint8_t guess_alignment(std::uint32_t stack) const noexcept { return at(stack).alignment_log2; }

    /// Guesses at the object of a free: the neighbours of the object that the thread freed last, the newest object, the
    /// same-site neighbours of the object that the thread freed last, and those of the object that was freed last at
    /// this stack. They may no longer be live.
    objects guess_objects(std::uint32_t thread, std::uint32_t stack) const noexcept {
        const live_objects::neighbours& of_thread = at(thread_index(thread)).freed;
        const stack_memory& of_stack = at(stack);
        return {of_thread.newer,         of_thread.older,        live_.newest(),        of_thread.newer_of_site,
                of_thread.older_of_site, of_stack.newer_of_site, of_stack.older_of_site};
    }

    /// To be called with each event; sets the size of a free. False if a free's object is not live.
    bool pass(event& e) {
        stack_memory& of_stack = at(e.stack);
        if (e.allocates) {
            live_.insert(e.object, e.size, index_of(e.stack));
            of_stack.size = e.size;
            of_stack.alignment_log2 = e.alignment_log2;
        } else {
            live_objects::neighbours& freed = at(thread_index(e.thread)).freed;
            if (!live_.take(e.object, e.size, freed)) return false;
            of_stack.newer_of_site = freed.newer_of_site;
            of_stack.older_of_site = freed.older_of_site;
        }
        of_stack.operation = format::operation_code(e.op, e.allocates);
        remember_stack(e);
        return true;
    }

    std::size_t live() const noexcept { return live_.size(); }

private:
    /// What happened at a stack; stacks with the same index share it.
    struct stack_memory {
        stacks next{};  // that followed it, the newest first
        std::uint64_t size = 0;
        std::uint64_t newer_of_site = live_objects::none;  // than the last object freed here
        std::uint64_t older_of_site = live_objects::none;
        std::uint8_t operation = format::operation_code(operation::malloc, true);
        std::uint8_t alignment_log2 = 0;
    };

    struct thread_memory {
        std::uint32_t stack = no_stack;  // of its last event
        live_objects::neighbours freed;
    };

    enum class thread_index : std::uint32_t {};

    std::uint32_t index_of(std::uint32_t stack) const noexcept {
        return stack & static_cast<std::uint32_t>(of_stack_.size() - 1);
    }
    stack_memory& at(std::uint32_t stack) noexcept { return of_stack_[index_of(stack)]; }
    const stack_memory& at(std::uint32_t stack) const noexcept { return of_stack_[index_of(stack)]; }
    thread_memory& at(thread_index thread) noexcept {
        return of_thread_[static_cast<std::uint32_t>(thread) % of_thread_.size()];
    }
    const thread_memory& at(thread_index thread) const noexcept {
        return of_thread_[static_cast<std::uint32_t>(thread) % of_thread_.size()];
    }

    void remember_stack(const event& e) noexcept {
        std::uint32_t& previous = at(thread_index(e.thread)).stack;
        stacks& next = at(previous).next;
        if (std::find(next.begin(), next.end(), e.stack) == next.end()) {
            std::move_backward(next.begin(), next.end() - 1, next.end());
            next.front() = e.stack;
        }
        previous = e.stack;
    }

    std::vector<stack_memory> of_stack_;
    std::vector<thread_memory> of_thread_ = std::vector<thread_memory>(format::thread_indices);
    live_objects live_;
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
