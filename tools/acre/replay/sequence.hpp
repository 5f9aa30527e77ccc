// What is replayed: the allocations and frees of a trace or of a part of it, as compact steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared_array.hpp"

namespace acre::tool {

/// A replay plays at most this many events of a trace, its first ones, which bounds its time and memory. An allocation
/// for which malloc asks the system counts as many, see replay_cost.
inline constexpr std::uint64_t max_replayed_events = 4'000'000;

/// The cost of playing an allocation, in events. To map and unmap a block takes several microseconds.
constexpr std::uint64_t replay_cost(std::uint64_t bytes) noexcept {
    constexpr std::uint64_t mapped_at_times = std::uint64_t{1} << 20;
    constexpr std::uint64_t mapped_always = std::uint64_t{32} << 20;
    return bytes > mapped_always ? 1000 : bytes > mapped_at_times ? 250 : 1;
}

enum class step_kind : std::uint8_t {
    allocate,
    release,
    reallocate,  // two steps; the second has the previous shape
    reset,       // no object is live: a resource with reset() is reset
};

/// Size, alignment and kind of an allocation; a trace has few different ones.
struct shape {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
    bool by_new = false;  // allocated by operator new

    friend bool operator==(const shape&, const shape&) = default;
};

/// Eight bytes. The slot holds the address of a live object and is reused after its free.
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

/// Consecutive steps that one thread plays. The runs of a lane are in the order in which it plays them.
struct lane_run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint32_t lane = 0;
};

/// Steps and what they refer to; does not own the storage.
///
/// With several threads each step has a turn: the number of earlier steps on its slot. Waiting for the turn keeps the
/// recorded order of the steps of an object; other steps are not ordered.
struct sequence_view {
    std::span<const step> steps;
    std::span<const std::uint32_t> turns;  // by step; empty when one thread plays all
    std::span<const lane_run> runs;        // empty when one thread plays all
    std::span<const shape> shapes;
    std::span<const std::uint64_t> uses;  // by shape: number of its steps
    std::span<const step> survivors;
    std::uint32_t slots = 0;
    std::uint32_t lanes = 1;
    std::uint64_t peak_bytes = 0;               // peak of live bytes
    std::uint64_t peak_step = 0;                // step of that peak, if one thread plays all
    std::uint64_t touched = ~std::uint64_t{0};  // bytes of a block that are written to at most, see touched_bytes
    int steps_file = -1;                        // files of steps and turns, for other processes
    int turns_file = -1;
    bool in_memory = true;  // false: steps and turns must be read in before they are played
};

/// A sequence that owns its storage. Steps and turns are in files that other processes can map.
struct sequence {
    shared_array<step> steps;
    shared_array<std::uint32_t> turns;
    std::vector<lane_run> runs;
    std::vector<shape> shapes;
    std::vector<std::uint64_t> uses;
    std::vector<step> survivors;  // frees of the objects that live at the end
    std::uint32_t slots = 0;
    std::uint32_t lanes = 1;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_step = 0;
    std::uint64_t touched = ~std::uint64_t{0};
    std::uint64_t reserved_blocks = 0;  // allocations of more bytes than are touched

    sequence_view view() const noexcept {
        return {steps.view(), turns.view(),
                runs,         shapes,
                uses,         survivors,
                slots,        lanes,
                peak_bytes,   peak_step,
                touched,      steps.file(),
                turns.file(), steps.is_in_memory() && turns.is_in_memory()};
    }
};

}  // namespace acre::tool
