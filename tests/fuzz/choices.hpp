// A fuzzer's bytes as a source of numbers.
#pragma once

#include <cstdint>
#include <span>

namespace acre_test {

/// Two bytes per number, so that one changed byte changes one choice; zeros after the end.
class choices {
public:
    explicit choices(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

    std::uint32_t operator()() noexcept {
        const std::uint32_t low = next();
        return low | next() << 8;
    }

    bool empty() const noexcept { return bytes_.empty(); }

    /// Up to `count` raw bytes.
    std::span<const std::uint8_t> take(std::size_t count) noexcept {
        const auto taken = bytes_.first(count < bytes_.size() ? count : bytes_.size());
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

private:
    std::uint32_t next() noexcept {
        const auto taken = take(1);
        return taken.empty() ? 0 : taken[0];
    }

    std::span<const std::uint8_t> bytes_;
};

}  // namespace acre_test
