// What is replayed: the allocations and frees of a trace, or of a part of it, as steps that cost next to nothing to
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared_array.hpp"

namespace acre::tool {

enum class step_kind : std::uint8_t {
    allocate,
    release,
    reallocate,  // two steps: the second holds the shape that the slot had
    reset,       // everything allocated so far is dead: a resource that can take it all back at once does so
};

/// Size and alignment of an allocation, and how the program asked for it; a trace has few different ones.
struct shape {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    bool by_new = false;  // of operator new

    friend bool operator==(const shape&, const shape&) = default;
};

/// Eight bytes: the slot holds the address of an object while it lives, and is then used again.
class step {
public:
    static constexpr std::uint32_t max_slots = std::uint32_t{1} << 30;

    step() = default;
    step(step_kind kind, std::uint32_t slot, std::uint32_t shape)
        : kind_and_slot_{static_cast<std::uint32_t>(kind) << 30 | slot}, shape_{shape} {}

    step_kind kind() const noexcept { return static_cast<step_kind>(kind_and_slot_ >> 30); }
    std::uint32_t slot() const noexcept { return kind_and_slot_ & (max_slots - 1); }
    std::uint32_t shape() const noexcept { return shape_; }

private:
    std::uint32_t kind_and_slot_ = 0;
    std::uint32_t shape_ = 0;
};

/// A stretch of the steps that one thread plays. A lane's stretches stand in the order in which it plays them.
struct lane_run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint32_t lane = 0;
};

/// Steps with what they refer to; the storage belongs to someone else.
///
/// Where several threads play, each of their steps has a turn: the number of steps on its slot before it. A step that
/// waits for its turn keeps the recorded order of what happens to an object; all else is free.
struct sequence_view {
    std::span<const step> steps;
    std::span<const std::uint32_t> turns;  // by step; empty when one thread plays all
    std::span<const lane_run> runs;        // empty when one thread plays all
    std::span<const shape> shapes;
    std::span<const std::uint64_t> uses;  // by shape: steps that have it
    std::span<const step> survivors;
    std::uint32_t slots = 0;
    std::uint32_t lanes = 1;
    std::uint64_t peak_bytes = 0;  // most bytes alive at a time
    std::uint64_t peak_step = 0;   // where that is reached, when one thread plays all
    int steps_file = -1;           // where steps and turns are shared with other processes
    int turns_file = -1;
    bool in_memory = true;  // steps and turns; else they are to be read in before they are played
};

/// Steps that own their storage. The many lie in memory that the processes that play them can map.
struct sequence {
    shared_array<step> steps;
    shared_array<std::uint32_t> turns;
    std::vector<lane_run> runs;
    std::vector<shape> shapes;
    std::vector<std::uint64_t> uses;
    std::vector<step> survivors;  // releases what lives at the end
    std::uint32_t slots = 0;
    std::uint32_t lanes = 1;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_step = 0;

    sequence_view view() const noexcept {
        return {steps.view(),
                turns.view(),
                runs,
                shapes,
                uses,
                survivors,
                slots,
                lanes,
                peak_bytes,
                peak_step,
                steps.file(),
                turns.file(),
                steps.is_in_memory() && turns.is_in_memory()};
    }
};

}  // namespace acre::tool
