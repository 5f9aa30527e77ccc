#include "usage.hpp"

#include <algorithm>

#include "trace/format.hpp"

namespace acre::tool {

std::uint64_t usage::lifetime_microseconds() const noexcept {
    return (freed_ticks + live_ticks) * (format::tick_nanoseconds / 1000);
}

double usage::mean_lifetime_nanoseconds() const noexcept {
    return static_cast<double>(freed_ticks) * format::tick_nanoseconds / static_cast<double>(freed());
}

void usage_table::allocate(const event& e, std::uint32_t key) {
    if (key >= by_key_.size()) {
        by_key_.resize(key + std::size_t{1});
        is_touched_.resize(by_key_.size());
    }
    lives_.insert(e.place, {e.size, e.time, key, e.thread});
    end_time_ = std::max(end_time_, e.time);
    usage& used = by_key_[key];
    used.allocated.add(e.size);
    used.live.add(e.size);
    used.smallest = std::min(used.smallest, e.size);
    used.largest = std::max(used.largest, e.size);
    if (used.live.bytes > used.peak.bytes || used.peak.count == 0) used.peak = used.live;
    all_.add(e.size);
    live_.add(e.size);
    touch(key);
    if (live_.bytes > peak_bytes_) take_peak(e.time);
}

usage_table::life usage_table::release(const event& e) {
    life gone;
    lives_.take(e.place, gone);
    end_time_ = std::max(end_time_, e.time);
    usage& used = by_key_[gone.key];
    used.live.remove(gone.size);
    used.freed_ticks += lifetime(gone.time, e.time) / format::tick_nanoseconds;
    if (e.thread != gone.thread) ++used.freed_elsewhere;
    live_.remove(gone.size);
    touch(gone.key);
    return gone;
}

void usage_table::finish(std::uint64_t duration) {
    end_time_ = std::max(end_time_, duration);
    lives_.for_each([&](std::uint64_t, const life& each) {
        by_key_[each.key].live_ticks += lifetime(each.time, end_time_) / format::tick_nanoseconds;
    });
}

void usage_table::touch(std::uint32_t key) {
    if (is_touched_[key]) return;
    is_touched_[key] = true;
    touched_.push_back(key);
}

/// Copies only the keys that changed since the last peak: over the run, at most as many as there are events.
void usage_table::take_peak(std::uint64_t time) {
    peak_time_ = time;
    peak_bytes_ = live_.bytes;
    for (const std::uint32_t key : touched_) {
        by_key_[key].at_peak = by_key_[key].live;
        is_touched_[key] = false;
    }
    touched_.clear();
}

}  // namespace acre::tool
