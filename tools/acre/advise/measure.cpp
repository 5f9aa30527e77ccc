#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/comparison.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "text/text.hpp"
#include "thresholds.hpp"

namespace acre::tool {

namespace {

constexpr double seconds_an_advice = 2;

contender contender_of(const advice& each) {
    switch (each.suits) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return {resource_number("arena"), each.block_bytes};
        case verdict::object_pool:
            return {resource_number("pool"), each.slot_bytes};
        case verdict::multi_pool:
            return {resource_number("multi_pool"), 0};
        case verdict::concurrent:
        case verdict::leave:
            break;
    }
    return {system_number, 0};
}

void note_result(advice& each, const comparison& found, std::uint64_t cpu_nanoseconds) {
    measured_saving& saving = each.saving;
    const standing& candidate = found.standings.front();
    saving.rounds = found.rounds;
    if (candidate.failed() || found.system.failed()) {
        saving.failure = candidate.signal != 0 ? fmt::format("the replay ended with signal {}", candidate.signal)
                                               : "the replay ran out of memory";
        return;
    }
    saving.done = true;
    saving.nanoseconds = found.saved_nanoseconds(0);
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
double malloc_nanoseconds(replay_host& host, const history& run) {
    sequence_builder builder;
    for (const recorded_event& each : run.events()) builder.add(run.original(each));
    const sequence whole = builder.finish();
    comparison_options options;
    options.rounds = 3;
    const comparison found = compare(host, whole.view(), {}, options);
    if (found.system.failed()) return 0;
    return std::max(found.system.nanoseconds.median - found.loop_nanoseconds.median, 0.0);
}

}  // namespace

sequence advised_sequence(const history& run, const advice& of) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : of.contexts) member[context] = true;
    std::vector<std::vector<std::uint32_t>> by_thread(run.threads());
    for (std::uint32_t i = 0; i < run.events().size(); ++i) {
        const recorded_event& each = run.events()[i];
        if (member[each.context]) by_thread[run.objects()[each.object].thread].push_back(i);
    }
    sequence_builder builder;
    for (const auto& numbers : by_thread) {
        std::uint64_t live = 0;
        for (const std::uint32_t number : numbers) {
            const recorded_event& each = run.events()[number];
            builder.add(run.original(each));
            live += each.allocates != 0 ? 1 : ~std::uint64_t{0};
            const bool ends = each.allocates == 0 && live == 0 && each.function == of.function;
            if (of.suits == verdict::arena && ends) builder.reset();
        }
    }
    return builder.finish();
}

void measure_advices(replay_host& host, const history& run, advice_list& list,
                     const std::function<void(double)>& tell) {
    double done = 0;
    const auto all = static_cast<double>(list.advices.size() + 1);
    list.malloc_nanoseconds = malloc_nanoseconds(host, run);
    tell(++done / all);
    for (advice& each : list.advices) {
        const contender candidate = contender_of(each);
        if (candidate.resource != system_number) {
            comparison_options options;
            options.most_seconds = seconds_an_advice;
            const sequence steps = advised_sequence(run, each);
            note_result(each, compare(host, steps.view(), {candidate}, options), list.cpu_nanoseconds);
            judge(each);
        }
        tell(++done / all);
    }
}

}  // namespace acre::tool
