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
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>

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

/// As execv takes them; valid while the words are.
std::vector<char*> argument_list(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    return arguments;
}

/// In the forked child: executes the program, or writes errno to `failure`.
[[noreturn]] void become_program(const run_request& request, int failure) {
    if (!request.huge_pages) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // acre may be killed itself
    ::setpgid(0, 0);
    for (const int each : ending_signals) ::signal(each, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    for (const auto& [name, value] : request.variables) ::setenv(name.c_str(), value.c_str(), 1);
    const std::array<int, 3> streams{request.input, request.output, request.errors};
    for (int to = 0; to < 3; ++to) ::dup2(streams[static_cast<std::size_t>(to)], to);
    ::execv(request.program.c_str(), argument_list(request.arguments).data());
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

/// The processes whose parent is this one. A kernel without these files tells none.
std::set<pid_t> own_children() {
    std::set<pid_t> children;
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task", ignored}) {
        std::ifstream list{thread.path() / "children"};
        for (pid_t each = 0; list >> each;) children.insert(each);
    }
    return children;
}

/// Ends what a run has left, also a program that made itself a daemon: where the parent of such a process has ended,
/// this process is its parent, and that of its children next. Returns how many had not ended.
std::uint32_t end_orphans(const std::set<pid_t>& children_before) {
    std::uint32_t ended = 0;
    for (bool found = true; found;) {
        found = false;
        for (const pid_t each : own_children()) {
            if (children_before.contains(each)) continue;
            found = true;
            if (::waitpid(each, nullptr, WNOHANG) == each) continue;
            ::kill(each, SIGKILL);
            ++ended;
            while (::waitpid(each, nullptr, 0) < 0 && errno == EINTR) {
            }
        }
    }
    return ended;
}

/// A run, or the errno of why the program could not be started.
struct run_outcome {
    measured_run run{};
    int start_error = 0;
};

static_assert(std::is_trivially_copyable_v<run_outcome>);  // it goes through a pipe

run_outcome run_here(const run_request& request) {
    int failure[2];
    if (::pipe2(failure, O_CLOEXEC) != 0) return {{}, errno};
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const std::set<pid_t> children_before = own_children();
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
        run.left_running = end_orphans(children_before);
        ::kill(-process, SIGKILL);  // where the kernel does not tell them
        run.user = seconds_of(usage.ru_utime);
        run.system = seconds_of(usage.ru_stime);
        run.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
        run.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
        run.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
        run.ending_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        run.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return {run, start_error};
}

constexpr const char* measuring_argument = "@measure-program";
constexpr int measuring_result = 3;                           // descriptor that the outcome is written to
constexpr std::size_t small_process = std::size_t{16} << 20;  // bytes: little more than this program needs to start
bool can_measure_by_another = false;

std::size_t resident_bytes() {
    std::size_t all = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// In the forked child: executes this program as the measuring process, or ends.
[[noreturn]] void become_measuring_process(const run_request& request, int result) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::vector<std::string> words{"acre", measuring_argument, std::to_string(request.max_seconds),
                                   request.huge_pages ? "1" : "0", std::to_string(request.variables.size())};
    for (const auto& [name, value] : request.variables) words.insert(words.end(), {name, value});
    words.push_back(request.program.string());
    words.insert(words.end(), request.arguments.begin(), request.arguments.end());
    // Away from the numbers that they get, which one of them may have.
    std::array<int, 4> from{request.input, request.output, request.errors, result};
    for (int& each : from) each = ::fcntl(each, F_DUPFD_CLOEXEC, 10);
    for (int to = 0; to < 4; ++to) ::dup2(from[static_cast<std::size_t>(to)], to);
    ::execv("/proc/self/exe", argument_list(words).data());
    ::_exit(127);
}

/// Reads the outcome; false if there is none. Hands an interruption on.
bool read_outcome(int result, pid_t process, run_outcome& outcome) {
    pollfd waiting{result, POLLIN, 0};
    while (::poll(&waiting, 1, 500) <= 0) {
        if (interrupted != 0) ::kill(process, SIGTERM);
    }
    ssize_t bytes = 0;
    do {
        bytes = ::read(result, &outcome, sizeof outcome);
    } while (bytes < 0 && errno == EINTR);
    return bytes == static_cast<ssize_t>(sizeof outcome);
}

/// Nothing where the other process could not be started.
std::optional<run_outcome> run_by_another(const run_request& request) {
    int result[2];
    if (::pipe2(result, O_CLOEXEC) != 0) return std::nullopt;
    const pid_t process = ::fork();
    if (process == 0) become_measuring_process(request, result[1]);
    ::close(result[1]);
    run_outcome outcome;
    const bool is_known = process > 0 && read_outcome(result[0], process, outcome);
    ::close(result[0]);
    if (process > 0) {
        while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    if (!is_known) return std::nullopt;
    return outcome;
}

}  // namespace

measured_run run_measured(const run_request& request) {
    std::optional<run_outcome> outcome;
    if (can_measure_by_another && resident_bytes() > small_process) outcome = run_by_another(request);
    if (!outcome) outcome = run_here(request);
    if (outcome->start_error != 0)
        throw tool_error{"cannot start '" + request.program.string() + "': " + reason_of(outcome->start_error)};
    return outcome->run;
}

bool is_measuring_process(int count, char** arguments) {
    can_measure_by_another = true;
    const std::span<char*> words{arguments, static_cast<std::size_t>(count)};
    if (words.size() < 6 || std::string_view{words[1]} != measuring_argument) return false;
    const std::size_t variables = std::strtoul(words[4], nullptr, 10);
    const std::size_t program = 5 + 2 * variables;
    if (variables > words.size() || program >= words.size()) return false;
    run_request request{.program = words[program], .arguments = {}};
    for (std::size_t i = 5; i < program; i += 2) request.variables.emplace_back(words[i], words[i + 1]);
    request.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(program) + 1, words.end());
    request.max_seconds = std::strtod(words[2], nullptr);
    request.huge_pages = std::string_view{words[3]} == "1";
    ::fcntl(measuring_result, F_SETFD, FD_CLOEXEC);
    const interruption_watch watch;
    const run_outcome outcome = run_here(request);
    (void)!::write(measuring_result, &outcome, sizeof outcome);  // fails where nobody waits for it any more
    return true;
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
