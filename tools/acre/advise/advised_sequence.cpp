#include "advised_sequence.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "replay/sequence_builder.hpp"

namespace acre::tool {

namespace {

/// An event of an advice, as small as may be: many of them are sorted by their threads.
struct advised_event {
    std::uint64_t size = 0;
    std::uint32_t object = 0;  // number among those of the advice
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

events_by_thread advised_events(const history& run, const advice& of, std::size_t max_events) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : of.contexts) member[context] = true;
    std::vector<std::uint32_t> number_of_slot(run.slots());
    std::uint32_t objects = 0;
    std::size_t left = max_events;
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

sequence advised_sequence(const history& run, const advice& of, std::size_t max_events) {
    events_by_thread events = advised_events(run, of, max_events);
    sequence_builder builder;
    while (!events.empty()) {
        const auto one_thread = events.extract(events.begin());
        std::uint64_t live = 0;
        for (const advised_event& each : one_thread.mapped()) {
            builder.add(each.original(one_thread.key()));
            live += each.allocates ? 1 : ~std::uint64_t{0};
            // The end of a scratch takes everything back as well; a buffer on the stack ends by itself.
            const bool resets = of.suits == verdict::scratch || (of.suits == verdict::arena && each.in_function);
            if (resets && live == 0) builder.reset();
        }
    }
    return builder.finish();
}

sequence beginning_of(const history& run, std::size_t max_events) {
    sequence_builder builder;
    std::size_t left = max_events;
    run.for_each([&](const recorded_event& each) {
        if (left == 0) return false;
        --left;
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

}  // namespace acre::tool
