#include "sizing.hpp"

#include <algorithm>
#include <bit>

namespace acre::tool {

namespace {

constexpr std::uint64_t block_header = 24;
constexpr std::uint64_t granule = 16;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) {
    return (bytes + to - 1) / to * to;
}

/// All generations in one block, unless a rare one is much larger than the rest.
std::uint64_t usual_capacity(const generation_figures& generations) {
    const bool alike = generations.max_bytes <= generations.p99_bytes + generations.p99_bytes / 2;
    return alike ? generations.max_bytes : generations.p99_bytes;
}

/// What lives at the peak, each object rounded up as an arena does.
std::uint64_t rounded_peak(const group_figures& figures) {
    return figures.peak_bytes + figures.peak_objects * granule;
}

std::uint64_t first_block_bytes(const advice& each) {
    constexpr std::uint64_t least = 1024;
    constexpr std::uint64_t most = 1 << 20;
    const std::uint64_t wanted =
        each.suits == verdict::arena ? usual_capacity(each.generations) : rounded_peak(each.figures);
    return std::clamp(rounded_up(wanted + block_header, least), least, most);
}

std::uint64_t buffer_bytes(const group_figures& figures) {
    constexpr std::uint64_t least = 64;
    return std::max(rounded_up(figures.largest + block_header, granule), least);
}

/// A few arenas more than a life takes, each for several objects.
void choose_arenas(advice& each) {
    // Sizes in a trace may be anything.
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    const group_figures& figures = each.figures;
    each.arena_bytes =
        std::bit_ceil(std::min(std::max(2 * std::min(figures.largest, most), figures.peak_bytes / 8), most));
    each.arenas = (rounded_peak(figures) + figures.group_life) / each.arena_bytes + 2;
}

}  // namespace

void choose_sizes(advice& each) {
    each.block_bytes = first_block_bytes(each);
    each.slot_bytes = each.figures.top_size;
    if (each.suits == verdict::stack_buffer) each.buffer_bytes = buffer_bytes(each.figures);
    if (each.suits == verdict::multi_arena) choose_arenas(each);
}

}  // namespace acre::tool
