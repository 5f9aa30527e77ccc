#include "growth_trial.hpp"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace acre::tool {

namespace {

constexpr std::uint64_t largest_copied = std::uint64_t{16} << 20;
constexpr std::uint64_t bytes_in_round = std::uint64_t{4} << 20;
constexpr int rounds_of_copies = 7;

/// Of this thread: others may measure at the same time.
double cpu_nanoseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Copies between the halves of `memory` as a container does that grows to `largest` bytes. Returns the bytes copied.
std::uint64_t grow_once(std::vector<std::byte>& memory, std::uint64_t smallest, std::uint64_t largest) {
    std::uint64_t copied = 0;
    std::byte* from = memory.data();
    std::byte* to = from + memory.size() / 2;
    for (std::uint64_t size = smallest; size < largest; size *= 2) {
        std::memcpy(to, from, size);
        // The compiler must not leave the copy out.
        asm volatile("" : : "r"(to) : "memory");
        std::swap(from, to);
        copied += size;
    }
    return copied;
}

}  // namespace

interval time_of_copies(const growth_figures& of) {
    if (of.copied_bytes == 0) return {};
    const std::uint64_t largest = std::clamp<std::uint64_t>(of.median_bytes, 2, largest_copied);
    const std::uint64_t smallest = std::clamp<std::uint64_t>(of.element_bytes, 1, largest / 2);
    std::vector<std::byte> memory(2 * largest);
    std::vector<double> each_byte;
    for (int round = 0; round <= rounds_of_copies; ++round) {
        std::uint64_t copied = 0;
        const double begin = cpu_nanoseconds();
        while (copied < bytes_in_round) copied += grow_once(memory, smallest, largest);
        // The first round finds the caches cold.
        if (round != 0) each_byte.push_back((cpu_nanoseconds() - begin) / static_cast<double>(copied));
    }
    std::ranges::sort(each_byte);
    const auto bytes = static_cast<double>(of.copied_bytes);
    // Without the fastest and the slowest: another program may have interrupted one.
    return {bytes * each_byte[1], bytes * each_byte[each_byte.size() / 2], bytes * each_byte[each_byte.size() - 2]};
}

}  // namespace acre::tool
