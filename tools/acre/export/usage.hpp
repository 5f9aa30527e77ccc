// What each key (a site or a stack) allocated in a run; fed event by event.
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
    tally live;     // now; at the end: never freed
    tally peak;     // live at the key's own peak
    tally at_peak;  // live at the program's peak
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t largest = 0;
    std::uint64_t freed_elsewhere = 0;  // by a thread other than the allocating one
    std::uint64_t freed_ticks = 0;      // sum of the lifetimes of freed objects, in ticks of the trace
    std::uint64_t live_ticks = 0;       // sum for the other objects, from their allocation to the end of the run

    std::uint64_t freed() const noexcept { return allocated.count - live.count; }
    std::uint64_t lifetime_microseconds() const noexcept;  // summed over all objects
    double mean_lifetime_nanoseconds() const noexcept;     // of the freed objects
};

/// Memory: proportional to the live objects and the keys.
class usage_table {
public:
    /// What the table stores for a live object.
    struct life {
        std::uint64_t size = 0;
        std::uint64_t time = 0;  // of its allocation
        std::uint32_t key = 0;
        std::uint32_t thread = 0;
    };

    void allocate(const event& e, std::uint32_t key);

    /// Returns what the table stored for the object.
    life release(const event& e);

    /// Must be called once, after all events.
    void finish(std::uint64_t duration);

    /// Indexed by key, up to the highest key used.
    const std::vector<usage>& by_key() const noexcept { return by_key_; }
    const usage& of(std::uint32_t key) const noexcept { return by_key_[key]; }
    const tally& all() const noexcept { return all_; }

    std::uint64_t peak_time() const noexcept { return peak_time_; }  // of the program
    std::uint64_t end_time() const noexcept { return end_time_; }

private:
    void touch(std::uint32_t key);
    void take_peak(std::uint64_t time);

    std::vector<usage> by_key_;
    live_array<life> lives_;
    tally all_;   // allocated
    tally live_;  // now
    std::uint64_t peak_bytes_ = 0;
    std::uint64_t peak_time_ = 0;
    std::uint64_t end_time_ = 0;
    std::vector<std::uint32_t> touched_;  // keys whose live objects changed since the last peak
    std::vector<bool> is_touched_;        // by key
};

/// Nanoseconds from allocation to free; 0 where the clocks of two threads disagree on the order.
inline std::uint64_t lifetime(std::uint64_t born, std::uint64_t died) noexcept {
    return died > born ? died - born : 0;
}

/// Scales figures of a sampled trace to the whole run: where one allocation in n was recorded, each counts n times.
class scale {
public:
    explicit scale(const trace_header& header) : factor_{header.is_sampled() ? header.sampling_period : 1} {}

    /// Saturates at the largest number.
    std::uint64_t operator()(std::uint64_t recorded) const noexcept {
        std::uint64_t all = 0;
        return __builtin_mul_overflow(recorded, factor_, &all) ? ~std::uint64_t{0} : all;
    }

private:
    std::uint64_t factor_;
};

}  // namespace acre::tool
