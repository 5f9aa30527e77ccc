// Random numbers of the system, for secrets: getrandom on Linux, getentropy on other POSIX systems, rand_s on Windows.
// (std::random_device may be a pseudo-random generator, and its header is the heaviest of the standard library.)
//
// Used by the library, not directly. Cost: a system call. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#if defined(_WIN32)
extern "C" __declspec(dllimport) int rand_s(unsigned int* number);
#elif defined(__linux__)
#include <errno.h>
#include <sys/random.h>
#else
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif
#endif

namespace acre::detail {

/// Sets `number` to a random one. False when the system has none.
[[nodiscard, gnu::noinline]] inline bool system_random(std::uint64_t& number) noexcept {
#if defined(_WIN32)
    unsigned int low = 0;
    unsigned int high = 0;
    if (rand_s(&low) != 0 || rand_s(&high) != 0) return false;
    number = std::uint64_t{high} << 32 | low;
    return true;
#elif defined(__linux__)
    for (;;) {
        const auto got = ::getrandom(&number, sizeof number, 0);
        if (got >= 0 && static_cast<std::size_t>(got) == sizeof number) return true;
        if (got >= 0 || errno != EINTR) return false;
    }
#else
    return ::getentropy(&number, sizeof number) == 0;
#endif
}

}  // namespace acre::detail
