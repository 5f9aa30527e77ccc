// The options of acre::checked.
//
//     acre::checked<acre::pool<64>> slots{acre::checked_options{.quarantine_allocations = 1000, .stack_frames = 8}};
#pragma once

#include <acre/core/misuse.hpp>
#include <acre/core/resource_ref.hpp>
#include <acre/memory/heap.hpp>
#include <cstddef>

namespace acre {

/// Whether an allocation that is live when its resource ends is a misuse.
enum class leak_rule : unsigned char {
    by_type,  ///< not in arenas, typed arenas and object pools, whose end takes back what lives
    report,
    ignore,
};

/// What acre::checked does and keeps: the first argument of its constructor.
struct checked_options {
    /// Freed allocations that are held back, to find writes to them and a second free; 0 to 65,536.
    std::size_t quarantine_allocations = 256;
    /// Upper limit of the bytes held back.
    std::size_t quarantine_bytes = 256 * 1024;
    /// Frames of the call stack that are kept for each allocation and each free, 0 to 16. About a microsecond for 8.
    std::size_t stack_frames = 0;
    /// At most this many bytes at the beginning of each allocation are filled with a pattern.
    std::size_t fill_bytes = 64 * 1024;
    leak_rule leaks = leak_rule::by_type;
    /// Called with each misuse in place of the program's handler. When it returns, the call that was wrong has no
    /// effect, and the program goes on. Null: abort_on_misuse. After the end of the resource the program's handler is
    /// called for a checked_ptr or a checked_scratch that is used.
    misuse_handler handler = nullptr;
    /// Where the memory for the records comes from; never the checked resource.
    resource_ref records = heap{};
};

}  // namespace acre
