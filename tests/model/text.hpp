// Values as text, for traces and final states.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

namespace model {

template <class T>
std::string text_of(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_enum_v<T>) {
        return std::to_string(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
        return std::to_string(value);
    } else if constexpr (std::is_pointer_v<T>) {
        return value == nullptr ? "null" : "address " + std::to_string(reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (requires { value.text(); }) {
        return value.text();
    } else {
        return "(" + std::to_string(sizeof(T)) + " bytes)";
    }
}

/// True when equal states have equal texts; addresses differ between executions.
template <class T>
inline constexpr bool is_repeatable =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || requires(const T& v) { v.text(); };

inline const char* text_of(std::memory_order order) noexcept {
    switch (order) {
        case std::memory_order_relaxed:
            return "relaxed";
        case std::memory_order_consume:
            return "consume";
        case std::memory_order_acquire:
            return "acquire";
        case std::memory_order_release:
            return "release";
        case std::memory_order_acq_rel:
            return "acq_rel";
        case std::memory_order_seq_cst:
            return "seq_cst";
    }
    return "?";
}

}  // namespace model
