#include "event_filter.hpp"

namespace acre::recorder {
namespace {

/// Marsaglia's xorshift with three shifts and a multiplication (Vigna's xorshift64*).
std::uint64_t next_random(std::uint64_t& state) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545'f491'4f6c'dd1d;
}

std::uintptr_t address_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

}  // namespace

void event_filter::begin(bool paused, std::uint32_t sampling_period) {
    threshold_ = ~std::uint64_t{0} / sampling_period;
    what_.store((paused ? is_paused | recorded_nothing : 0) | (sampling_period > 1 ? samples : 0),
                std::memory_order_relaxed);
}

bool event_filter::takes_allocation(const void* p, std::uint64_t& random) {
    const bool listed = (what_.load(std::memory_order_relaxed) & samples) != 0;
    return takes_forgotten(random) && (!listed || sampled_.add(address_of(p)));
}

bool event_filter::takes_forgotten(std::uint64_t& random) const {
    const std::uint32_t what = what_.load(std::memory_order_relaxed);
    if ((what & is_paused) != 0) return false;
    // Each allocation decides for itself, so the numbers of those left out are distributed geometrically.
    return (what & samples) == 0 || next_random(random) <= threshold_;
}

bool event_filter::takes_free(const void* p) {
    if (!has_recorded()) return false;
    return (what_.load(std::memory_order_relaxed) & samples) == 0 || sampled_.remove(address_of(p));
}

void event_filter::restore(const void* p) {
    if ((what_.load(std::memory_order_relaxed) & samples) != 0) sampled_.add(address_of(p));
}

bool event_filter::set_paused(bool paused) {
    const std::uint32_t before = paused ? what_.fetch_or(is_paused, std::memory_order_relaxed)
                                        : what_.fetch_and(~(is_paused | recorded_nothing), std::memory_order_relaxed);
    return ((before & is_paused) != 0) != paused;
}

}  // namespace acre::recorder
