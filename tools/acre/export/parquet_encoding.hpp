// How Parquet packs the values of a page: its encodings RLE (which also bit-packs) and DELTA_BINARY_PACKED.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "trace/byte_sink.hpp"

namespace acre::tool::parquet {

/// The low `width` bits of each value one after the other, low bits first.
class bit_packer {
public:
    explicit bit_packer(byte_sink& to) : to_{to} {}

    void add(std::uint64_t value, unsigned width) {
        while (width > 0) {
            const unsigned taken = width < 8 - filled_ ? width : 8 - filled_;
            const auto part = static_cast<unsigned>(value & ((1U << taken) - 1));
            byte_ |= part << filled_;
            filled_ += taken;
            value >>= taken;
            width -= taken;
            if (filled_ == 8) end_byte();
        }
    }

    /// Fills the last byte with zeros.
    void finish() {
        if (filled_ > 0) end_byte();
    }

private:
    void end_byte() {
        to_.byte(static_cast<std::uint8_t>(byte_));
        byte_ = 0;
        filled_ = 0;
    }

    byte_sink& to_;
    unsigned byte_ = 0;
    unsigned filled_ = 0;  // bits
};

/// The bits that hold every number up to `most`; at least 1.
inline unsigned bits_for(std::uint32_t most) {
    return most == 0 ? 1 : static_cast<unsigned>(std::bit_width(most));
}

/// Values of `width` bits, 1 to 32, as runs of equal ones and groups of eight packed ones.
void encode_runs(byte_sink& to, std::span<const std::uint32_t> values, unsigned width);

/// Differences in blocks of 128, each less the smallest of its block. The values are of 32 or 64 bits as Parquet has
/// them in INT32 and INT64: differences wrap within that width.
void encode_differences(byte_sink& to, std::span<const std::uint64_t> values, unsigned width);

}  // namespace acre::tool::parquet
