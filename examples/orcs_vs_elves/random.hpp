// A small random number generator (xorshift64*), so that a battle is the same on every machine.
#pragma once

#include <cstdint>

namespace game {

class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_{seed} {}

    // Returns a number from 0 to limit - 1.
    int below(int limit) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        const std::uint64_t high = (state_ * 0x2545F4914F6CDD1DULL) >> 32;
        return static_cast<int>((high * static_cast<std::uint64_t>(limit)) >> 32);
    }

    int between(int low, int high) { return low + below(high - low + 1); }

private:
    std::uint64_t state_;
};

}  // namespace game
