#include "sequence_builder.hpp"

#include <utility>

#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t default_alignment = 16;

}  // namespace

void sequence_builder::add(const event& e) {
    if (e.thread >= halves_.size()) halves_.resize(e.thread + std::size_t{1});
    half_realloc& half = halves_[e.thread];
    if (half.open && e.allocates && e.op == operation::realloc) {
        half.open = false;
        reallocate(e, half.object);
        return;
    }
    close(half);
    if (e.allocates) {
        allocate(e);
    } else if (e.op == operation::realloc) {
        half = {true, e.object};
    } else {
        release(e.object);
    }
}

void sequence_builder::reset() {
    for (half_realloc& half : halves_) close(half);
    sequence_.steps.emplace_back(step_kind::reset, 0, 0);
}

sequence sequence_builder::finish() {
    for (half_realloc& half : halves_) close(half);
    live_.for_each([&](std::uint64_t, const live_object& object) {
        sequence_.survivors.emplace_back(step_kind::release, object.slot, object.shape);
    });
    return std::exchange(*this, sequence_builder{}).sequence_;
}

void sequence_builder::close(half_realloc& half) {
    if (std::exchange(half.open, false)) release(half.object);
}

void sequence_builder::allocate(const event& e) {
    const live_object made{take_slot(), shape_of(e)};
    live_.insert(e.object, made);
    sequence_.steps.emplace_back(step_kind::allocate, made.slot, made.shape);
    count_bytes(e.size);
}

void sequence_builder::release(std::uint64_t object) {
    live_object gone;
    if (!live_.take(object, gone)) return;
    sequence_.steps.emplace_back(step_kind::release, gone.slot, gone.shape);
    live_bytes_ -= sequence_.shapes[gone.shape].bytes;
    free_slots_.push_back(gone.slot);
}

void sequence_builder::reallocate(const event& acquired, std::uint64_t released) {
    live_object gone;
    if (!live_.take(released, gone)) return allocate(acquired);
    const live_object made{gone.slot, shape_of(acquired)};
    live_.insert(acquired.object, made);
    sequence_.steps.emplace_back(step_kind::reallocate, made.slot, made.shape);
    sequence_.steps.emplace_back(step_kind::reallocate, gone.slot, gone.shape);
    live_bytes_ -= sequence_.shapes[gone.shape].bytes;
    count_bytes(acquired.size);
}

void sequence_builder::count_bytes(std::uint64_t added) {
    live_bytes_ += added;
    if (live_bytes_ <= sequence_.peak_bytes) return;
    sequence_.peak_bytes = live_bytes_;
    sequence_.peak_step = sequence_.steps.size() - 1;
}

std::uint32_t sequence_builder::shape_of(const event& e) {
    const shape wanted{e.size, e.alignment_log2 == 0 ? default_alignment : std::uint64_t{1} << e.alignment_log2};
    const auto [place, added] = shape_numbers_.try_emplace(wanted, static_cast<std::uint32_t>(sequence_.shapes.size()));
    if (added) sequence_.shapes.push_back(wanted);
    return place->second;
}

std::uint32_t sequence_builder::take_slot() {
    if (free_slots_.empty()) {
        if (sequence_.slots == step::most_slots) throw tool_error{"too many objects live at a time to replay them"};
        return sequence_.slots++;
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

}  // namespace acre::tool
