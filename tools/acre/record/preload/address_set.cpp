#include "address_set.hpp"

namespace acre::recorder {

namespace {

constexpr std::size_t smallest_shard = 512;  // a page

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
    const std::size_t place = part.find(address);
    if (part.slots[place] != address) return false;
    part.remove(place);
    counts_[hash >> (64 - count_bits)].fetch_sub(1, std::memory_order_relaxed);
    return true;
}

std::size_t address_set::shard::home(std::uintptr_t address) const {
    return (hash_of(address) >> 16) & (capacity - 1);
}

/// Where the address is or would be.
std::size_t address_set::shard::find(std::uintptr_t address) const {
    std::size_t place = home(address);
    while (slots[place] != 0 && slots[place] != address) place = (place + 1) & (capacity - 1);
    return place;
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

/// What follows moves up, so that nothing is behind a hole.
void address_set::shard::remove(std::size_t hole) {
    const std::size_t mask = capacity - 1;
    for (std::size_t place = (hole + 1) & mask; slots[place] != 0; place = (place + 1) & mask) {
        if (((place - home(slots[place])) & mask) < ((place - hole) & mask)) continue;
        slots[hole] = slots[place];
        hole = place;
    }
    slots[hole] = 0;
    --used;
}

}  // namespace acre::recorder
