// Counts executed instructions: this program runs itself under callgrind with two lengths of run, and the difference is
// what the work executed, to the instruction.
#pragma once

#include <map>
#include <optional>
#include <string>

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

}  // namespace bench
