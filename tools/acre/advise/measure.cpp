#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "advised_sequence.hpp"
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
    list.malloc_share = replayed_share(steps, run.event_count());
    const double taken = std::max(found.system.nanoseconds.median - found.loop_nanoseconds.median, 0.0);
    list.malloc_nanoseconds = taken / list.malloc_share;
}

}  // namespace

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
            each.saving.replayed_share = replayed_share(steps, each.figures.events());
            note_result(each, compare(host, steps.view(), {candidate}, options), list.cpu_nanoseconds);
            judge(each);
        }
        tell(++done / all);
    }
}

}  // namespace acre::tool
