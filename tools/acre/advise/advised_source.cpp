#include "advised_source.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace acre::tool {

std::optional<std::uint32_t> neediest_thread(const advice& of, const history& run) {
    if (of.figures.threads < 2 || !is_of_each_thread(of.suits)) return std::nullopt;
    struct living {
        std::uint64_t bytes = 0;
        std::uint64_t peak = 0;
    };
    std::map<std::uint32_t, living> threads;
    advised_source(of, run)([&](const event& e) {
        living& in = threads[e.thread];
        in.bytes += e.allocates ? e.size : std::uint64_t{0} - e.size;
        if (e.allocates) in.peak = std::max(in.peak, in.bytes);
    });
    const auto needs_less = [](const auto& a, const auto& b) { return a.second.peak < b.second.peak; };
    return std::max_element(threads.begin(), threads.end(), needs_less)->first;
}

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
