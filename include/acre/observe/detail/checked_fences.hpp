// The bytes around and in an allocation of acre::checked: fences in front and behind, and patterns in fresh and freed
// storage. Under AddressSanitizer and Valgrind fences and freed storage are poisoned, too: these tools then report the
// access itself.
//
// Used by acre::checked, not directly. Cost: linear in the bytes filled.
#pragma once

#include <acre/core/detail/minmax.hpp>
#include <acre/core/sanitizer.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace acre::detail {

/// Bytes in front of an allocation and behind it that nobody may write.
inline constexpr std::size_t fence_bytes = 16;

inline constexpr unsigned char fence_pattern = 0xFB;
inline constexpr unsigned char fresh_pattern = 0xCD;
inline constexpr unsigned char freed_pattern = 0xDD;

/// The first of `bytes` bytes at `p` that is not `pattern`; null when all are.
inline const std::byte* first_other(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    const std::uint64_t whole = 0x0101010101010101u * pattern;
    for (; bytes >= sizeof whole; bytes -= sizeof whole, p += sizeof whole) {
        std::uint64_t word;
        std::memcpy(&word, p, sizeof word);
        if (word != whole) break;
    }
    for (; bytes > 0; --bytes, ++p) {
        if (*p != std::byte{pattern}) return p;
    }
    return nullptr;
}

/// What R is asked for, for an allocation of `bytes` bytes: the fences, and padding in front for strict alignments.
struct fenced_block {
    void* storage = nullptr;
    std::size_t bytes = 0;
    std::size_t alignment = 0;

    static constexpr std::size_t front(std::size_t alignment) noexcept { return detail::max(alignment, fence_bytes); }
    static constexpr fenced_block of(std::size_t bytes, std::size_t alignment) noexcept {
        return {nullptr, front(alignment) + bytes + fence_bytes, front(alignment)};
    }
    /// The block in which the allocation at `p` lies.
    static fenced_block around(const std::byte* p, std::size_t bytes, std::size_t alignment) noexcept {
        fenced_block found = of(bytes, alignment);
        found.storage = const_cast<std::byte*>(p) - front(alignment);
        return found;
    }
};

inline void write_back_fence(std::byte* p, std::size_t bytes) noexcept {
    unpoison(p + bytes, fence_bytes);
    std::memset(p + bytes, fence_pattern, fence_bytes);
    poison(p + bytes, fence_bytes);
}
inline void write_fences(std::byte* p, std::size_t bytes) noexcept {
    std::memset(p - fence_bytes, fence_pattern, fence_bytes);
    poison(p - fence_bytes, fence_bytes);
    write_back_fence(p, bytes);
}

/// True when `bytes` poisoned bytes at `p` all have `pattern`.
inline bool still_has(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    if constexpr (poisoning) unpoison_defined(p, bytes);
    const bool has = first_other(p, bytes, pattern) == nullptr;
    if constexpr (poisoning) poison(p, bytes);
    return has;
}

}  // namespace acre::detail
