// The constants and limits of the trace format, which docs/trace-format.md describes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model.hpp"

namespace acre::tool::format {

inline constexpr std::array<std::uint8_t, 8> magic{0x89, 'a', 'c', 'r', 'e', '\r', '\n', 0x1a};
inline constexpr std::uint32_t version = 5;
inline constexpr std::uint32_t oldest_version = 4;  // that is still read: it has no allocator in the header
inline constexpr std::size_t file_head_bytes = 16;  // magic, version, a reserved word

/// The order of sections in the file. Only `events` and `marks` may be missing, be repeated and alternate.
enum class section_kind : std::uint32_t {
    header = 1,
    strings = 2,
    modules = 3,
    frames = 4,
    call_tree = 5,
    scopes = 6,
    events = 7,
    marks = 8,
    end = 9,
};

/// The head of a section, before its payload; each field is little-endian, in this order.
struct section_head {
    section_kind kind{};
    std::uint32_t flags = 0;  // none defined yet
    std::uint64_t compressed_bytes = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t checksum = 0;
};
inline constexpr std::size_t section_head_bytes = 32;

/// A section head as bytes of the file.
using section_head_image = std::array<std::uint8_t, section_head_bytes>;

inline constexpr std::size_t events_per_chunk = 65'536;
inline constexpr std::size_t marks_per_chunk = 65'536;

/// The columns of a chunk of events, in their order in the payload.
enum class column : std::uint8_t { op, size, alignment, stack, guess, object, step, run, thread };
inline constexpr std::size_t column_count = 9;

/// A byte of the op column: the operation's code (0: the guess is right) and flags.
inline constexpr std::uint8_t operation_mask = 0x1f;
inline constexpr std::uint8_t thread_changes_bit = 0x20;
inline constexpr std::uint8_t alignment_bit = 0x40;
inline constexpr std::uint8_t allocates_code = 0x10;

/// Never 0.
constexpr std::uint8_t operation_code(operation op, bool allocates) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(op) + 1 + (allocates ? allocates_code : 0U));
}

/// Numbers of guesses, and sizes of the tables that they come from.
inline constexpr std::size_t stack_guesses = 4;
inline constexpr std::size_t object_guesses = 7;
inline constexpr std::size_t stack_indices = 1 << 20;
inline constexpr std::size_t thread_indices = 1 << 10;

inline constexpr std::uint64_t tick_nanoseconds = 1000;

// Limits far above what a recording needs, but low enough that a malicious file cannot exhaust memory.
inline constexpr std::uint64_t max_chunk_bytes = 8 << 20;
inline constexpr std::uint64_t max_table_bytes = 256 << 20;
inline constexpr std::uint64_t max_table_expansion = 1000;  // raw bytes per compressed byte, plus 64 KiB
inline constexpr std::uint64_t max_nodes = 1 << 24;
inline constexpr std::uint64_t max_frames = 1 << 22;
inline constexpr std::uint64_t max_locations = 1 << 23;
inline constexpr std::uint64_t max_text_bytes = 512 << 20;  // of all names, including repeats
inline constexpr std::uint64_t max_scope_names = 1 << 20;
inline constexpr std::uint64_t max_open_scopes = 1 << 20;  // in all threads together
inline constexpr std::uint64_t max_threads = 1 << 24;
inline constexpr std::uint64_t max_live_objects = std::uint64_t{1} << 28;

/// Limit of a section's decompressed size.
constexpr std::uint64_t max_raw_bytes(const section_head& head) {
    if (head.kind == section_kind::events || head.kind == section_kind::marks) return max_chunk_bytes;
    const std::uint64_t by_expansion = (64 << 10) + head.compressed_bytes * max_table_expansion;
    return by_expansion < max_table_bytes ? by_expansion : max_table_bytes;
}

/// Limit of a section's size in the file; zstd never exceeds it.
constexpr std::uint64_t max_compressed_bytes(const section_head& head) {
    return head.raw_bytes + head.raw_bytes / 128 + 1024;
}

/// 64-bit FNV-1a, continued from `seed`.
constexpr std::uint64_t checksum(std::span<const std::uint8_t> bytes, std::uint64_t seed = 0xcbf2'9ce4'8422'2325) {
    for (const std::uint8_t byte : bytes) seed = (seed ^ byte) * 0x0000'0100'0000'01b3;
    return seed;
}

}  // namespace acre::tool::format
