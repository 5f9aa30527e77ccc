// Hashes with a seed that differs in every process, so that no file can be made whose keys collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

namespace acre::tool {

inline std::uint64_t hash_seed() {
    static const std::uint64_t seed = [] {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random();
    }();
    return seed;
}

/// All bits of the result depend on all bits of both numbers, but the high ones of small numbers nearly as those of a
/// product: mix twice where the numbers may be neighbours.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    using wide = unsigned __int128;
    const wide product = static_cast<wide>(a ^ 0x9e37'79b9'7f4a'7c15) * (b ^ 0xd6e8'feb8'6659'fd93);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

struct seeded_hash {
    using is_transparent = void;

    std::size_t operator()(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(mixed(mixed(key, seed_), seed_));
    }

    std::size_t operator()(std::string_view text) const noexcept {
        std::uint64_t hash = seed_ ^ text.size();
        for (; !text.empty(); text.remove_prefix(text.size() < 8 ? text.size() : 8)) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), text.size() < 8 ? text.size() : 8);
            hash = mixed(hash ^ word, seed_);
        }
        return static_cast<std::size_t>(hash);
    }

private:
    std::uint64_t seed_ = hash_seed();
};

}  // namespace acre::tool
