#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "advised_sequence.hpp"
#include "replay/comparison.hpp"
#include "replay/contender_list.hpp"
#include "replay/resources.hpp"
#include "text/text.hpp"
#include "thresholds.hpp"

namespace acre::tool {

namespace {

constexpr double seconds_an_advice = 2;  // at most
constexpr double seconds_in_all = 5;     // shared by all advices, besides the fewest rounds of each
constexpr std::uint32_t rounds_of_whole_run = 3;
constexpr std::uint32_t rounds_of_long_run = 2;
constexpr double seconds_of_whole_run = 1.5;  // then those of a long run are enough
constexpr std::uint32_t rounds_on_littered_heap = 5;
constexpr std::uint32_t min_on_littered_heap = 3;
constexpr double seconds_on_littered_heap = 1.5;  // then the fewest are enough

contender contender_of(const advice& each) {
    switch (each.suits) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return {resource_number("arena"), {.bytes = each.block_bytes}};
        case verdict::stack_buffer:
            return {resource_number("stack_buffer"), {}};
        case verdict::object_pool:
            return {resource_number("pool"), {.bytes = each.slot_bytes}};
        case verdict::multi_pool:
            return {resource_number("multi_pool"), {}};
        case verdict::multi_arena:
            return {resource_number("multi_arena"), {.count = each.arenas, .bytes = each.arena_bytes}};
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            return {resource_number("concurrent_multi_pool"), {}};
        case verdict::leave:
            break;
    }
    return {system_number, {}};
}

/// What a part of the events took, for all of them.
interval scaled(const interval& part, double share) {
    return {part.low / share, part.median / share, part.high / share};
}

/// Who takes part in the measuring of an advice: what is advised first.
struct field {
    std::vector<contender> contenders;
    std::optional<std::size_t> frees_left_out;  // positions in it
    std::optional<std::size_t> preload;

    field(const advice& each, const std::optional<contender>& best_preload) : contenders{contender_of(each)} {
        // A buffer on the stack is played without single frees anyhow.
        if (resources()[contenders.front().resource].takes_all_back) {
            frees_left_out = contenders.size();
            contenders.push_back(contenders.front());
            contenders.back().without_frees = true;
            contenders.back().time_only = true;
        }
        if (best_preload) {
            preload = contenders.size();
            contenders.push_back(*best_preload);
            contenders.back().time_only = true;
        }
    }

    /// Those of the advice, without the other malloc.
    std::vector<contender> on_littered_heap() const {
        return {contenders.begin(), contenders.begin() + static_cast<std::ptrdiff_t>(frees_left_out.value_or(0)) + 1};
    }
};

/// Whether one of the field took part and came to the end, as malloc did.
bool took(const comparison& in, const std::optional<std::size_t>& contender) {
    return contender && !in.system.failed() && !in.standings[*contender].failed();
}

void note_clean(advice& each, const field& took_part, const comparison& found, std::uint64_t cpu_nanoseconds) {
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
    saving.cpu_nanoseconds = static_cast<double>(cpu_nanoseconds);
    const auto saved = [&](std::size_t contender) {
        return scaled(found.saved_nanoseconds(contender), saving.replayed_share);
    };
    saving.nanoseconds = saved(0);
    if (took(found, took_part.frees_left_out)) saving.frees_left_out = saved(*took_part.frees_left_out);
    if (took(found, took_part.preload)) {
        const std::string name = contender_text(took_part.contenders[*took_part.preload]);
        saving.preload = preload_saving{name, saved(*took_part.preload)};
    }
    saving.ratio = candidate.ratio;
    saving.system_peak_bytes = found.system.peak_bytes;
    saving.candidate_peak_bytes = candidate.peak_bytes;
    if (cpu_nanoseconds != 0) saving.share_of_cpu = saving.nanoseconds.median / static_cast<double>(cpu_nanoseconds);
}

void note_littered(advice& each, const field& took_part, const comparison& found) {
    measured_saving& saving = each.saving;
    const auto saved = [&](std::size_t contender) {
        return scaled(found.saved_nanoseconds(contender), saving.replayed_share);
    };
    if (took(found, 0)) saving.littered_nanoseconds = saved(0);
    if (took(found, took_part.frees_left_out)) {
        saving.littered_frees_left_out = saved(*took_part.frees_left_out);
    }
}

/// Leaves alone what gains nothing, or too little for the change.
void judge(advice& each) {
    const measured_saving& saving = each.saving;
    const auto leave = [&](std::string reason) {
        each.says = verdict::leave;
        each.reason = std::move(reason);
    };
    if (!saving.done) return leave("it could not be measured: " + saving.failure);
    if (saving.nanoseconds.high < 0) return leave("malloc is faster here");
    if (saving.nanoseconds.low <= 0) return leave("no gain over malloc could be measured");
    // What threads cost each other in malloc, mostly far more, is not in the figures.
    const bool of_threads =
        each.suits == verdict::concurrent_object_pool || each.suits == verdict::concurrent_multi_pool;
    if (!of_threads && saving.share_of_cpu && *saving.share_of_cpu < threshold::worth_the_change) {
        leave(fmt::format("it would save less than {:.0f} % of the CPU time", threshold::worth_the_change * 100));
    }
}

/// What there is to save at most, and what another malloc saves: the best to preload, if any saves anything.
std::optional<contender> measure_malloc(replay_host& host, const history& run, advice_list& list) {
    const sequence steps = beginning_of(run, longest_replay);
    comparison_options options;
    options.rounds = rounds_of_whole_run;
    options.min_rounds = rounds_of_long_run;
    options.max_seconds = seconds_of_whole_run;
    std::vector<contender> preloads = installed_contenders("preloads");
    for (contender& each : preloads) each.time_only = true;
    const comparison found = compare(host, steps.view(), preloads, options);
    if (found.system.failed()) return std::nullopt;
    list.malloc_share = replayed_share(steps, run.event_count());
    const double taken = std::max(found.system.nanoseconds.median - found.loop_nanoseconds.median, 0.0);
    list.malloc_nanoseconds = taken / list.malloc_share;
    std::optional<contender> best;
    double most = 0;
    for (std::size_t i = 0; i < preloads.size(); ++i) {
        if (found.standings[i].failed()) continue;
        const interval saved = scaled(found.saved_nanoseconds(i), list.malloc_share);
        list.preloads.push_back({contender_text(preloads[i]), saved});
        if (saved.low <= 0 || saved.median <= most) continue;
        most = saved.median;
        best = preloads[i];
    }
    std::sort(list.preloads.begin(), list.preloads.end(), [](const preload_saving& a, const preload_saving& b) {
        return a.nanoseconds.median != b.nanoseconds.median ? a.nanoseconds.median > b.nanoseconds.median
                                                            : a.name < b.name;
    });
    return best;
}

/// Enough blocks to fragment the heap for these steps.
std::uint32_t litter_for(const sequence& steps) {
    constexpr std::uint64_t most = 500'000;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(20 * std::uint64_t{steps.slots}, 200'000, most));
}

}  // namespace

void measure_advices(replay_host& host, const history& run, advice_list& list,
                     const std::function<void(double)>& tell) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    double done = 0;
    const auto all = static_cast<double>(list.advices.size() + 1);
    const std::optional<contender> best_preload = measure_malloc(host, run, list);
    tell(++done / all);
    for (advice& each : list.advices) {
        if (each.suits != verdict::leave) {
            comparison_options options;
            const double left = seconds_in_all - std::chrono::duration<double>(clock::now() - start).count();
            options.max_seconds = std::clamp(left / (all - done), 0.0, seconds_an_advice);
            const sequence steps = advised_sequence(run, each);
            each.saving.replayed_share = replayed_share(steps, each.figures.events());
            options.min_saving =
                threshold::worth_the_change * each.saving.replayed_share * static_cast<double>(list.cpu_nanoseconds);
            const field took_part{each, best_preload};
            note_clean(each, took_part, compare(host, steps.view(), took_part.contenders, options),
                       list.cpu_nanoseconds);
            judge(each);
            if (each.says != verdict::leave) {
                options.fragmentation_blocks = litter_for(steps);
                options.rounds = rounds_on_littered_heap;
                options.min_rounds = min_on_littered_heap;
                options.max_seconds = seconds_on_littered_heap;
                note_littered(each, took_part, compare(host, steps.view(), took_part.on_littered_heap(), options));
            }
        }
        tell(++done / all);
    }
}

}  // namespace acre::tool
