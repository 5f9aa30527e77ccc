// Google's protocol buffers, as much of them as profile.proto needs: messages of numbered fields.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/byte_sink.hpp"

namespace acre::tool {

class protobuf_sink {
public:
    /// A number of 0, which is what readers take a missing field for, is left out.
    void number(std::uint32_t field, std::uint64_t value) {
        if (value == 0) return;
        bytes_.number(field << 3 | number_type);
        bytes_.number(value);
    }

    /// All in one field.
    void numbers(std::uint32_t field, std::span<const std::uint64_t> values) {
        byte_sink packed;
        for (const std::uint64_t value : values) packed.number(value);
        bytes(field, packed.bytes());
    }

    void text(std::uint32_t field, std::string_view value) {
        bytes_.number(field << 3 | bytes_type);
        bytes_.text(value);
    }

    void message(std::uint32_t field, const protobuf_sink& value) { bytes(field, value.bytes()); }

    void clear() noexcept { bytes_.clear(); }
    std::span<const std::uint8_t> bytes() const noexcept { return bytes_.bytes(); }

private:
    static constexpr std::uint32_t number_type = 0;
    static constexpr std::uint32_t bytes_type = 2;

    void bytes(std::uint32_t field, std::span<const std::uint8_t> value) {
        text(field, {reinterpret_cast<const char*>(value.data()), value.size()});
    }

    byte_sink bytes_;
};

}  // namespace acre::tool
