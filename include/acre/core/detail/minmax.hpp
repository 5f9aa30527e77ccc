// min, max, clamp and conversion of numbers. The standard's are in <algorithm>, which takes a compiler longer than all
// of an arena.
//
// Used by the library, not directly.
#pragma once

namespace acre::detail {

template <class Number>
constexpr Number min(Number a, Number b) noexcept {
    return b < a ? b : a;
}

template <class Number>
constexpr Number max(Number a, Number b) noexcept {
    return a < b ? b : a;
}

/// `value` as a To, which may have as many bits or fewer. Without a warning where the two are the same type.
template <class To, class From>
constexpr To narrowed(From value) noexcept {
    return static_cast<To>(value);
}

/// The number in [low, high] that is nearest to `value`.
template <class Number>
constexpr Number clamp(Number value, Number low, Number high) noexcept {
    return value < low ? low : high < value ? high : value;
}

}  // namespace acre::detail
