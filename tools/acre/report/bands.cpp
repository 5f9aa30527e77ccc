#include "bands.hpp"

#include <algorithm>

namespace acre::tool {

namespace {

void join(band& to, const band& next) {
    to.end = std::max(to.end, next.end);
    to.count += next.count;
    to.bytes = std::max(to.bytes, next.bytes);
}

}  // namespace

void band_lane::add(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
    // The clocks of several threads may go back a little.
    if (!bands_.empty()) begin = std::max(begin, bands_.back().end);
    end = std::max(end, begin);
    ++count_;
    total_time_ += end - begin;
    longest_ = std::max(longest_, end - begin);
    const band added{.begin = begin, .end = end, .bytes = bytes};
    if (!bands_.empty() && is_close(bands_.back(), added)) {
        join(bands_.back(), added);
        return;
    }
    bands_.push_back(added);
    while (bands_.size() > max_bands) {
        width_ = std::max<std::uint64_t>(width_ * 2, 100);
        merge_close();
    }
}

void band_lane::merge_close() {
    std::vector<band> merged;
    for (const band& each : bands_) {
        if (!merged.empty() && is_close(merged.back(), each)) {
            join(merged.back(), each);
        } else {
            merged.push_back(each);
        }
    }
    bands_ = std::move(merged);
}

void lane_list::keep_longest(std::size_t most) {
    if (lanes.size() <= most) return;
    std::vector<std::size_t> order(lanes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const std::uint64_t time_of_a = lanes[a].lane.total_time();
        const std::uint64_t time_of_b = lanes[b].lane.total_time();
        return time_of_a != time_of_b ? time_of_a > time_of_b : a < b;
    });
    omitted += order.size() - most;
    order.resize(most);
    std::sort(order.begin(), order.end());
    std::vector<named_lane> kept;
    for (const std::size_t i : order) kept.push_back(std::move(lanes[i]));
    lanes = std::move(kept);
}

}  // namespace acre::tool
