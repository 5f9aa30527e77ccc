#include "event_filter.hpp"

namespace acre::recorder {

namespace {

constexpr std::size_t smallest_shard = 512;  // a page

/// Vigna's xorshift64*: Marsaglia's xorshift with three shifts and a multiplication.
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

bool address_set::add(std::uintptr_t address) {
    const std::uint64_t hash = hash_of(address);
    shard& part = shard_of(hash);
    const lock_guard guard{part.changing};
    if (!part.make_room()) return false;
    std::uintptr_t& slot = part.slots[part.find(address)];
    if (slot == address) return true;
    slot = address;
    ++part.used;
    counts_[hash >> (64 - count_bits)].fetch_add(1, std::memory_order_relaxed);
    return true;
}

bool address_set::remove_counted(std::uintptr_t address, std::uint64_t hash) {
    shard& part = shard_of(hash);
    const lock_guard guard{part.changing};
    if (part.capacity == 0) return false;
    const std::size_t index = part.find(address);
    if (part.slots[index] != address) return false;
    part.remove(index);
    counts_[hash >> (64 - count_bits)].fetch_sub(1, std::memory_order_relaxed);
    return true;
}

std::size_t address_set::shard::home(std::uintptr_t address) const {
    return (hash_of(address) >> 16) & (capacity - 1);
}

/// The index of the address or of the free slot for it.
std::size_t address_set::shard::find(std::uintptr_t address) const {
    std::size_t index = home(address);
    while (slots[index] != 0 && slots[index] != address) index = (index + 1) & (capacity - 1);
    return index;
}

bool address_set::shard::make_room() {
    if (used * 2 < capacity) return true;
    const shard old{{}, used, capacity, slots};
    const std::size_t larger = capacity == 0 ? smallest_shard : capacity * 2;
    auto* pages = static_cast<std::uintptr_t*>(take_pages(larger * sizeof(std::uintptr_t)));
    if (pages == nullptr) return false;
    capacity = larger;
    slots = pages;
    for (std::size_t i = 0; i < old.capacity; ++i) {
        if (old.slots[i] != 0) slots[find(old.slots[i])] = old.slots[i];
    }
    if (old.slots != nullptr) system_call(__NR_munmap, old.slots, old.capacity * sizeof(std::uintptr_t));
    return true;
}

/// Moves the following addresses up, so that probing meets no hole.
void address_set::shard::remove(std::size_t hole) {
    const std::size_t mask = capacity - 1;
    for (std::size_t index = (hole + 1) & mask; slots[index] != 0; index = (index + 1) & mask) {
        if (((index - home(slots[index])) & mask) < ((index - hole) & mask)) continue;
        slots[hole] = slots[index];
        hole = index;
    }
    slots[hole] = 0;
    --used;
}

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
    // Each allocation is decided independently, so the gaps between sampled ones are geometrically distributed.
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
