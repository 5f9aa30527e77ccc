// Counts executed instructions: this program runs itself under callgrind with two lengths of run, and the difference is
// what the work executed, to the instruction.
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
    double steady;  // once the work is warm
    double first;   // its first round, when it obtains its memory
};

using instruction_counts = std::map<std::string, std::map<std::string, instruction_count>>;

/// "valgrind-3.19.0", or nothing where there is none.
[[nodiscard]] std::optional<std::string> valgrind_version();

/// Counts each variant of the group. Requires valgrind.
void count_instructions(const group& work, instruction_counts& into);

/// The functions, by callgrind's pattern, that count_calls looks at.
inline constexpr std::string_view counted_functions = "*the_counted_*";

/// The instructions that one round of the variant executes in counted_functions and in what they call: those of a
/// single call, exactly, however short it is. Requires valgrind.
[[nodiscard]] std::uint64_t count_calls(const group& work, const variant& which);

}  // namespace bench
