#include "child_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <vector>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

volatile pid_t receiver = 0;
volatile int came_early = 0;              // a signal that arrived before there was a receiver
std::array<volatile int, NSIG> sent_for;  // by signal
std::array<volatile bool, NSIG> only_from_others;

/// The parent of a process; 0 if it is not known. May be called in signal handlers.
pid_t parent_of(pid_t process) {
    char text[512] = "/proc/";
    char* const end = std::to_chars(text + 6, text + 32, process).ptr;
    std::memcpy(end, "/stat", 6);
    const int file = ::open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t bytes = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(bytes, 0)] = '\0';
    const char* const name_end = std::strrchr(text, ')');  // before " S PARENT"
    pid_t parent = 0;
    if (name_end != nullptr && std::strlen(name_end) > 4) std::from_chars(name_end + 4, text + bytes, parent);
    return parent;
}

bool is_descendant_of(pid_t process, pid_t ancestor) {
    constexpr int most = 64;  // generations
    for (int i = 0; i < most && process > 1; ++i) {
        if (process == ancestor) return true;
        process = parent_of(process);
    }
    return false;
}

void send_on(int signal) {
    ::kill(receiver, sent_for[static_cast<std::size_t>(signal)]);
}

/// Of these the system sends one when a timer of this process ends, which it may have from before it was executed.
bool is_of_timer(int signal) {
    return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
}

/// The system sends its other signals, such as the SIGHUP of a terminal, to the whole group.
bool is_sent_to_group(const siginfo_t& information) {
    const bool is_early = receiver <= 0;  // the child may run already, but its number is not known here yet
    if (information.si_code == SI_KERNEL) return !is_early && !is_of_timer(information.si_signo);
    return is_descendant_of(information.si_pid, is_early ? ::getpid() : receiver);
}

void relay(int signal, siginfo_t* information, void*) {
    const int error = errno;
    if (only_from_others[static_cast<std::size_t>(signal)] && is_sent_to_group(*information)) {
        // The child has got it.
    } else if (receiver <= 0) {
        came_early = signal;
    } else if (information->si_code == SI_QUEUE) {
        ::sigqueue(receiver, sent_for[static_cast<std::size_t>(signal)], information->si_value);
    } else {
        send_on(signal);
    }
    errno = error;
}

constexpr std::array ending_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/// Signals that would end this process end the child instead, so that this process can report it.
std::vector<signal_relay::rule> ending_the_work() {
    std::vector<signal_relay::rule> rules;
    rules.reserve(std::size(ending_signals));
    for (const int each : ending_signals) rules.push_back({each, SIGTERM});
    return rules;
}

/// Header of a message from the child.
struct message_head {
    enum class kind { progress, result, failure } what{};
    std::size_t bytes = 0;
};

bool write_all(int file, const void* bytes, std::size_t count) {
    const char* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(file, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        count -= static_cast<std::size_t>(written);
    }
    return true;
}

bool read_all(int file, void* bytes, std::size_t count) {
    char* at = static_cast<char*>(bytes);
    while (count > 0) {
        const ssize_t got = ::read(file, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

void send(int pipe, message_head::kind what, const void* bytes, std::size_t count) {
    const message_head head{what, count};
    if (!write_all(pipe, &head, sizeof head) || !write_all(pipe, bytes, count)) ::_exit(1);
}

void send(int pipe, message_head::kind what, const std::string& text) {
    send(pipe, what, text.data(), text.size());
}

bool is_limited(__rlimit_resource_t resource) {
    rlimit limit{};
    return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Libraries that abort when memory runs out print messages of their own; this process reports the failure itself.
void silence_errors() {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

std::string short_of_memory() {
    if (is_limited(RLIMIT_AS))
        return "the memory limit of this process is too low: raise it with 'ulimit -v unlimited'";
    if (is_limited(RLIMIT_DATA))
        return "the limit of this process's data is too low: raise it with 'ulimit -d unlimited'";
    return "there is too little memory: close other programs";
}

/// libdw keeps every object file open, of which a program may have more than the soft limit allows.
void allow_all_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

using work_function = std::function<std::string(const progress_function&)>;

[[noreturn]] void work_and_end(const work_function& work, int pipe) {
    if (memory_is_limited()) silence_errors();
    allow_all_descriptors();
    try {
        const auto tell = [&](double done) { send(pipe, message_head::kind::progress, &done, sizeof done); };
        send(pipe, message_head::kind::result, work(tell));
    } catch (const std::bad_alloc&) {
        send(pipe, message_head::kind::failure, short_of_memory());
    } catch (const std::exception& error) {
        send(pipe, message_head::kind::failure, error.what());
    }
    ::_exit(0);
}

/// What makecontext starts, which cannot be given pointers.
struct {
    const work_function* work = nullptr;
    int pipe = -1;
} work_of_child;

void work_as_started() {
    work_and_end(*work_of_child.work, work_of_child.pipe);
}

/// Where the limit of the stack is low ('ulimit -s 128'), the work gets a stack of its own: libdw needs hundreds of
/// kilobytes.
[[noreturn]] void work_with_room(const work_function& work, int pipe) {
    constexpr std::size_t enough = std::size_t{8} << 20;
    rlimit limit{};
    static ucontext_t context;
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= enough || ::getcontext(&context) != 0)
        work_and_end(work, pipe);
    void* stack = ::mmap(nullptr, enough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) work_and_end(work, pipe);
    work_of_child = {&work, pipe};
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = enough;
    ::makecontext(&context, work_as_started, 0);
    ::setcontext(&context);
    ::_exit(1);
}

/// The result; nothing if the child ended without one.
std::optional<std::string> receive_result(int pipe, const progress_function& progress) {
    for (message_head head; read_all(pipe, &head, sizeof head);) {
        std::string bytes(head.bytes, '\0');
        if (!read_all(pipe, bytes.data(), bytes.size())) break;
        if (head.what == message_head::kind::result) return bytes;
        if (head.what == message_head::kind::failure) throw tool_error{bytes};
        double done = 0;
        std::memcpy(&done, bytes.data(), sizeof done);
        if (progress) progress(done);
    }
    return std::nullopt;
}

/// The child that works, and the pipe from it.
class working_process {
public:
    working_process(const work_function& work, const signal_relay& signals) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) throw tool_error{std::string{"cannot make a pipe: "} + reason_of(errno)};
        process_ = ::fork();
        const int error = errno;
        if (process_ == 0) {
            signals.restore();
            work_with_room(work, ends[1]);
        }
        signal_relay::send_to(process_);
        ::close(ends[1]);
        pipe_ = ends[0];
        if (process_ < 0) {
            ::close(pipe_);
            throw tool_error{std::string{"cannot start a process: "} + reason_of(error)};
        }
    }
    ~working_process() { wait(); }
    working_process(const working_process&) = delete;
    working_process& operator=(const working_process&) = delete;

    int pipe() const { return pipe_; }

    /// Waits for the child; returns its status as wait() does.
    int wait() {
        if (process_ <= 0) return status_;
        ::close(pipe_);
        while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
        }
        process_ = 0;
        signal_relay::send_to(0);
        return status_;
    }

private:
    pid_t process_ = 0;
    int pipe_ = -1;
    int status_ = 0;
};

}  // namespace

signal_relay::signal_relay(const std::vector<rule>& rules) {
    came_early = 0;
    for (const rule& each : rules) {
        replaced kept{each.signal, {}};
        ::sigaction(each.signal, nullptr, &kept.before);
        if (kept.before.sa_handler == SIG_IGN && !each.also_if_ignored) continue;
        sent_for[static_cast<std::size_t>(each.signal)] = each.sent;
        only_from_others[static_cast<std::size_t>(each.signal)] = each.only_from_others;
        struct sigaction action{};
        action.sa_flags = SA_RESTART;
        if (each.sent == 0) {
            action.sa_handler = SIG_IGN;
        } else {
            action.sa_sigaction = relay;
            action.sa_flags |= SA_SIGINFO;
        }
        ::sigaction(each.signal, &action, nullptr);
        replaced_.push_back(kept);
    }
}

signal_relay::~signal_relay() {
    restore();
}

void signal_relay::send_to(pid_t child) {
    receiver = child;
    if (child > 0 && came_early != 0) send_on(came_early);
}

void signal_relay::restore() const {
    for (const replaced& each : replaced_) ::sigaction(each.signal, &each.before, nullptr);
}

bool memory_is_limited() {
    return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

std::string run_apart(const std::function<std::string(const progress_function&)>& work,
                      const progress_function& progress) {
    const signal_relay signals{ending_the_work()};
    working_process process{work, signals};
    if (const auto result = receive_result(process.pipe(), progress)) return *result;
    const int status = process.wait();
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (std::ranges::find(ending_signals, signal) != ending_signals.end())
        throw tool_error{"interrupted before the trace was complete"};
    if (memory_is_limited() || signal == SIGKILL) throw tool_error{short_of_memory()};
    throw tool_error{signal != 0
                         ? std::string{"a signal ended the process that wrote the trace: "} + ::strsignal(signal)
                         : "the process that wrote the trace ended early"};
}

}  // namespace acre::tool
