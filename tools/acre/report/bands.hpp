// Bands under the plots over time: the scopes that the program names, and the generations of the advised scopes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "advise/advice.hpp"
#include "advise/history.hpp"
#include "trace/call_paths.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// An interval of time, or several that are too close together to be drawn apart.
struct band {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t count = 1;
    std::uint64_t bytes = 0;  // allocated in the largest interval
};

/// The bands of one scope in one thread: at most `max_bands` for any number of intervals.
class band_lane {
public:
    static constexpr std::size_t max_bands = 240;

    /// Intervals must be in the order of time and must not overlap.
    void add(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes);

    const std::vector<band>& bands() const noexcept { return bands_; }
    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t total_time() const noexcept { return total_time_; }
    std::uint64_t longest() const noexcept { return longest_; }

private:
    bool is_close(const band& first, const band& second) const noexcept { return second.end - first.begin <= width_; }
    void merge_close();

    std::vector<band> bands_;
    std::uint64_t width_ = 0;  // bands within this many nanoseconds become one
    std::uint64_t count_ = 0;
    std::uint64_t total_time_ = 0;
    std::uint64_t longest_ = 0;
};

/// A lane with its label.
struct named_lane {
    std::string name;
    std::uint32_t thread = 0;
    std::size_t advice = 0;  // of generations: position of the advice
    band_lane lane;
};

/// The lanes to show, and the number of others.
struct lane_list {
    std::vector<named_lane> lanes;
    std::uint64_t omitted = 0;

    /// Keeps the `count` lanes with the longest total time, in their order.
    void keep_longest(std::size_t count);
};

/// Finds the generations of the scopes with an advised arena, in each thread: from the first allocation after nothing
/// was live to the free in the scope after which nothing is live again.
class generation_bands {
public:
    /// Advices and paths must outlive it.
    generation_bands(const std::vector<advice>& advices, const history& run, const call_paths& paths);

    void allocate(const event& e);

    /// `birth_stack` and `birth_thread` are of the object's allocation.
    void release(const event& e, std::uint32_t birth_stack, std::uint32_t birth_thread);

    /// Must be called once.
    lane_list finish();

private:
    static constexpr std::uint32_t no_scope = 0xffff'ffff;

    /// The live objects of a scope in a thread.
    struct open_lane {
        std::uint64_t live_objects = 0;
        std::uint64_t begin = 0;
        std::uint64_t bytes = 0;
        bool running = false;
        band_lane lane;
    };

    bool owns(std::uint32_t scope, std::uint32_t birth_stack, std::uint32_t free_stack) const;

    const std::vector<advice>& advices_;
    const call_paths& paths_;
    std::vector<std::uint32_t> scope_of_stack_;                           // position of the advice
    std::map<std::pair<std::uint32_t, std::uint32_t>, open_lane> lanes_;  // by scope and thread
};

/// Finds the named scopes and the pauses of the recording from the marks of a trace.
class scope_bands {
public:
    void add(const mark& m);

    /// Must be called once; ends what is still open at `end`.
    lane_list finish(std::uint64_t end, const trace_tables& tables);
    const band_lane& pauses() const noexcept { return pauses_; }

private:
    static constexpr std::size_t max_lanes = 4096;  // a limit for hostile traces

    /// A scope in a thread. A scope entered within itself gives one band.
    struct open_lane {
        std::uint64_t depth = 0;
        std::uint64_t begin = 0;
        band_lane lane;
    };

    void enter(const mark& m);
    void leave(const mark& m);

    std::map<std::pair<std::uint32_t, std::uint32_t>, open_lane> lanes_;  // by name and thread
    band_lane pauses_;
    std::uint64_t pause_begin_ = 0;
    bool paused_ = false;
};

}  // namespace acre::tool
