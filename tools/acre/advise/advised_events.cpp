#include "advised_events.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "growth_links.hpp"
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

/// Chooses one in so many stretches of consecutive allocations, with the frees of their objects. Neighbours stay
/// neighbours, and the sample is of the whole run, whose beginning is often unlike the rest.
class object_sample {
public:
    object_sample(const history& run, std::uint64_t period)
        : period_{period}, chosen_(run.slots()), moved_(run.threads()) {}

    bool has(const recorded_event& each) {
        // An object stays in the sample, or out of it, when realloc moves it.
        const std::optional<bool> moved = std::exchange(moved_[each.thread], std::nullopt);
        if (each.allocates) {
            const bool is_next = objects_++ / stretch % period_ == 0;
            chosen_[each.slot] = each.by_realloc && moved ? *moved : is_next;
        } else if (each.by_realloc) {
            moved_[each.thread] = chosen_[each.slot];
        }
        return chosen_[each.slot];
    }

private:
    static constexpr std::uint64_t stretch = 1021;  // a prime: loops of programs have other lengths

    std::uint64_t period_;
    std::uint64_t objects_ = 0;
    std::vector<bool> chosen_;                // by slot
    std::vector<std::optional<bool>> moved_;  // by thread: its last event was the first half of a realloc
};

/// The period of a sample that fits the window.
std::uint64_t period_of(std::uint64_t events, std::uint64_t live_bytes, const replay_window& window) {
    const auto times = [](std::uint64_t all, std::uint64_t part) { return all / part + (all % part == 0 ? 0 : 1); };
    return std::max({times(events, window.events), times(live_bytes, window.live_bytes), std::uint64_t{1}});
}

/// Where a sequence ends in any case: a sample may have more at some moment than on the average.
replay_window twice(const replay_window& window) {
    return {2 * window.events, 2 * window.live_bytes};
}

using events_by_thread = std::map<std::uint32_t, std::vector<advised_event>>;

/// Collects the events of an advice.
class event_collection {
public:
    event_collection(const history& run, const advice& of, const replay_window& window, growth_as growth)
        : of_{of},
          member_(run.contexts().size()),
          number_of_slot_(run.slots()),
          first_of_slot_(run.slots()),
          sample_{run, period(of, window)} {
        for (const std::uint32_t context : of.contexts) member_[context] = true;
        if (growth == growth_as::reserved && of.growing) links_.emplace(run, *of.growing);
        run.for_each([&](const recorded_event& each) { hear(each); });
    }

    events_by_thread take() { return std::move(events_); }

private:
    static std::uint64_t period(const advice& of, const replay_window& window) {
        const group_figures& figures = of.figures;
        const std::uint64_t first_pages =
            std::min(figures.largest_thread_peak, figures.peak_objects * touched_bytes::least);
        return period_of(figures.events(), first_pages, window);
    }

    void hear(const recorded_event& each) {
        const std::optional<growth_link> link = links_ ? links_->hear(each) : std::nullopt;
        if (!member_[each.context] || !sample_.has(each)) return;
        std::vector<advised_event>& events = events_[each.thread];
        if (link && is_reserved(each.context) && has_just_begun(link->to_slot, events)) return stand_for(*link, events);
        if (each.allocates) {
            number_of_slot_[each.slot] = objects_++;
            first_of_slot_[each.slot] = events.size();
        }
        events.push_back({.size = each.size,
                          .object = number_of_slot_[each.slot],
                          .alignment_log2 = each.alignment_log2,
                          .allocates = each.allocates,
                          .by_realloc = each.by_realloc,
                          .by_new = each.by_new,
                          .in_function = !each.allocates && each.function == of_.function});
    }

    /// A std::string copies its characters with any allocator.
    bool is_reserved(std::uint32_t context) const { return of_.growth || of_.growing->is_vector(context); }

    bool has_just_begun(std::uint32_t slot, const std::vector<advised_event>& events) const {
        return !events.empty() && events.back().allocates && events.back().object == number_of_slot_[slot];
    }

    /// The first buffer of the container has the size of this one, which is left out.
    void stand_for(const growth_link& link, std::vector<advised_event>& events) {
        events.pop_back();
        events[first_of_slot_[link.from_slot]].size = link.to_size;
        first_of_slot_[link.to_slot] = first_of_slot_[link.from_slot];
        number_of_slot_[link.to_slot] = number_of_slot_[link.from_slot];
    }

    const advice& of_;
    std::vector<bool> member_;
    std::vector<std::uint32_t> number_of_slot_;
    std::vector<std::size_t> first_of_slot_;  // position among the events of its thread
    object_sample sample_;
    std::optional<growth_links> links_;
    events_by_thread events_;
    std::uint32_t objects_ = 0;
};

}  // namespace

sequence advised_sequence(const history& run, const advice& of, const replay_window& window, growth_as growth) {
    events_by_thread events = event_collection{run, of, window, growth}.take();
    const reset_point at = traits_of(of.candidate).reset;
    const replay_window end = twice(window);
    sequence_builder builder;
    while (!events.empty()) {
        const auto one_thread = events.extract(events.begin());
        std::uint64_t live = 0;
        for (const advised_event& each : one_thread.mapped()) {
            if (builder.is_full(end)) return builder.finish();
            builder.add(each.original(one_thread.key()));
            live += each.allocates ? 1 : ~std::uint64_t{0};
            const bool resets = at == reset_point::when_empty || (at == reset_point::in_owner && each.in_function);
            if (resets && live == 0) builder.reset();
        }
    }
    return builder.finish();
}

sequence steps_of(const history& run, const replay_window& window) {
    const replay_window end = twice(window);
    sequence_builder builder;
    object_sample sample{run, period_of(run.replay_cost(), run.peak_first_pages(), window)};
    run.for_each([&](const recorded_event& each) {
        if (builder.is_full(end)) return false;
        if (sample.has(each)) builder.add(each.original());
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
        small_numbers numbers;
        run.for_each([&](const recorded_event& recorded) {
            if (!member[recorded.context] || (thread && recorded.thread != *thread)) return;
            event e = recorded.original();
            e.place = recorded.slot;
            numbers.renumber(e);
            e.stack = run.contexts()[recorded.context].stack;
            visit(e);
        });
    };
}

}  // namespace acre::tool
