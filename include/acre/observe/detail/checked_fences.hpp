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

// 16 bytes at once: half of the cost of checking is in these.
#if defined(__SSE2__) || defined(__aarch64__)
using wide_word [[gnu::vector_size(16)]] = std::uint64_t;
#else
// Where no register holds 16 bytes, the compilers' vector extension is no type to pass to functions.
struct wide_word {
    std::uint64_t words[2];
    std::uint64_t operator[](std::size_t index) const noexcept { return words[index]; }
    friend wide_word operator^(wide_word a, wide_word b) noexcept { return {a[0] ^ b[0], a[1] ^ b[1]}; }
    friend wide_word operator|(wide_word a, wide_word b) noexcept { return {a[0] | b[0], a[1] | b[1]}; }
    wide_word& operator|=(wide_word other) noexcept { return *this = *this | other; }
};
#endif
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
#if defined(__SSE2__)
    using bytes [[gnu::vector_size(16)]] = char;
    return __builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(reinterpret_cast<bytes>(word) == bytes{})) == 0xFFFF;
#else
    return (word[0] | word[1]) == 0;
#endif
}

/// Sets `bytes` bytes at `p` to `pattern`.
[[gnu::noinline]] inline void fill(std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
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
[[gnu::noinline]] inline bool all_are(const std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
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

/// True for the sizes that quick_fill and differs_from serve: one to four wide words, which may overlap.
[[gnu::always_inline]] inline bool is_quick(std::size_t bytes) noexcept {
    return bytes - wide_bytes <= 3 * wide_bytes;
}
[[gnu::always_inline]] inline void quick_fill(std::byte* p, std::size_t bytes, unsigned char pattern) noexcept {
    const wide_word word = wide_of(pattern);
    std::byte* const last = p + bytes - wide_bytes;
    put_wide(p, word);
    put_wide(last, word);
    if (bytes <= 2 * wide_bytes) return;
    put_wide(p + wide_bytes, word);
    put_wide(last - wide_bytes, word);
}
/// Zero when all bytes are `pattern`.
[[gnu::always_inline]] inline wide_word differs_from(const std::byte* p, std::size_t bytes,
                                                     unsigned char pattern) noexcept {
    const wide_word word = wide_of(pattern);
    const std::byte* const last = p + bytes - wide_bytes;
    wide_word other = (wide_at(p) ^ word) | (wide_at(last) ^ word);
    if (bytes > 2 * wide_bytes) other |= (wide_at(p + wide_bytes) ^ word) | (wide_at(last - wide_bytes) ^ word);
    return other;
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
/// Makes both fences of an allocation accessible, for a check or for R.
[[gnu::always_inline]] inline void open_fences(const std::byte* p, std::size_t bytes) noexcept {
    if constexpr (!poisoning) return;
    unpoison_defined(p - fence_bytes, fence_bytes);
    unpoison_defined(p + bytes, fence_bytes);
}
[[gnu::always_inline]] inline void close_fences(const std::byte* p, std::size_t bytes) noexcept {
    if constexpr (!poisoning) return;
    poison(p - fence_bytes, fence_bytes);
    poison(p + bytes, fence_bytes);
}

/// Zero when both fences of an allocation are whole; they are open.
[[gnu::always_inline]] inline wide_word fence_damage(const std::byte* p, std::size_t bytes) noexcept {
    const wide_word fence = wide_of(fence_pattern);
    return (wide_at(p - fence_bytes) ^ fence) | (wide_at(p + bytes) ^ fence);
}
/// True when both fences of an allocation are whole.
[[gnu::always_inline]] inline bool fences_are_whole(const std::byte* p, std::size_t bytes) noexcept {
    open_fences(p, bytes);
    const bool whole = is_zero(fence_damage(p, bytes));
    close_fences(p, bytes);
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
