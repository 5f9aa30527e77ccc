// Sizes that tests ask for on targets of 32 and of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acre_test {

/// True where a std::size_t has 64 bits.
inline constexpr bool sizes_have_64_bits = SIZE_MAX > UINT32_MAX;

/// 4 GiB and 16 bytes, which 32 bits would cut to 16 (hazard M1); where that is no size, the largest size.
inline constexpr std::size_t beyond_32_bits =
    sizes_have_64_bits ? static_cast<std::size_t>((std::uint64_t{1} << 32) + 16) : SIZE_MAX;

/// True where the system sets memory aside for all that the heap hands out, touched or not.
#if defined(_WIN32)
inline constexpr bool commits_untouched_memory = true;
#else
inline constexpr bool commits_untouched_memory = false;
#endif

/// The two largest powers of two.
inline constexpr std::size_t half_of_all = SIZE_MAX / 2 + 1;
inline constexpr std::size_t quarter_of_all = SIZE_MAX / 4 + 1;

/// The square root of all sizes: its square is one more than SIZE_MAX.
inline constexpr std::size_t root_of_all = std::size_t{1} << (sizeof(std::size_t) * 4);

}  // namespace acre_test
