#include "measured_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <span>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, ending_signals.size()> actions_before{};
volatile std::sig_atomic_t interrupted = 0;

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// In the forked child: executes the program, or writes errno to `failure`.
[[noreturn]] void become_program(const run_request& request, int failure) {
    if (!request.huge_pages) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    ::setpgid(0, 0);
    for (const int each : ending_signals) ::signal(each, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    for (const auto& [name, value] : request.variables) ::setenv(name.c_str(), value.c_str(), 1);
    const std::array<int, 3> streams{request.input, request.output, request.errors};
    for (int to = 0; to < 3; ++to) ::dup2(streams[static_cast<std::size_t>(to)], to);
    std::vector<char*> arguments;
    arguments.reserve(request.arguments.size() + 1);
    for (const std::string& each : request.arguments) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execv(request.program.c_str(), arguments.data());
    const int error = errno;
    if (::write(failure, &error, sizeof error) != sizeof error) ::_exit(126);
    ::_exit(127);
}

/// errno of the failed execution; 0 if it succeeded, which closes the pipe.
int read_start_error(int failure) {
    int error = 0;
    ssize_t bytes = 0;
    do {
        bytes = ::read(failure, &error, sizeof error);
    } while (bytes < 0 && errno == EINTR);
    return bytes == sizeof error ? error : 0;
}

/// Waits until the process has ended or the time is over. A kernel before 5.3 knows no descriptor of a process: there
/// the time is not limited.
bool ends_in_time(pid_t process, double max_seconds) {
    const auto end = clock::now() + std::chrono::duration<double>{max_seconds};
    const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (descriptor < 0) return true;
    pollfd waiting{descriptor, POLLIN, 0};
    bool ended = false;
    while (!ended && interrupted == 0) {
        const double left = std::chrono::duration<double>(end - clock::now()).count();
        if (max_seconds > 0 && left <= 0) break;
        const int most = 500;  // milliseconds: a signal may arrive between the test of the flag and the wait
        const int wait = max_seconds > 0 ? std::min(most, static_cast<int>(left * 1000) + 1) : most;
        ended = ::poll(&waiting, 1, wait) > 0;
    }
    ::close(descriptor);
    return ended;
}

}  // namespace

measured_run run_measured(const run_request& request) {
    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) throw tool_error{"cannot start a program: " + reason_of(errno)};
    const auto start = clock::now();
    const pid_t process = ::fork();
    if (process == 0) become_program(request, failure[1]);
    const int fork_error = process < 0 ? errno : 0;
    ::close(failure[1]);
    const int start_error = fork_error != 0 ? fork_error : read_start_error(failure[0]);
    ::close(failure[0]);
    measured_run run;
    if (process > 0) {
        run.was_too_slow = !ends_in_time(process, request.max_seconds) && interrupted == 0;
        run.was_interrupted = interrupted != 0;
        if (run.was_too_slow || run.was_interrupted) ::kill(-process, SIGKILL);
        rusage usage{};
        int status = 0;
        while (::wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
        }
        run.wall = std::chrono::duration<double>(clock::now() - start).count();
        ::kill(-process, SIGKILL);  // what it has left running
        run.user = seconds_of(usage.ru_utime);
        run.system = seconds_of(usage.ru_stime);
        run.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
        run.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
        run.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
        run.ending_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        run.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    if (start_error != 0)
        throw tool_error{"cannot start '" + request.program.string() + "': " + reason_of(start_error)};
    return run;
}

interruption_watch::interruption_watch() {
    interrupted = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = 1; };
    for (std::size_t i = 0; i < ending_signals.size(); ++i) ::sigaction(ending_signals[i], &action, &actions_before[i]);
}

interruption_watch::~interruption_watch() {
    for (std::size_t i = 0; i < ending_signals.size(); ++i) ::sigaction(ending_signals[i], &actions_before[i], nullptr);
}

bool interruption_watch::was_interrupted() noexcept {
    return interrupted != 0;
}

}  // namespace acre::tool
