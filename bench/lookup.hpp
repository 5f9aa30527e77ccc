// Finds measured values, for the tables that compare them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "report.hpp"

namespace bench {

/// The value of a variant in a group, or null when it was not measured. Do not pass a temporary table.
template <class Table>
auto find(const Table& table, const std::string& group, const std::string& name) -> decltype(&table.at("").at("")) {
    const auto rows = table.find(group);
    if (rows == table.end()) return nullptr;
    const auto row = rows->second.find(name);
    return row == rows->second.end() ? nullptr : &row->second;
}

/// The median ratio of two variants' times in a group.
inline std::optional<double> time_ratio(const samples& times, const std::string& group, const std::string& variant,
                                        const std::string& against) {
    const auto* measured = find(times, group, variant);
    const auto* other = find(times, group, against);
    if (!measured || !other) return std::nullopt;
    return median_ratio(*measured, *other);
}

inline std::string digits(std::optional<double> value, int after_point) {
    if (!value) return {};
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f", after_point, *value);
    return text.data();
}

}  // namespace bench
