// Which events are recorded: all of them, or one allocation in so many, or none while the recording is paused. Frees of
// recorded objects are recorded always, so that a trace never says of a freed object that it lives.
#pragma once

#include "address_set.hpp"
#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is a filter that takes all events.
class event_filter {
public:
    void begin(bool paused, std::uint32_t sampling_period);

    bool takes_all() const { return what_.load(std::memory_order_relaxed) == 0; }

    /// Whether to record that `p` was allocated; `random` is the thread's own, never 0.
    bool takes_allocation(const void* p, std::uint64_t& random);

    /// The same of an object whose free is recorded in either case.
    bool takes_forgotten(std::uint64_t& random) const;

    /// Whether to record that `p` is freed.
    bool takes_free(const void* p);

    /// Whether anything was recorded, and frees have to be.
    bool has_recorded() const { return (what_.load(std::memory_order_relaxed) & recorded_nothing) == 0; }

    /// For a free that was taken and did not happen.
    void restore(const void* p);

    bool paused() const { return (what_.load(std::memory_order_relaxed) & is_paused) != 0; }

    /// Whether that changes anything.
    bool set_paused(bool paused);

private:
    static constexpr std::uint32_t is_paused = 1;
    static constexpr std::uint32_t samples = 2;
    static constexpr std::uint32_t recorded_nothing = 4;  // paused since it began

    std::atomic<std::uint32_t> what_;
    std::uint64_t threshold_;  // random numbers up to it take an allocation
    address_set sampled_;
};

}  // namespace acre::recorder
