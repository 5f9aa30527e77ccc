#include "replay_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <acre/core/sanitizer.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fragmentation.hpp"
#include "programs/preloadable_library.hpp"
#include "resources.hpp"
#include "staged_sequence.hpp"
#include "this_process.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

// Messages between the processes of a replay have a fixed size and may carry descriptors.

constexpr std::size_t max_descriptors = 2;

/// False if the other end is closed; SIGPIPE is not raised.
bool send_packet(int socket, const void* bytes, std::size_t count, std::span<const int> descriptors = {}) {
    iovec part{const_cast<void*>(bytes), count};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

/// Sets the descriptors that the message does not carry to -1.
bool receive_packet(int socket, void* bytes, std::size_t count, std::span<int> descriptors = {}) {
    iovec part{bytes, count};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = -1;
    do {
        got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    for (int& each : descriptors) each = -1;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (got >= 0 && head != nullptr && head->cmsg_type == SCM_RIGHTS) {
        const std::size_t bytes_there = head->cmsg_len - CMSG_LEN(0);
        std::memcpy(descriptors.data(), CMSG_DATA(head), std::min(bytes_there, descriptors.size_bytes()));
    }
    return got == static_cast<ssize_t>(count);
}

// The process that plays one trial: a fork of this program, or this program started anew with another malloc preloaded.

// This program plays a trial if it is started under this name; the arguments are the descriptors.
constexpr const char* player_name = "acre-replay-player";
constexpr std::size_t player_arguments = 5;

[[noreturn]] void answer(int socket, const trial_result& result) {
    ::_exit(send_packet(socket, &result, sizeof result) ? 0 : 1);
}

trial_result not_started(std::string_view why) {
    trial_result result;
    result.failure = trial_failure::not_started;
    why.copy(result.why.data(), result.why.size() - 1);
    return result;
}

/// What to say of a call that failed with this errno.
std::string advice_on(int error) {
    return reason_of(error) + (error == ENOMEM ? ": free some memory and try again" : "");
}

/// Limits the memory of this process, since a trace may need more than the machine has. Memory that is not the
/// resource's, above all the blocks that fragment the heap, has 4 GiB of its own.
void limit_memory(std::uint64_t bytes) {
    constexpr std::uint64_t beside = std::uint64_t{4} << 30;
    const rlim_t most = std::min<std::uint64_t>(bytes, RLIM_INFINITY / 2) + beside;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_DATA, &limit);
}

std::string reason_for(const std::exception& error) {
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? advice_on(ENOMEM) : error.what();
}

trial_result play_staged(const staged_files& files, const trial_request& request) {
    const sequence_view sequence = map_sequence(files);
    const std::vector<int> cores = allowed_cores();
    if (sequence.runs.empty() && !cores.empty()) pin_to(cores.back());
    fragment_heap(sequence, request.fragmentation_blocks);
    trial_request last = request;
    last.process_ends = true;
    return resources()[request.resource].play(sequence, last);
}

/// Sets the environment variables that make the started program use the resource.
void set_environment(const resource_entry& entry, const trial_request& request) {
    if (!entry.start.libraries.empty()) {
        ::setenv("LD_PRELOAD", preloadable_library{"preload it", library_of(entry)}.path().c_str(), 1);
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
    set_environment(resources()[request.resource], request);
    ::execv("/proc/self/exe", arguments.data());
    answer(socket, not_started(advice_on(errno)));
}

/// Mallocs have no common way to report what they hold, so the memory from the system is reported instead.
trial_result play_anew(const staged_files& files, const trial_request& request) {
    const bool is_preloaded = !resources()[request.resource].start.libraries.empty();
    const char* const library = std::getenv("LD_PRELOAD");  // as set_environment set it
    if (is_preloaded && (library == nullptr || !is_loaded(library)))
        return not_started("the dynamic linker did not preload its library");
    trial_result result = play_staged(files, request);
    if (is_preloaded) result.peak_bytes = result.system_bytes;
    return result;
}

/// Runs before main, so that every program that replays (the command, its tests) can be started as a player, and so
/// that nothing has been allocated yet. Uses nothing that a constructor of this program would have to initialise.
[[gnu::constructor]] void play_if_started_to(int count, char** arguments) {
    if (count != static_cast<int>(player_arguments) || std::string_view{arguments[0]} != player_name) return;
    const staged_files files{std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3])};
    const int socket = std::atoi(arguments[4]);
    try {
        answer(socket, play_anew(files, read_request(files.stage)));
    } catch (const std::exception& error) {
        answer(socket, not_started(reason_for(error)));
    }
}

/// For a fresh child process; sends the result to `socket`.
[[noreturn]] void run_trial(const staged_files& files, int socket, const trial_request& request) {
    try {
        const resource_entry& entry = resources()[request.resource];
        if (entry.start.anew()) start_anew(files, socket, request);
        if (!acre::poisoning) limit_memory(request.memory_limit);
        answer(socket, play_staged(files, request));
    } catch (const std::exception& error) {
        answer(socket, not_started(reason_for(error)));
    }
}

// The host: a process that forks a child for each trial.

/// A request to the host: play a trial, or (stages) keep the descriptors that come with the message.
struct host_message {
    trial_request request;
    bool stages = false;
};

[[noreturn]] void fail(const char* what) {
    throw tool_error{std::string{"cannot "} + what + ": " + reason_of(errno)};
}

void keep(int& kept, int received) {
    if (kept >= 0) ::close(kept);
    kept = received;
}

/// Of a child that ended without an answer.
trial_result result_of(int status) {
    if (!WIFSIGNALED(status)) return not_started(fmt::format("it ended with status {}", WEXITSTATUS(status)));
    trial_result killed;
    killed.signal = WTERMSIG(status);
    return killed;
}

[[noreturn]] void run_host(int memory, int socket) {
    staged_files files{memory, -1, -1};
    host_message message;
    std::array<int, max_descriptors> received{};
    while (receive_packet(socket, &message, sizeof message, received)) {
        if (message.stages) {
            keep(files.steps, received[0]);
            keep(files.turns, received[1]);
            continue;
        }
        const pid_t child = ::fork();
        if (child == 0) run_trial(files, socket, message.request);
        int status = 0;
        if (child > 0 && ::waitpid(child, &status, 0) != child) ::_exit(1);
        if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        const trial_result died = child < 0 ? not_started(advice_on(errno)) : result_of(status);
        if (!send_packet(socket, &died, sizeof died)) ::_exit(1);
    }
    ::_exit(0);
}

}  // namespace

replay_host::replay_host() {
    std::array<int, 2> ends{};
    memory_ = ::memfd_create("acre-replay", MFD_CLOEXEC);
    if (memory_ < 0 || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail("set up the replay");
    }
    resources();  // made here once, for all forks
    process_ = ::fork();
    if (process_ < 0) fail("start a process for the replay");
    if (process_ == 0) {
        ::close(ends[0]);
        run_host(memory_, ends[1]);
    }
    ::close(ends[1]);
    host_ = ends[0];
}

replay_host::~replay_host() {
    ::close(host_);
    ::close(memory_);
    ::waitpid(process_, nullptr, 0);
}

void replay_host::stage(const sequence_view& sequence) {
    write_stage(memory_, sequence);
    const std::array files{sequence.steps_file, sequence.turns_file};
    const auto count =
        static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [](int f) { return f >= 0; }));
    const host_message message{{}, true};
    if (!send_packet(host_, &message, sizeof message, std::span{files}.first(count))) fail("stage the replay");
}

trial_result replay_host::measure(const trial_request& request) {
    const host_message message{request, false};
    trial_result result;
    if (!send_packet(host_, &message, sizeof message) || !receive_packet(host_, &result, sizeof result)) {
        int status = 0;
        // The system kills a process where memory ran out.
        const bool is_killed =
            ::waitpid(process_, &status, 0) == process_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        throw tool_error{std::string{"the process that replays ended unexpectedly"} +
                         (is_killed ? ": free some memory and try again" : "")};
    }
    return result;
}

}  // namespace acre::tool
