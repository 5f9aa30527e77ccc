// Counts executed instructions. This program runs itself under callgrind with two lengths of run; the difference is
// exactly what the work executed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "../harness.hpp"

namespace bench {

/// Instructions per operation.
struct instruction_count {
    double steady;  // in warm rounds
    double first;   // in the first round, which obtains its memory
};

using instruction_counts = std::map<std::string, std::map<std::string, instruction_count>>;

/// "valgrind-3.19.0", or empty if it is not installed.
[[nodiscard]] std::optional<std::string> valgrind_version();

/// Counts each variant of the group. Requires valgrind.
void count_instructions(const group& work, instruction_counts& into);

/// callgrind's pattern for the functions that count_calls counts.
inline constexpr std::string_view counted_functions = "*the_counted_*";

/// The instructions that one round of the variant executes in counted_functions and their callees: those of a single
/// call, exactly, however short it is. Requires valgrind.
[[nodiscard]] std::uint64_t count_calls(const group& work, const variant& which);

}  // namespace bench
