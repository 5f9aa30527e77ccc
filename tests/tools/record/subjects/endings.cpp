// Allocates 1,000 objects of 4,242 bytes, frees 400 of them, and ends in the way that its first argument names.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void work(int objects = 1000, std::size_t size = 4242) {
    std::vector<void*> live;
    for (int i = 0; i < objects; ++i) live.push_back(std::malloc(size));
    for (int i = 0; i < objects * 2 / 5; ++i) std::free(live[static_cast<std::size_t>(i)]);
}

void wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
}

/// Executes this program in an empty environment, where it exits with status 5.
int execute_bare(const std::string& how, char* name) {
    char executed[] = "executed";
    char* const arguments[] = {name, executed, nullptr};
    char* const nothing[] = {nullptr};
    constexpr const char* self = "/proc/self/exe";
    if (how == "execve") execve(self, arguments, nothing);
    if (how == "execvpe") execvpe(self, arguments, nothing);
    if (how == "execle") execle(self, name, executed, nullptr, nothing);
    if (how == "fexecve") fexecve(open(self, O_RDONLY | O_CLOEXEC), arguments, nothing);
    if (how == "missing") return execve("/nowhere", arguments, nothing) == -1 && errno == ENOENT ? 6 : 8;
    pid_t child = 0;
    if (how == "posix_spawn" && posix_spawn(&child, self, nullptr, nullptr, arguments, nothing) != 0) return 8;
    if (how == "posix_spawnp" && posix_spawnp(&child, self, nullptr, nullptr, arguments, nothing) != 0) return 8;
    if (how == "vfork") {
        child = vfork();
        if (child == 0) {
            execve(self, arguments, nothing);
            _exit(1);
        }
    }
    if (child > 0) {
        wait_for(child);
        return 7;
    }
    clearenv();
    if (how == "execv") execv(self, arguments);
    if (how == "execvp") execvp(self, arguments);
    if (how == "execl") execl(self, name, executed, nullptr);
    if (how == "execlp") execlp(self, name, executed, nullptr);
    return 9;
}

pthread_key_t late_key;

/// Set again and again, so that it runs in every round of destructors, after the recorder's as well.
void late_free(void* value) {
    std::free(value);
    static thread_local int rounds = 0;
    if (++rounds < 4) pthread_setspecific(late_key, std::malloc(5000 + static_cast<std::size_t>(rounds)));
}

struct frees_at_end {
    std::string text;
    void* block = nullptr;
    ~frees_at_end() { std::free(block); }
};
thread_local frees_at_end at_end;

void in_threads() {
    pthread_key_create(&late_key, late_free);
    for (int i = 0; i < 200; ++i) {
        std::thread{[] {
            at_end.text = std::string(300, 'x');
            at_end.block = std::malloc(4343);
            pthread_setspecific(late_key, std::malloc(5000));
        }}.join();
    }
    std::vector<std::thread> together;
    for (int i = 0; i < 8; ++i) together.emplace_back([] { work(5000, 4444); });
    for (auto& each : together) each.join();
}

void handle_by_allocating(int) {
    std::free(std::malloc(77));
}

void interrupted_often() {
    struct sigaction action{};
    action.sa_handler = handle_by_allocating;
    sigaction(SIGUSR2, &action, nullptr);
    const pthread_t target = pthread_self();
    volatile bool done = false;
    std::thread sender{[&] {
        while (!done) {
            pthread_kill(target, SIGUSR2);
            usleep(50);
        }
    }};
    // The handler must not interrupt malloc itself, which would be an error of the program.
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 30'000'000; ++i) sum = sum + i;
    done = true;
    sender.join();
}

}  // namespace

int main(int count, char** arguments) {
    const std::string ending = count > 1 ? arguments[1] : "";
    if (ending == "executed") {
        work(77, 4545);
        return 5;
    }
    if (ending == "closed") {  // before anything else: what is open is closed, its numbers used again
        for (int file = 3; file < 2000; ++file) close(file);
        for (int file = 3; file < 1500; ++file) {
            if (dup(2) < 0) break;
        }
    }
    if (ending == "moved" && chdir("/") != 0) return 9;
    work();
    if (ending == "closed") {
        for (int i = 0; i < 50; ++i) work();
        return 0;
    }
    if (ending == "many and kill") {
        for (int i = 0; i < 9; ++i) work();  // 14,000 events in all
        raise(SIGKILL);
    }
    if (ending == "_exit") _exit(3);
    if (ending == "abort") std::abort();
    if (ending == "quick_exit") std::quick_exit(6);
    if (ending == "terminated") raise(SIGTERM);
    if (ending == "pipe") raise(SIGPIPE);
    if (ending == "kill") kill(getpid(), SIGKILL);
    if (ending == "crash") *static_cast<volatile int*>(nullptr) = 1;
    if (ending == "throw") throw std::runtime_error{"nobody catches this"};
    if (ending == "exec") execl("/proc/self/exe", arguments[0], "executed", nullptr);
    if (ending == "threads") in_threads();
    if (ending == "signals") interrupted_often();
    if (ending == "fork") {
        const pid_t child = fork();
        if (child == 0) {
            work(500, 4646);
            _exit(0);
        }
        wait_for(child);
    }
    if (ending == "daemon") {
        if (daemon(1, 0) != 0) return 9;
        work(500, 4646);
        sleep(2);
    }
    if (ending == "vfork") {
        const pid_t child = vfork();
        if (child == 0) {
            execl("/proc/self/exe", arguments[0], "executed", nullptr);
            _exit(1);
        }
        wait_for(child);
    }
    if (ending == "spawn") {
        pid_t child = 0;
        char executed[] = "executed";
        char* const child_arguments[] = {arguments[0], executed, nullptr};
        if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, child_arguments, environ) != 0) return 8;
        wait_for(child);
    }
    if (ending.rfind("bare ", 0) == 0) return execute_bare(ending.substr(5), arguments[0]);
    if (ending == "forked thread") {
        std::thread{[] {
            const pid_t child = fork();
            if (child == 0) {
                work(500, 4646);
                std::thread{[] { work(10, 4747); }}.join();
                _exit(0);
            }
            wait_for(child);
        }}.join();
    }
    if (ending == "system" && std::system("/bin/echo hello >/dev/null") != 0) return 8;
    return 7;
}
