// Runs this program under callgrind and reads the totals that callgrind prints.
#include "instructions.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace bench {
namespace {

std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    std::string output;
    std::array<char, 4096> part{};
    while (fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) output += part.data();
    return pclose(pipe) == 0 ? output : std::string{};
}

std::string own_path() {
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    if (length <= 0) throw std::runtime_error("this program does not find itself");
    return {path.data(), static_cast<std::size_t>(length)};
}

/// `options` are callgrind's, each preceded by a space.
std::uint64_t executed(const std::string& group_id, const std::string& name, int rounds,
                       const std::string& options = {}) {
    // Symbols are resolved before the program starts; otherwise the first call of a function would include that.
    const std::string output =
        output_of("LD_BIND_NOW=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null" + options + " '" +
                  own_path() + "' --run '" + group_id + "' '" + name + "' " + std::to_string(rounds) + " 2>&1");
    const std::string label = "Collected : ";
    const std::size_t at = output.find(label);
    if (at == std::string::npos) throw std::runtime_error("callgrind counted nothing for " + group_id + ", " + name);
    return std::stoull(output.substr(at + label.size()));
}

}  // namespace

std::optional<std::string> valgrind_version() {
    std::string version = output_of("valgrind --version 2>/dev/null");
    if (version.empty()) return std::nullopt;
    version.pop_back();
    return version;
}

void count_instructions(const group& work, instruction_counts& into) {
    const auto operations = static_cast<double>(work.about.operations);
    for (const variant& each : work.variants) {
        const auto none = static_cast<double>(executed(work.about.id, each.name, 0));
        const auto one = static_cast<double>(executed(work.about.id, each.name, 1));
        const auto two = static_cast<double>(executed(work.about.id, each.name, 2));
        into[work.about.id][each.name] = {(two - one) / operations, (one - none) / operations};
    }
}

std::uint64_t count_calls(const group& work, const variant& which) {
    return executed(work.about.id, which.name, 1, " '--toggle-collect=" + std::string(counted_functions) + "'");
}

}  // namespace bench
