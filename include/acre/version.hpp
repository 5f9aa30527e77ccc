// The version of acre: in the preprocessor, and as a constant.
//
// Use the macro where code must compile with several versions, and the constant for all else. docs/versioning.md says
// what a new version may change. The C header acre.h has the same macro. scripts/version sets all of them.
//
// Cost: none.
//
//     static_assert(acre::version_is_at_least(0, 1));
//     #if ACRE_VERSION_NUMBER >= 200  // 0.2.0
//     // code for the newer version
//     #endif
#pragma once

#include <acre/core/detail/language.hpp>

// Major version * 10,000 + minor version * 100 + patch.
#define ACRE_VERSION_NUMBER 100

namespace acre {

/// Major version * 10,000 + minor version * 100 + patch.
inline constexpr int version_number = ACRE_VERSION_NUMBER;

/// True when these headers are of this version or a later one.
consteval bool version_is_at_least(int major_version, int minor_version = 0, int patch = 0) noexcept {
    return version_number >= major_version * 10'000 + minor_version * 100 + patch;
}

}  // namespace acre
