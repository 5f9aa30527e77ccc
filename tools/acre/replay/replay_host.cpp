#include "replay_host.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include "packet.hpp"
#include "resources.hpp"
#include "staged_sequence.hpp"
#include "trace/error.hpp"
#include "trial_process.hpp"

namespace acre::tool {

namespace {

/// What the host is asked for: a trial, or to remember the descriptors that come with it.
struct host_message {
    trial_request request;
    bool stages = false;
};

[[noreturn]] void fail(const char* what) {
    throw tool_error{std::string{"cannot "} + what + ": " + std::strerror(errno)};
}

void keep(int& kept, int received) {
    if (kept >= 0) ::close(kept);
    kept = received;
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
        if (child < 0 || ::waitpid(child, &status, 0) != child) ::_exit(1);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        trial_result died;
        if (WIFSIGNALED(status)) died.signal = WTERMSIG(status);
        if (WIFEXITED(status)) died.failure = trial_failure::not_started;
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
    resources();  // made once, for all
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
        throw tool_error{"the replay ended unexpectedly: try again with more memory free"};
    }
    return result;
}

}  // namespace acre::tool
