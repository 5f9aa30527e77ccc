#include "bands.hpp"

#include <algorithm>
#include <unordered_map>

#include "text/text.hpp"

namespace acre::tool {

namespace {

void join(band& to, const band& next) {
    to.end = std::max(to.end, next.end);
    to.count += next.count;
    to.bytes = std::max(to.bytes, next.bytes);
}

}  // namespace

void band_lane::add(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
    // Clocks of different threads may disagree a little.
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

void lane_list::keep_longest(std::size_t count) {
    if (lanes.size() <= count) return;
    std::vector<std::size_t> order(lanes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const std::uint64_t time_of_a = lanes[a].lane.total_time();
        const std::uint64_t time_of_b = lanes[b].lane.total_time();
        return time_of_a != time_of_b ? time_of_a > time_of_b : a < b;
    });
    omitted += order.size() - count;
    order.resize(count);
    std::sort(order.begin(), order.end());
    std::vector<named_lane> kept;
    kept.reserve(order.size());
    for (const std::size_t i : order) kept.push_back(std::move(lanes[i]));
    lanes = std::move(kept);
}

generation_bands::generation_bands(const std::vector<advice>& advices, const history& run, const call_paths& paths)
    : advices_{advices}, paths_{paths} {
    std::unordered_map<std::uint64_t, std::uint32_t> scopes;  // by node and site, as contexts are told apart
    const auto key = [](std::uint32_t node, std::uint32_t site) { return std::uint64_t{node} << 32 | site; };
    for (std::uint32_t i = 0; i < advices.size(); ++i) {
        if (!advices[i].of_scope) continue;
        for (const std::uint32_t number : advices[i].contexts) {
            const allocation_context& context = run.contexts()[number];
            scopes[key(context.node, context.site)] = i;
        }
    }
    if (scopes.empty()) return;
    for (std::uint32_t stack = 0; stack < paths.stacks(); ++stack) {
        const auto found = scopes.find(key(paths.node(stack), paths.site(stack)));
        scope_of_stack_.push_back(found == scopes.end() ? no_scope : found->second);
    }
}

void generation_bands::allocate(const event& e) {
    if (scope_of_stack_.empty()) return;
    const std::uint32_t scope = scope_of_stack_[e.stack];
    if (scope == no_scope) return;
    open_lane& lane = lanes_[{scope, e.thread}];
    if (!lane.running) {
        lane.running = true;
        lane.begin = e.time;
        lane.bytes = 0;
    }
    ++lane.live_objects;
    lane.bytes += e.size;
}

void generation_bands::release(const event& e, std::uint32_t birth_stack, std::uint32_t birth_thread) {
    if (scope_of_stack_.empty()) return;
    const std::uint32_t scope = scope_of_stack_[birth_stack];
    if (scope == no_scope) return;
    open_lane& lane = lanes_[{scope, birth_thread}];
    if (--lane.live_objects != 0 || !owns(scope, birth_stack, e.stack)) return;
    lane.lane.add(lane.begin, e.time, lane.bytes);
    lane.running = false;
}

/// Whether the scope itself owns the lifetime, not a function that it calls.
bool generation_bands::owns(std::uint32_t scope, std::uint32_t birth_stack, std::uint32_t free_stack) const {
    const std::uint32_t common = paths_.common(paths_.node(birth_stack), paths_.node(free_stack));
    return paths_.nodes()[paths_.own_code(common)].function == advices_[scope].function;
}

lane_list generation_bands::finish() {
    lane_list list;
    for (auto& [key, open] : lanes_) {
        if (open.lane.count() == 0) continue;
        const std::string& name = paths_.functions()[advices_[key.first].function].short_name;
        list.lanes.push_back({name, key.second, key.first, std::move(open.lane)});
    }
    return list;
}

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
        list.lanes.push_back({printable(tables.scope_names[key.first]), key.second, 0, std::move(open.lane)});
    }
    return list;
}

}  // namespace acre::tool
