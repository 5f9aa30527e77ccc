// The call stack at a moment: captured without taking memory, and written as lines of module and offset.
//
// Used by acre::checked, not directly. Cost: capturing is about a microsecond for eight frames, as the unwinder reads
// the tables of each function. A system other than Linux has no stacks: capture() returns 0. `addr2line -e module
// offset` turns a line into a place in the source. Thread rules: none are needed.
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/error.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__linux__) && __has_include(<unwind.h>) && __has_include(<dlfcn.h>)
#define ACRE_HAS_CALL_STACKS 1
#include <dlfcn.h>
#include <unwind.h>
#else
#define ACRE_HAS_CALL_STACKS 0
#endif

namespace acre::detail {

/// Text in storage of its own, cut at the end. Takes no memory.
class report_text {
public:
    /// Adds `pattern` with a word in place of each '%'.
    void add(const char* pattern, const word* words = nullptr) noexcept {
        sentence::write(text_ + length_, sizeof text_ - length_, pattern, words);
        length_ += std::strlen(text_ + length_);
    }

    const char* c_str() const noexcept { return text_; }

private:
    char text_[6000] = {};
    std::size_t length_ = 0;
};

/// The addresses that the calls of a thread return to, innermost first.
struct call_stack {
    static constexpr std::size_t max_frames = 16;

    const void* frames[max_frames] = {};
    std::size_t count = 0;

    friend bool operator==(const call_stack& a, const call_stack& b) noexcept {
        return a.count == b.count && std::memcmp(a.frames, b.frames, a.count * sizeof(void*)) == 0;
    }
};

#if ACRE_HAS_CALL_STACKS

struct stack_capture {
    call_stack stack;
    std::size_t wanted;
    std::size_t skipped;

    static _Unwind_Reason_Code note(_Unwind_Context* context, void* into) noexcept {
        auto& capture = *static_cast<stack_capture*>(into);
        const auto address = narrowed<std::uintptr_t>(_Unwind_GetIP(context));
        if (address == 0 || capture.stack.count == capture.wanted) return _URC_END_OF_STACK;
        if (capture.skipped != 0) {
            --capture.skipped;
        } else {
            capture.stack.frames[capture.stack.count++] = reinterpret_cast<const void*>(address);
        }
        return _URC_NO_REASON;
    }
};

/// The innermost `wanted` frames but for the first `skipped`, at most max_frames.
[[gnu::noinline]] inline call_stack capture_stack(std::size_t wanted, std::size_t skipped = 0) noexcept {
    stack_capture capture{{}, wanted < call_stack::max_frames ? wanted : call_stack::max_frames, skipped + 1};
    if (wanted != 0) _Unwind_Backtrace(&stack_capture::note, &capture);
    return capture.stack;
}

/// Adds a line for each frame: the module's file name and the offset in it.
[[gnu::noinline, gnu::cold]] inline void add_stack(report_text& to, const call_stack& stack) noexcept {
    for (std::size_t i = 0; i < stack.count; ++i) {
        // A return address is one past its call.
        const auto* address = static_cast<const char*>(stack.frames[i]) - 1;
        Dl_info found{};
        if (dladdr(address, &found) != 0 && found.dli_fname != nullptr) {
            const auto offset = static_cast<std::size_t>(address - static_cast<const char*>(found.dli_fbase));
            const char* slash = std::strrchr(found.dli_fname, '/');
            const word words[] = {slash == nullptr ? found.dli_fname : slash + 1,
                                  reinterpret_cast<const void*>(offset)};
            to.add("    %+%\n", words);
        } else {
            const word words[] = {static_cast<const void*>(address)};
            to.add("    %\n", words);
        }
    }
}

#else

inline call_stack capture_stack(std::size_t, std::size_t = 0) noexcept {
    return {};
}
inline void add_stack(report_text&, const call_stack&) noexcept {}

#endif

}  // namespace acre::detail
