#include "scope_bands.hpp"

#include <algorithm>

namespace acre::tool {

void scope_bands::add(const mark& m) {
    switch (m.kind) {
        case mark_kind::scope_begin:
            enter(m);
            break;
        case mark_kind::scope_end:
            leave(m);
            break;
        case mark_kind::recording_paused:
            if (!paused_) pause_begin_ = m.time;
            paused_ = true;
            break;
        case mark_kind::recording_resumed:
            if (paused_) pauses_.add(pause_begin_, std::max(m.time, pause_begin_), 0);
            paused_ = false;
            break;
    }
}

void scope_bands::enter(const mark& m) {
    const auto key = std::pair{m.name, m.thread};
    auto found = lanes_.find(key);
    if (found == lanes_.end()) {
        if (lanes_.size() == max_lanes) return;
        found = lanes_.try_emplace(key).first;
    }
    if (found->second.depth++ == 0) found->second.begin = m.time;
}

void scope_bands::leave(const mark& m) {
    const auto found = lanes_.find({m.name, m.thread});
    if (found == lanes_.end() || found->second.depth == 0) return;
    open_lane& open = found->second;
    if (--open.depth == 0) open.lane.add(open.begin, std::max(m.time, open.begin), 0);
}

lane_list scope_bands::finish(std::uint64_t end, const trace_tables& tables) {
    if (paused_) pauses_.add(pause_begin_, std::max(end, pause_begin_), 0);
    lane_list list;
    for (auto& [key, open] : lanes_) {
        if (open.depth != 0) open.lane.add(open.begin, std::max(end, open.begin), 0);
        list.lanes.push_back({tables.scope_names[key.first], key.second, 0, std::move(open.lane)});
    }
    return list;
}

}  // namespace acre::tool
