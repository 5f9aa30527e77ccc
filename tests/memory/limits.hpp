// Limits of the process, lowered in a child process. Linux only.
#pragma once

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace acre_test {

/// What `test` returns in a child process.
template <class Test>
int in_a_child(Test test) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(test());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Sets a soft limit of this process; it can be raised again.
template <class Resource>
void limit(Resource which, std::size_t bytes) {
    rlimit wanted{};
    if (::getrlimit(which, &wanted) != 0) ::_exit(100);
    wanted.rlim_cur = bytes < wanted.rlim_max ? bytes : wanted.rlim_max;
    if (::setrlimit(which, &wanted) != 0) ::_exit(100);
}

/// The bytes that RLIMIT_DATA counts: of private pages that may be written to.
inline std::size_t data_bytes() {
    std::FILE* file = std::fopen("/proc/self/status", "r");
    if (file == nullptr) return 0;
    char line[128];
    std::size_t kibibytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
        if (std::sscanf(line, "VmData: %zu", &kibibytes) == 1) break;
    }
    std::fclose(file);
    return kibibytes * 1024;
}

/// Calls `use` with a fresh R, made of `options`, again and again in a child: at first with no page more than the
/// process has, then with three more each time, until `use` returns true. So each of R's requests fails in one of the
/// rounds. Returns 0, the number of a broken promise, or 99 if `use` never failed or never succeeded.
template <class R, class Options, class Use>
int with_more_pages_each_time(const Options& options, Use use) {
    return in_a_child([&] {
        for (std::size_t pages = 0; pages < 4'000; pages += 3) {
            R tested{options};
            const std::size_t base = data_bytes();
            limit(RLIMIT_DATA, base + pages * 4096);
            const bool served = use(tested);
            limit(RLIMIT_DATA, SIZE_MAX);
            if (tested.used() != 0) return 1;
            if (!use(tested)) return 2;
            tested.release();
            if (tested.used() != 0 || tested.capacity() != 0) return 3;
            if (served) return pages == 0 ? 99 : 0;
        }
        return 99;
    });
}

}  // namespace acre_test

#endif
