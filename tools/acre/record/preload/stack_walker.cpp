#include "stack_walker.hpp"

namespace acre::recorder {

void stack_walker::forget_all() {
    readable_begin_ = readable_end_ = 0;
    frames_kept_ = 0;
    words_kept_ = 0;
    forgotten_ += std::uintptr_t{1} << raw::pointer_bits;
    if (forgotten_ != 0) return;
    for (shortcut& each : shortcuts_) each.tagged_slot = 0;
}

/// The walk reached the end of the stack and met no kept frame. In code without frame pointers the chain may lead
/// outside of all code; that last step does not count.
std::size_t stack_walker::end_of_stack(const context& in, std::size_t fresh) {
    frames_kept_ = 0;
    words_kept_ = 0;
    stack_is_whole_ = fresh < frame_limit;
    const bool may_be_none = fresh > 1 && in.rules.uses_frame_pointers();
    return may_be_none && module_of(fresh_[fresh - 1].tagged) == 0 ? fresh - 1 : fresh;
}

bool stack_walker::step_out_of_signal(position& at, fresh_frame& here) {
    // At rsp lies the kernel's ucontext: 40 bytes, then the registers; rbp is the 10th, rsp the 15th, rip follows.
    constexpr std::uintptr_t rbp_offset = 120;
    constexpr std::uintptr_t rsp_offset = 160;
    constexpr std::uintptr_t rip_offset = 168;
    if (!may_read(at.rsp + rbp_offset) || !may_read(at.rsp + rip_offset)) return false;
    here.rbp_at = pointer_to(at.rsp + rbp_offset);
    here.cfa_at = pointer_to(at.rsp + rsp_offset);
    at.slot = at.rsp + rip_offset;
    at.rbp = *here.rbp_at;
    at.rsp = *here.cfa_at;
    at.interrupted = true;
    return true;
}

/// The size of a stack is not known, so pages are probed when a walk reaches them, once while the thread stays on the
/// stack.
bool stack_walker::extend_readable(std::uintptr_t address) {
    constexpr std::uintptr_t page = raw::page_bytes;
    const std::uintptr_t wanted = address & ~(page - 1);
    if (!can_read(wanted)) return false;
    const std::uintptr_t begin = readable_begin_;
    const std::uintptr_t end = readable_end_;
    constexpr std::uintptr_t far = pages_probed_at_once * page;
    std::uintptr_t at = wanted;
    if (begin != end && wanted >= end && wanted - end < far) {
        while (at > end && can_read(at - page)) at -= page;
        if (at <= end) {
            readable_end_ = wanted + page;
            return true;
        }
    } else if (begin != end && wanted < begin && begin - wanted < far) {
        while (at + page < begin && can_read(at + page)) at += page;
        if (at + page >= begin) {
            readable_begin_ = wanted;
            return true;
        }
    }
    readable_begin_ = wanted;
    readable_end_ = wanted + page;
    return true;
}

void stack_walker::forget_outermost(std::size_t frames) {
    stack_is_whole_ = false;
    frames = frames < frames_kept_ / 2 ? frames_kept_ / 2 : frames;
    if (frames > frames_kept_) frames = frames_kept_;
    const std::size_t words = frames == 0 ? 0 : frames_[frames - 1].words;
    frames_kept_ -= frames;
    words_kept_ -= words;
    std::memmove(static_cast<void*>(frames_), frames_ + frames, frames_kept_ * sizeof(frame));
    std::memmove(static_cast<void*>(words_), words_ + words, words_kept_ * sizeof(word));
    for (std::size_t i = 0; i < frames_kept_; ++i) {
        frames_[i].words = (frames_[i].words - static_cast<std::uint32_t>(words)) & 0x7fff'ffff;
    }
}

}  // namespace acre::recorder
