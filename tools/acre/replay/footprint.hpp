// The memory that this process holds.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace acre::tool {

/// Bytes that malloc holds from the operating system.
inline std::uint64_t malloc_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.arena + info.hblkhd;
}

/// Bytes of malloc that are in use.
inline std::uint64_t malloc_bytes_in_use() {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// Bytes of anonymous memory, exactly, which /proc/self/status does not promise; 0 where the system does not say.
inline std::uint64_t anonymous_bytes() {
    const int file = ::open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    // Not by a stream, which would allocate.
    char text[4096];
    const ssize_t got = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(got, 0)] = '\0';
    constexpr std::string_view label{"\nAnonymous:"};
    const char* line = std::strstr(text, label.data());
    return line == nullptr ? 0 : std::strtoull(line + label.size(), nullptr, 10) * 1024;
}

/// The most that was held, beyond what there was at the beginning, at the moments at which it was asked.
class footprint_meter {
public:
    footprint_meter() : in_use_before_{malloc_bytes_in_use()}, anonymous_before_{anonymous_bytes()} {}

    /// For where only the time is wanted: on a fragmented heap the questions take longer than what is measured.
    struct unused {};
    explicit footprint_meter(unused) {}

    void sample() {
        held_ = std::max(held_, beyond(malloc_bytes(), in_use_before_));
        system_ = std::max(system_, beyond(anonymous_bytes(), anonymous_before_));
    }

    /// Of malloc.
    std::uint64_t held() const noexcept { return held_; }
    /// Of this process.
    std::uint64_t system() const noexcept { return system_; }

private:
    static std::uint64_t beyond(std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); }

    std::uint64_t in_use_before_ = 0;
    std::uint64_t anonymous_before_ = 0;
    std::uint64_t held_ = 0;
    std::uint64_t system_ = 0;
};

}  // namespace acre::tool
