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

// 16 bytes at once, by the compilers' vector extension: half of the cost of checking is in these.
using wide_word [[gnu::vector_size(16)]] = std::uint64_t;
inline constexpr std::size_t wide_bytes = sizeof(wide_word);

[[gnu::always_inline]] inline wide_word wide_of(unsigned char pattern) noexcept {
    const std::uint64_t word = 0x0101010101010101u * pattern;
    return wide_word{word, word};
}
[[gnu::always_inline]] inline wide_word wide_at(const std::byte* p) noexcept {
    wide_word word;
    std::memcpy(&word, p, sizeof word);
    return word;
}
[[gnu::always_inline]] inline void put_wide(std::byte* p, wide_word word) noexcept {
    std::memcpy(p, &word, sizeof word);
}
[[gnu::always_inline]] inline bool is_zero(wide_word word) noexcept {
    return (word[0] | word[1]) == 0;
}

/// Sets `bytes` bytes at `p` to `pattern`.
inline void fill(std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    if (bytes < wide_bytes || bytes > 512) {
        std::memset(p, pattern, bytes);
        return;
    }
    wide_word word = wide_of(pattern);
    // Hides the value from the compiler, which would make a call of memset of the loop.
    asm("" : "+m"(word));
    std::byte* const last = p + bytes - wide_bytes;
    for (; p < last; p += wide_bytes) put_wide(p, word);
    put_wide(last, word);
}
/// True when all of `bytes` bytes at `p` are `pattern`.
inline bool all_are(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    if (bytes < wide_bytes) {
        for (; bytes > 0; --bytes, ++p) {
            if (*p != std::byte{pattern}) return false;
        }
        return true;
    }
    const wide_word word = wide_of(pattern);
    const std::byte* const last = p + bytes - wide_bytes;
    wide_word other = wide_at(last) ^ word;
    for (; p < last; p += wide_bytes) other |= wide_at(p) ^ word;
    return is_zero(other);
}

/// The first of `bytes` bytes at `p` that is not `pattern`; null when all are.
inline const std::byte* first_other(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
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

[[gnu::always_inline]] inline void write_back_fence(std::byte* p, std::size_t bytes) noexcept {
    unpoison(p + bytes, fence_bytes);
    put_wide(p + bytes, wide_of(fence_pattern));
    poison(p + bytes, fence_bytes);
}
[[gnu::always_inline]] inline void write_fences(std::byte* p, std::size_t bytes) noexcept {
    put_wide(p - fence_bytes, wide_of(fence_pattern));
    poison(p - fence_bytes, fence_bytes);
    write_back_fence(p, bytes);
}
/// True when both fences of an allocation are whole.
[[gnu::always_inline]] inline bool fences_are_whole(const std::byte* p, std::size_t bytes) noexcept {
    if constexpr (poisoning) {
        unpoison_defined(p - fence_bytes, fence_bytes);
        unpoison_defined(p + bytes, fence_bytes);
    }
    const wide_word fence = wide_of(fence_pattern);
    const bool whole = is_zero((wide_at(p - fence_bytes) ^ fence) | (wide_at(p + bytes) ^ fence));
    if constexpr (poisoning) {
        poison(p - fence_bytes, fence_bytes);
        poison(p + bytes, fence_bytes);
    }
    return whole;
}

/// True when `bytes` poisoned bytes at `p` all have `pattern`.
inline bool still_has(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    if constexpr (poisoning) unpoison_defined(p, bytes);
    const bool has = all_are(p, bytes, pattern);
    if constexpr (poisoning) poison(p, bytes);
    return has;
}

}  // namespace acre::detail
