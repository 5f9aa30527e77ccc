// Decides which events are recorded: all of them, a sample of the allocations, or none in a pause. Frees of recorded
// objects are always recorded, so that a trace never has a freed object as live.
#pragma once

#include "system.hpp"

namespace acre::recorder {

/// The addresses of the live sampled objects; most look-ups end after one load. Zeroed memory is an empty set. Any
/// thread may call any function.
class address_set {
public:
    /// False if out of memory. Adding an address again, because its free was not seen, has no effect.
    bool add(std::uintptr_t address);

    /// Whether the address was in the set.
    bool remove(std::uintptr_t address) {
        const std::uint64_t hash = hash_of(address);
        return counts_[hash >> (64 - count_bits)].load(std::memory_order_relaxed) != 0 && remove_counted(address, hash);
    }

private:
    static constexpr unsigned count_bits = 18;
    static constexpr unsigned shard_bits = 6;

    /// A hash table with linear probing for a part of the addresses.
    struct shard {
        spin_lock changing;
        std::size_t used;
        std::size_t capacity;   // a power of two
        std::uintptr_t* slots;  // 0: empty

        bool make_room();
        std::size_t find(std::uintptr_t address) const;
        std::size_t home(std::uintptr_t address) const;
        void remove(std::size_t index);
    };

    static std::uint64_t hash_of(std::uintptr_t address) { return (address >> 4) * 0x9e37'79b9'7f4a'7c15; }
    shard& shard_of(std::uint64_t hash) { return shards_[hash >> 4 & ((1u << shard_bits) - 1)]; }
    [[gnu::noinline]] bool remove_counted(std::uintptr_t address, std::uint64_t hash);

    std::atomic<std::uint32_t> counts_[1u << count_bits];  // number of addresses, by the top bits of the hash
    shard shards_[1u << shard_bits];
};

/// Zeroed memory is a filter that accepts all events.
class event_filter {
public:
    void begin(bool paused, std::uint32_t sampling_period);

    bool takes_all() const { return what_.load(std::memory_order_relaxed) == 0; }

    /// Whether to record the allocation of `p`; `random` belongs to the thread and is not 0.
    bool takes_allocation(const void* p, std::uint64_t& random);

    /// The same for an object whose address need not be kept, because its resource's frees are always recorded.
    bool takes_forgotten(std::uint64_t& random) const;

    /// Whether to record the free of `p`.
    bool takes_free(const void* p);

    /// Whether anything was recorded yet; until then frees need not be recorded.
    bool has_recorded() const { return (what_.load(std::memory_order_relaxed) & recorded_nothing) == 0; }

    /// Undoes takes_free() for a free that did not happen.
    void restore(const void* p);

    bool paused() const { return (what_.load(std::memory_order_relaxed) & is_paused) != 0; }

    /// Returns whether the state changed.
    bool set_paused(bool paused);

private:
    static constexpr std::uint32_t is_paused = 1;
    static constexpr std::uint32_t samples = 2;
    static constexpr std::uint32_t recorded_nothing = 4;  // paused since the start

    std::atomic<std::uint32_t> what_;
    std::uint64_t threshold_;  // random numbers up to it select an allocation
    address_set sampled_;
};

}  // namespace acre::recorder
