#include "launch.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "convert.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

volatile pid_t running_process = 0;

void pass_on(int signal) {
    const int error = errno;
    if (running_process > 0) ::kill(running_process, signal);
    errno = error;
}

/// What this process does with signals while the program runs; as before when it is destroyed.
class signal_policy {
public:
    explicit signal_policy(int toggle_signal) : toggle_signal_{toggle_signal} {
        for (std::size_t i = 0; i < signals.size(); ++i) set(signals[i], i < ignored ? SIG_IGN : pass_on, before_[i]);
        if (toggle_signal_ != 0) set(toggle_signal_, pass_on, toggle_before_);
    }
    ~signal_policy() { restore(); }
    signal_policy(const signal_policy&) = delete;
    signal_policy& operator=(const signal_policy&) = delete;

    void restore() const {
        for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
        if (toggle_signal_ != 0) ::sigaction(toggle_signal_, &toggle_before_, nullptr);
    }

private:
    static void set(int signal, void (*handler)(int), struct sigaction& before) {
        struct sigaction action{};
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(signal, &action, &before);
    }

    static constexpr std::array signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    static constexpr std::size_t ignored = 2;

    int toggle_signal_;
    std::array<struct sigaction, signals.size()> before_{};
    struct sigaction toggle_before_{};
};

std::string option_letters(const record_options& options) {
    std::string letters;
    if (options.children) letters += raw::option_children;
    if (!options.stacks_at_free) letters += raw::option_no_free_stacks;
    if (options.paused) letters += raw::option_paused;
    if (options.max_bytes != 0) letters += raw::option_limit + std::to_string(options.max_bytes);
    letters += raw::option_stacks + std::to_string(static_cast<unsigned>(options.stacks));
    letters += raw::option_sampling + std::to_string(options.sampling_period);
    if (options.toggle_signal != 0) letters += raw::option_toggle_signal + std::to_string(options.toggle_signal);
    return letters;
}

/// Puts the recorder before what is preloaded already.
void preload(const std::filesystem::path& recorder) {
    std::string all = recorder.string();
    if (const char* others = std::getenv("LD_PRELOAD"); others != nullptr && *others != 0)
        all += ":" + std::string{others};
    ::setenv("LD_PRELOAD", all.c_str(), 1);
}

/// In the forked child: becomes the program, or says why not.
[[noreturn]] void become_program(const record_options& options, const recordable_program& program,
                                 const std::filesystem::path& recorder, const std::filesystem::path& raw_directory,
                                 int errors) {
    if (program.needs_preload) preload(recorder);
    ::setenv(raw::directory_variable, raw_directory.c_str(), 1);
    ::setenv(raw::process_variable, std::to_string(::getpid()).c_str(), 1);
    ::setenv(raw::options_variable, option_letters(options).c_str(), 1);
    // Until the recorder listens, the signal must not end the program.
    if (options.toggle_signal != 0) ::signal(options.toggle_signal, SIG_IGN);
    std::vector<char*> arguments;
    for (const std::string& each : options.command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    ::execv(program.path.c_str(), arguments.data());
    const int error = errno;
    if (::write(errors, &error, sizeof error) != sizeof error) ::_exit(126);
    ::_exit(127);
}

/// The error for which the child could not become the program; 0 when it did, which closes the pipe.
int read_start_error(int errors) {
    int error = 0;
    ssize_t bytes = 0;
    do {
        bytes = ::read(errors, &error, sizeof error);
    } while (bytes < 0 && errno == EINTR);
    return bytes == sizeof error ? error : 0;
}

}  // namespace

finished_program run_recorded(const record_options& options, const recordable_program& program,
                              const std::filesystem::path& recorder, const std::filesystem::path& raw_directory) {
    int errors[2];
    if (::pipe2(errors, O_CLOEXEC) != 0)
        throw tool_error{std::string{"cannot start a program: "} + std::strerror(errno)};
    finished_program finished;
    running_process = 0;
    const signal_policy signals{options.toggle_signal};
    finished.process = ::fork();
    if (finished.process == 0) {
        signals.restore();
        become_program(options, program, recorder, raw_directory, errors[1]);
    }
    running_process = finished.process;
    const int fork_error = finished.process < 0 ? errno : 0;
    ::close(errors[1]);
    const int start_error = fork_error != 0 ? fork_error : read_start_error(errors[0]);
    ::close(errors[0]);
    int status = 0;
    while (finished.process > 0 && ::wait4(finished.process, &status, 0, &finished.usage) < 0 && errno == EINTR) {
    }
    running_process = 0;
    finished.end = read_clocks();
    if (start_error != 0) {
        throw tool_error{"cannot start '" + program.path.string() + "': " + std::strerror(start_error)};
    }
    finished.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return finished;
}

}  // namespace acre::tool
