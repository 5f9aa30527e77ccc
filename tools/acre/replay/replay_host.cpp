#include "replay_host.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string>

#include "litter.hpp"
#include "resources.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// In front of the staged sequence.
struct stage_head {
    std::uint64_t steps = 0;
    std::uint64_t survivors = 0;
    std::uint64_t shapes = 0;
    std::uint64_t slots = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_step = 0;
};

/// Where the other end is gone this is an error, not a signal.
bool send_packet(int socket, const void* bytes, std::size_t count) {
    return ::send(socket, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

bool receive_packet(int socket, void* bytes, std::size_t count) {
    ssize_t got = -1;
    do {
        got = ::recv(socket, bytes, count, 0);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(count);
}

void pin_to_one_core() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int last = -1;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed)) last = core;
    }
    if (last < 0) return;
    CPU_ZERO(&allowed);
    CPU_SET(last, &allowed);
    ::sched_setaffinity(0, sizeof allowed, &allowed);
}

/// Read in before the clock starts, so that the trial does not pay for it.
sequence_view mapped_sequence(int memory) {
    struct stat status{};
    if (::fstat(memory, &status) != 0) ::_exit(1);
    void* start =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED | MAP_POPULATE, memory, 0);
    if (start == MAP_FAILED) ::_exit(1);
    const auto* head = static_cast<const stage_head*>(start);
    const auto* steps = reinterpret_cast<const step*>(head + 1);
    const auto* survivors = steps + head->steps;
    const auto* shapes = reinterpret_cast<const shape*>(survivors + head->survivors);
    return {{steps, head->steps},
            {shapes, head->shapes},
            {survivors, head->survivors},
            static_cast<std::uint32_t>(head->slots),
            head->peak_bytes,
            head->peak_step};
}

[[noreturn]] void run_child(int memory, int socket, const trial_request& request) {
    pin_to_one_core();
    const sequence_view sequence = mapped_sequence(memory);
    const litter fragmented{sequence, request.litter};
    const trial_result result = resources()[request.resource].play(sequence, request);
    ::_exit(send_packet(socket, &result, sizeof result) ? 0 : 1);
}

[[noreturn]] void run_host(int memory, int socket) {
    trial_request request;
    while (receive_packet(socket, &request, sizeof request)) {
        const pid_t child = ::fork();
        if (child == 0) run_child(memory, socket, request);
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child) ::_exit(1);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        trial_result died;
        died.signal = WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL;
        if (!send_packet(socket, &died, sizeof died)) ::_exit(1);
    }
    ::_exit(0);
}

[[noreturn]] void fail(const char* what) {
    throw tool_error{std::string{"cannot "} + what + ": " + std::strerror(errno)};
}

}  // namespace

replay_host::replay_host() {
    std::array<int, 2> ends{};
    memory_ = ::memfd_create("acre-replay", MFD_CLOEXEC);
    if (memory_ < 0 || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail("set up the replay");
    }
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
    const stage_head head{sequence.steps.size(), sequence.survivors.size(), sequence.shapes.size(),
                          sequence.slots,        sequence.peak_bytes,       sequence.peak_step};
    const std::array<std::span<const std::byte>, 4> parts{
        std::as_bytes(std::span{&head, 1}), std::as_bytes(sequence.steps), std::as_bytes(sequence.survivors),
        std::as_bytes(sequence.shapes)};
    std::size_t bytes = 0;
    for (const auto& part : parts) bytes += part.size();
    if (::ftruncate(memory_, 0) != 0 || ::ftruncate(memory_, static_cast<off_t>(bytes)) != 0) fail("stage the replay");
    void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    if (start == MAP_FAILED) fail("stage the replay");
    auto* to = static_cast<std::byte*>(start);
    for (const auto& part : parts) {
        if (!part.empty()) std::memcpy(to, part.data(), part.size());
        to += part.size();
    }
    ::munmap(start, bytes);
}

trial_result replay_host::measure(const trial_request& request) {
    trial_result result;
    if (!send_packet(host_, &request, sizeof request) || !receive_packet(host_, &result, sizeof result)) {
        throw tool_error{"the replay ended unexpectedly: try again with more memory free"};
    }
    return result;
}

}  // namespace acre::tool
