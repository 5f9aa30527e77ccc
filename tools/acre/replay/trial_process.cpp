#include "trial_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cores.hpp"
#include "litter.hpp"
#include "packet.hpp"
#include "preload.hpp"
#include "resources.hpp"

namespace acre::tool {

namespace {

// Name under which this program is started to play a trial; its arguments are the descriptors.
constexpr const char* player_name = "acre-replay-player";
constexpr std::size_t player_arguments = 5;

[[noreturn]] void answer(int socket, const trial_result& result) {
    ::_exit(send_packet(socket, &result, sizeof result) ? 0 : 1);
}

[[noreturn]] void answer_not_started(int socket) {
    trial_result result;
    result.failure = trial_failure::not_started;
    answer(socket, result);
}

/// A trace may ask for more than the machine has: better no memory for one resource than for all programs. What lies
/// beside the resource's own memory, the litter above all, has room enough.
void limit_memory(std::uint64_t bytes) {
    constexpr std::uint64_t beside = std::uint64_t{4} << 30;
    const rlim_t most = std::min<std::uint64_t>(bytes, RLIM_INFINITY / 2) + beside;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_DATA, &limit);
}

trial_result play_trial(const staged_files& files, const trial_request& request) {
    const sequence_view sequence = map_sequence(files);
    const std::vector<int> cores = allowed_cores();
    if (sequence.runs.empty() && !cores.empty()) pin_to(cores.back());
    litter_heap(sequence, request.litter);
    trial_request last = request;
    last.process_ends = true;
    return resources()[request.resource].play(sequence, last);
}

/// The variables of the environment by which a resource is chosen.
void choose_by_environment(const resource_entry& entry, const trial_request& request) {
    if (!entry.start.libraries.empty()) {
        ::setenv("LD_PRELOAD", library_of(entry).c_str(), 1);
        return;
    }
    const char* before = std::getenv("GLIBC_TUNABLES");
    const std::string tunable = fmt::format("{}={}", entry.start.tunable, request.parameters.count);
    ::setenv("GLIBC_TUNABLES", (before == nullptr ? tunable : std::string{before} + ":" + tunable).c_str(), 1);
}

[[noreturn]] void start_anew(const staged_files& files, int socket, const trial_request& request) {
    write_request(files.stage, request);
    std::array<std::string, player_arguments> words{player_name, std::to_string(files.stage),
                                                    std::to_string(files.steps), std::to_string(files.turns),
                                                    std::to_string(socket)};
    std::array<char*, player_arguments + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    for (const int each : {files.stage, files.steps, files.turns, socket}) {
        if (each >= 0) ::fcntl(each, F_SETFD, 0);
    }
    choose_by_environment(resources()[request.resource], request);
    ::execv("/proc/self/exe", arguments.data());
    answer_not_started(socket);
}

/// malloc does not say what it holds in a way that all know, so that what the system gave stands for it.
trial_result play_anew(const staged_files& files, const trial_request& request) {
    const std::string library = library_of(resources()[request.resource]);
    trial_result result;
    if (!library.empty() && !is_loaded(library)) {
        result.failure = trial_failure::not_started;
        return result;
    }
    result = play_trial(files, request);
    if (!library.empty()) result.peak_bytes = result.system_bytes;
    return result;
}

/// Before main, so that each program that replays (the command, its tests) can be started as a player, and with a heap
/// in which nothing was allocated yet. What it uses needs no constructor of this program to have run.
[[gnu::constructor]] void play_if_started_to(int count, char** arguments) {
    if (count != static_cast<int>(player_arguments) || std::string_view{arguments[0]} != player_name) return;
    const staged_files files{std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3])};
    const int socket = std::atoi(arguments[4]);
    try {
        answer(socket, play_anew(files, read_request(files.stage)));
    } catch (const std::exception&) {
        answer_not_started(socket);
    }
}

}  // namespace

void run_trial(const staged_files& files, int socket, const trial_request& request) {
    try {
        const resource_entry& entry = resources()[request.resource];
        if (entry.start.anew()) start_anew(files, socket, request);
        if (!acre::poisoning) limit_memory(request.memory_limit);
        answer(socket, play_trial(files, request));
    } catch (const std::exception&) {
        answer_not_started(socket);
    }
}

}  // namespace acre::tool
