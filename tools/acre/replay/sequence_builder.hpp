// Turns events into the steps of a sequence, and finds the event that a step was made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "event_pairing.hpp"
#include "sequence.hpp"
#include "touched_bytes.hpp"
#include "trace/live_table.hpp"
#include "trace/model.hpp"
#include "trace/seeded_hash.hpp"

namespace acre::tool {

/// Who plays the steps.
enum class lanes : std::uint8_t {
    one,         // one thread plays all, in recorded order
    as_recorded  // the steps of each recorded thread are a lane
};

/// The part of a trace that is replayed: its beginning.
struct replay_window {
    std::uint64_t events = max_replayed_events;          // see replay_cost
    std::uint64_t live_bytes = touched_bytes::max_live;  // in the first pages of live blocks, which each play touches
};

/// The window of a sequence that is played so often: many plays share the time of a command, which has to end on any
/// trace. Depends on nothing else, so the same command plays the same events on each machine.
constexpr replay_window window_for(std::uint64_t plays) noexcept {
    constexpr std::uint64_t events_in_all = 360'000'000;
    constexpr std::uint64_t fewest = 250'000;
    constexpr std::uint64_t cost_of_page = 250;  // in events, when it is touched first
    constexpr std::uint64_t page_bytes = 4096;
    const std::uint64_t events = std::max(events_in_all / std::max<std::uint64_t>(plays, 1), fewest);
    return {std::min(events, max_replayed_events),
            std::min(events / cost_of_page * page_bytes, touched_bytes::max_live)};
}

/// The two halves of a realloc become one operation, which a resource without realloc plays as allocate, copy and free.
/// Memory: `memory_for_steps`, with further steps in a file, and the live objects and different shapes.
class sequence_builder {
public:
    static constexpr std::uint32_t max_lanes = 512;
    static constexpr std::size_t max_shapes = std::size_t{1} << 22;

    explicit sequence_builder(lanes who = lanes::one, std::size_t memory_for_steps = shared_array<step>::usual_memory)
        : who_{who}, memory_for_steps_{memory_for_steps} {
        sequence_.steps = shared_array<step>{memory_for_steps};
        sequence_.turns = shared_array<std::uint32_t>{memory_for_steps};
    }

    void add(const event& e) {
        cost_ += e.allocates ? replay_cost(e.size) : 1;
        pairing_.add(e, sink{*this});
    }

    /// Whether a replay up to here takes much time, counted in events, or much memory although it touches little of
    /// large blocks. A measurement ends there.
    bool is_full(const replay_window& window = {}) const noexcept {
        return cost_ >= window.events || touched_.live_at_least() > window.live_bytes;
    }

    /// Adds a reset: no object is live. Only if one thread plays all.
    void reset();

    /// Returns the sequence and leaves the builder empty.
    sequence finish();

private:
    struct live_object {
        std::uint32_t slot = 0;
        std::uint32_t shape = 0;
        std::uint32_t home = 0;  // the lane that reuses the slot
    };
    struct sink {
        sequence_builder& builder;
        void allocate(const event& e) { builder.allocate(e); }
        void release(std::uint64_t object, std::uint32_t thread) { builder.release(object, thread); }
        void reallocate(const event& acquired, std::uint64_t released) { builder.reallocate(acquired, released); }
    };
    struct shape_hash {
        std::size_t operator()(const shape& s) const noexcept {
            return static_cast<std::size_t>(mixed(numbers(s.bytes), s.alignment << 1 | (s.by_new ? 1U : 0U)));
        }
        seeded_hash numbers;
    };
    /// The state of a lane.
    struct lane_state {
        std::size_t run = 0;                        // the run that it appends to, if any
        std::uint64_t left = 0;                     // steps that still fit in the run
        std::vector<std::uint32_t> freed;           // slots that it freed itself
        std::deque<std::uint32_t> freed_by_others;  // slots that other lanes freed, oldest first
        std::uint32_t fresh = 0;                    // the next unused slot
        std::uint32_t fresh_end = 0;
    };

    void allocate(const event& e);
    void release(std::uint64_t object, std::uint32_t thread);
    void reallocate(const event& acquired, std::uint64_t released);

    std::uint32_t lane_of(std::uint32_t thread);
    void append(std::uint32_t lane, std::initializer_list<step> steps);
    void begin_run(std::uint32_t lane);
    std::uint32_t shape_of(const event& e);
    std::uint32_t take_slot(std::uint32_t lane);
    void add_slots(lane_state& part);
    void count_bytes(std::uint64_t added);
    void count_release(std::uint64_t bytes);

    lanes who_;
    std::size_t memory_for_steps_;
    event_pairing pairing_;
    sequence sequence_;
    live_table<live_object> live_;
    std::vector<lane_state> lanes_;
    std::vector<std::uint32_t> next_turns_;  // by slot
    std::unordered_map<shape, std::uint32_t, shape_hash> shape_numbers_;
    std::uint64_t live_bytes_ = 0;
    touched_bytes touched_;
    std::uint64_t cost_ = 0;  // of the events
};

/// A sentence about the blocks of a sequence that a replay does not touch as a whole.
std::string reserved_note(std::uint64_t blocks, std::uint64_t touched);

/// A sentence about a replay that ended before the trace did, by the user's number of events or by its own limits.
std::string beginning_note(std::uint64_t events, std::uint64_t of, bool is_as_asked);

/// A sentence about a replay of a part of the events from the whole trace.
std::string sample_note(std::uint64_t events, std::uint64_t of);

/// A step, numbered within its lane, and the event that it was made of, to be filled in by step_finder.
struct wanted_step {
    std::uint32_t lane = 0;
    std::uint64_t step = 0;
    bool found = false;
    std::uint64_t number = 0;  // of the event, from 1
    event what{};
};

/// Finds the events of steps: it gets the same events as the builder got and counts the steps made of them.
class step_finder {
public:
    step_finder(lanes who, std::vector<wanted_step>& wanted) : who_{who}, wanted_{wanted} {}

    void add(const event& e) {
        ++number_;
        pairing_.add(e, sink{*this, e});
    }

private:
    struct sink {
        step_finder& finder;
        const event& now;
        void allocate(const event&) { finder.count(now.thread, 1, now); }
        void release(std::uint64_t, std::uint32_t thread) { finder.count(thread, 1, now); }
        void reallocate(const event&, std::uint64_t) { finder.count(now.thread, 2, now); }
    };

    void count(std::uint32_t thread, std::uint64_t steps, const event& now) {
        const std::uint32_t lane = who_ == lanes::one ? 0 : thread;
        if (lane >= counts_.size()) counts_.resize(lane + std::size_t{1});
        for (wanted_step& each : wanted_) {
            if (each.lane != lane || each.found || each.step - counts_[lane] >= steps) continue;
            each.found = true;
            each.number = number_;
            each.what = now;
        }
        counts_[lane] += steps;
    }

    lanes who_;
    std::vector<wanted_step>& wanted_;
    event_pairing pairing_;
    std::vector<std::uint64_t> counts_;  // steps, by lane
    std::uint64_t number_ = 0;
};

}  // namespace acre::tool
