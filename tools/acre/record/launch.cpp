#include "launch.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "child_process.hpp"
#include "convert.hpp"
#include "programs/preloadable_library.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

std::string name_of(const std::string& process) {
    std::string name;
    std::getline(std::ifstream{"/proc/" + process + "/comm"}, name);
    return name;
}

/// Makes this process the parent of every process below it whose own parent ends, so that it can list those that the
/// program leaves running.
class orphan_watch {
public:
    orphan_watch() : inherited_{children().value_or(numbers{})} {
        ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
        ::prctl(PR_SET_CHILD_SUBREAPER, 1UL);
    }
    ~orphan_watch() { ::prctl(PR_SET_CHILD_SUBREAPER, static_cast<unsigned long>(before_)); }
    orphan_watch(const orphan_watch&) = delete;
    orphan_watch& operator=(const orphan_watch&) = delete;

    /// The processes of the program still running, each as "1234 (name)", without a number if the system does not list
    /// them. Reaps those that have ended.
    std::vector<std::string> still_running() const {
        pid_t ended = 0;
        do {
            ended = ::waitpid(-1, nullptr, WNOHANG);
        } while (ended > 0);
        if (ended < 0) return {};
        const std::optional<numbers> all = children();
        if (!all) return {"not known which"};
        std::vector<std::string> running;
        for (const std::string& process : *all) {
            if (std::ranges::find(inherited_, process) == inherited_.end())
                running.push_back(process + " (" + name_of(process) + ")");
        }
        return running;
    }

private:
    using numbers = std::vector<std::string>;

    /// The children of this process; nothing if the system does not list them.
    static std::optional<numbers> children() {
        const std::string own = std::to_string(::getpid());
        std::ifstream file{"/proc/" + own + "/task/" + own + "/children"};
        if (!file) return std::nullopt;
        return numbers{std::istream_iterator<std::string>{file}, {}};
    }

    numbers inherited_;  // from a shell that executed this process
    int before_ = 0;
};

/// The terminal sends SIGINT and SIGQUIT to the program as well, so this process ignores them. Nor may a closed pipe
/// end it. It passes on the other signals that would.
std::vector<signal_relay::rule> signals_of(const record_options& options) {
    std::vector<signal_relay::rule> rules{{SIGINT, 0}, {SIGQUIT, 0}, {SIGPIPE, 0}};
    const auto pass_on = [&](int signal) {
        if (signal != options.toggle_signal) rules.push_back({signal, signal, false, true});
    };
    for (const int each : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT})
        pass_on(each);
    for (int each = SIGRTMIN; each <= SIGRTMAX; ++each) pass_on(each);
    if (options.toggle_signal != 0) rules.push_back({options.toggle_signal, options.toggle_signal, true});
    return rules;
}

std::string option_letters(const record_options& options) {
    std::string letters;
    if (options.children) letters += raw::option_children;
    if (!options.stacks_at_free) letters += raw::option_no_free_stacks;
    if (options.paused) letters += raw::option_paused;
    if (options.limit_bytes.value_or(0) != 0) letters += raw::option_limit + std::to_string(*options.limit_bytes);
    if (options.limit_is_disk_share) letters += raw::option_disk_share;
    letters += raw::option_stacks + std::to_string(static_cast<unsigned>(options.stacks));
    letters += raw::option_sampling + std::to_string(options.sampling_period);
    if (options.toggle_signal != 0) letters += raw::option_toggle_signal + std::to_string(options.toggle_signal);
    return letters;
}

/// Puts the recorder in front of the libraries that are preloaded already.
void preload(const std::filesystem::path& recorder) {
    // An empty value leaves a colon, so that the recorder can restore it.
    ::setenv("LD_PRELOAD", preload_value(recorder).c_str(), 1);
    ::setenv(raw::library_variable, recorder.c_str(), 1);
}

/// The fields of /proc/PROCESS/stat from the third one on; empty without /proc.
std::istringstream fields_of(const std::string& process) {
    std::ifstream file{"/proc/" + process + "/stat"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    // The program's name, in parentheses, may contain anything.
    return std::istringstream{text.substr(std::min(text.rfind(')') + 1, text.size()))};
}

/// As the recorder expects it.
std::string own_identity() {
    std::istringstream fields = fields_of("self");
    std::string start;
    for (int field = 2; field < 22; ++field) fields >> start;
    struct stat status{};
    const bool known = ::stat("/proc/self/ns/pid", &status) == 0;
    return std::to_string(::getpid()) + ":" + (start.empty() ? "0" : start) + ":" +
           std::to_string(known ? status.st_ino : 0);
}

/// In the forked child: executes the program, or writes errno to `errors`.
[[noreturn]] void become_program(const record_options& options, const recordable_program& program,
                                 const std::filesystem::path& recorder, const std::filesystem::path& raw_directory,
                                 const std::string& memory, int errors) {
    if (program.needs_preload) preload(recorder);
    ::setenv(raw::directory_variable, raw_directory.c_str(), 1);
    ::setenv(raw::process_variable, own_identity().c_str(), 1);
    if (!memory.empty()) ::setenv(raw::memory_variable, memory.c_str(), 1);
    ::setenv(raw::options_variable, option_letters(options).c_str(), 1);
    // The signal must not kill the program before the recorder handles it.
    if (options.toggle_signal != 0) ::signal(options.toggle_signal, SIG_IGN);
    std::vector<char*> arguments;
    arguments.reserve(options.command.size() + 1);
    for (const std::string& each : options.command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execv(program.path.c_str(), arguments.data());
    const int error = errno;
    if (::write(errors, &error, sizeof error) != sizeof error) ::_exit(126);
    ::_exit(127);
}

/// errno of the failed execution; 0 if it succeeded, which closes the pipe.
int read_start_error(int errors) {
    int error = 0;
    ssize_t bytes = 0;
    do {
        bytes = ::read(errors, &error, sizeof error);
    } while (bytes < 0 && errno == EINTR);
    return bytes == sizeof error ? error : 0;
}

struct cpu_microseconds {
    std::uint64_t user = 0;
    std::uint64_t system = 0;
};

/// CPU times of the children that a process had waited for. The process has ended and has not been waited for.
/// Resolution: the system's clock tick, usually 10 ms.
cpu_microseconds times_of_children(pid_t ended) {
    std::istringstream fields = fields_of(std::to_string(ended));
    std::string skipped;
    for (int i = 0; i < 13; ++i) fields >> skipped;  // cutime is field 16
    cpu_microseconds ticks;
    if (!(fields >> ticks.user >> ticks.system)) return {};
    const auto tick = static_cast<std::uint64_t>(1'000'000 / ::sysconf(_SC_CLK_TCK));
    return {ticks.user * tick, ticks.system * tick};
}

std::uint64_t microseconds(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

/// Waits until a process has ended, but does not reap it. Reaps the orphans that end meanwhile, since their number may
/// be limited.
void wait_and_reap_others(pid_t process) {
    while (true) {
        siginfo_t ended{};
        if (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0 && errno != EINTR) return;
        if (ended.si_pid == process) return;
        if (ended.si_pid > 0) ::waitpid(ended.si_pid, nullptr, WNOHANG);
    }
}

/// Waits for the end; returns the status as wait() does. rusage includes the times of its children, so they are
/// subtracted.
int wait_for_end(finished_program& program) {
    wait_and_reap_others(program.process);
    const cpu_microseconds children = times_of_children(program.process);
    rusage usage{};
    int status = 0;
    while (::wait4(program.process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    const auto own = [](std::uint64_t all, std::uint64_t of_children) { return all - std::min(all, of_children); };
    program.user_time = own(microseconds(usage.ru_utime), children.user);
    program.system_time = own(microseconds(usage.ru_stime), children.system);
    return status;
}

}  // namespace

finished_program run_recorded(const record_options& options, const recordable_program& program,
                              const std::filesystem::path& recorder, const std::filesystem::path& raw_directory,
                              recording_memory& memory) {
    int errors[2];
    if (::pipe2(errors, O_CLOEXEC) != 0) throw tool_error{std::string{"cannot start a program: "} + reason_of(errno)};
    finished_program finished;
    signal_relay::send_to(0);
    const orphan_watch orphans;
    const signal_relay signals{signals_of(options)};
    finished.process = ::fork();
    if (finished.process == 0) {
        signals.restore();
        become_program(options, program, recorder, raw_directory, memory.path(), errors[1]);
    }
    const memory_keeper keeper{memory, raw_directory};                       // a thread, so not before the fork
    running_conversion conversion{memory, raw_directory, finished.process};  // likewise
    signal_relay::send_to(finished.process);
    const int fork_error = finished.process < 0 ? errno : 0;
    ::close(errors[1]);
    const int start_error = fork_error != 0 ? fork_error : read_start_error(errors[0]);
    ::close(errors[0]);
    const int status = finished.process > 0 ? wait_for_end(finished) : 0;
    signal_relay::send_to(0);
    finished.end = read_clocks();
    finished.converted = conversion.end();
    finished.left_running = orphans.still_running();
    if (start_error != 0) {
        throw tool_error{"cannot start '" + program.path.string() + "': " + reason_of(start_error)};
    }
    finished.ending_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    finished.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return finished;
}

}  // namespace acre::tool
