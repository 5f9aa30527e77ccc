#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "replay/comparison.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "text/text.hpp"
#include "thresholds.hpp"

namespace acre::tool {

namespace {

constexpr double seconds_an_advice = 2;  // at most
constexpr double seconds_in_all = 5;     // shared by all advices, besides the fewest rounds of each

contender contender_of(const advice& each) {
    switch (each.suits) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::stack_buffer:
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return {resource_number("arena"), {.bytes = each.block_bytes}};
        case verdict::object_pool:
            return {resource_number("pool"), {.bytes = each.slot_bytes}};
        case verdict::multi_pool:
            return {resource_number("multi_pool"), {}};
        case verdict::multi_arena:
        case verdict::concurrent_pool:
        case verdict::concurrent_multi_pool:
        case verdict::leave:
            break;
    }
    return {system_number, {}};
}

/// What a part of the events took, for all of them.
interval scaled(const interval& part, double share) {
    return {part.low / share, part.median / share, part.high / share};
}

/// How many of the events are in a sequence made of them.
double share_of(const sequence& steps, std::uint64_t events) {
    const auto resets = std::count_if(steps.steps.begin(), steps.steps.end(),
                                      [](const step& each) { return each.kind() == step_kind::reset; });
    const auto replayed = static_cast<double>(steps.steps.size()) - static_cast<double>(resets);
    return events == 0 ? 1 : replayed / static_cast<double>(events);
}

void note_result(advice& each, const comparison& found, std::uint64_t cpu_nanoseconds) {
    measured_saving& saving = each.saving;
    const standing& candidate = found.standings.front();
    saving.rounds = found.rounds;
    if (candidate.failed() || found.system.failed()) {
        saving.failure = candidate.last.signal != 0
                             ? fmt::format("the replay ended with signal {}", candidate.last.signal)
                             : "the replay ran out of memory";
        return;
    }
    saving.done = true;
    saving.nanoseconds = scaled(found.saved_nanoseconds(0), saving.replayed_share);
    saving.ratio = candidate.ratio;
    saving.system_peak_bytes = found.system.peak_bytes;
    saving.candidate_peak_bytes = candidate.peak_bytes;
    if (cpu_nanoseconds != 0) saving.share_of_cpu = saving.nanoseconds.median / static_cast<double>(cpu_nanoseconds);
}

/// Leaves alone what gains nothing, or too little for the change.
void judge(advice& each) {
    const measured_saving& saving = each.saving;
    const auto leave = [&](std::string reason) {
        each.says = verdict::leave;
        each.reason = std::move(reason);
    };
    if (!saving.done) return leave("it could not be measured: " + saving.failure);
    if (saving.nanoseconds.low <= 0) return leave("no gain over malloc could be measured");
    if (saving.share_of_cpu && *saving.share_of_cpu < threshold::worth_the_change) {
        leave(fmt::format("it would save less than {:.0f} % of the CPU time", threshold::worth_the_change * 100));
    }
}

/// What there is to save at most.
void measure_malloc(replay_host& host, const history& run, advice_list& list) {
    sequence_builder builder;
    std::size_t left = longest_replay;
    run.for_each([&](const recorded_event& each) {
        if (left == 0) return;
        --left;
        builder.add(each.original());
    });
    const sequence steps = builder.finish();
    comparison_options options;
    options.rounds = 3;
    const comparison found = compare(host, steps.view(), {}, options);
    if (found.system.failed()) return;
    list.malloc_share = share_of(steps, run.event_count());
    const double taken = std::max(found.system.nanoseconds.median - found.loop_nanoseconds.median, 0.0);
    list.malloc_nanoseconds = taken / list.malloc_share;
}

/// An event of an advice, as small as may be: many of them are sorted by their threads.
struct advised_event {
    std::uint64_t size = 0;
    std::uint32_t object = 0;  // number among those of the advice
    std::uint8_t alignment_log2 = 0;
    bool allocates = false;
    bool by_realloc = false;
    bool in_function = false;  // a free that the advice's function owns

    event original(std::uint32_t thread) const {
        return recorded_event{.object = object,
                              .size = size,
                              .thread = thread,
                              .alignment_log2 = alignment_log2,
                              .allocates = allocates,
                              .by_realloc = by_realloc}
            .original();
    }
};
static_assert(sizeof(advised_event) == 16);

using events_by_thread = std::map<std::uint32_t, std::vector<advised_event>>;

events_by_thread advised_events(const history& run, const advice& of, std::size_t most_events) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : of.contexts) member[context] = true;
    std::vector<std::uint32_t> number_of_slot(run.slots());
    std::uint32_t objects = 0;
    std::size_t left = most_events;
    events_by_thread events;
    run.for_each([&](const recorded_event& each) {
        if (left == 0 || !member[each.context]) return;
        --left;
        if (each.allocates) number_of_slot[each.slot] = objects++;
        events[each.thread].push_back({.size = each.size,
                                       .object = number_of_slot[each.slot],
                                       .alignment_log2 = each.alignment_log2,
                                       .allocates = each.allocates,
                                       .by_realloc = each.by_realloc,
                                       .in_function = !each.allocates && each.function == of.function});
    });
    return events;
}

}  // namespace

sequence advised_sequence(const history& run, const advice& of, std::size_t most_events) {
    events_by_thread events = advised_events(run, of, most_events);
    sequence_builder builder;
    while (!events.empty()) {
        const auto one_thread = events.extract(events.begin());
        std::uint64_t live = 0;
        for (const advised_event& each : one_thread.mapped()) {
            builder.add(each.original(one_thread.key()));
            live += each.allocates ? 1 : ~std::uint64_t{0};
            // The end of a scratch takes everything back as well.
            const bool resets = lies_in_owner(of.suits) || (of.suits == verdict::arena && each.in_function);
            if (resets && live == 0) builder.reset();
        }
    }
    return builder.finish();
}

void measure_advices(replay_host& host, const history& run, advice_list& list,
                     const std::function<void(double)>& tell) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    double done = 0;
    const auto all = static_cast<double>(list.advices.size() + 1);
    measure_malloc(host, run, list);
    tell(++done / all);
    for (advice& each : list.advices) {
        const contender candidate = contender_of(each);
        if (candidate.resource != system_number) {
            comparison_options options;
            const double left = seconds_in_all - std::chrono::duration<double>(clock::now() - start).count();
            options.most_seconds = std::clamp(left / (all - done), 0.0, seconds_an_advice);
            const sequence steps = advised_sequence(run, each);
            each.saving.replayed_share = share_of(steps, each.figures.events());
            note_result(each, compare(host, steps.view(), {candidate}, options), list.cpu_nanoseconds);
            judge(each);
        }
        tell(++done / all);
    }
}

}  // namespace acre::tool
