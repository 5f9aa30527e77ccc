// What the system knows of this process: its memory and the cores that it may run on.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <acre/heaps/general_heap.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace acre::tool {

/// Cores that this process may run on.
inline std::vector<int> allowed_cores() {
    cpu_set_t allowed;
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed)) cores.push_back(core);
    }
    return cores;
}

/// Keeps this thread on one core.
inline void pin_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

/// Bytes that malloc and acre's general heap hold.
inline std::uint64_t heap_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    const acre::general_heap_figures of_acre = acre::general_heap{}.figures();
    return info.arena + info.hblkhd + of_acre.slot_bytes + of_acre.free_slot_bytes + of_acre.large_bytes;
}

/// Bytes of those that the program has allocated.
inline std::uint64_t heap_bytes_in_use() {
    const struct mallinfo2 info = ::mallinfo2();
    const acre::general_heap_figures of_acre = acre::general_heap{}.figures();
    return info.uordblks + info.hblkhd + of_acre.slot_bytes + of_acre.large_bytes;
}

/// Bytes of anonymous memory; 0 if the system does not say. Exact, unlike the figure in /proc/self/status.
inline std::uint64_t anonymous_bytes() {
    const int file = ::open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    // A stream would allocate.
    char text[4096];
    const ssize_t got = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(got, 0)] = '\0';
    constexpr const char* label = "\nAnonymous:";
    const char* line = std::strstr(text, label);
    return line == nullptr ? 0 : std::strtoull(line + std::strlen(label), nullptr, 10) * 1024;
}

/// The maximum, over all samples, of the memory held in addition to what was held at construction.
class footprint_meter {
public:
    footprint_meter() : in_use_before_{heap_bytes_in_use()}, anonymous_before_{anonymous_bytes()} {}

    /// Makes a meter that is never read, for trials that measure time: on a fragmented heap, reading malloc's figures
    /// takes longer than the trial.
    struct unused {};
    explicit footprint_meter(unused) {}

    /// Whether samples have taken so long that only the most important ones should be taken: the system counts pages.
    bool is_slow() const noexcept { return taken_ > std::chrono::milliseconds{20}; }

    void sample() {
        const auto start = std::chrono::steady_clock::now();
        held_ = std::max(held_, beyond(heap_bytes(), in_use_before_));
        system_ = std::max(system_, beyond(anonymous_bytes(), anonymous_before_));
        taken_ += std::chrono::steady_clock::now() - start;
    }

    std::uint64_t held() const noexcept { return held_; }      // by the heaps
    std::uint64_t system() const noexcept { return system_; }  // by this process

private:
    static std::uint64_t beyond(std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); }

    std::uint64_t in_use_before_ = 0;
    std::uint64_t anonymous_before_ = 0;
    std::uint64_t held_ = 0;
    std::uint64_t system_ = 0;
    std::chrono::steady_clock::duration taken_{};
};

}  // namespace acre::tool
