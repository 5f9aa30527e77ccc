// How a program reaches the recorder that `acre record` has put in front of it. Used by acre::trace_scope, acre::traced
// and acre::pause_recording, not directly.
//
// The functions are weak: where no recorder is in the process, their addresses are null. So a program with marks links
// and runs without anything of acre but its headers, statically too, and in shared libraries. Ask is_recorded() before
// each call. On systems without weak symbols in ELF files nothing is ever recorded.
//
// Cost where nothing records: the check, two instructions. Thread rules: all may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__ELF__) && defined(__GNUC__)
// Reached through the global offset table always: at a fixed address the linker would take them for absent.
#if __has_cpp_attribute(gnu::noplt)
#define ACRE_FROM_THE_RECORDER [[gnu::weak, gnu::noplt]]
#else
#define ACRE_FROM_THE_RECORDER [[gnu::weak]]
#endif
extern "C" {
/// From here on nothing is recorded but the frees of objects that are in the trace. Safe in a signal handler.
ACRE_FROM_THE_RECORDER void acre_record_pause() noexcept;
/// From here on all threads are recorded again.
ACRE_FROM_THE_RECORDER void acre_record_resume() noexcept;

/// The calling thread enters a scope; the name is copied.
ACRE_FROM_THE_RECORDER void acre_record_scope_begin(const char* name) noexcept;
/// It leaves the innermost scope that it is in.
ACRE_FROM_THE_RECORDER void acre_record_scope_end() noexcept;

/// A number for one more resource; never 0, never given twice in a process.
ACRE_FROM_THE_RECORDER std::uint64_t acre_record_new_resource() noexcept;
/// The resource has given storage; to be called behind that.
ACRE_FROM_THE_RECORDER void acre_record_allocated(std::uint64_t resource, const void* p, std::size_t bytes,
                                                  std::size_t alignment) noexcept;
/// The storage goes back; to be called in front of that.
ACRE_FROM_THE_RECORDER void acre_record_deallocated(std::uint64_t resource, const void* p) noexcept;
/// All storage of the resource has gone back.
ACRE_FROM_THE_RECORDER void acre_record_reset(std::uint64_t resource) noexcept;
/// This moment, for acre_record_rewound.
ACRE_FROM_THE_RECORDER std::uint64_t acre_record_moment() noexcept;
/// All storage of the resource that was given since that moment has gone back.
ACRE_FROM_THE_RECORDER void acre_record_rewound(std::uint64_t resource, std::uint64_t moment) noexcept;
/// Whether what the calling thread allocates from here on is a resource's own affair; returns what it was.
ACRE_FROM_THE_RECORDER bool acre_record_inside_resource(bool inside) noexcept;
}
#undef ACRE_FROM_THE_RECORDER

namespace acre::detail {

/// Whether the recorder is in this process, recording or not.
inline bool is_recorded() noexcept {
    return acre_record_scope_begin != nullptr;
}

}  // namespace acre::detail
#else
extern "C" {
inline void acre_record_pause() noexcept {}
inline void acre_record_resume() noexcept {}
inline void acre_record_scope_begin(const char*) noexcept {}
inline void acre_record_scope_end() noexcept {}
inline std::uint64_t acre_record_new_resource() noexcept {
    return 0;
}
inline void acre_record_allocated(std::uint64_t, const void*, std::size_t, std::size_t) noexcept {}
inline void acre_record_deallocated(std::uint64_t, const void*) noexcept {}
inline void acre_record_reset(std::uint64_t) noexcept {}
inline std::uint64_t acre_record_moment() noexcept {
    return 0;
}
inline void acre_record_rewound(std::uint64_t, std::uint64_t) noexcept {}
inline bool acre_record_inside_resource(bool) noexcept {
    return false;
}
}

namespace acre::detail {

constexpr bool is_recorded() noexcept {
    return false;
}

}  // namespace acre::detail
#endif
