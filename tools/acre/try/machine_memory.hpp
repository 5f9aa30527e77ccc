// Memory of the machine that a program is going to use, made ready before it runs.
//
// The memory of a virtual machine may exist only from its first touch on, and its host may take back what was free for
// some seconds. Of programs that run in turns one pays for that then: a malloc that takes a little more memory than the
// one before it, though that says nothing of either (measured: 2.5 s for each GiB in place of 0.04).
#pragma once

#include <cstdint>

namespace acre::tool {

/// Touches so many bytes of free memory and frees them, at most half of what is available. Returns how many bytes were
/// touched; fewer, or none, where the system gives no more.
std::uint64_t touch_free_memory(std::uint64_t bytes);

}  // namespace acre::tool
