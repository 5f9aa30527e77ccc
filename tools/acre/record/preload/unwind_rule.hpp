// How to step from a frame to its caller, computed once per return address from the call frame information of its
// module. Only rsp and rbp are tracked: compilers address frames by no other register.
#pragma once

#include <cstdint>

#include "module_memory.hpp"

namespace acre::recorder {

struct unwind_rule {
    enum class frame_from : std::uint8_t {
        nowhere,      // the outermost frame, or nothing is known
        stack,        // canonical frame address (CFA) = rsp + cfa_offset
        rbp,          // CFA = rbp + cfa_offset
        through_rbp,  // CFA = *(rbp + cfa_offset): functions that realign their stack
        signal,       // the frame that the kernel built to call a signal handler
        chain,        // CFA = rbp + 16 if plausible: frame pointers, which code need not keep
    };
    enum class rbp_from : std::uint8_t {
        unchanged,
        frame,  // saved at CFA + rbp_offset
        rbp,    // saved at rbp + rbp_offset
    };

    std::int32_t cfa_offset = 0;
    std::int16_t rbp_offset = 0;
    frame_from frame = frame_from::nowhere;
    rbp_from saved_rbp = rbp_from::unchanged;

    bool needs_rbp() const {
        return frame == frame_from::rbp || frame == frame_from::through_rbp || frame == frame_from::chain ||
               saved_rbp == rbp_from::rbp;
    }
};
static_assert(sizeof(unwind_rule) == 8);

/// The rule of frame pointers: a frame begins with the caller's rbp and the return address.
inline constexpr unwind_rule frame_pointer_rule{16, -16, unwind_rule::frame_from::chain, unwind_rule::rbp_from::frame};

/// `header`: the address of the module's .eh_frame_hdr. `address`: directly after a call. The tables may be damaged:
/// then the rule is any one, mostly the one of `nowhere`.
unwind_rule find_unwind_rule(module_memory& memory, std::uintptr_t header, std::uintptr_t address);

}  // namespace acre::recorder
