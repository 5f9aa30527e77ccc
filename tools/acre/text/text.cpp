#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace acre::tool {

std::string count_text(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
    return digits;
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < units.size(); ++unit) value /= 1024;
    return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, units[unit]);
}

std::string bytes_literal(std::uint64_t bytes) {
    if (bytes != 0 && bytes % (1 << 20) == 0) return fmt::format("{}_MiB", bytes >> 20);
    if (bytes != 0 && bytes % 1024 == 0) return fmt::format("{}_KiB", bytes >> 10);
    return fmt::format("{}", bytes);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    std::string unit{end, text.data() + text.size()};
    std::transform(unit.begin(), unit.end(), unit.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    constexpr std::array<std::string_view, 5> units{"", "K", "M", "G", "T"};
    for (std::size_t i = 0; i < units.size(); ++i) {
        const bool named =
            unit == units[i] || unit == std::string{units[i]} + "B" || (i != 0 && unit == std::string{units[i]} + "IB");
        if (named && value <= ~std::uint64_t{0} >> (10 * i)) return value << (10 * i);
    }
    return {};
}

std::optional<double> parse_seconds(std::string_view text) {
    double factor = 1;
    if (text.ends_with('m')) factor = 60;
    if (text.ends_with('h')) factor = 3600;
    if (text.ends_with('s') || factor != 1) text.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e6) return std::nullopt;
    return value * factor;
}

std::string time_text(double nanoseconds) {
    const double size = std::abs(nanoseconds);
    if (size < 1e3) return fmt::format("{:.{}f} ns", nanoseconds, size < 99.95 && size != 0 ? 1 : 0);
    if (size < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
    if (size < 1e9) return fmt::format("{:.1f} ms", nanoseconds / 1e6);
    return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

std::string percent_text(double share) {
    const double percent = share * 100;
    if (percent != 0 && std::abs(percent) < 0.05) return "<0.1 %";
    if (percent > 99.9 && percent < 100) return fmt::format("{:.2f} %", std::min(percent, 99.99));
    return fmt::format("{:.1f} %", percent);
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

std::string plural_of_mean(double mean, std::string_view one, std::string_view many) {
    constexpr double from_here_whole = 10;
    const auto nearest = static_cast<std::uint64_t>(std::llround(mean));
    if (mean >= from_here_whole || std::abs(mean - static_cast<double>(nearest)) < 0.05)
        return plural(nearest, one, many);
    return fmt::format("{:.1f} {}", mean, many);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& left) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool starts_left = std::find(left.begin(), left.end(), i) != left.end();
            line +=
                starts_left ? fmt::format("  {:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string indented(std::string_view code, std::size_t indent) {
    std::string text;
    while (!code.empty()) {
        const std::size_t end = std::min(code.find('\n'), code.size() - 1);
        text += std::string(indent, ' ') + std::string{code.substr(0, end)} + "\n";
        code.remove_prefix(end + 1);
    }
    return text;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string lines;
    std::string line(indent, ' ');
    bool fresh = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!fresh && line.size() + 1 + word.size() > width) {
            lines += line + "\n";
            line.assign(indent, ' ');
            fresh = true;
        }
        if (!fresh) line += ' ';
        line += word;
        fresh = false;
    }
    return lines + line + "\n";
}

}  // namespace acre::tool
