// Tells AddressSanitizer, and Valgrind where ACRE_VALGRIND is defined, which bytes of a resource's storage are in use.
// A free or unused byte is poisoned: touching it is reported as the use-after-free or overflow that it is. In an
// ordinary build both functions are empty.
//
// Defining ACRE_VALGRIND (it needs <valgrind/memcheck.h>) keeps the client requests in the program: a few instructions
// a call, and only then.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ACRE_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ACRE_HAS_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif
#if defined(ACRE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

namespace acre {

/// True when freed storage is poisoned in this build, by either tool.
#if defined(ACRE_HAS_ADDRESS_SANITIZER) || defined(ACRE_VALGRIND)
inline constexpr bool poisoning = true;
#else
inline constexpr bool poisoning = false;
#endif

/// AddressSanitizer keeps its notes in granules of this many bytes; resources that poison lay out storage in them.
inline constexpr std::size_t poison_granule = 8;

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
namespace detail {
// Hides from the compiler what is annotated: it would warn that storage is passed on that nobody has written yet.
inline const void* hidden(const void* start) noexcept {
    asm("" : "+r"(start));
    return start;
}
}  // namespace detail
#endif

/// Marks `bytes` bytes at `start` as not to be touched.
inline void poison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_poison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_NOACCESS(start, bytes);
#endif
}

/// Marks `bytes` bytes at `start` as usable, contents undefined.
inline void unpoison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_UNDEFINED(start, bytes);
#endif
}

/// Marks `bytes` bytes at `start` as usable and their contents as defined: before storage goes back upstream.
inline void unpoison_defined([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_DEFINED(start, bytes);
#endif
}

/// True when this build knows that the byte at `address` is not to be touched; false in one that does not know.
inline bool is_poisoned([[maybe_unused]] const void* address) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    return __asan_address_is_poisoned(address) != 0;
#else
    return false;
#endif
}

}  // namespace acre
