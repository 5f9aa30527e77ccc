// P1 and P2: a batch of 64-byte blocks is allocated, then freed newest first (P1) or in a fixed shuffled order (P2).
// P3: as P2 with blocks of 16 to 512 bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../harness.hpp"

namespace bench {

inline constexpr std::size_t block_bytes = 64;

struct block {
    std::uint64_t words[block_bytes / sizeof(std::uint64_t)];
};

/// A `Pool` has `void* allocate()` and `void deallocate(void*)`.
template <class Pool>
class newest_first {
public:
    explicit newest_first(std::size_t count) : live_(count) {}

    void operator()() {
        for (void*& p : live_) {
            p = pool_.allocate();
            touch(p);
        }
        for (auto at = live_.rbegin(); at != live_.rend(); ++at) pool_.deallocate(*at);
    }

private:
    Pool pool_;
    std::vector<void*> live_;
};

template <class Pool>
class in_shuffled_order {
public:
    explicit in_shuffled_order(std::size_t count) : live_(count), order_{shuffled(count, 7)} {}

    void operator()() {
        for (void*& p : live_) {
            p = pool_.allocate();
            touch(p);
        }
        for (const std::uint32_t index : order_) pool_.deallocate(live_[index]);
    }

private:
    Pool pool_;
    std::vector<void*> live_;
    std::vector<std::uint32_t> order_;
};

/// P3: the sizes are known only at run time.
inline constexpr std::size_t smallest_mixed = 16;
inline constexpr std::size_t largest_mixed = 512;

/// A `Pool` has `void* allocate(bytes)` and `void deallocate(void*, bytes)` for blocks of any size.
template <class Pool>
class of_mixed_sizes {
public:
    explicit of_mixed_sizes(std::size_t count) : live_(count), order_{shuffled(count, 7)} {
        random_numbers random{23};
        for (block_of_size& each : live_) {
            each.bytes = smallest_mixed + random.below(largest_mixed - smallest_mixed + 1);
        }
    }

    void operator()() {
        for (block_of_size& each : live_) {
            each.p = pool_.allocate(each.bytes);
            touch(each.p);
        }
        for (const std::uint32_t index : order_) pool_.deallocate(live_[index].p, live_[index].bytes);
    }

private:
    struct block_of_size {
        void* p;
        std::size_t bytes;
    };
    Pool pool_;
    std::vector<block_of_size> live_;
    std::vector<std::uint32_t> order_;
};

template <class Pool>
void add_small_batches(suite& entries, const std::string& name) {
    entries.add(
        {.id = "P1", .title = "64 B, 1,000 live, freed newest first", .operations = 1000, .in_fresh_processes = true},
        name, [] { return make_round<newest_first<Pool>>(std::size_t{1000}); });
    entries.add({.id = "P2 1,000",
                 .title = "64 B, 1,000 live, freed in shuffled order",
                 .operations = 1000,
                 .in_fresh_processes = true},
                name, [] { return make_round<in_shuffled_order<Pool>>(std::size_t{1000}); });
}

template <class Pool>
void add_batches(suite& entries, const std::string& name) {
    add_small_batches<Pool>(entries, name);
    entries.add({.id = "P2 100,000",
                 .title = "64 B, 100,000 live, freed in shuffled order",
                 .operations = 100'000,
                 .in_fresh_processes = true},
                name, [] { return make_round<in_shuffled_order<Pool>>(std::size_t{100'000}); });
}

template <class Pool>
void add_mixed_batches(suite& entries, const std::string& name) {
    entries.add({.id = "P3",
                 .title = "16..512 B, 1,000 live, freed in shuffled order",
                 .operations = 1000,
                 .in_fresh_processes = true},
                name, [] { return make_round<of_mixed_sizes<Pool>>(std::size_t{1000}); });
}

}  // namespace bench
