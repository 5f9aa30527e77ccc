#include "timeline.hpp"

namespace acre::tool {

/// Clocks of different threads may disagree a little: an earlier time counts for the latest bucket.
time_bucket& timeline::at(std::uint64_t time) {
    while (time / width_ >= max_buckets) halve();
    const auto number = static_cast<std::size_t>(time / width_);
    if (number >= buckets_.size()) buckets_.resize(number + 1);
    return buckets_.back();
}

void timeline::halve() {
    width_ *= 2;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        const time_bucket half = buckets_[i];
        time_bucket& whole = buckets_[i / 2];
        if (i % 2 == 0) {
            whole = half;
            continue;
        }
        whole.allocated.count += half.allocated.count;
        whole.allocated.bytes += half.allocated.bytes;
        whole.frees += half.frees;
        whole.max_bytes = std::max(whole.max_bytes, half.max_bytes);
        if (!half.is_empty()) whole.last_bytes = half.last_bytes;
    }
    buckets_.resize((buckets_.size() + 1) / 2);
}

std::vector<time_bucket> timeline::finish() {
    std::uint64_t before = 0;
    for (time_bucket& each : buckets_) {
        each.max_bytes = std::max(each.max_bytes, before);
        if (each.is_empty()) each.last_bytes = before;
        before = each.last_bytes;
    }
    return std::move(buckets_);
}

}  // namespace acre::tool
