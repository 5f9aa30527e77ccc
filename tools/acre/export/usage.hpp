// What each of many keys (sites, stacks) allocated in a run, read event by event.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/tally.hpp"

namespace acre::tool {

struct usage {
    tally allocated;
    tally live;     // at the end: never freed
    tally most;     // when most bytes of the key were alive
    tally at_peak;  // when most bytes of the program were alive
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t largest = 0;
    std::uint64_t freed_elsewhere = 0;  // by another thread than the allocating one
    std::uint64_t freed_ticks = 0;      // lifetimes of the freed objects together, in ticks of the trace
    std::uint64_t live_ticks = 0;       // of the others, from their allocation to the end

    std::uint64_t freed() const noexcept { return allocated.count - live.count; }
    std::uint64_t lifetime_microseconds() const noexcept;  // of all objects together
    double mean_lifetime_nanoseconds() const noexcept;     // of those that were freed
};

/// Memory: the live objects and the keys.
class usage_table {
public:
    /// What is known of an object while it lives.
    struct life {
        std::uint64_t size = 0;
        std::uint64_t time = 0;  // of its allocation
        std::uint32_t key = 0;
        std::uint32_t thread = 0;
    };

    void allocate(const event& e, std::uint32_t key);

    /// What was known of the object.
    life release(const event& e);

    /// To be called once, after all events.
    void finish(std::uint64_t duration);

    /// By key, as far as the highest that was used.
    const std::vector<usage>& by_key() const noexcept { return by_key_; }
    const usage& of(std::uint32_t key) const noexcept { return by_key_[key]; }
    const tally& all() const noexcept { return all_; }

    std::uint64_t peak_time() const noexcept { return peak_time_; }  // when most bytes were alive
    std::uint64_t end_time() const noexcept { return end_time_; }

private:
    void touch(std::uint32_t key);
    void take_peak(std::uint64_t time);

    std::vector<usage> by_key_;
    live_table<life> lives_;
    tally all_;   // allocated
    tally live_;  // now
    std::uint64_t peak_bytes_ = 0;
    std::uint64_t peak_time_ = 0;
    std::uint64_t end_time_ = 0;
    std::vector<std::uint32_t> touched_;  // keys whose live objects are others than at the peak
    std::vector<bool> is_touched_;        // by key
};

/// Nanoseconds from the allocation to the free; clocks of several threads may seem to run backwards.
inline std::uint64_t lifetime(std::uint64_t born, std::uint64_t died) noexcept {
    return died > born ? died - born : 0;
}

}  // namespace acre::tool
