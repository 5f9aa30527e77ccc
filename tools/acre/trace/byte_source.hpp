// Reads numbers and text from untrusted bytes: every read is checked and throws tool_error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "error.hpp"

namespace acre::tool {

class byte_source {
public:
    byte_source() = default;
    explicit byte_source(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}

    std::uint8_t byte() {
        if (position_ == bytes_.size()) throw tool_error{"a value is cut off"};
        return bytes_[position_++];
    }

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t part = byte();
            if (shift == 63 && part > 1) break;
            value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
            if (part < 0x80) return value;
        }
        throw tool_error{"a number has more than 64 bits"};
    }

    /// A number of at most `max`; `what` names it in the error.
    std::uint64_t number(std::uint64_t max, const char* what) {
        const std::uint64_t value = number();
        if (value > max) throw tool_error{std::string{what} + " is out of range"};
        return value;
    }

    std::int64_t signed_number() {
        const std::uint64_t value = number();
        return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }

    std::string_view text() {
        const std::uint64_t length = number();
        if (length > remaining()) throw tool_error{"a text is cut off"};
        const auto part = bytes_.subspan(position_, static_cast<std::size_t>(length));
        position_ += part.size();
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }

    /// A count of elements of at least one byte each, so it cannot exceed what remains.
    std::uint64_t count(std::uint64_t max, const char* what) {
        return number(remaining() < max ? remaining() : max, what);
    }

    std::size_t remaining() const noexcept { return bytes_.size() - position_; }

    /// Throws if bytes remain.
    void expect_end() const {
        if (remaining() != 0) throw tool_error{"it is longer than its contents"};
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t position_ = 0;
};

}  // namespace acre::tool
