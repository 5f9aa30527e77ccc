// What one replacement costs: frees one object of n, chosen at random, and allocates another in its place. Caches,
// tables of sessions and simulations do so; batches, which acre-bench measures, do not.
//
// Usage: acre-churn [ROUNDS]. Prints two tables of nanoseconds for a replacement of 64 bytes, the least of five runs in
// turns: with free and allocation inlined into the loop, where a compiler may keep in registers what one leaves for the
// other, and as functions of their own, between which it goes through memory. malloc is a function of its own in both.
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

enum class calls { inlined, out_of_line };

/// A column of the tables.
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
    void run(std::size_t rounds, calls how) {
        const auto begun = std::chrono::steady_clock::now();
        how == calls::inlined ? replace_inlined(rounds) : replace_by_calls(rounds);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
        least_ = std::min(least_, took.count() / static_cast<double>(rounds));
    }
    void end() {
        for (void* each : live_) free_(each);
        [[maybe_unused]] static volatile std::uint64_t kept;
        kept = sum_;
    }

private:
    [[gnu::flatten]] void replace_inlined(std::size_t rounds) {
        for (std::size_t i = 0; i < rounds; ++i) {
            void*& place = chosen();
            free_(place);
            place = written(allocate_(), i);
        }
    }
    void replace_by_calls(std::size_t rounds) {
        for (std::size_t i = 0; i < rounds; ++i) {
            void*& place = chosen();
            call_free(place);
            place = written(call_allocate(), i);
        }
    }
    [[gnu::noinline]] void* call_allocate() { return allocate_(); }
    [[gnu::noinline]] void call_free(void* p) { free_(p); }

    void*& chosen() {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        // A division would take longer than what is measured.
        void*& place = live_[(random_ >> 32) * live_.size() >> 32];
        sum_ += *static_cast<std::uint64_t*>(place);
        return place;
    }
    static void* written(void* p, std::uint64_t i) {
        auto* const made = static_cast<std::uint64_t*>(p);
        made[0] = i;
        made[object_bytes / sizeof *made - 1] = i;
        return p;
    }

    const char* name_;
    Allocate allocate_;
    Free free_;
    std::vector<void*> live_;
    std::uint64_t random_ = 88'172'645'463'325'252;
    std::uint64_t sum_ = 0;
    double least_ = 0;
};

template <class... Columns>
void print_table(std::size_t rounds, calls how, Columns&... columns) {
    std::printf("%s:\n\n| objects |", how == calls::inlined ? "Inlined" : "Out of line");
    (std::printf(" %s |", columns.name()), ...);
    std::printf("\n|--:|");
    for (std::size_t i = 0; i < sizeof...(columns); ++i) std::printf("--:|");
    std::printf("\n");
    for (const std::size_t objects : {100, 1000, 5000, 20'000, 100'000, 1'000'000}) {
        (columns.begin(objects), ...);
        for (int run = 0; run < 5; ++run) (columns.run(rounds, how), ...);
        std::printf("| %zu |", objects);
        (std::printf(" %.1f |", columns.least()), ...);
        std::printf("\n");
        (columns.end(), ...);
    }
    std::printf("\n");
}

template <class... Columns>
void print_tables(std::size_t rounds, Columns... columns) {
    for (const calls each : {calls::inlined, calls::out_of_line}) print_table(rounds, each, columns...);
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t rounds = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2'000'000;
    acre::pool<object_bytes> pool;
    acre::multi_pool multi_pool;
    acre::concurrent_pool<object_bytes> concurrent_pool;
    acre::concurrent_multi_pool concurrent_multi_pool;
    acre::general_heap general_heap;
    print_tables(rounds, column{"malloc", [] { return std::malloc(object_bytes); }, [](void* p) { std::free(p); }},
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
