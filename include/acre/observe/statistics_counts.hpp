// The figures that acre::statistics keeps: plain values, to be copied and compared.
//
//     const acre::statistics_counts counts = counted.counts();
//     std::printf("%llu bytes at most\n", static_cast<unsigned long long>(counts.bytes.peak));
//
// The counter of {value, peak, total} is that of RMM's statistics adaptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace acre {

/// A quantity that goes up and down.
struct statistics_counter {
    std::uint64_t value = 0;  // now
    std::uint64_t peak = 0;   // the most it ever was
    std::uint64_t total = 0;  // the sum of all increases

    void add(std::uint64_t amount) noexcept {
        value += amount;
        total += amount;
        if (value > peak) peak = value;
    }
    void subtract(std::uint64_t amount) noexcept { value -= amount < value ? amount : value; }
    /// Down to `most`, if it is more.
    void lower_to(std::uint64_t most) noexcept { value = most < value ? most : value; }
};

/// What a statistics resource has counted.
struct statistics_counts {
    statistics_counter allocations;  // live, most live at once, all
    statistics_counter bytes;        // as asked for, without rounding
    std::uint64_t failures = 0;      // requests that could not be served
    std::uint64_t largest = 0;       // bytes of the largest request served

    void note_served(std::size_t size) noexcept {
        allocations.add(1);
        bytes.add(size);
        if (size > largest) largest = size;
    }
    void note_freed(std::uint64_t count, std::uint64_t size) noexcept {
        allocations.subtract(count);
        bytes.subtract(size);
    }
    void note_resized(std::size_t old_size, std::size_t new_size) noexcept {
        if (new_size >= old_size) {
            bytes.add(new_size - old_size);
        } else {
            bytes.subtract(old_size - new_size);
        }
    }
    void lower_to(std::uint64_t count, std::uint64_t size) noexcept {
        allocations.lower_to(count);
        bytes.lower_to(size);
    }

    /// What counting begins with where so much lives: peaks at what lives, totals at nothing.
    statistics_counts anew() const noexcept {
        return {.allocations = {allocations.value, allocations.value, 0}, .bytes = {bytes.value, bytes.value, 0}};
    }

    /// Several lines for people.
    std::string report(const char* name) const {
        char text[512];
        std::snprintf(text, sizeof text,
                      "%s\n"
                      "  allocations  %llu live, peak %llu, %llu in all, %llu failed\n"
                      "  bytes        %llu live, peak %llu, %llu in all, largest request %llu\n",
                      name, as_printed(allocations.value), as_printed(allocations.peak), as_printed(allocations.total),
                      as_printed(failures), as_printed(bytes.value), as_printed(bytes.peak), as_printed(bytes.total),
                      as_printed(largest));
        return text;
    }

private:
    static unsigned long long as_printed(std::uint64_t value) noexcept { return value; }
};

/// What was counted between a push_scope() and its pop_scope().
struct statistics_scope {
    /// `total`, `failures`, `largest`: of what was asked for within the scope. `value` and `peak`: of all that is live,
    /// what was live before the scope began included.
    statistics_counts counts;
    std::uint64_t allocations_before = 0;  // live when the scope began
    std::uint64_t bytes_before = 0;
};

}  // namespace acre
