#include "advised_source.hpp"

#include <utility>
#include <vector>

namespace acre::tool {

event_source advised_source(const advice& of, const history& run, std::optional<std::uint32_t> thread) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : of.contexts) member[context] = true;
    return [&run, member = std::move(member), thread](const std::function<void(const event&)>& visit) {
        run.for_each([&](const recorded_event& recorded) {
            if (!member[recorded.context] || (thread && recorded.thread != *thread)) return;
            event e = recorded.original();
            e.stack = run.contexts()[recorded.context].stack;
            visit(e);
        });
    };
}

}  // namespace acre::tool
