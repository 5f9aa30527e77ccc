// Live bytes and allocations over the time of a run, in a bounded number of buckets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "info/trace_summary.hpp"
#include "trace/format.hpp"

namespace acre::tool {

/// An interval of time.
struct time_bucket {
    std::uint64_t max_bytes = 0;   // peak of live bytes in it
    std::uint64_t last_bytes = 0;  // live at its end
    std::uint64_t frees = 0;
    tally allocated;

    bool is_empty() const noexcept { return allocated.count == 0 && frees == 0; }
};

/// The length of the run need not be known: when the buckets are full, pairs of them are merged.
class timeline {
public:
    static constexpr std::size_t max_buckets = 1000;

    void allocate(std::uint64_t time, std::uint64_t size) {
        live_bytes_ += size;
        time_bucket& bucket = at(time);
        bucket.allocated.add(size);
        bucket.max_bytes = std::max(bucket.max_bytes, live_bytes_);
        bucket.last_bytes = live_bytes_;
    }

    void release(std::uint64_t time, std::uint64_t size) {
        time_bucket& bucket = at(time);
        live_bytes_ -= size;
        ++bucket.frees;
        bucket.last_bytes = live_bytes_;
    }

    std::uint64_t live_bytes() const noexcept { return live_bytes_; }
    std::uint64_t bucket_nanoseconds() const noexcept { return width_; }

    /// Must be called once, at the end. Buckets without events take over the live bytes from before.
    std::vector<time_bucket> finish();

private:
    time_bucket& at(std::uint64_t time);
    void halve();

    std::vector<time_bucket> buckets_;
    std::uint64_t width_ = format::tick_nanoseconds;
    std::uint64_t live_bytes_ = 0;
};

}  // namespace acre::tool
