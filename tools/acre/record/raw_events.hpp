// Makes the events of a trace from the rows of a raw log: the threads merged by time, objects numbered, frees matched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "raw_reader.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"

namespace acre::tool {

/// Turns time stamp counts into nanoseconds since the start.
class tick_clock {
public:
    tick_clock(raw::clock_pair start, raw::clock_pair end) : start_{start} {
        if (end.ticks > start.ticks && end.nanoseconds > start.nanoseconds) {
            rate_ =
                static_cast<double>(end.nanoseconds - start.nanoseconds) / static_cast<double>(end.ticks - start.ticks);
        }
    }

    std::uint64_t nanoseconds(std::uint64_t ticks) const {
        if (ticks <= start_.ticks) return 0;
        // A log that is damaged may say anything.
        return static_cast<std::uint64_t>(std::min(static_cast<double>(ticks - start_.ticks) * rate_, latest));
    }

private:
    static constexpr double latest = 9e18;

    raw::clock_pair start_;
    double rate_ = 1;
};

class raw_events {
public:
    raw_events(const raw_reader& log, tick_clock clock) : log_{log}, clock_{clock} {}

    /// Calls `visit(const event&)` for each event and `visit_mark(const mark&)` for each mark, in order; may be called again.
    template <typename Visit, typename VisitMark>
    void for_each(Visit&& visit, VisitMark&& visit_mark) {
        begin();
        while (std::optional<event> next = next_event()) {
            while (std::optional<mark> before = next_mark(next->time)) visit_mark(*before);
            visit(*next);
        }
        while (std::optional<mark> last = next_mark(~std::uint64_t{0})) visit_mark(*last);
    }

    // Of the last for_each.
    std::uint64_t events() const noexcept { return events_; }
    std::uint64_t unmatched_frees() const noexcept { return unmatched_; }
    std::uint64_t unrecorded_frees() const noexcept { return unrecorded_; }  // of what a pause may have left out
    std::uint64_t pauses() const noexcept { return pauses_; }
    std::uint64_t missed_frees() const noexcept { return missed_; }  // their address was allocated again
    std::uint64_t last_time() const noexcept { return last_time_; }

private:
    /// Where a thread's rows stand.
    struct thread_position {
        const std::vector<raw_rows>* segments = nullptr;
        std::size_t segment = 0;
        std::size_t row = 0;
        std::uint64_t ticks = 0;  // of the row, never less than before
        std::uint32_t number = 0;
        bool has_number = false;

        const raw::row* peek();
        void advance() { ++row; }
    };

    /// The earliest row of a thread.
    struct waiting {
        std::uint64_t ticks;
        std::uint32_t thread;
        bool operator>(const waiting& other) const {
            return ticks != other.ticks ? ticks > other.ticks : thread > other.thread;
        }
    };

    struct live_object {
        std::uint64_t number = 0;
        std::uint64_t size = 0;
    };

    void begin();
    void enqueue(std::uint32_t thread);
    std::optional<event> next_event();
    std::optional<mark> next_mark(std::uint64_t time);
    bool paused_before(std::uint64_t ticks) const;
    std::uint32_t number_of(thread_position& thread);
    std::optional<event> take_row(thread_position& thread, const raw::row& row);
    std::optional<event> acquire(thread_position& thread, const raw::row& row, operation op);
    std::optional<event> release(thread_position& thread, const raw::row& row, operation op);
    event make_event(thread_position& thread, const raw::row& row, operation op);

    const raw_reader& log_;
    tick_clock clock_;
    std::vector<thread_position> threads_;
    std::priority_queue<waiting, std::vector<waiting>, std::greater<>> queue_;
    live_table<live_object> live_;
    std::optional<event> held_back_;  // follows an event that was made up
    std::uint64_t objects_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t unmatched_ = 0;
    std::uint64_t unrecorded_ = 0;
    std::uint64_t missed_ = 0;
    std::size_t pauses_passed_ = 0;
    std::uint64_t pauses_ = 0;
    bool paused_ = false;
    std::uint64_t last_time_ = 0;
    std::uint32_t thread_numbers_ = 0;
};

}  // namespace acre::tool
