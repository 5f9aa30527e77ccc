// How a program reaches the recorder that `acre record` preloads.
//
// The functions are weak: without a recorder in the process their addresses are null. So a marked program needs only
// acre's headers to link and run, also statically and in shared libraries. Check is_recorded() before each call. On
// systems without weak ELF symbols nothing is ever recorded.
//
// Cost without a recorder: the check, two instructions. Thread rules: any thread may call any of these.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__ELF__) && defined(__GNUC__)
// noplt: always through the global offset table, because the linker would resolve a direct reference to null.
#if __has_cpp_attribute(gnu::noplt)
#define ACRE_RECORDER [[gnu::weak, gnu::noplt]]
#else
#define ACRE_RECORDER [[gnu::weak]]
#endif
extern "C" {
/// Stops recording, except for frees of objects that are in the trace already. Safe in a signal handler.
ACRE_RECORDER void acre_record_pause() noexcept;
/// Records all threads again.
ACRE_RECORDER void acre_record_resume() noexcept;

/// The calling thread enters a scope; the name is copied.
ACRE_RECORDER void acre_record_scope_begin(const char* name) noexcept;
/// The calling thread leaves its innermost scope.
ACRE_RECORDER void acre_record_scope_end() noexcept;

/// Returns the number of a new resource: never 0, and unique in the process.
ACRE_RECORDER std::uint64_t acre_record_new_resource() noexcept;
/// The resource has allocated. Call it after the allocation.
ACRE_RECORDER void acre_record_allocated(std::uint64_t resource, const void* p, std::size_t bytes,
                                         std::size_t alignment) noexcept;
/// The resource is about to free. Call it before the free.
ACRE_RECORDER void acre_record_deallocated(std::uint64_t resource, const void* p) noexcept;
/// The resource has freed all its allocations.
ACRE_RECORDER void acre_record_reset(std::uint64_t resource) noexcept;
/// Returns a mark of this moment, for acre_record_rewound.
ACRE_RECORDER std::uint64_t acre_record_moment() noexcept;
/// The resource has freed all that it allocated since `moment`.
ACRE_RECORDER void acre_record_rewound(std::uint64_t resource, std::uint64_t moment) noexcept;
/// Sets whether this thread's allocations from here on are internal to a resource, and returns the previous setting.
ACRE_RECORDER bool acre_record_inside_resource(bool inside) noexcept;
}
#undef ACRE_RECORDER

namespace acre::detail {

/// True when the recorder is in this process, recording or not.
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
