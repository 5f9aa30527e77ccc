// P1 and P2: blocks of 64 bytes, a batch allocated and then freed, newest first or in a fixed shuffled order.
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

/// A `Pool` gives and takes back blocks: `void* allocate()` and `void deallocate(void*)`.
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

template <class Pool>
void enter_small_batches(suite& entries, const std::string& name) {
    entries.enter({"P1", "64 B, 1,000 live, freed newest first", 1000}, name,
                  [] { return make_round<newest_first<Pool>>(std::size_t{1000}); });
    entries.enter({"P2 1,000", "64 B, 1,000 live, freed in shuffled order", 1000}, name,
                  [] { return make_round<in_shuffled_order<Pool>>(std::size_t{1000}); });
}

template <class Pool>
void enter_batches(suite& entries, const std::string& name) {
    enter_small_batches<Pool>(entries, name);
    entries.enter({"P2 100,000", "64 B, 100,000 live, freed in shuffled order", 100'000}, name,
                  [] { return make_round<in_shuffled_order<Pool>>(std::size_t{100'000}); });
}

}  // namespace bench
