// The rows of allocations and frees, with the stack that led there.
#pragma once

#include "recorder.hpp"

namespace acre::recorder {

/// Where a hook was called from: its frame begins with the caller's rbp and the return address.
using hook_frame = const std::uintptr_t*;

[[gnu::always_inline]] inline hook_frame this_frame() {
    return static_cast<hook_frame>(__builtin_frame_address(0));
}

[[gnu::always_inline]] inline std::uint32_t walk_from(thread_state* state, hook_frame frame) {
    process_state& process = *state->process;
    if (process.stacks == raw::stack_method::caller) {
        const tagged_address address = process.rules.find(frame[1], process.log).address;
        return process.tree.child(0, address, process.log);
    }
    return state->walker.walk({process.rules, process.tree, process.log}, reinterpret_cast<std::uintptr_t>(frame + 1),
                              *frame);
}

/// 0 stands for what every allocation has.
inline unsigned alignment_log2(std::size_t alignment) {
    return alignment <= 16 ? 0 : 64 - static_cast<unsigned>(__builtin_clzl(alignment - 1));
}

inline void add_acquired(thread_state* state, hook_frame frame, const void* p, std::size_t size, raw::row_kind kind,
                         unsigned alignment) {
    const std::uint32_t node = walk_from(state, frame);
    const bool fits = size < raw::size_follows;
    const std::uint64_t inside = this_thread.inside_resource ? raw::inside_resource_bit : 0;
    add_row(state, raw::pack(reinterpret_cast<std::uintptr_t>(p), kind, alignment) | inside, node,
            fits ? static_cast<std::uint32_t>(size) : raw::size_follows);
    if (!fits) [[unlikely]]
        add_row(state, raw::pack(size, raw::row_kind::size_before, 0), 0, 0);
}

/// `what`: an address, or another number of 48 bits.
inline void add_released(thread_state* state, hook_frame frame, std::uint64_t what, raw::row_kind kind) {
    const std::uint32_t node = state->process->stacks_at_free ? walk_from(state, frame) : 0;
    add_row(state, raw::pack(what, kind, 0), node, 0);
}

inline void add_released(thread_state* state, hook_frame frame, const void* p, raw::row_kind kind) {
    add_released(state, frame, reinterpret_cast<std::uintptr_t>(p), kind);
}

}  // namespace acre::recorder
