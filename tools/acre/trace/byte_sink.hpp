// A byte buffer to which numbers and text are appended in the encodings of the trace format.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace acre::tool {

class byte_sink {
public:
    void byte(std::uint8_t value) { bytes_.push_back(value); }

    /// Seven bits per byte, low bits first; the top bit is set in all bytes but the last.
    void number(std::uint64_t value) {
        if (value < 0x80) [[likely]] {
            byte(static_cast<std::uint8_t>(value));
        } else {
            long_number(value);
        }
    }

    /// Zigzag: short for small numbers of either sign.
    void signed_number(std::int64_t value) {
        number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }

    void text(std::string_view value) {
        number(value.size());
        append(value);
    }

    /// Bytes as they are.
    template <typename Bytes>
    void append(const Bytes& bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    /// The low `bytes` bytes of a number, lowest first.
    void little_endian(std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
    }

    void clear() noexcept { bytes_.clear(); }
    const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }

private:
    [[gnu::noinline]] void long_number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
        byte(static_cast<std::uint8_t>(value));
    }

    std::vector<std::uint8_t> bytes_;
};

}  // namespace acre::tool
