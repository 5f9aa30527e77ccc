#include "traced_objects.hpp"

#include <algorithm>

namespace acre::tool {

namespace {

std::vector<live_object> in_order(std::vector<live_object> objects) {
    std::sort(objects.begin(), objects.end(),
              [](const live_object& a, const live_object& b) { return a.number < b.number; });
    return objects;
}

}  // namespace

bool traced_objects::take(std::uint64_t resource, std::uint64_t address, live_object& taken) {
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return false;
    const auto found = of->second.find(address);
    if (found == of->second.end()) return false;
    taken = found->second.object;
    of->second.erase(found);
    return true;
}

std::vector<live_object> traced_objects::take_since(std::uint64_t resource, std::uint64_t ticks) {
    std::vector<live_object> taken;
    const auto of = resources_.find(resource);
    if (of == resources_.end()) return taken;
    std::erase_if(of->second, [&](const auto& each) {
        if (each.second.ticks <= ticks) return false;
        taken.push_back(each.second.object);
        return true;
    });
    return in_order(std::move(taken));
}

std::vector<live_object> traced_objects::take_all(std::uint64_t resource) {
    std::vector<live_object> taken;
    const auto of = resources_.extract(resource);
    if (of.empty()) return taken;
    for (const auto& each : of.mapped()) taken.push_back(each.second.object);
    return in_order(std::move(taken));
}

}  // namespace acre::tool
