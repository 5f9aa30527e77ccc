// What one replacement costs: frees one object of n, chosen at random, and allocates another in its place. Caches,
// tables of sessions and simulations do so; batches, which acre-bench measures, do not.
//
// Usage: acre-churn [ROUNDS]. Prints a table of nanoseconds for a replacement of 64 bytes, the least of five runs in
// turns.
#include <acre/acre.hpp>
#include <acre/heaps/general_heap.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

constexpr std::size_t object_bytes = 64;

/// A column of the table.
template <class Allocate, class Free>
class column {
public:
    column(const char* name, Allocate allocate, Free free) : name_{name}, allocate_{allocate}, free_{free} {}

    const char* name() const { return name_; }
    double least() const { return least_; }

    void begin(std::size_t objects) {
        least_ = std::numeric_limits<double>::max();
        live_.resize(objects);
        for (void*& each : live_) each = allocate_();
    }
    void run(std::size_t rounds) {
        const auto begun = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < rounds; ++i) {
            random_ ^= random_ << 13;
            random_ ^= random_ >> 7;
            random_ ^= random_ << 17;
            void*& place = live_[random_ % live_.size()];
            sum_ += *static_cast<std::uint64_t*>(place);
            free_(place);
            auto* const made = static_cast<std::uint64_t*>(allocate_());
            made[0] = i;
            made[object_bytes / sizeof *made - 1] = i;
            place = made;
        }
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
        least_ = std::min(least_, took.count() / static_cast<double>(rounds));
    }
    void end() {
        for (void* each : live_) free_(each);
        [[maybe_unused]] static volatile std::uint64_t kept;
        kept = sum_;
    }

private:
    const char* name_;
    Allocate allocate_;
    Free free_;
    std::vector<void*> live_;
    std::uint64_t random_ = 88'172'645'463'325'252;
    std::uint64_t sum_ = 0;
    double least_ = 0;
};

template <class... Columns>
void print_table(std::size_t rounds, Columns... columns) {
    std::printf("| objects |");
    (std::printf(" %s |", columns.name()), ...);
    std::printf("\n|--:|");
    for (std::size_t i = 0; i < sizeof...(columns); ++i) std::printf("--:|");
    std::printf("\n");
    for (const std::size_t objects : {100, 1000, 5000, 20'000, 100'000, 1'000'000}) {
        (columns.begin(objects), ...);
        for (int run = 0; run < 5; ++run) (columns.run(rounds), ...);
        std::printf("| %zu |", objects);
        (std::printf(" %.1f |", columns.least()), ...);
        std::printf("\n");
        (columns.end(), ...);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2'000'000;
    acre::pool<object_bytes> pool;
    acre::multi_pool multi_pool;
    acre::concurrent_pool<object_bytes> concurrent_pool;
    acre::concurrent_multi_pool concurrent_multi_pool;
    acre::general_heap general_heap;
    print_table(rounds, column{"malloc", [] { return std::malloc(object_bytes); }, [](void* p) { std::free(p); }},
                column{"pool", [&] { return pool.allocate(); }, [&](void* p) { pool.deallocate(p); }},
                column{"multi_pool", [&] { return multi_pool.allocate(object_bytes, 8); },
                       [&](void* p) { multi_pool.deallocate(p, object_bytes, 8); }},
                column{"concurrent_pool", [&] { return concurrent_pool.allocate(); },
                       [&](void* p) { concurrent_pool.deallocate(p); }},
                column{"concurrent_multi_pool", [&] { return concurrent_multi_pool.allocate(object_bytes, 8); },
                       [&](void* p) { concurrent_multi_pool.deallocate(p, object_bytes, 8); }},
                column{"general_heap", [&] { return general_heap.allocate(object_bytes, 8); },
                       [&](void* p) { general_heap.deallocate(p, object_bytes, 8); }});
}
