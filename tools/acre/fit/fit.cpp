#include "fit.hpp"

#include <algorithm>
#include <unordered_map>

#include "multi_arena_model.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

namespace {

constexpr double max_share = 0.05;  // of the objects, for all blockers together
constexpr std::size_t max_blockers = 8;
constexpr std::uint64_t objects_per_arena = 16;  // in arenas of the size that is examined
constexpr std::uint64_t min_arenas = 8;          // with fewer, leaving sites out is not worth it

/// At the peak of occupied arenas, charges each arena to the sites of the objects that live in it, in equal shares. An
/// arena with few live objects is charged to those that outlived the others.
class blame_pass {
public:
    struct site_blame {
        std::uint32_t site = 0;
        std::uint64_t objects = 0;
        double arenas = 0;
    };

    blame_pass(const acre::multi_arena_fit& at, const site_of_stack& site)
        : model_{granules_of(at.bytes), at.open}, max_taken_{at.arenas}, site_{site} {}

    void allocate(const event& e) {
        const std::uint32_t site = site_(e.stack);
        ++sites_[site].objects;
        const std::uint32_t granules = granules_of(e.size);
        live_.insert(e.object, {model_.allocate(granules, granules_of(alignment_of(e))), granules, site});
        if (!charged_ && model_.taken() == max_taken_) charge();
    }

    void release(std::uint64_t object, std::uint32_t) {
        live_object gone;
        if (live_.take(object, gone)) model_.release(gone.at, gone.granules);
    }

    void reallocate(const event& acquired, std::uint64_t released) {
        allocate(acquired);
        release(released, acquired.thread);
    }

    /// Sites with the most arenas first.
    std::vector<site_blame> result() const {
        std::vector<site_blame> all;
        all.reserve(sites_.size());
        for (const auto& [site, blame] : sites_) all.push_back({site, blame.objects, blame.arenas});
        std::sort(all.begin(), all.end(), [](const site_blame& a, const site_blame& b) {
            return a.arenas != b.arenas ? a.arenas > b.arenas : a.site < b.site;
        });
        return all;
    }

private:
    struct live_object {
        multi_arena_model::position at = 0;
        std::uint32_t granules = 0;
        std::uint32_t site = 0;
    };

    void charge() {
        charged_ = true;
        live_.for_each([&](std::size_t, const live_object& each) {
            sites_[each.site].arenas += 1.0 / model_.live_in(model_.arena_of(each.at));
        });
    }

    multi_arena_model model_;
    std::uint64_t max_taken_;
    const site_of_stack& site_;
    live_array<live_object> live_;
    std::unordered_map<std::uint32_t, site_blame> sites_;
    bool charged_ = false;
};

/// Sites with few objects that occupy many arenas.
std::vector<blocking_site> suspects(const event_source& source, const census& of, const acre::multi_arena_fit& at,
                                    const site_of_stack& site) {
    blame_pass pass{at, site};
    play(source, pass);
    std::vector<blocking_site> found;
    auto left = static_cast<std::uint64_t>(static_cast<double>(of.objects) * max_share);
    for (const auto& each : pass.result()) {
        if (found.size() == max_blockers || each.arenas < 1) break;
        if (each.objects > left) continue;
        left -= each.objects;
        found.push_back({each.site, each.objects});
    }
    return found;
}

/// The smallest number of sites to leave out with nearly the gain of leaving all out; 0 if that saves less than half of
/// the arenas.
std::size_t worth_leaving_out(std::uint64_t with, const std::vector<arenas_needed>& without) {
    const auto least = static_cast<double>(*without.back());
    if (least * 2 > static_cast<double>(with)) return 0;
    for (std::size_t i = 0; i < without.size(); ++i) {
        const auto needed = static_cast<double>(*without[i]);
        if (needed <= least * 1.25 + 1 && needed * 2 <= static_cast<double>(with)) return i + 1;
    }
    return 0;
}

}  // namespace

blocker_figures find_blockers(const event_source& source, const census& of, const multi_arena_front& front,
                              const front_options& options, const site_of_stack& site) {
    blocker_figures result;
    const std::uint64_t bytes = size_for_objects(front, of, objects_per_arena);
    result.with = *std::ranges::find(front.tried, bytes, &acre::multi_arena_fit::bytes);
    if (result.with.arenas < min_arenas) return result;
    std::vector<blocking_site> found = suspects(source, of, result.with, site);
    if (found.empty()) return result;

    front_options without = options;
    without.rank = [&](const event& e) {
        const auto at = std::ranges::find(found, site(e.stack), &blocking_site::site);
        return static_cast<std::uint32_t>(at - found.begin());
    };
    std::vector<multi_arena_trial> trials;
    for (std::uint32_t i = 1; i <= found.size(); ++i) trials.push_back({bytes, options.open, i});
    const auto needed = try_multi_arenas(source, of, trials, arena_sharing::one_thread, without.rank);
    if (std::ranges::find(needed, arenas_needed{}) != needed.end()) return result;
    const std::size_t left_out = worth_leaving_out(result.with.arenas, needed);
    if (left_out == 0) return result;

    result.without = {static_cast<std::size_t>(std::max<std::uint64_t>(*needed[left_out - 1], 1)), bytes, options.open};
    without.left_out = static_cast<std::uint32_t>(left_out);
    result.front = find_front(source, of, without);
    found.resize(left_out);
    result.sites = std::move(found);
    return result;
}

fit_result fit(const event_source& source, const fit_request& request, const site_of_stack& site) {
    fit_result result;
    result.figures = take_census(source);
    front_options options{.open = request.open, .sharing = arena_sharing::one_thread, .rank = {}, .left_out = 0};
    if (request.multi_arena) {
        result.multi_arena = find_front(source, result.figures, options);
        if (request.blockers && !result.multi_arena.empty())
            result.blockers = find_blockers(source, result.figures, result.multi_arena, options, site);
    }
    const bool has_threads = result.figures.threads > 1 || result.figures.freed_elsewhere != 0;
    if (request.concurrent_multi_arena && (has_threads || !request.only_for_threads)) {
        options.sharing = arena_sharing::all_threads;
        result.concurrent_multi_arena = find_front(source, result.figures, options);
    }
    if (request.realtime_heap) result.realtime_heap = fit_realtime_heap(source);
    return result;
}

}  // namespace acre::tool
