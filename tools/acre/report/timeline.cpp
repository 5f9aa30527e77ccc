#include "timeline.hpp"

namespace acre::tool {

/// The clocks of several threads may go back a little: that happened in the bucket reached, in the order of the events.
time_bucket& timeline::at(std::uint64_t time) {
    while (time / width_ >= max_buckets) halve();
    const auto number = static_cast<std::size_t>(time / width_);
    if (number >= buckets_.size()) buckets_.resize(number + 1);
    return buckets_.back();
}

void timeline::halve() {
    width_ *= 2;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        const time_bucket part = buckets_[i];
        time_bucket& whole = buckets_[i / 2];
        if (i % 2 == 0) {
            whole = part;
            continue;
        }
        whole.allocated.count += part.allocated.count;
        whole.allocated.bytes += part.allocated.bytes;
        whole.frees += part.frees;
        whole.max_bytes = std::max(whole.max_bytes, part.max_bytes);
        if (!part.is_empty()) whole.last_bytes = part.last_bytes;
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
