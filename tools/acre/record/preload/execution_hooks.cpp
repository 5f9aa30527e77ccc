// Hooks of the functions that execute programs. A program whose environment lacks the entries of `acre record` would
// silently not be recorded. If it should be recorded, the hook adds the entries; otherwise it notes the unrecorded
// process.
//
// All of this may run in a vfork child, which shares its parent's memory: it allocates nothing and changes nothing that
// the parent reads.
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>

#include "recorder.hpp"

namespace acre::recorder {
namespace {

using execvpe_function = int(const char*, char* const*, char* const*);
using fexecve_function = int(int, char* const*, char* const*);
using spawn_function = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           char* const*, char* const*);

struct next_definitions {
    execvpe_function* execvpe;
    fexecve_function* fexecve;
    spawn_function* posix_spawn;
    spawn_function* posix_spawnp;
};

/// Looked up once at start: in a forked child another thread may have left the dynamic loader's locks held.
const next_definitions& next() {
    static next_definitions found;
    if (found.execvpe == nullptr) {
        found.posix_spawnp = next_definition<spawn_function>("posix_spawnp");
        found.posix_spawn = next_definition<spawn_function>("posix_spawn");
        found.fexecve = next_definition<fexecve_function>("fexecve");
        found.execvpe = next_definition<execvpe_function>("execvpe");
    }
    return found;
}

[[gnu::constructor]] void look_up() {
    next();
}

/// The environment for an executed program: as given, or with the entries that the recorder needs.
class completed_environment {
public:
    completed_environment(char* const* given, exec_policy policy) : given_{given} {
        char* lacking[given_environment::max_entries];
        const std::size_t count = policy == exec_policy::none ? 0 : entries_lacking_in(given, lacking);
        if (count == 0) return;
        unrecorded_ = policy == exec_policy::unrecorded || !complete(lacking, count);
    }

    char* const* get() const { return is_completed_ ? entries_ : given_; }

    /// Whether the program will not be recorded because its environment lacks entries.
    bool unrecorded() const { return unrecorded_; }

private:
    /// False if there are too many entries.
    bool complete(char* const* lacking, std::size_t count) {
        std::size_t used = 0;
        for (; given_ != nullptr && given_[used] != nullptr; ++used) {
            if (used + count + 1 == max_entries) return false;
            entries_[used] = given_[used];
        }
        for (std::size_t i = 0; i < count; ++i) entries_[used++] = lacking[i];
        entries_[used] = nullptr;
        is_completed_ = true;
        return true;
    }

    // Small enough for the smallest stacks.
    static constexpr std::size_t max_entries = 512;

    char* const* given_;
    bool unrecorded_ = false;
    bool is_completed_ = false;
    char* entries_[max_entries];
};

/// Calls `execute` with the completed environment; it returns only if it fails.
template <typename Execute>
int execute_here(char* const* environment, Execute execute) {
    const completed_environment completed{environment, exec_policy_of_this_process()};
    if (completed.unrecorded()) note_unrecorded(static_cast<std::uint32_t>(system_call(__NR_getpid)));
    return execute(completed.get());
}

int spawn(spawn_function* function, pid_t* process, const char* program, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    const completed_environment completed{environment, exec_policy_of_a_child()};
    pid_t child = 0;
    const int error = function(&child, program, actions, attributes, arguments, completed.get());
    if (error != 0) return error;
    if (process != nullptr) *process = child;
    if (completed.unrecorded()) note_unrecorded(static_cast<std::uint32_t>(child));
    return 0;
}

/// The variable arguments of a call, up to a null pointer.
class listed_arguments {
public:
    listed_arguments(const char* first, std::va_list& rest) {
        for (const char* each = first; each != nullptr; each = va_arg(rest, const char*)) {
            if (count_ < max_arguments) all_[count_] = const_cast<char*>(each);
            ++count_;
        }
        if (count_ < max_arguments) all_[count_] = nullptr;
    }

    /// Fails with E2BIG if there are too many.
    template <typename Execute>
    int execute(Execute execute) const {
        if (count_ < max_arguments) return execute(all_);
        errno = E2BIG;
        return -1;
    }

private:
    static constexpr std::size_t max_arguments = 512;

    std::size_t count_ = 0;
    char* all_[max_arguments];
};

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
    return execute_here(environment, [&](char* const* completed) {
        const long result = system_call(__NR_execve, path, arguments, completed);
        errno = static_cast<int>(-result);
        return -1;
    });
}

int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
    return execute_here(environment,
                        [&](char* const* completed) { return next().execvpe(file, arguments, completed); });
}

int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
    return execute_here(environment,
                        [&](char* const* completed) { return next().fexecve(file, arguments, completed); });
}

int execv(const char* path, char* const* arguments) noexcept {
    return execve(path, arguments, environ);
}

int execvp(const char* file, char* const* arguments) noexcept {
    return execvpe(file, arguments, environ);
}

int execl(const char* path, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    const listed_arguments arguments{first, rest};
    va_end(rest);
    return arguments.execute([&](char* const* all) { return execve(path, all, environ); });
}

int execlp(const char* file, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    const listed_arguments arguments{first, rest};
    va_end(rest);
    return arguments.execute([&](char* const* all) { return execvpe(file, all, environ); });
}

int execle(const char* path, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    const listed_arguments arguments{first, rest};
    char* const* environment = va_arg(rest, char* const*);
    va_end(rest);
    return arguments.execute([&](char* const* all) { return execve(path, all, environment); });
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return spawn(next().posix_spawn, process, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return spawn(next().posix_spawnp, process, file, actions, attributes, arguments, environment);
}

}  // extern "C"

#pragma GCC visibility pop
