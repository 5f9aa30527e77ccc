// Numbers and tables formatted for people.
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
/// Makes a name safe to print on a terminal: UTF-8 in which '?' replaces control characters (C0, C1 and DEL),
/// characters that change the direction of text, and line and paragraph separators. Invalid bytes become U+FFFD.
std::string printable(std::string_view name);
/// A word of a command to paste into a shell, safe to print: in quotes where the shell would change it, and as $'...',
/// which bash, zsh and ksh read, where printable() would.
std::string quoted_for_shell(std::string_view word);
/// As printable(), but keeps line feeds and tabs.
std::string printable_text(std::string_view text);
/// JSON with the same meaning, in which the characters that printable() replaces are escaped. `json` must be UTF-8.
std::string printable_json(std::string_view json);

std::string plural(std::uint64_t count, std::string_view one, std::string_view many);  // "1 thread", "2 threads"
std::string plural_of_mean(double mean, std::string_view one, std::string_view many);  // "1.3 threads", "2,510 threads"

/// A number of bytes as in source code: 16_KiB, 1_MiB, 1008.
std::string bytes_literal(std::uint64_t bytes);

/// Parses a number of bytes with an optional K, M, G or T (powers of 1024); nothing if the text is not one.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Parses a time in seconds: digits and s, m or h; nothing if the text is not one.
std::optional<double> parse_seconds(std::string_view text);

/// Formats rows of cells in columns. The columns whose numbers are in `left` are left-aligned, the others
/// right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& left);

/// Breaks text into indented lines of at most `width` characters.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 100);

/// Code with so many spaces before each line.
std::string indented(std::string_view code, std::size_t indent);

}  // namespace acre::tool
