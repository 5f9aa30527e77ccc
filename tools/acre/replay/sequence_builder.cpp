#include "sequence_builder.hpp"

#include <fmt/format.h>

#include <utility>

#include "text/text.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t default_alignment = 16;
constexpr std::uint64_t run_steps = 4096;

// A slot that another lane freed is reused only after this many others: the later it is reused, the less an allocating
// lane waits for the freeing one.
constexpr std::size_t max_freed_by_others = 256;

// Lanes get slots in groups, so that they write to different cache lines.
constexpr std::uint32_t slots_per_group = 64;

}  // namespace

std::string reserved_note(std::uint64_t blocks, std::uint64_t touched) {
    return fmt::format(
        "All blocks together are too large to write to each page of them. Of {} only the first {} {} written to, and "
        "the rest was only reserved, so memory from the system is without it.",
        plural(blocks, "block", "blocks"), bytes_text(touched), blocks == 1 ? "was" : "were");
}

std::string beginning_note(std::uint64_t events, std::uint64_t of, bool is_as_asked) {
    return fmt::format("Only the first {} of {} were replayed, as {}.", count_text(events),
                       plural(of, "event", "events"),
                       is_as_asked ? "--events says" : "many as a replay of bounded time and memory can play");
}

std::string sample_note(std::uint64_t events, std::uint64_t of) {
    return fmt::format("A sample of {} of {} was replayed; peaks are those of the sample.", count_text(events),
                       plural(of, "event", "events"));
}

void sequence_builder::reset() {
    pairing_.close_all(sink{*this});
    append(lane_of(0), {{step_kind::reset, 0, 0}});
}

sequence sequence_builder::finish() {
    pairing_.close_all(sink{*this});
    live_.for_each([&](std::uint64_t, const live_object& object) {
        sequence_.survivors.emplace_back(step_kind::release, object.slot, object.shape);
    });
    touched_.finish();
    sequence_.touched = touched_.limit();
    sequence_.reserved_blocks = touched_.reserved_blocks();
    return std::exchange(*this, sequence_builder{who_, memory_for_steps_}).sequence_;
}

void sequence_builder::allocate(const event& e) {
    const std::uint32_t lane = lane_of(e.thread);
    const live_object made{take_slot(lane), shape_of(e), lane};
    live_.insert(e.object, made);
    append(lane, {{step_kind::allocate, made.slot, made.shape}});
    count_bytes(e.size);
}

void sequence_builder::release(std::uint64_t object, std::uint32_t thread) {
    live_object gone;
    if (!live_.take(object, gone)) return;
    const std::uint32_t lane = lane_of(thread);
    append(lane, {{step_kind::release, gone.slot, gone.shape}});
    count_release(sequence_.shapes[gone.shape].bytes);
    lane_state& home = lanes_[gone.home];
    if (lane == gone.home) {
        home.freed.push_back(gone.slot);
    } else {
        home.freed_by_others.push_back(gone.slot);
    }
}

void sequence_builder::reallocate(const event& acquired, std::uint64_t released) {
    live_object gone;
    if (!live_.take(released, gone)) return allocate(acquired);
    const live_object made{gone.slot, shape_of(acquired), gone.home};
    live_.insert(acquired.object, made);
    append(lane_of(acquired.thread),
           {{step_kind::reallocate, made.slot, made.shape}, {step_kind::reallocate, gone.slot, gone.shape}});
    count_release(sequence_.shapes[gone.shape].bytes);
    count_bytes(acquired.size);
}

std::uint32_t sequence_builder::lane_of(std::uint32_t thread) {
    const std::uint32_t lane = who_ == lanes::one ? 0 : thread;
    if (lane >= lanes_.size()) {
        if (lane >= max_lanes) {
            throw tool_error{
                fmt::format("the trace has more than {}, too many to play each in a thread of its own: leave "
                            "out --threads recorded",
                            plural(max_lanes, "thread", "threads"))};
        }
        lanes_.resize(lane + std::size_t{1});
        sequence_.lanes = lane + 1;
    }
    return lane;
}

/// Appends consecutive steps on one slot, which have one turn.
void sequence_builder::append(std::uint32_t lane, std::initializer_list<step> steps) {
    for (const step& each : steps) {
        if (each.kind() != step_kind::reset) ++sequence_.uses[each.shape()];
    }
    if (who_ == lanes::one) {
        for (const step& each : steps) sequence_.steps.push_back(each);
        return;
    }
    lane_state& state = lanes_[lane];
    if (state.left < steps.size()) begin_run(lane);
    lane_run& run = sequence_.runs[state.run];
    const std::uint32_t slot = steps.begin()->slot();
    for (const step& each : steps) {
        sequence_.steps[run.first + run.count] = each;
        sequence_.turns[run.first + run.count] = next_turns_[slot];
        ++run.count;
    }
    ++next_turns_[slot];
    state.left -= steps.size();
}

void sequence_builder::begin_run(std::uint32_t lane) {
    const std::uint64_t first = sequence_.steps.size();
    sequence_.steps.resize(first + run_steps);
    sequence_.turns.resize(first + run_steps);
    lanes_[lane].run = sequence_.runs.size();
    lanes_[lane].left = run_steps;
    sequence_.runs.push_back({first, 0, lane});
}

void sequence_builder::count_bytes(std::uint64_t added) {
    touched_.allocate(added);
    live_bytes_ += added;
    if (live_bytes_ <= sequence_.peak_bytes) return;
    sequence_.peak_bytes = live_bytes_;
    sequence_.peak_step = sequence_.steps.size() - 1;
}

void sequence_builder::count_release(std::uint64_t bytes) {
    touched_.release(bytes);
    live_bytes_ -= bytes;
}

std::uint32_t sequence_builder::shape_of(const event& e) {
    const shape wanted{e.size, e.alignment_log2 == 0 ? default_alignment : std::uint64_t{1} << e.alignment_log2,
                       is_new(e.op)};
    const auto [entry, added] = shape_numbers_.try_emplace(wanted, static_cast<std::uint32_t>(sequence_.shapes.size()));
    if (added) {
        if (sequence_.shapes.size() == max_shapes) {
            throw tool_error{
                fmt::format("the trace has more than {} different sizes, too many to replay", count_text(max_shapes))};
        }
        sequence_.shapes.push_back(wanted);
        sequence_.uses.push_back(0);
    }
    return entry->second;
}

std::uint32_t sequence_builder::take_slot(std::uint32_t lane) {
    lane_state& state = lanes_[lane];
    if (!state.freed.empty()) {
        const std::uint32_t slot = state.freed.back();
        state.freed.pop_back();
        return slot;
    }
    if (state.freed_by_others.size() > max_freed_by_others) {
        const std::uint32_t slot = state.freed_by_others.front();
        state.freed_by_others.pop_front();
        return slot;
    }
    if (state.fresh == state.fresh_end) add_slots(state);
    return state.fresh++;
}

void sequence_builder::add_slots(lane_state& state) {
    const std::uint32_t more = who_ == lanes::one ? 1 : slots_per_group;
    if (step::max_slots - sequence_.slots < more) {
        throw tool_error{"too many objects are live at a time to replay"};
    }
    state.fresh = sequence_.slots;
    state.fresh_end = sequence_.slots += more;
    if (who_ == lanes::as_recorded) next_turns_.resize(sequence_.slots);
}

}  // namespace acre::tool
