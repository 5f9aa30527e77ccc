#include "parquet_encoding.hpp"

#include <algorithm>
#include <array>

namespace acre::tool::parquet {

namespace {

constexpr std::size_t group = 8;           // values that are packed together
constexpr std::size_t block_values = 128;  // of differences
constexpr std::size_t miniblock_values = 32;
constexpr std::size_t miniblocks = block_values / miniblock_values;

void put_packed(byte_sink& to, std::span<const std::uint32_t> values, unsigned width) {
    if (values.empty()) return;
    const std::size_t groups = (values.size() + group - 1) / group;
    to.number(groups << 1 | 1);
    bit_packer packer{to};
    for (const std::uint32_t value : values) packer.add(value, width);
    for (std::size_t i = values.size(); i < groups * group; ++i) packer.add(0, width);
    packer.finish();
}

void put_run(byte_sink& to, std::uint32_t value, std::size_t length, unsigned width) {
    to.number(length << 1);
    for (unsigned bit = 0; bit < width; bit += 8) to.byte(static_cast<std::uint8_t>(value >> bit));
}

std::size_t run_length(std::span<const std::uint32_t> values) {
    const auto other = std::find_if(values.begin(), values.end(), [&](std::uint32_t v) { return v != values.front(); });
    return static_cast<std::size_t>(other - values.begin());
}

/// A number of `width` bits with a sign, as one of 64.
std::int64_t extended(std::uint64_t value, unsigned width) {
    return width == 32 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

void put_block(byte_sink& to, std::span<const std::int64_t> differences, unsigned width) {
    const std::int64_t smallest = *std::min_element(differences.begin(), differences.end());
    std::array<std::uint64_t, block_values> above{};
    std::array<unsigned, miniblocks> widths{};
    for (std::size_t i = 0; i < differences.size(); ++i) {
        above[i] = static_cast<std::uint64_t>(differences[i]) - static_cast<std::uint64_t>(smallest);
        if (width == 32) above[i] &= 0xffff'ffff;
        unsigned& wanted = widths[i / miniblock_values];
        wanted = std::max(wanted, static_cast<unsigned>(std::bit_width(above[i])));
    }
    to.signed_number(smallest);
    for (const unsigned each : widths) to.byte(static_cast<std::uint8_t>(each));
    bit_packer packer{to};
    for (std::size_t i = 0; i < block_values; ++i) packer.add(above[i], widths[i / miniblock_values]);
}

}  // namespace

void encode_runs(byte_sink& to, std::span<const std::uint32_t> values, unsigned width) {
    std::size_t packed = 0;  // values before `at` that are not written yet
    std::size_t at = 0;
    while (at < values.size()) {
        const std::size_t length = run_length(values.subspan(at));
        if (length >= group && packed % group == 0) {
            put_packed(to, values.subspan(at - packed, packed), width);
            packed = 0;
            put_run(to, values[at], length, width);
            at += length;
        } else {
            // Up to the end of the group of eight, or of the equal ones.
            const std::size_t step = std::min(length, group - packed % group);
            packed += step;
            at += step;
        }
    }
    put_packed(to, values.subspan(at - packed, packed), width);
}

void encode_differences(byte_sink& to, std::span<const std::uint64_t> values, unsigned width) {
    to.number(block_values);
    to.number(miniblocks);
    to.number(values.size());
    to.signed_number(values.empty() ? 0 : extended(values.front(), width));
    std::array<std::int64_t, block_values> differences{};
    for (std::size_t at = 1; at < values.size(); at += block_values) {
        const std::size_t count = std::min(block_values, values.size() - at);
        for (std::size_t i = 0; i < count; ++i) differences[i] = extended(values[at + i] - values[at + i - 1], width);
        put_block(to, std::span{differences}.first(count), width);
    }
}

}  // namespace acre::tool::parquet
