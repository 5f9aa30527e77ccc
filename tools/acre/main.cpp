// The command `acre`: runs what the command line asks for, and reports a failure in one sentence and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "commands/command.hpp"
#include "commands/whole_command.hpp"
#include "replay/replay_host.hpp"
#include "try/measured_run.hpp"

namespace {

using namespace acre::tool;

/// Opens standard streams that the caller has closed, read-only. Otherwise a file opened later would get such a number
/// and receive messages. A recorded program still finds them closed.
void occupy_closed_streams() {
    int file = 0;
    while ((file = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && file <= STDERR_FILENO) {
    }
    if (file >= 0) ::close(file);
}

/// Makes a write beyond the file size limit fail with an error, which every command reports, instead of ending this
/// process. By a handler, because a recorded program would inherit that the signal is ignored.
void survive_file_size_limit() {
    struct sigaction action{};
    ::sigaction(SIGXFSZ, nullptr, &action);
    if (action.sa_handler == SIG_IGN) return;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGXFSZ, &action, nullptr);
}

/// Allocates nothing.
void say_out_of_memory() noexcept {
    constexpr std::string_view line = "acre: out of memory: close other programs or take a smaller trace\n";
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

/// Ends a process that runs out of memory where nothing can be thrown, with the sentence as otherwise: destructors of
/// nlohmann::json allocate. Nothing here allocates. An output that was begun has no name yet.
[[noreturn]] void end_without_memory() {
    try {
        if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
        say_out_of_memory();
        ::_exit(status_failure);
    } catch (...) {
    }
    std::abort();
}

/// Whether the command will measure, as far as the raw arguments show; must not allocate.
bool measures(std::span<char*> words) {
    constexpr std::array<std::string_view, 3> measuring{"replay", "advise", "report"};
    constexpr std::array<std::string_view, 4> prevents{"--no-measure", "--list", "--help", "-h"};
    if (std::ranges::find(measuring, subcommand_of(words)) == measuring.end()) return false;
    const auto end = std::find(words.begin(), words.end(), std::string_view{"--"});
    return std::find_first_of(words.begin(), end, prevents.begin(), prevents.end()) == end;
}

int run(std::span<char*> words) {
    // Forks before the first allocation, so that this command's own heap does not affect the measurements.
    std::optional<replay_host> host;
    if (measures(words)) host.emplace();

    command_context context;
    context.host = [&]() -> replay_host& { return host ? *host : host.emplace(); };
    whole_command command{context};
    try {
        return command.action_of({words.begin(), words.end()})();
    } catch (const usage_error& error) {
        tell(command.sentence_about(error.what()));
        return status_usage;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (is_measuring_process(count, arguments)) return EXIT_SUCCESS;
    occupy_closed_streams();
    survive_file_size_limit();
    std::set_terminate(end_without_memory);
    try {
        return run(std::span{arguments, static_cast<std::size_t>(count)}.subspan(count == 0 ? 0 : 1));
    } catch (const std::bad_alloc&) {
        say_out_of_memory();
    } catch (const std::exception& error) {
        tell(error.what());
    }
    return status_failure;
}
