#include "arena_fitting.hpp"

#include <vector>

#include "fit/multi_arena_front.hpp"

namespace acre::tool {

void fit_arenas(advice& each, const history& run) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : each.contexts) member[context] = true;
    const event_source source = [&](const std::function<void(const event&)>& visit) {
        run.for_each([&](const recorded_event& recorded) {
            if (member[recorded.context]) visit(recorded.original());
        });
    };
    const multi_arena_front front = find_front(source, take_census(source));
    if (front.empty()) return;
    each.arenas = front.best().arenas;
    each.arena_bytes = front.best().bytes;
}

}  // namespace acre::tool
