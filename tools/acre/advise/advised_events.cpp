#include "advised_events.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "replay/sequence_builder.hpp"

namespace acre::tool {

namespace {

/// An event of an advice, kept small: up to max_replayed_events of them are sorted by thread.
struct advised_event {
    std::uint64_t size = 0;
    std::uint32_t object = 0;  // number among the advice's objects
    std::uint8_t alignment_log2 = 0;
    bool allocates : 1 = false;
    bool by_realloc : 1 = false;
    bool by_new : 1 = false;
    bool in_function : 1 = false;  // a free that the advice's function owns

    event original(std::uint32_t thread) const {
        return recorded_event{.object = object,
                              .size = size,
                              .thread = thread,
                              .alignment_log2 = alignment_log2,
                              .allocates = allocates,
                              .by_realloc = by_realloc,
                              .by_new = by_new}
            .original();
    }
};
static_assert(sizeof(advised_event) == 16);

using events_by_thread = std::map<std::uint32_t, std::vector<advised_event>>;

events_by_thread advised_events(const history& run, const advice& of, std::uint64_t max_events) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : of.contexts) member[context] = true;
    std::vector<std::uint32_t> number_of_slot(run.slots());
    std::uint32_t objects = 0;
    std::uint64_t left = max_events;
    events_by_thread events;
    run.for_each([&](const recorded_event& each) {
        if (left == 0) return false;
        if (!member[each.context]) return true;
        --left;
        if (each.allocates) number_of_slot[each.slot] = objects++;
        events[each.thread].push_back({.size = each.size,
                                       .object = number_of_slot[each.slot],
                                       .alignment_log2 = each.alignment_log2,
                                       .allocates = each.allocates,
                                       .by_realloc = each.by_realloc,
                                       .by_new = each.by_new,
                                       .in_function = !each.allocates && each.function == of.function});
        return true;
    });
    return events;
}

}  // namespace

sequence advised_sequence(const history& run, const advice& of, const replay_window& window) {
    events_by_thread events = advised_events(run, of, window.events);
    const reset_point at = traits_of(of.candidate).reset;
    sequence_builder builder;
    while (!events.empty()) {
        const auto one_thread = events.extract(events.begin());
        std::uint64_t live = 0;
        for (const advised_event& each : one_thread.mapped()) {
            if (builder.is_full(window)) return builder.finish();
            builder.add(each.original(one_thread.key()));
            live += each.allocates ? 1 : ~std::uint64_t{0};
            const bool resets = at == reset_point::when_empty || (at == reset_point::in_owner && each.in_function);
            if (resets && live == 0) builder.reset();
        }
    }
    return builder.finish();
}

sequence beginning_of(const history& run, const replay_window& window) {
    sequence_builder builder;
    run.for_each([&](const recorded_event& each) {
        if (builder.is_full(window)) return false;
        builder.add(each.original());
        return true;
    });
    return builder.finish();
}

double replayed_share(const sequence& steps, std::uint64_t events) {
    const auto resets = std::count_if(steps.steps.begin(), steps.steps.end(),
                                      [](const step& each) { return each.kind() == step_kind::reset; });
    const auto replayed = static_cast<double>(steps.steps.size()) - static_cast<double>(resets);
    return events == 0 ? 1 : replayed / static_cast<double>(events);
}

std::optional<std::uint32_t> neediest_thread(const advice& of, const history& run) {
    if (of.figures.threads < 2 || !traits_of(of.candidate).one_each_thread) return std::nullopt;
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
