// Hooks of the functions that execute programs, and of those that end this one. A program that should be recorded gets
// the environment entries of `acre record`; any other program gets its environment without them. Each execution is
// reported, so that acre can name the processes that left no log.
//
// All of this may run in a vfork child, which shares its parent's memory: it allocates nothing and changes nothing that
// the parent reads.
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "executable_kind.hpp"
#include "recorder.hpp"
#include "small_text.hpp"

namespace acre::recorder {
namespace {

using raw::report_kind;
using execvpe_function = int(const char*, char* const*, char* const*);
using fexecve_function = int(int, char* const*, char* const*);
using shell_function = int(const char*);
using pipe_function = FILE*(const char*, const char*);
using end_function = void(int);
using spawn_function = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           char* const*, char* const*);

struct next_definitions {
    execvpe_function* execvpe;
    fexecve_function* fexecve;
    spawn_function* posix_spawn;
    spawn_function* posix_spawnp;
    shell_function* system;
    pipe_function* popen;
    end_function* quick_exit;
};

/// Looked up once at start: in a forked child another thread may have left the dynamic loader's locks held.
const next_definitions& next() {
    static next_definitions found;
    if (found.execvpe == nullptr) {
        found.quick_exit = next_definition<end_function>("quick_exit");
        found.popen = next_definition<pipe_function>("popen");
        found.system = next_definition<shell_function>("system");
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

/// One execution of a program: decides whether the program should be recorded, and reports that.
class execution {
public:
    /// `find_kind()` returns whether the program can be recorded. `is_child`: the program becomes a child.
    template <typename FindKind>
    execution(const char* program, bool is_child, FindKind find_kind) : program_{program} {
        const exec_policy policy = is_child ? exec_policy_of_a_child() : exec_policy_of_this_process();
        if (policy == exec_policy::none) return;
        is_reported_ = true;
        is_restricted_ = policy == exec_policy::restricted;
        if (is_restricted_) kind_ = report_kind::executes_restricted;
        if (policy == exec_policy::unrecorded) kind_ = report_kind::unwanted_child;
        if (policy == exec_policy::recorded) kind_ = find_kind();
    }

    /// Calls `execute(environment)` with the environment that the program should get.
    template <typename Execute>
    int with_environment(char* const* given, Execute execute) const {
        // A static program hands its environment on to its children, which may be dynamic.
        const bool recorded = kind_ == report_kind::executes || (kind_ == report_kind::executes_static &&
                                                                 exec_policy_of_a_child() == exec_policy::recorded);
        const given_environment& entries = kept_environment();
        if (!is_reported_ || (!recorded && !entries.is_in(given))) return execute(given);
        const given_environment::space space = entries.space_for(given);
        if (space.bytes() <= max_on_stack) {
            char** list = static_cast<char**>(__builtin_alloca(space.bytes()));
            return execute(entries.composed(given, recorded, list));
        }
        // A vfork child that executes the program leaves these pages to its parent.
        char** list = static_cast<char**>(take_pages(space.bytes()));
        if (list == nullptr) return execute(given);
        const int result = execute(entries.composed(given, recorded, list));
        system_call(__NR_munmap, list, space.bytes());
        return result;
    }

    void report(std::uint32_t process) const {
        if (is_reported_) report_process(kind_, process, program_);
    }
    void report_failure(std::uint32_t process) const {
        if (is_reported_) report_process(report_kind::failed_to_execute, process, program_);
    }

    /// 0 if this process must not ask the system for it.
    std::uint32_t own_number() const {
        return is_restricted_ ? 0 : static_cast<std::uint32_t>(system_call(__NR_getpid));
    }

private:
    static constexpr std::size_t max_on_stack = 4096;

    const char* program_;
    bool is_reported_ = false;
    bool is_restricted_ = false;
    report_kind kind_ = report_kind::none;
};

/// Calls `execute` with the environment; it returns only if it fails.
template <typename FindKind, typename Execute>
int execute_here(const char* program, char* const* environment, FindKind find_kind, Execute execute) {
    const execution here{program, false, find_kind};
    return here.with_environment(environment, [&](char* const* composed) {
        here.report(here.own_number());
        write_waiting_rows();
        const int result = execute(composed);
        here.report_failure(here.own_number());
        return result;
    });
}

template <typename FindKind>
int spawn(spawn_function* function, pid_t* process, const char* program, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment, FindKind find_kind) {
    const execution child{program, true, find_kind};
    return child.with_environment(environment, [&](char* const* composed) {
        pid_t number = 0;
        const int error = function(&number, program, actions, attributes, arguments, composed);
        if (error != 0) return error;
        if (process != nullptr) *process = number;
        child.report(static_cast<std::uint32_t>(number));
        return 0;
    });
}

/// Reports a child that the C library will start without calling the hooks.
void report_shell() {
    if (exec_policy_of_a_child() == exec_policy::unrecorded) report_process(report_kind::unwanted_child, 0, "sh");
}

/// How many pointers a variable list of arguments has, with the null pointer at its end.
std::size_t count_arguments(const char* first, std::va_list& rest) {
    std::va_list copy;
    va_copy(copy, rest);
    std::size_t count = 1;
    for (const char* each = first; each != nullptr; each = va_arg(copy, const char*)) ++count;
    va_end(copy);
    return count;
}

/// Copies the pointers to `all`.
void list_arguments(char** all, const char* first, std::va_list& rest) {
    for (const char* each = first; each != nullptr; each = va_arg(rest, const char*)) *all++ = const_cast<char*>(each);
    *all = nullptr;
}

}  // namespace
}  // namespace acre::recorder

using namespace acre::recorder;

#pragma GCC visibility push(default)

extern "C" {

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
    return execute_here(
        path, environment, [=] { return kind_of_execution(path); },
        [&](char* const* composed) {
            const long result = system_call(__NR_execve, path, arguments, composed);
            errno = static_cast<int>(-result);
            return -1;
        });
}

int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
    return execute_here(
        file, environment, [=] { return kind_of_search(file, environ); },
        [&](char* const* composed) { return next().execvpe(file, arguments, composed); });
}

int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
    char path[32];
    const char* end = path + sizeof path - 1;
    *append_number(append_text(path, end, "/proc/self/fd/"), end, static_cast<std::uint64_t>(file)) = 0;
    return execute_here(
        path, environment, [&] { return kind_of_execution(path); },
        [&](char* const* composed) { return next().fexecve(file, arguments, composed); });
}

int execveat(int folder, const char* path, char* const* arguments, char* const* environment, int flags) noexcept {
    char place[PATH_MAX / 8];
    const char* end = place + sizeof place - 1;
    const bool is_below = folder != AT_FDCWD && *path != '/';
    if (is_below) {
        char* at = append_text(place, end, "/proc/self/fd/");
        at = append_number(at, end, static_cast<std::uint64_t>(folder));
        if (*path != 0) at = append_text(append_text(at, end, "/"), end, path);
        *at = 0;
    }
    return execute_here(
        is_below ? place : path, environment, [&] { return kind_of_execution(is_below ? place : path); },
        [&](char* const* composed) {
            const long result = system_call(__NR_execveat, folder, path, arguments, composed, flags);
            errno = static_cast<int>(-result);
            return -1;
        });
}

int execv(const char* path, char* const* arguments) noexcept {
    return execve(path, arguments, environ);
}

int execvp(const char* file, char* const* arguments) noexcept {
    return execvpe(file, arguments, environ);
}

// The arguments are copied to the stack, as the C library does.

int execl(const char* path, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    auto** all = static_cast<char**>(__builtin_alloca(count_arguments(first, rest) * sizeof(char*)));
    list_arguments(all, first, rest);
    va_end(rest);
    return execve(path, all, environ);
}

int execlp(const char* file, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    auto** all = static_cast<char**>(__builtin_alloca(count_arguments(first, rest) * sizeof(char*)));
    list_arguments(all, first, rest);
    va_end(rest);
    return execvpe(file, all, environ);
}

int execle(const char* path, const char* first, ...) noexcept {
    std::va_list rest;
    va_start(rest, first);
    auto** all = static_cast<char**>(__builtin_alloca(count_arguments(first, rest) * sizeof(char*)));
    list_arguments(all, first, rest);
    char* const* environment = va_arg(rest, char* const*);
    va_end(rest);
    return execve(path, all, environment);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return spawn(next().posix_spawn, process, path, actions, attributes, arguments, environment,
                 [=] { return kind_of_execution(path); });
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    return spawn(next().posix_spawnp, process, file, actions, attributes, arguments, environment,
                 [=] { return kind_of_search(file, environ); });
}

int system(const char* command) {
    if (command != nullptr) report_shell();
    return next().system(command);
}

FILE* popen(const char* command, const char* mode) {
    report_shell();
    return next().popen(command, mode);
}

void _exit(int status) {
    write_waiting_rows();
    while (true) system_call(__NR_exit_group, status);
}

void _Exit(int status) noexcept {
    _exit(status);
}

void quick_exit(int status) noexcept {
    write_waiting_rows();
    next().quick_exit(status);
    std::abort();
}

}  // extern "C"

#pragma GCC visibility pop
