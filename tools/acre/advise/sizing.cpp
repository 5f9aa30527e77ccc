#include "sizing.hpp"

#include <algorithm>
#include <bit>

#include "advised_events.hpp"
#include "fit/multi_arena_front.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t block_header = 24;
constexpr std::uint64_t granule = 16;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) {
    return (bytes + to - 1) / to * to;
}

/// The size that holds every generation; the 99th percentile where rare ones are much larger.
std::uint64_t usual_capacity(const generation_figures& generations) {
    const bool alike = generations.max_bytes <= generations.p99_bytes + generations.p99_bytes / 2;
    return alike ? generations.max_bytes : generations.p99_bytes;
}

/// The live bytes at the peak, each object rounded up as an arena does.
std::uint64_t rounded_peak(const group_figures& figures) {
    return figures.peak_bytes + figures.peak_objects * granule;
}

std::uint64_t first_block_bytes(const advice& each) {
    constexpr std::uint64_t min = 1024;
    constexpr std::uint64_t max = 1 << 20;
    const std::uint64_t wanted =
        each.candidate == verdict::arena ? usual_capacity(each.generations) : rounded_peak(each.figures);
    return std::clamp(rounded_up(wanted + block_header, min), min, max);
}

std::uint64_t buffer_bytes(const group_figures& figures) {
    constexpr std::uint64_t min = 64;
    return std::max(rounded_up(figures.largest + block_header, granule), min);
}

/// Estimates arenas for several objects each, and a few more of them than one lifetime fills.
void estimate_arenas(advice& each) {
    // A damaged trace may have any sizes.
    constexpr std::uint64_t max = std::uint64_t{1} << 40;
    const group_figures& figures = each.figures;
    each.arena_bytes =
        std::bit_ceil(std::min(std::max(2 * std::min(figures.largest, max), figures.peak_bytes / 8), max));
    each.arenas = (rounded_peak(figures) + figures.group_life) / each.arena_bytes + 2;
}

/// Half as many arenas again as the recorded order of events needs: another order, or sizes that a container chooses
/// itself, may need more.
void add_headroom(advice& each) {
    each.arenas += each.arenas / 2 + 1;
}

/// Takes the front's pair with the least memory, found for the neediest thread where each has arenas of its own. Keeps
/// the estimate where no pair serves the recorded order.
void fit_arenas(advice& each, const history& run) {
    estimate_arenas(each);
    const kept_events kept{advised_source(each, run, neediest_thread(each, run)), memory_for_advised_events};
    const event_source source = kept.source();
    // add_headroom() adds half as much again, so the last percent of memory is not worth the time.
    const front_options few_sizes{.rank = {}, .between_powers_of_two = false, .finer_steps = 4};
    const multi_arena_front front = find_front(source, take_census(source), few_sizes);
    if (front.empty()) return;
    each.arenas = front.best().arenas;
    each.arena_bytes = front.best().bytes;
}

}  // namespace

void choose_sizes(advice& each, const history& run) {
    each.block_bytes = first_block_bytes(each);
    each.slot_bytes = each.figures.top_size;
    if (traits_of(each.candidate).size == sized_by::buffer) each.buffer_bytes = buffer_bytes(each.figures);
    if (traits_of(each.candidate).size == sized_by::arenas) {
        fit_arenas(each, run);
        add_headroom(each);
    }
}

}  // namespace acre::tool
