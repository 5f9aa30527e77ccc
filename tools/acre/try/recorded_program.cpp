#include "recorded_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "programs/program.hpp"
#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

std::filesystem::path recorded_program(const std::vector<std::string>& command, const char* verb) {
    if (command.empty()) throw tool_error{"the trace does not say which program was recorded"};
    const std::filesystem::path name = command.front();
    std::error_code ignored;
    if (name.has_parent_path() && name.is_relative() && !std::filesystem::exists(name, ignored)) {
        throw tool_error{
            fmt::format("cannot {} '{}': there is no such program here: start acre in the folder in which it was "
                        "recorded",
                        verb, name.string())};
    }
    return find_program_to_preload(command.front(), verb);
}

double longest_run(std::uint64_t recorded_duration) {
    return std::max(static_cast<double>(recorded_duration) / 1e9 * 10, 10.0);
}

void check_same_work(std::uint64_t recorded, std::uint64_t now) {
    // The times of programs that start and end are not known well enough to compare.
    constexpr std::uint64_t known_well = 20'000'000;
    // Recorded, a program that does little but allocate took up to 2.9 times as long, without the recorder's own time.
    constexpr std::uint64_t recorded_slowdown = 5;
    if (recorded < known_well || now >= recorded / recorded_slowdown) return;
    throw tool_error{
        fmt::format("the program took {} of CPU time here, and {} when it was recorded: start acre in the same folder, "
                    "and give the program the same input, by --stdin",
                    time_text(static_cast<double>(now)), time_text(static_cast<double>(recorded)))};
}

double share_of_doubt(std::size_t rounds) {
    constexpr std::array<double, 6> doubt{0.34, 0.34, 0.07, 0.01, 0.01, 0.01};
    return rounds < doubt.size() ? doubt[rounds] : 0;
}

}  // namespace acre::tool
