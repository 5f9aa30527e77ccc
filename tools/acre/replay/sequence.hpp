// What is replayed: the allocations and frees of a trace, or of a part of it, as steps that cost next to nothing to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace acre::tool {

enum class step_kind : std::uint8_t {
    allocate,
    release,
    reallocate,  // two steps: the second holds the shape that the slot had
    reset,       // everything allocated so far is dead: a resource that can take it all back at once does so
};

/// Size and alignment of an allocation; a trace has few different ones.
struct shape {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;

    friend bool operator==(const shape&, const shape&) = default;
};

/// Eight bytes: the slot holds the address of an object while it lives, and is then used again.
class step {
public:
    static constexpr std::uint32_t most_slots = std::uint32_t{1} << 30;

    step() = default;
    step(step_kind kind, std::uint32_t slot, std::uint32_t shape)
        : kind_and_slot_{static_cast<std::uint32_t>(kind) << 30 | slot}, shape_{shape} {}

    step_kind kind() const noexcept { return static_cast<step_kind>(kind_and_slot_ >> 30); }
    std::uint32_t slot() const noexcept { return kind_and_slot_ & (most_slots - 1); }
    std::uint32_t shape() const noexcept { return shape_; }

private:
    std::uint32_t kind_and_slot_ = 0;
    std::uint32_t shape_ = 0;
};

/// Steps with what they refer to; the storage belongs to someone else.
struct sequence_view {
    std::span<const step> steps;
    std::span<const shape> shapes;
    std::span<const step> survivors;
    std::uint32_t slots = 0;
    std::uint64_t peak_bytes = 0;  // most bytes alive at a time
    std::uint64_t peak_step = 0;   // where that is reached
};

/// Steps that own their storage.
struct sequence {
    std::vector<step> steps;
    std::vector<shape> shapes;
    std::vector<step> survivors;  // releases what lives at the end
    std::uint32_t slots = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_step = 0;

    sequence_view view() const noexcept { return {steps, shapes, survivors, slots, peak_bytes, peak_step}; }
};

}  // namespace acre::tool
