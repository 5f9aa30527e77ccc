#include "generation_bands.hpp"

#include <unordered_map>

namespace acre::tool {

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

/// Whether the lifetime belongs to the scope itself, and not to what it calls.
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

}  // namespace acre::tool
