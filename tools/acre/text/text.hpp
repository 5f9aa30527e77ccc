// Numbers and tables as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace acre::tool {

std::string count_text(std::uint64_t count);  // 1,234,567
std::string bytes_text(std::uint64_t bytes);  // 812 B, 9.9 KiB, 1.5 MiB
std::string time_text(double nanoseconds);    // 850 ns, 1.2 ms, 3.4 s
std::string percent_text(double share);       // 0.123 -> 12.3 %
/// A name as it may go to a terminal: control characters, which could be commands to it, become '?'.
std::string printable(std::string_view name);

std::string plural(std::uint64_t count, std::string_view one, std::string_view many);  // "1 thread", "2 threads"
std::string plural_of_mean(double mean, std::string_view one, std::string_view many);  // "1.3 threads", "2,510 threads"

/// A number of bytes as a program writes it: 16_KiB, 1_MiB, 1008.
std::string bytes_literal(std::uint64_t bytes);

/// The bytes that digits with K, M, G or T behind them stand for, in powers of 1024; nothing when it is not that.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Rows of cells, the columns as wide as they need; columns named in `left` (by number) start at the left.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& left);

/// The text broken into lines of at most `width` characters, each indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 100);

}  // namespace acre::tool
