// Memory of the machine: made ready before a program runs, and whether it comes in huge pages.
//
// The memory of a virtual machine may exist only from its first touch on, and its host may take back what was free for
// some seconds. Of programs that run in turns one pays for that then: a malloc that takes a little more memory than the
// one before it, though that says nothing of either (measured: 2.5 s for each GiB in place of 0.04).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace acre::tool {

/// Touches so many bytes of free memory and frees them, at most half of what is available. Returns how many bytes were
/// touched; fewer, or none, where the system gives no more.
std::uint64_t touch_free_memory(std::uint64_t bytes);

/// Whether the system gives huge pages also where nobody asks for them, by the text of its setting,
/// /sys/kernel/mm/transparent_hugepage/enabled: "always [madvise] never".
bool are_huge_pages_unasked(std::string_view setting);

/// That setting of this machine; empty where it has none.
std::string huge_page_setting();

}  // namespace acre::tool
