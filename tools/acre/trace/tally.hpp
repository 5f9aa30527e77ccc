// A number of objects and of their bytes.
#pragma once

#include <cstdint>

namespace acre::tool {

struct tally {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;

    void add(std::uint64_t size) noexcept {
        ++count;
        bytes += size;
    }
    void remove(std::uint64_t size) noexcept {
        --count;
        bytes -= size;
    }
    void add(const tally& other) noexcept {
        count += other.count;
        bytes += other.bytes;
    }
};

}  // namespace acre::tool
