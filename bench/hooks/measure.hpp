// The frame of the programs of bench/hooks: one process measures one memory for one library.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace acre_bench {

/// Seconds of processor time of this process. Other processes' load does not count.
inline double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Peak of this program's resident memory. (What getrusage says begins with the memory of the program that started it.)
inline long peak_kib() {
    std::ifstream status{"/proc/self/status"};
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") break;
    }
    long kib = 0;
    status >> kib;
    return kib;
}

/// Runs `once` for about half a second, after one that does not count, and prints the least time in milliseconds and
/// the peak of resident memory in KiB.
template <class Once>
int measure(Once once) {
    once();
    double least = 1e9;
    const double start = processor_seconds();
    for (int round = 0; round < 3 || processor_seconds() - start < 0.5; ++round) {
        const double before = processor_seconds();
        once();
        least = std::min(least, processor_seconds() - before);
    }
    std::printf("%.4f %ld\n", least * 1e3, peak_kib());
    return 0;
}

inline std::string contents(const char* path) {
    std::ifstream file{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.empty()) std::exit((std::fprintf(stderr, "%s is not there\n", path), 3));
    return text;
}

/// The document of the parsers: the registry of Vulkan (Debian's vulkan-headers or libvulkan-dev), 2 MB.
inline constexpr const char* document = "/usr/share/vulkan/registry/vk.xml";

[[noreturn]] inline void unknown(std::string_view memory) {
    std::fprintf(stderr, "unknown memory: %.*s\n", static_cast<int>(memory.size()), memory.data());
    std::exit(2);
}

}  // namespace acre_bench
