// Tells AddressSanitizer, and Valgrind if ACRE_VALGRIND is defined, which bytes of a resource's storage are in use.
// Free and unused bytes are poisoned: touching them is reported as use-after-free or overflow. In an ordinary build the
// functions are empty.
//
// ACRE_VALGRIND needs <valgrind/memcheck.h> and costs a few instructions a call, also without Valgrind.
//
//     alignas(8) static std::byte storage[4096];
//     acre::poison(storage, sizeof storage);  // an access from here on is reported
//     acre::unpoison(storage, 100);           // but to the first 100 bytes
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ACRE_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ACRE_HAS_ADDRESS_SANITIZER 1
#endif
#endif

// Set in builds with ThreadSanitizer, which wants every access that threads share to be atomic.
#if defined(__SANITIZE_THREAD__)
#define ACRE_HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ACRE_HAS_THREAD_SANITIZER 1
#endif
#endif

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif
#if defined(ACRE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

#if defined(__ELF__)
// LeakSanitizer's; null where it is not linked.
extern "C" {
[[gnu::weak]] void acre_lsan_register_root_region(const void* start,
                                                  std::size_t bytes) asm("__lsan_register_root_region");
[[gnu::weak]] void acre_lsan_unregister_root_region(const void* start,
                                                    std::size_t bytes) asm("__lsan_unregister_root_region");
}
#endif

namespace acre {

#if defined(ACRE_HAS_ADDRESS_SANITIZER) || defined(ACRE_VALGRIND)
/// True when this build poisons freed storage for either tool.
inline constexpr bool poisoning = true;
#else
/// True when this build poisons freed storage for either tool.
inline constexpr bool poisoning = false;
#endif

/// AddressSanitizer's granularity in bytes; resources that poison lay out storage in multiples of it.
inline constexpr std::size_t poison_granule = 8;

/// Poisoned bytes that a resource leaves behind each allocation, so that a write beyond its end is reported. 0 in an
/// ordinary build, whose layout has no such gaps.
inline constexpr std::size_t redzone_bytes = poisoning ? 16 : 0;

#if defined(ACRE_HAS_ADDRESS_SANITIZER)
namespace detail {
// Hides the pointer from the compiler, which would warn that uninitialised storage is passed on.
inline const void* hidden(const void* start) noexcept {
    asm("" : "+r"(start));
    return start;
}
}  // namespace detail
#endif

namespace detail {
/// How many bytes of an allocation are accessible. One where none were requested, as malloc has it under
/// AddressSanitizer: a live slot is told from a free one by its first byte.
constexpr std::size_t accessible_bytes(std::size_t requested) noexcept {
    return poisoning && requested == 0 ? 1 : requested;
}
}  // namespace detail

/// Marks `bytes` bytes at `start` as inaccessible.
inline void poison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_poison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_NOACCESS(start, bytes);
#endif
}

/// Marks `bytes` bytes at `start` as accessible, with undefined contents.
inline void unpoison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_UNDEFINED(start, bytes);
#endif
}

/// Marks `bytes` bytes at `start` as accessible, with defined contents: before storage goes back upstream.
inline void unpoison_defined([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(detail::hidden(start), bytes);
#endif
#if defined(ACRE_VALGRIND)
    (void)VALGRIND_MAKE_MEM_DEFINED(start, bytes);
#endif
}

/// Marks an allocation of `old_bytes` bytes at `start` as one of `new_bytes` bytes. The contents that stay are kept.
inline void poison_resized([[maybe_unused]] void* start, [[maybe_unused]] std::size_t old_bytes,
                           [[maybe_unused]] std::size_t new_bytes) noexcept {
    if constexpr (poisoning) {
        auto* const bytes = static_cast<std::byte*>(start);
        if (new_bytes < old_bytes) {
            poison(bytes + new_bytes, old_bytes - new_bytes);
        } else {
            unpoison(bytes + old_bytes, new_bytes - old_bytes);
        }
    }
}

/// Tells LeakSanitizer that the `bytes` bytes at `start` hold pointers to what is in use: it does not look into mapped
/// pages by itself. Does nothing where it is not linked.
inline void search_for_leaks_in([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__ELF__)
    if (acre_lsan_register_root_region != nullptr) acre_lsan_register_root_region(start, bytes);
#endif
}

/// Takes back what search_for_leaks_in said; the arguments are the same.
inline void end_search_for_leaks_in([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__ELF__)
    if (acre_lsan_unregister_root_region != nullptr) acre_lsan_unregister_root_region(start, bytes);
#endif
}

/// True when the byte at `address` is poisoned for AddressSanitizer; false in other builds.
inline bool is_poisoned([[maybe_unused]] const void* address) noexcept {
#if defined(ACRE_HAS_ADDRESS_SANITIZER)
    return __asan_address_is_poisoned(address) != 0;
#else
    return false;
#endif
}

}  // namespace acre
