#include "group.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "trace/live_table.hpp"
#include "trace/value_counts.hpp"

namespace acre::tool {

namespace {

constexpr std::uint64_t arena_granule = 16;

std::uint64_t bump_bytes(std::uint64_t size) {
    return std::max((size + arena_granule - 1) / arena_granule * arena_granule, arena_granule);
}

/// The live objects of a thread.
struct thread_state {
    std::uint64_t live_objects = 0;
    std::uint64_t live_bytes = 0;    // as requested
    std::uint64_t live_rounded = 0;  // as an arena rounds
    generation current;
};

/// Finds the generations for one question.
class generation_study {
public:
    generation_study(std::uint32_t function, std::uint32_t threads) : function_{function}, threads_(threads) {}

    void pass(const recorded_event& each) {
        thread_state& thread = threads_[each.thread];
        figures_.held_bytes += static_cast<double>(thread.current.bump_bytes);
        figures_.live_bytes += static_cast<double>(thread.live_rounded);
        if (each.allocates) {
            ++thread.live_objects;
            thread.live_bytes += each.size;
            thread.live_rounded += bump_bytes(each.size);
            ++thread.current.objects;
            thread.current.bump_bytes += bump_bytes(each.size);
            thread.current.peak_bytes = std::max(thread.current.peak_bytes, thread.live_bytes);
            return;
        }
        --thread.live_objects;
        thread.live_bytes -= each.size;
        thread.live_rounded -= bump_bytes(each.size);
        if (thread.live_objects != 0 || each.function != function_) return;
        end(thread.current);
        thread.current = {};
        ++ends_[each.stack];
    }

    generation_figures finish() {
        if (sizes_.total() == 0) return figures_;
        figures_.count = sizes_.total();
        figures_.p50_bytes = percentile(0.5);
        figures_.p99_bytes = percentile(0.99);
        const auto most_frequent = std::max_element(ends_.begin(), ends_.end(),
                                                    [](const auto& a, const auto& b) { return a.second < b.second; });
        figures_.last_free = most_frequent->first;
        for (const auto& [stack, count] : ends_) figures_.last_frees.push_back(stack);
        return figures_;
    }

private:
    void end(const generation& ended) {
        sizes_.add(ended.bump_bytes);
        figures_.objects += ended.objects;
        figures_.max_bytes = std::max(figures_.max_bytes, ended.bump_bytes);
        figures_.peak_bytes = std::max(figures_.peak_bytes, ended.peak_bytes);
    }

    std::uint64_t percentile(double share) const {
        return sizes_.at_rank(
            static_cast<std::uint64_t>(std::llround(share * static_cast<double>(sizes_.total() - 1))));
    }

    std::uint32_t function_;
    std::vector<thread_state> threads_;
    value_counts sizes_;                           // of the generations
    std::map<std::uint32_t, std::uint64_t> ends_;  // by the stack of the last free
    generation_figures figures_;
};

/// Answers the questions in one pass.
void study_together(const history& run, std::span<const generation_question> questions,
                    std::vector<generation_figures>& answers) {
    std::vector<generation_study> studies;
    std::vector<std::vector<std::uint32_t>> studies_of(run.contexts().size());
    for (std::uint32_t i = 0; i < questions.size(); ++i) {
        studies.emplace_back(questions[i].function, run.threads());
        for (const std::uint32_t context : questions[i].set) studies_of[context].push_back(i);
    }
    run.for_each([&](const recorded_event& each) {
        for (const std::uint32_t study : studies_of[each.context]) studies[study].pass(each);
    });
    for (generation_study& study : studies) answers.push_back(study.finish());
}

/// Finds the figures of several groups.
class group_study {
public:
    group_study(const history& run, std::size_t groups)
        : run_{run},
          figures_(groups),
          live_(groups),
          lives_(groups),
          neighbours_(run.slots()),
          thread_clocks_(run.threads()),
          last_lanes_(groups) {}

    /// Must be called for each allocation of the run, before allocate().
    void pass(const recorded_event& each) { thread_clocks_[each.thread] += each.size; }

    void allocate(std::uint32_t group, const recorded_event& each) {
        group_figures& figures = figures_[group];
        live& now = live_[group];
        figures.peak_objects = std::max(figures.peak_objects, ++now.objects);
        figures.peak_bytes = std::max(figures.peak_bytes, now.bytes += each.size);
        push(group, each);
    }

    void release(std::uint32_t group, const recorded_event& each) {
        live& now = live_[group];
        --now.objects;
        now.bytes -= each.size;
        const neighbours& gone = neighbours_[each.slot];
        lane& own = lanes_[gone.lane];
        if (gone.younger == none) ++figures_[group].freed_last_first;
        if (gone.older == none) ++figures_[group].freed_first_first;
        if (gone.younger == none && gone.older == none) ++figures_[group].freed_alone;
        lives_[group].in_thread.add(thread_clocks_[each.thread] - gone.thread_clock);
        lives_[group].in_group.add(own.clock - gone.group_clock);
        --own.now.objects;
        own.now.bytes -= each.size;
        unlink(gone);
    }

    std::vector<group_figures> finish(const std::vector<std::uint32_t>& group_of_context) {
        add_contexts(group_of_context);
        add_sizes(group_of_context);
        add_lanes();
        add_lives();
        return std::move(figures_);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;

    struct live {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
    };
    struct lives {
        life_histogram in_thread;
        life_histogram in_group;
    };
    /// What a thread allocates of a group.
    struct lane {
        std::uint32_t group = 0;
        std::uint32_t youngest = none;
        live now;
        live peak;
        std::uint64_t clock = 0;  // bytes allocated so far
    };
    struct last_lane {
        std::uint32_t thread = 0;
        std::uint32_t lane = none;
    };
    /// Links the live objects of a lane in the order of allocation, by slot. Clocks are those at the allocation.
    struct neighbours {
        std::uint32_t lane = 0;
        std::uint32_t older = none;
        std::uint32_t younger = none;
        std::uint64_t thread_clock = 0;
        std::uint64_t group_clock = 0;
    };

    void push(std::uint32_t group, const recorded_event& each) {
        const std::uint32_t number = lane_of(group, each.thread);
        lane& own = lanes_[number];
        own.clock += each.size;
        own.peak.objects = std::max(own.peak.objects, ++own.now.objects);
        own.peak.bytes = std::max(own.peak.bytes, own.now.bytes += each.size);
        neighbours_[each.slot] = {number, own.youngest, none, thread_clocks_[each.thread], own.clock};
        if (own.youngest != none) neighbours_[own.youngest].younger = each.slot;
        own.youngest = each.slot;
    }

    void unlink(const neighbours& gone) {
        if (gone.older != none) neighbours_[gone.older].younger = gone.younger;
        if (gone.younger != none) {
            neighbours_[gone.younger].older = gone.older;
        } else {
            lanes_[gone.lane].youngest = gone.older;
        }
    }

    std::uint32_t lane_of(std::uint32_t group, std::uint32_t thread) {
        last_lane& last = last_lanes_[group];
        if (last.lane == none || last.thread != thread) last = {thread, find_lane(group, thread)};
        return last.lane;
    }
    [[gnu::noinline]] std::uint32_t find_lane(std::uint32_t group, std::uint32_t thread) {
        const std::uint64_t key = std::uint64_t{group} << 32 | thread;
        if (const std::uint32_t* known = lane_numbers_.find(key); known != nullptr) return *known;
        lanes_.emplace_back().group = group;
        return lane_numbers_.insert(key, static_cast<std::uint32_t>(lanes_.size() - 1));
    }

    void add_lanes() {
        for (const lane& each : lanes_) {
            group_figures& figures = figures_[each.group];
            ++figures.threads;
            figures.thread_peak_objects += each.peak.objects;
            figures.thread_peak_bytes += each.peak.bytes;
            figures.largest_thread_peak = std::max(figures.largest_thread_peak, each.peak.bytes);
        }
    }

    void add_lives() {
        for (std::size_t i = 0; i < figures_.size(); ++i) {
            lives_[i].in_thread.add_endless(figures_[i].never_freed);
            lives_[i].in_group.add_endless(figures_[i].never_freed);
            figures_[i].thread_life = lives_[i].in_thread.percentile(0.99);
            figures_[i].group_life = lives_[i].in_group.percentile(0.995);
        }
    }

    /// Contexts already have the figures that do not depend on the order of events.
    void add_contexts(const std::vector<std::uint32_t>& group_of_context) {
        for (std::size_t i = 0; i < group_of_context.size(); ++i) {
            if (group_of_context[i] == no_group) continue;
            const allocation_context& context = run_.contexts()[i];
            group_figures& figures = figures_[group_of_context[i]];
            figures.objects += context.objects;
            figures.bytes += context.bytes;
            figures.never_freed += context.never_freed;
            figures.freed_elsewhere += context.freed_elsewhere;
            figures.smallest = std::min(figures.smallest, context.smallest);
            figures.largest = std::max(figures.largest, context.largest);
            figures.reallocated = figures.reallocated || context.by_realloc;
            figures.zeroed = figures.zeroed || context.by_calloc;
        }
    }

    void add_sizes(const std::vector<std::uint32_t>& group_of_context) {
        std::vector<std::map<std::uint64_t, std::uint64_t>> sizes(figures_.size());
        for (const size_count& each : run_.sizes()) {
            const std::uint32_t group = group_of_context[each.context];
            if (group == no_group) continue;
            sizes[group][each.size] += each.objects;
            const bool is_aligned_to_8 = each.size % 16 != 0 && !run_.contexts()[each.context].any_aligned;
            if (is_aligned_to_8) figures_[group].aligned_to_8 += each.objects;
        }
        for (std::size_t i = 0; i < figures_.size(); ++i) {
            figures_[i].sizes = sizes[i].size();
            for (const auto& [size, count] : sizes[i]) {
                if (count <= figures_[i].top_size_count) continue;
                figures_[i].top_size = size;
                figures_[i].top_size_count = count;
            }
        }
    }

    const history& run_;
    std::vector<group_figures> figures_;
    std::vector<live> live_;
    std::vector<lives> lives_;
    std::vector<neighbours> neighbours_;
    std::vector<std::uint64_t> thread_clocks_;  // bytes allocated so far
    std::vector<lane> lanes_;
    live_table<std::uint32_t> lane_numbers_;  // by group and thread
    std::vector<last_lane> last_lanes_;       // by group: most allocate in one thread for long
};

}  // namespace

std::vector<generation_figures> study_generations(const history& run, std::span<const generation_question> questions) {
    // Each question takes a state for each thread.
    constexpr std::size_t max_states = std::size_t{1} << 20;
    const std::size_t together = std::max<std::size_t>(max_states / std::max<std::size_t>(run.threads(), 1), 1);
    std::vector<generation_figures> answers;
    while (!questions.empty()) {
        const auto next = questions.first(std::min(together, questions.size()));
        study_together(run, next, answers);
        questions = questions.subspan(next.size());
    }
    return answers;
}

std::vector<group_figures> study_groups(const history& run, const std::vector<std::uint32_t>& group_of_context,
                                        std::size_t groups) {
    if (groups == 0) return {};
    group_study study{run, groups};
    run.for_each([&](const recorded_event& each) {
        const std::uint32_t group = group_of_context[each.context];
        if (each.allocates) study.pass(each);
        if (group == no_group) return;
        if (each.allocates) {
            study.allocate(group, each);
        } else {
            study.release(group, each);
        }
    });
    return study.finish(group_of_context);
}

}  // namespace acre::tool
