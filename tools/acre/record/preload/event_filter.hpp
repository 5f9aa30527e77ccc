// Which events are recorded: all of them, or one allocation in so many, or none while the recording is paused. Frees of
// recorded objects are recorded always, so that a trace never says of a freed object that it lives.
#pragma once

#include "system.hpp"

namespace acre::recorder {

/// Zeroed memory is an empty set. Any thread may call any function; one that frees an address comes after the one that
/// added it, as with any free.
class address_set {
public:
    /// False without memory. An address that is there already, because its free was not seen, is added once.
    bool add(std::uintptr_t address);

    /// Whether it was there.
    bool remove(std::uintptr_t address) {
        const std::uint64_t hash = hash_of(address);
        return counts_[hash >> (64 - count_bits)].load(std::memory_order_relaxed) != 0 && remove_counted(address, hash);
    }

private:
    static constexpr unsigned count_bits = 18;
    static constexpr unsigned shard_bits = 6;

    /// A part of the addresses: a hash table with linear probing.
    struct shard {
        spin_lock changing;
        std::size_t used;
        std::size_t capacity;   // a power of two
        std::uintptr_t* slots;  // 0: empty

        bool make_room();
        std::size_t find(std::uintptr_t address) const;
        std::size_t home(std::uintptr_t address) const;
        void remove(std::size_t place);
    };

    static std::uint64_t hash_of(std::uintptr_t address) { return (address >> 4) * 0x9e37'79b9'7f4a'7c15; }
    shard& shard_of(std::uint64_t hash) { return shards_[hash >> 4 & ((1u << shard_bits) - 1)]; }
    [[gnu::noinline]] bool remove_counted(std::uintptr_t address, std::uint64_t hash);

    std::atomic<std::uint32_t> counts_[1u << count_bits];  // of the addresses whose hash begins so
    shard shards_[1u << shard_bits];
};

/// Zeroed memory is a filter that takes all events.
class event_filter {
public:
    void begin(bool paused, std::uint32_t sampling_period);

    bool takes_all() const { return what_.load(std::memory_order_relaxed) == 0; }

    /// Whether to record that `p` was allocated; `random` is the thread's own, never 0.
    bool takes_allocation(const void* p, std::uint64_t& random);

    /// The same of an object whose free is recorded in either case.
    bool takes_forgotten(std::uint64_t& random) const;

    /// Whether to record that `p` is freed.
    bool takes_free(const void* p);

    /// Whether anything was recorded, and frees have to be.
    bool has_recorded() const { return (what_.load(std::memory_order_relaxed) & recorded_nothing) == 0; }

    /// For a free that was taken and did not happen.
    void restore(const void* p);

    bool paused() const { return (what_.load(std::memory_order_relaxed) & is_paused) != 0; }

    /// Whether that changes anything.
    bool set_paused(bool paused);

private:
    static constexpr std::uint32_t is_paused = 1;
    static constexpr std::uint32_t samples = 2;
    static constexpr std::uint32_t recorded_nothing = 4;  // paused since it began

    std::atomic<std::uint32_t> what_;
    std::uint64_t threshold_;  // random numbers up to it take an allocation
    address_set sampled_;
};

}  // namespace acre::recorder
