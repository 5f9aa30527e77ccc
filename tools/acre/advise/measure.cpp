#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "advice_code.hpp"
#include "advised_events.hpp"
#include "candidates.hpp"
#include "growth_trial.hpp"
#include "joined_advice.hpp"
#include "programs/preloadable_library.hpp"
#include "replay/comparison.hpp"
#include "replay/contender_list.hpp"
#include "replay/resources.hpp"
#include "replay/sequence_builder.hpp"
#include "rules.hpp"
#include "text/text.hpp"
#include "wording.hpp"

namespace acre::tool {

namespace {

// Measuring takes time in proportion to the run's events, as reading does.
constexpr double measured_seconds_per_event = 0.25e-6;
constexpr double min_seconds = 0.5;
constexpr double max_seconds = 5;
constexpr double share_of_whole_run = 0.35;       // of these seconds
constexpr double share_of_fragmented_heap = 0.4;  // of those of an advice
constexpr std::uint32_t rounds_of_whole_run = 3;
constexpr double plays_before_rounds = 1;      // of each, for its memory, or so that the machine has pages for it
constexpr std::uint32_t rounds_of_advice = 3;  // for which there is time at least, if its window is not the smallest
constexpr std::uint32_t rounds_on_fragmented_heap = 3;
constexpr std::uint32_t min_rounds_on_fragmented_heap = 2;
constexpr std::uint64_t shortest_trial = 2'000'000;  // nanoseconds

bool is_whole_run(trace_reader& reader) {
    if (!reader.missing().empty() || !reader.header().end_is_known()) return false;
    bool paused = false;
    reader.for_each_mark([&](const mark& each) { paused = paused || each.kind == mark_kind::recording_paused; });
    return !paused && std::ranges::none_of(reader.header().notes, [](const std::string& note) {
        return note.starts_with(trace_header::stopped_note);
    });
}

/// Scales the time of a share of the events to all of them.
interval of_all_events(const interval& of, double share) {
    return {of.low / share, of.median / share, of.high / share};
}

/// The contenders in the measurement of an advice; the candidate is the first.
struct line_up {
    std::vector<contender> contenders;
    std::optional<std::size_t> without_frees;  // position among the contenders
    std::optional<std::size_t> preload;        // likewise
    std::optional<std::size_t> own;            // likewise: the malloc that the program uses

    line_up(const advice& each, const std::optional<contender>& best_preload,
            const std::optional<contender>& own_malloc)
        : contenders{contender_of(each)} {
        // A stack buffer is replayed without single frees in any case.
        if (resources()[contenders.front().resource].takes_all_back) {
            without_frees = contenders.size();
            contenders.push_back(contenders.front());
            contenders.back().without_frees = true;
            contenders.back().time_only = true;
        }
        if (best_preload) {
            preload = contenders.size();
            contenders.push_back(*best_preload);
            contenders.back().time_only = true;
        }
        if (own_malloc) {
            own = contenders.size();
            contenders.push_back(*own_malloc);
            contenders.back().time_only = true;
        }
    }

    /// The contenders of the advice, without the other malloc.
    std::vector<contender> on_fragmented_heap() const {
        return {contenders.begin(), contenders.begin() + static_cast<std::ptrdiff_t>(without_frees.value_or(0)) + 1};
    }
};

/// As `acre try` names it.
std::string malloc_name(const contender& which) {
    const std::string name = contender_text(which);
    return name == preloaded_acre ? std::string{preload_saving::acre_heap} : name;
}

/// See preload_saving.
std::string before_command(const contender& which) {
    const resource_entry& entry = resources()[which.resource];
    if (entry.start.is_acres) return "acre run --";
    const preloadable_library library{"advise", library_of(entry)};
    return library.is_linked() ? "" : "LD_PRELOAD=" + quoted_for_shell(library.library().string());
}

/// Whether this contender took part and finished, and malloc too.
bool finished(const comparison& in, const std::optional<std::size_t>& contender) {
    return contender && !in.system.failed() && !in.standings[*contender].failed();
}

/// With few rounds, widens the interval. The constants are shares of malloc's time: nine in ten medians of twelve
/// rounds were within this margin of the range of one, two or three rounds (bench/results/advice.md).
interval doubted(const interval& saved, std::uint32_t rounds, const comparison& in) {
    constexpr std::array<double, 4> doubt{0.18, 0.18, 0.06, 0.02};
    if (rounds >= doubt.size()) return saved;
    const double beyond = doubt[rounds] * std::max(in.system.net_nanoseconds.median, 0.0);
    return {saved.low - beyond, saved.median, saved.high + beyond};
}

interval saved_by(std::size_t contender, const comparison& in) {
    return doubted(in.saved_nanoseconds(contender), in.rounds, in);
}

/// What is saved compared with another malloc than glibc's.
interval relative(const interval& saved, const interval& own) {
    return {saved.low - own.high, saved.median - own.median, saved.high - own.low};
}

/// How many bytes more are live at the peak than in the sample that was replayed.
std::uint64_t missing_at_peak(const advice& each, const sequence& steps) {
    const std::uint64_t all = each.figures.largest_thread_peak;
    return each.saving.replayed_share < 1 && all > steps.peak_bytes ? all - steps.peak_bytes : 0;
}

/// What an arena holds at most that is reset after each generation. A sample lacks some of the frees that end these, so
/// in its replay several are in the arena at once.
std::uint64_t most_held(const advice& each) {
    if (each.candidate != verdict::arena || each.saving.replayed_share >= 1) return UINT64_MAX;
    const std::uint64_t largest = each.generations.max_bytes;
    return each.block_bytes >= largest ? each.block_bytes : each.block_bytes + 2 * largest;
}

void note_clean(advice& each, const line_up& contest, const comparison& found, std::uint64_t missing,
                std::uint64_t cpu_nanoseconds) {
    measured_saving& saving = each.saving;
    const standing& candidate = found.standings.front();
    saving.rounds = found.rounds;
    if (candidate.failed() || found.system.failed()) {
        saving.failure = candidate.last.signal != 0
                             ? fmt::format("the replay was ended by signal {}", candidate.last.signal)
                             : "the replay ran out of memory";
        return;
    }
    saving.done = true;
    saving.cpu_nanoseconds = static_cast<double>(cpu_nanoseconds);
    const interval own = finished(found, contest.own) ? found.saved_nanoseconds(*contest.own) : interval{};
    const auto saved = [&](std::size_t contender) {
        return of_all_events(relative(saved_by(contender, found), own), saving.replayed_share);
    };
    saving.nanoseconds = saved(0);
    if (finished(found, contest.without_frees)) saving.without_frees = saved(*contest.without_frees);
    if (finished(found, contest.preload)) {
        saving.preload = preload_saving{malloc_name(contest.contenders[*contest.preload]), saved(*contest.preload)};
    }
    saving.ratio = candidate.ratio;
    saving.malloc_nanoseconds = std::max(found.system.net_nanoseconds.median - own.median, 0.0) / saving.replayed_share;
    saving.system_peak_bytes = found.system.peak_bytes + missing;
    saving.candidate_peak_bytes = std::min(candidate.peak_bytes + missing, most_held(each));
    // The heap of the replaying process has memory of earlier plays.
    if (each.candidate == verdict::general_heap)
        saving.candidate_peak_bytes = std::max(saving.candidate_peak_bytes, each.figures.peak_bytes);
    saving.live_peak_bytes = each.figures.peak_bytes;
    if (cpu_nanoseconds != 0) saving.share_of_cpu = saving.nanoseconds.median / static_cast<double>(cpu_nanoseconds);
}

void note_fragmented(advice& each, const line_up& contest, const comparison& found) {
    measured_saving& saving = each.saving;
    const auto saved = [&](std::size_t contender) {
        return of_all_events(saved_by(contender, found), saving.replayed_share);
    };
    if (finished(found, 0)) saving.fragmented_nanoseconds = saved(0);
    if (finished(found, contest.without_frees)) {
        saving.fragmented_without_frees = saved(*contest.without_frees);
    }
}

void note_fewer(advice& each, const interval& now, const interval& then, const interval& copies,
                std::uint64_t cpu_nanoseconds) {
    measured_saving& saving = each.saving;
    if (!saving.failure.empty()) return;
    saving.done = saving.is_of_fewer = true;
    saving.cpu_nanoseconds = static_cast<double>(cpu_nanoseconds);
    const interval left = relative(now, then);
    saving.nanoseconds = {left.low + copies.low, left.median + copies.median, left.high + copies.high};
    saving.malloc_nanoseconds = now.median;
    saving.copies_nanoseconds = copies.median;
    const double ratio = now.median > 0 ? then.median / now.median : 0;
    saving.ratio = {ratio, ratio, ratio};
    saving.system_peak_bytes = saving.candidate_peak_bytes = each.figures.peak_bytes;
    if (cpu_nanoseconds != 0) saving.share_of_cpu = saving.nanoseconds.median / static_cast<double>(cpu_nanoseconds);
}

/// Decides for `leave` where nothing is gained, or too little for the change.
void decide(advice& each) {
    const measured_saving& saving = each.saving;
    const auto leave = [&](std::string reason) {
        each.decision = verdict::leave;
        each.reason = std::move(reason);
    };
    if (!saving.done) return leave("it could not be measured: " + saving.failure);
    if (saving.cpu_nanoseconds > 0 && saving.nanoseconds.median > saving.cpu_nanoseconds)
        return leave("its replay would save more than the program took, so it says nothing of the program");
    if (saving.nanoseconds.high < 0) return leave("malloc is faster in a replay");
    if (saving.nanoseconds.low <= 0) return leave("no gain over malloc could be measured");
    // The figures lack what threads cost each other in malloc, which is mostly far more.
    const bool has_threads = each.figures.threads > 1 || each.figures.freed_elsewhere != 0;
    const bool of_threads = has_threads && traits_of(each.candidate).shared_by_threads;
    if (!of_threads && saving.share_of_cpu && *saving.share_of_cpu < threshold::worth_the_change) {
        const double high = saving.nanoseconds.high / saving.cpu_nanoseconds;
        const bool of_sample = saving.replayed_share < 1 && high >= threshold::worth_the_change;
        leave(fmt::format("{} save{} less than {:.0f} % of the CPU time{}",
                          of_sample      ? "a sample of its events"
                          : each.in_runs ? "by a replay it would"
                                         : "it would",
                          of_sample ? "s" : "", threshold::worth_the_change * 100,
                          of_sample ? fmt::format(", and does not exclude {}", percent_text(high)) : ""));
    }
}

/// Whether a replay and too few rounds of the program both save enough by their medians. Neither excludes that nothing
/// is saved, but what two measurements say is no reason to leave it.
bool few_rounds_agree(const advice& each, double worth) {
    const double replayed = each.saving.nanoseconds.median;
    return each.saving.done && replayed >= worth && replayed <= each.saving.cpu_nanoseconds &&
           each.in_runs->nanoseconds.median >= worth;
}

/// The mallocs that advices are compared with, besides glibc's.
struct other_mallocs {
    std::optional<contender> own;   // that the program uses
    std::optional<contender> best;  // that saves most of the whole run, if one saves anything
};

/// Whether the words in a trace's header name this malloc: "jemalloc (libjemalloc.so.2)".
bool is_named(const std::string& allocator, const std::string& name) {
    return allocator == name || allocator.starts_with(name + " (");
}

/// Measures malloc, the limit of any saving, and the installed mallocs.
other_mallocs measure_malloc(replay_host& host, const history& run, advice_list& list) {
    std::vector<contender> preloads = installed_contenders("preloads");
    for (contender& each : preloads) each.time_only = true;
    const sequence steps = steps_of(run, window_of_whole_run(run, preloads.size()));
    if (steps.reserved_blocks > 0) list.notes.push_back(reserved_note(steps.reserved_blocks, steps.touched));
    comparison_options options;
    options.rounds = rounds_of_whole_run;
    options.shortest_trial = shortest_trial;
    const comparison found = compare(host, steps.view(), preloads, options);
    other_mallocs others;
    if (found.system.failed()) return others;
    list.malloc_share = replayed_share(steps, run.event_count());
    interval own;  // what the program's own malloc saves already
    for (std::size_t i = 0; i < preloads.size(); ++i) {
        if (found.standings[i].failed() || !is_named(list.allocator, contender_text(preloads[i]))) continue;
        others.own = preloads[i];
        own = found.saved_nanoseconds(i);
        list.baseline = contender_text(preloads[i]);
    }
    const double all = found.system.nanoseconds.median - own.median;
    list.malloc_nanoseconds = std::max(all - found.loop_nanoseconds.median, 0.0) / list.malloc_share;
    if (list.replay_exceeds_run()) return others;
    double max_saved = 0;
    for (std::size_t i = 0; i < preloads.size(); ++i) {
        if (found.standings[i].failed() || contender_text(preloads[i]) == list.baseline) continue;
        const interval saved = of_all_events(relative(saved_by(i, found), own), list.malloc_share);
        const bool is_told = !list.tells_nothing(saved);
        if (!list.runs && is_told)
            list.preloads.push_back({malloc_name(preloads[i]), saved, {}, before_command(preloads[i])});
        if (!list.runs && !is_told) list.untold.push_back(malloc_name(preloads[i]));
        if (!is_told) continue;
        if (saved.low <= 0 || saved.median <= max_saved) continue;
        max_saved = saved.median;
        others.best = preloads[i];
    }
    std::sort(list.preloads.begin(), list.preloads.end(), [](const preload_saving& a, const preload_saving& b) {
        return a.nanoseconds.median != b.nanoseconds.median ? a.nanoseconds.median > b.nanoseconds.median
                                                            : a.name < b.name;
    });
    return others;
}

/// Enough blocks to fragment the heap for these steps. A sample finds as many free blocks for each of its steps as all
/// steps would.
std::uint32_t blocks_to_fragment_with(const sequence& steps, double replayed_share) {
    constexpr double min = 200'000;
    constexpr double max = 500'000;
    return static_cast<std::uint32_t>(std::clamp(20.0 * steps.slots, min * replayed_share, max * replayed_share));
}

/// Before those of fewer objects.
void insert(std::vector<advice>& advices, advice added) {
    const auto fewer = [&](const advice& each) { return each.figures.objects < added.figures.objects; };
    const auto place = std::ranges::find_if(advices, fewer);
    advices.insert(place, std::move(added));
}

bool is_part_of(const advice& each, const advice& joined) {
    return std::ranges::binary_search(joined.contexts, each.contexts.front());
}

other_change as_other_change(const advice& each, const call_paths& paths) {
    return {title_of(each.candidate, each, paths), each.expected_nanoseconds(), !each.is_known_by_runs()};
}

}  // namespace

std::uint64_t recorded_cpu_nanoseconds(trace_reader& reader) {
    return is_whole_run(reader) ? reader.header().program_microseconds() * 1000 : 0;
}

void decide_by_runs(advice& each, std::uint64_t cpu_nanoseconds) {
    if (!each.in_runs || each.candidate == verdict::leave) return;
    const double worth = threshold::worth_the_change * static_cast<double>(cpu_nanoseconds);
    const interval& saved = each.in_runs->nanoseconds;
    const bool may_decide = each.in_runs->has_enough_rounds();
    const bool is_worth_it = may_decide ? saved.low > 0 && saved.median >= worth : few_rounds_agree(each, worth);
    if (is_worth_it) {
        each.decision = each.candidate;
        each.reason.clear();
    } else if (may_decide && (saved.high < worth || saved.median < 0) && each.in_runs->is_what_is_advised) {
        each.decision = verdict::leave;
        each.reason = saved.high < worth ? fmt::format("it saves less than {:.0f} % of the CPU time",
                                                       threshold::worth_the_change * 100)
                                         : "it saves nothing in the median of the runs";
    } else if (each.decision == verdict::leave && saved.low < 0 && saved.high >= worth) {
        each.reason += "; whether the program gains anything could not be measured in these rounds";
    }
}

void bound_by_run(advice_list& list) {
    double alone = 0;
    for (const advice& each : list.advices) alone += each.saving.malloc_nanoseconds;
    if (list.malloc_nanoseconds <= 0 || alone <= list.malloc_nanoseconds) return;
    for (advice& each : list.advices) {
        if (!each.saving.done) continue;
        each.saving.malloc_in_run_nanoseconds = each.saving.malloc_nanoseconds * list.malloc_nanoseconds / alone;
    }
}

void choose_arenas_or_heap(advice_list& list, advice heap, const call_paths& paths) {
    constexpr double worth_of_resets = 1.5;
    if (heap.decision == verdict::leave) return;
    double saved = 0;
    std::vector<advice*> arenas;
    for (advice& each : list.advices) {
        if (each.decision == verdict::leave || !is_part_of(each, heap)) continue;
        if (has_reset(each.candidate)) arenas.push_back(&each);
        saved += each.saving.nanoseconds.median;
    }
    if (arenas.empty()) return;
    if (saved >= worth_of_resets * heap.saving.nanoseconds.median) {
        for (advice* each : arenas) each->instead = as_other_change(heap, paths);
        return;
    }
    heap.instead = as_other_change(*arenas.front(), paths);
    std::erase_if(list.advices, [&](const advice& each) { return is_part_of(each, heap); });
    insert(list.advices, std::move(heap));
}

double patience(std::uint64_t events, std::uint64_t live_objects) noexcept {
    constexpr std::uint64_t many_events = 32'000'000;
    constexpr std::uint64_t many_objects = 2'000'000;
    return events > many_events || live_objects > many_objects ? 0.25 : 1;
}

double seconds_to_measure(std::uint64_t events, std::uint64_t live_objects) noexcept {
    const double wanted = measured_seconds_per_event * static_cast<double>(events);
    return patience(events, live_objects) * std::clamp(wanted, min_seconds, max_seconds);
}

/// As long for the pages of live blocks that each play touches first as for its events, at most.
replay_window timed_window(double seconds, double plays) noexcept {
    constexpr double events_in_second = 16e6;
    constexpr double min_events = 25'000;
    constexpr std::uint64_t bytes_for_event = 160;  // a page for 25 events
    constexpr std::uint64_t min_live_bytes = std::uint64_t{4} << 20;
    constexpr std::uint64_t max_live_bytes = std::uint64_t{160} << 20;
    const double wanted = std::max(seconds * events_in_second / plays, min_events);
    const std::uint64_t events = std::min(static_cast<std::uint64_t>(wanted), max_replayed_events);
    return {events, std::clamp(events * bytes_for_event, min_live_bytes, max_live_bytes)};
}

replay_window window_of_whole_run(const history& run, std::size_t mallocs) noexcept {
    const double plays = (rounds_of_whole_run + plays_before_rounds) * static_cast<double>(mallocs + 1);
    return timed_window(share_of_whole_run * seconds_to_measure(run.event_count(), run.slots()), plays);
}

contender contender_of(const advice& each) {
    const verdict_traits& traits = traits_of(each.candidate);
    contender made{resource_number(traits.resource), {}};
    switch (traits.size) {
        case sized_by::first_block:
            made.parameters.bytes = each.block_bytes;
            break;
        case sized_by::slot:
            // The pool that threads share is replayed by a resource of any size.
            if (!traits.shared_by_threads) made.parameters.bytes = each.slot_bytes;
            break;
        case sized_by::arenas:
            made.parameters = {.count = each.arenas, .bytes = each.arena_bytes};
            break;
        case sized_by::buffer:
        case sized_by::nothing:
            break;
    }
    return made;
}

namespace {

/// Measures the advices of a list, one after the other.
class advice_measuring {
public:
    advice_measuring(replay_host& host, const history& run, const call_paths& paths, advice_list& list,
                     const std::function<void(double)>& tell)
        : host_{host},
          run_{run},
          paths_{paths},
          list_{list},
          tell_{tell},
          seconds_{seconds_to_measure(run.event_count(), run.slots())},
          all_{static_cast<double>(list.advices.size() + list.heaps_instead.size() + 1)} {
        for (const std::vector<advice>* advices : {&list.advices, &list.heaps_instead}) {
            for (const advice& each : *advices) {
                if (each.candidate != verdict::leave) events_ += static_cast<double>(each.figures.events());
            }
        }
    }

    void measure() {
        mallocs_ = measure_malloc(host_, run_, list_);
        tell_(++done_ / all_);
        for (advice& each : list_.advices) {
            if (each.candidate != verdict::leave) measure(each);
            tell_(++done_ / all_);
        }
        for (advice& each : list_.heaps_instead) {
            measure_instead_of_arenas(each);
            tell_(++done_ / all_);
        }
        measure_together();
        bound_by_run(list_);
    }

private:
    using clock = std::chrono::steady_clock;

    void measure(advice& each) {
        if (traits_of(each.candidate).allocates_less) return measure_fewer(each);
        measure_candidate(each);
        if (each.candidate == verdict::multi_arena) measure_as_pool(each);
    }

    /// The allocations with the program's malloc, less those that stay, and what is copied.
    void measure_fewer(advice& each) {
        const double seconds = take_seconds_for(each);
        const interval now = time_in_malloc(each, seconds / 2, growth_as::recorded);
        interval then;
        if (each.candidate == verdict::reserve) then = time_in_malloc(each, seconds / 2, growth_as::reserved);
        note_fewer(each, now, then, time_of_copies(*each.growth), list_.cpu_nanoseconds);
        decide(each);
        decide_by_runs(each, list_.cpu_nanoseconds);
        if (each.decision != verdict::leave || each.in_plan == verdict::leave) return;
        advice elsewhere = each;
        elsewhere.candidate = elsewhere.decision = each.in_plan;
        elsewhere.growth.reset();
        elsewhere.reason.clear();
        elsewhere.saving = {};
        measure(elsewhere);
        if (elsewhere.decision != verdict::leave) each = std::move(elsewhere);
    }

    interval time_in_malloc(advice& each, double seconds, growth_as growth) {
        comparison_options options;
        options.max_seconds = options.latest_seconds = seconds;
        options.shortest_trial = shortest_trial;
        std::vector<contender> contenders;
        if (mallocs_.own) contenders.push_back(*mallocs_.own);
        for (contender& own : contenders) own.time_only = true;
        const double plays = (rounds_of_advice + plays_before_rounds) * static_cast<double>(contenders.size() + 1);
        const replay_window window = timed_window(seconds, plays);
        const sequence steps = advised_sequence(run_, each, window, growth);
        if (growth == growth_as::recorded) each.saving.replayed_share = replayed_share(steps, each.figures.events());
        const comparison found = compare(host_, steps.view(), contenders, options);
        each.saving.rounds = found.rounds;
        const standing& of = contenders.empty() ? found.system : found.standings.front();
        if (of.failed()) each.saving.failure = "the replay failed";
        return doubted(of_all_events(of.net_nanoseconds, each.saving.replayed_share), found.rounds, found);
    }

    /// A multi_pool is the simpler change, without a number of arenas that fits this run alone: arenas are advised only
    /// where they save more than it by a quarter.
    void measure_as_pool(advice& arenas) {
        advice pool = arenas;
        pool.candidate = is_in_c(pool, paths_) ? in_c(verdict::multi_pool) : verdict::multi_pool;
        pool.decision = pool.candidate;
        pool.reason.clear();
        pool.saving = {};
        if (pool.in_runs) pool.in_runs->is_what_is_advised = false;
        measure_candidate(pool);
        constexpr double worth_of_arenas = 1.25;
        if (!pool.saving.done) return;
        if (arenas.saving.nanoseconds.median >= worth_of_arenas * pool.saving.nanoseconds.median) return;
        arenas = std::move(pool);
    }

    void measure_instead_of_arenas(advice& heap) {
        const auto is_arena_in_heap = [&](const advice& each) {
            return each.decision != verdict::leave && has_reset(each.candidate) && is_part_of(each, heap);
        };
        if (std::ranges::none_of(list_.advices, is_arena_in_heap)) return;
        measure_candidate(heap);
        choose_arenas_or_heap(list_, heap, paths_);
    }

    void measure_candidate(advice& each) {
        const double seconds = take_seconds_for(each);
        const line_up contest{each, mallocs_.best, mallocs_.own};
        comparison_options options;
        options.max_seconds = (1 - share_of_fragmented_heap) * seconds;
        options.latest_seconds = options.max_seconds;
        options.shortest_trial = shortest_trial;
        const double plays =
            (rounds_of_advice + plays_before_rounds) * static_cast<double>(contest.contenders.size() + 1);
        const sequence steps =
            advised_sequence(run_, each, timed_window(options.max_seconds, plays), growth_as::reserved);
        each.saving.replayed_share = replayed_share(steps, each.figures.events());
        options.min_saving =
            threshold::worth_the_change * each.saving.replayed_share * static_cast<double>(list_.cpu_nanoseconds);
        note_clean(each, contest, compare(host_, steps.view(), contest.contenders, options),
                   missing_at_peak(each, steps), list_.cpu_nanoseconds);
        decide(each);
        decide_by_runs(each, list_.cpu_nanoseconds);
        // Another malloc fragments in another way.
        if (each.decision == verdict::leave || mallocs_.own) return;
        options.fragmentation_blocks = blocks_to_fragment_with(steps, each.saving.replayed_share);
        options.rounds = rounds_on_fragmented_heap;
        options.min_rounds = min_rounds_on_fragmented_heap;
        options.max_seconds = share_of_fragmented_heap * seconds;
        note_fragmented(each, contest, compare(host_, steps.view(), contest.on_fragmented_heap(), options));
    }

    /// The part of the time left that an advice takes, by its share of the events that are still to be measured.
    double take_seconds_for(const advice& each) {
        constexpr double least = 1e-3;  // no time is no limit
        const double left = seconds_ - std::chrono::duration<double>(clock::now() - start_).count();
        const auto events = static_cast<double>(each.figures.events());
        const double share = events / std::max(events_, events);
        events_ -= events;
        return std::max(left * share, least);
    }

    /// Sites that gain, but too little each, may be worth one change for all of them: classes a base each, others one
    /// pool.
    void measure_together() {
        const auto is_class = [](const advice& each) { return gains_too_little(each) && may_be_pooled_class(each); };
        const auto is_other = [&](const advice& each) { return gains_too_little(each) && !is_class(each); };
        const bool were_classes = measure_together(is_class);
        const bool were_others = measure_together(is_other);
        if (!were_classes && !were_others) measure_together(gains_too_little);
    }

    template <typename Joins>
    bool measure_together(Joins joins) {
        std::vector<const advice*> members;
        double saved = 0;
        for (const advice& each : list_.advices) {
            if (!joins(each)) continue;
            members.push_back(&each);
            saved += each.saving.nanoseconds.median;
        }
        const double worth = threshold::worth_the_change * static_cast<double>(list_.cpu_nanoseconds);
        if (members.size() < 2 || saved < worth) return false;
        advice joined = joined_advice(members, run_, paths_, list_.objects);
        measure(joined);
        if (joined.decision == verdict::leave) return false;
        std::erase_if(list_.advices, joins);
        insert(list_.advices, std::move(joined));
        return true;
    }

    /// What a pool for several sites could serve.
    static bool gains_too_little(const advice& each) {
        const bool is_pool = each.candidate == verdict::object_pool || each.candidate == verdict::multi_pool ||
                             each.candidate == verdict::multi_arena || each.candidate == verdict::general_heap;
        return is_pool && each.decision == verdict::leave && each.saving.done && each.saving.nanoseconds.low > 0;
    }

    replay_host& host_;
    const history& run_;
    const call_paths& paths_;
    advice_list& list_;
    const std::function<void(double)>& tell_;
    double seconds_;
    double events_ = 0;  // of the advices that are still to be measured
    double all_;
    double done_ = 0;
    clock::time_point start_ = clock::now();
    other_mallocs mallocs_;
};

}  // namespace

void measure_advices(replay_host& host, const history& run, const call_paths& paths, advice_list& list,
                     const std::function<void(double)>& tell) {
    advice_measuring{host, run, paths, list, tell}.measure();
    name_variables(list, paths);  // sites may have been joined
}

}  // namespace acre::tool
