#include "group.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace acre::tool {

namespace {

constexpr std::uint64_t arena_granule = 16;

std::uint64_t bump_bytes(std::uint64_t size) {
    return std::max((size + arena_granule - 1) / arena_granule * arena_granule, arena_granule);
}

/// What lives in one thread.
struct thread_state {
    std::uint64_t live_objects = 0;
    std::uint64_t live_bytes = 0;
    generation current;
};

std::uint64_t percentile(const std::vector<generation>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
    return sorted[rank].bump_bytes;
}

generation_figures figures_of(std::vector<generation> generations) {
    generation_figures figures;
    figures.count = generations.size();
    if (generations.empty()) return figures;
    std::sort(generations.begin(), generations.end(),
              [](const generation& a, const generation& b) { return a.bump_bytes < b.bump_bytes; });
    for (const generation& each : generations) {
        figures.objects += each.objects;
        figures.peak_bytes = std::max(figures.peak_bytes, each.peak_bytes);
    }
    figures.p50_bytes = percentile(generations, 0.5);
    figures.p99_bytes = percentile(generations, 0.99);
    figures.max_bytes = generations.back().bump_bytes;
    return figures;
}

/// Follows several groups through the run.
class group_study {
public:
    group_study(const history& run, std::size_t groups)
        : run_{run},
          figures_(groups),
          live_(groups),
          sizes_(groups),
          youngest_(groups),
          older_(run.objects().size(), none),
          younger_(run.objects().size(), none) {}

    void allocate(std::uint32_t group, std::uint32_t number) {
        const recorded_object& object = run_.objects()[number];
        group_figures& figures = figures_[group];
        ++figures.objects;
        figures.bytes += object.size;
        figures.smallest = std::min(figures.smallest, object.size);
        figures.largest = std::max(figures.largest, object.size);
        ++sizes_[group][object.size];
        if (object.died == recorded_object::never) ++figures.never_freed;
        live& now = live_[group];
        figures.peak_objects = std::max(figures.peak_objects, ++now.objects);
        figures.peak_bytes = std::max(figures.peak_bytes, now.bytes += object.size);
        push(group, number, object.thread);
    }

    void release(std::uint32_t group, std::uint32_t number) {
        const recorded_object& object = run_.objects()[number];
        live& now = live_[group];
        --now.objects;
        now.bytes -= object.size;
        if (object.freed_elsewhere) ++figures_[group].freed_elsewhere;
        if (younger_[number] == none) ++figures_[group].freed_last_first;
        unlink(group, number, object.thread);
    }

    std::vector<group_figures> finish() {
        for (std::size_t i = 0; i < figures_.size(); ++i) {
            for (const auto& [size, count] : sizes_[i]) {
                group_figures& figures = figures_[i];
                const bool better =
                    count > figures.top_size_count || (count == figures.top_size_count && size < figures.top_size);
                if (better) figures.top_size = size;
                figures.top_size_count = std::max(figures.top_size_count, count);
            }
            figures_[i].sizes = sizes_[i].size();
            figures_[i].threads = youngest_[i].size();
        }
        return std::move(figures_);
    }

private:
    static constexpr std::uint32_t none = 0xffff'ffff;

    struct live {
        std::uint64_t objects = 0;
        std::uint64_t bytes = 0;
    };

    void push(std::uint32_t group, std::uint32_t number, std::uint32_t thread) {
        const auto [youngest, added] = youngest_[group].try_emplace(thread, none);
        older_[number] = youngest->second;
        if (youngest->second != none) younger_[youngest->second] = number;
        youngest->second = number;
    }

    void unlink(std::uint32_t group, std::uint32_t number, std::uint32_t thread) {
        const std::uint32_t older = older_[number];
        const std::uint32_t younger = younger_[number];
        if (older != none) younger_[older] = younger;
        if (younger != none) {
            older_[younger] = older;
        } else {
            youngest_[group][thread] = older;
        }
    }

    const history& run_;
    std::vector<group_figures> figures_;
    std::vector<live> live_;
    std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> sizes_;
    std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> youngest_;  // by group and thread
    // The living of a group and thread are a list in the order of their birth.
    std::vector<std::uint32_t> older_;
    std::vector<std::uint32_t> younger_;
};

}  // namespace

generation_figures study_generations(const history& run, const context_set& set, std::uint32_t function) {
    std::vector<bool> member(run.contexts().size());
    for (const std::uint32_t context : set) member[context] = true;
    std::vector<thread_state> threads(run.threads());
    std::vector<generation> generations;
    std::map<std::uint32_t, std::uint64_t> ends;  // by the stack of the last free
    for (const recorded_event& each : run.events()) {
        if (!member[each.context]) continue;
        const recorded_object& object = run.objects()[each.object];
        thread_state& thread = threads[object.thread];
        if (each.allocates != 0) {
            ++thread.live_objects;
            thread.live_bytes += object.size;
            ++thread.current.objects;
            thread.current.bump_bytes += bump_bytes(object.size);
            thread.current.peak_bytes = std::max(thread.current.peak_bytes, thread.live_bytes);
            continue;
        }
        --thread.live_objects;
        thread.live_bytes -= object.size;
        if (thread.live_objects != 0 || each.function != function) continue;
        generations.push_back(thread.current);
        thread.current = {};
        ++ends[each.stack];
    }
    generation_figures figures = figures_of(std::move(generations));
    const auto most =
        std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != ends.end()) figures.last_free = most->first;
    return figures;
}

std::vector<group_figures> study_groups(const history& run, const std::vector<std::uint32_t>& group_of_context,
                                        std::size_t groups) {
    group_study study{run, groups};
    for (const recorded_event& each : run.events()) {
        const std::uint32_t group = group_of_context[each.context];
        if (group == no_group) continue;
        if (each.allocates != 0) {
            study.allocate(group, each.object);
        } else {
            study.release(group, each.object);
        }
    }
    return study.finish();
}

}  // namespace acre::tool
