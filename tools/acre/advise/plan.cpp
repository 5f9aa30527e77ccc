#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "scope_planner.hpp"
#include "text/text.hpp"
#include "thresholds.hpp"

namespace acre::tool {

namespace {

// Callers that a site of mixed sizes is told apart by.
constexpr std::size_t most_callers = 4;

/// What suits a single site, by the lives of its objects.
verdict classify_site(const group_figures& figures, std::string& reason) {
    if (figures.immortal_share() > threshold::immortal) return verdict::monotonic_arena;
    const bool one_size = figures.top_size_share() >= threshold::one_size;
    if (figures.elsewhere_share() > threshold::few_elsewhere) {
        if (one_size) return verdict::concurrent;
        reason = fmt::format(
            "{} are freed by another thread than the one that allocated, in {} sizes: a concurrent "
            "type for one size does not fit",
            percent_text(figures.elsewhere_share()), count_text(figures.sizes));
        return verdict::leave;
    }
    const bool comes_and_goes = figures.churn() >= threshold::much_churn;
    if (comes_and_goes && figures.lifo_share() >= threshold::lifo && figures.never_freed == 0) return verdict::scratch;
    if (comes_and_goes && one_size) return verdict::object_pool;
    if (!comes_and_goes && figures.growth() <= threshold::phase_growth) return verdict::phase_arena;
    if (comes_and_goes) return verdict::multi_pool;
    reason = fmt::format(
        "{} allocations for each of the {} alive at the peak is too little coming and going for a "
        "pool, and {} times the peak's bytes are allocated in all, too much for an arena",
        fmt::format("{:.1f}", figures.churn()), count_text(figures.peak_objects),
        fmt::format("{:.1f}", figures.growth()));
    return verdict::leave;
}

bool depends_on_the_caller(verdict v) {
    return v == verdict::multi_pool || v == verdict::leave;
}

class planner {
public:
    planner(const history& run, const call_paths& paths) : run_{run}, paths_{paths}, scopes_{run, paths} {
        list_.objects = run.object_count();
    }

    advice_list plan() {
        plan_scopes();
        plan_sites();
        for (advice& each : list_.advices) complete(each);
        std::sort(list_.advices.begin(), list_.advices.end(), [](const advice& a, const advice& b) {
            if (a.figures.objects != b.figures.objects) return a.figures.objects > b.figures.objects;
            return a.contexts.front() < b.contexts.front();
        });
        return std::move(list_);
    }

private:
    /// Site and the functions that call it, as far as they matter.
    using site_key = std::vector<std::uint32_t>;

    /// The sites told apart by so many callers, as groups of contexts.
    struct site_level {
        std::vector<std::uint32_t> group_of_context;
        std::map<std::uint32_t, group_figures> figures;  // of the groups that are worth a look
    };

    void plan_scopes() {
        list_.advices = scopes_.plan();
        std::vector<std::uint32_t> groups(run_.contexts().size(), no_group);
        for (std::uint32_t i = 0; i < list_.advices.size(); ++i) {
            for (const std::uint32_t context : list_.advices[i].contexts) groups[context] = i;
        }
        const auto figures = study_groups(run_, groups, list_.advices.size());
        for (std::size_t i = 0; i < figures.size(); ++i) {
            advice& each = list_.advices[i];
            each.figures = figures[i];
            const double objects = static_cast<double>(each.generations.objects);
            const bool many = objects >= threshold::objects_a_generation * static_cast<double>(each.generations.count);
            if (figures[i].lifo_share() >= threshold::lifo) {
                each.suits = verdict::scratch;
            } else if (many) {
                each.suits = verdict::arena;
            } else {
                for (const std::uint32_t context : each.contexts) given_back_.push_back(context);
            }
        }
        std::erase_if(list_.advices, [](const advice& each) { return each.suits == verdict::leave; });
    }

    void plan_sites() {
        open_ = given_back_;
        for (std::uint32_t i = 0; i < run_.contexts().size(); ++i) {
            if (!scopes_.claimed()[i]) open_.push_back(i);
        }
        std::sort(open_.begin(), open_.end());
        context_set open = open_;
        for (std::size_t callers = 0; callers <= most_callers && !open.empty(); ++callers) {
            open = plan_sites_by(open, callers);
        }
    }

    /// Advices for the sites told apart by so many callers; those that one more caller might make clearer come back.
    context_set plan_sites_by(const context_set& open, std::size_t callers) {
        const site_level& level = level_of(callers);
        std::map<std::uint32_t, context_set> members;
        for (const std::uint32_t context : open) members[level.group_of_context[context]].push_back(context);
        context_set unclear;
        for (auto& [group, contexts] : members) {
            advice each;
            const auto known = level.figures.find(group);
            if (known != level.figures.end()) {
                each.figures = known->second;
            } else {
                each.figures.objects = objects_in(contexts);
            }
            each.contexts = std::move(contexts);
            each.callers = callers;
            place_site(std::move(each), callers, unclear);
        }
        return unclear;
    }

    /// One more caller only parts groups, so each level is found for all that was open at first, in one pass.
    const site_level& level_of(std::size_t callers) {
        std::optional<site_level>& level = levels_[callers];
        if (level) return *level;
        level.emplace();
        level->group_of_context.assign(run_.contexts().size(), no_group);
        std::map<site_key, std::uint32_t> numbers;
        std::vector<std::uint64_t> objects;
        for (const std::uint32_t context : open_) {
            const auto [place, added] =
                numbers.try_emplace(key_of(context, callers), static_cast<std::uint32_t>(objects.size()));
            if (added) objects.push_back(0);
            level->group_of_context[context] = place->second;
            objects[place->second] += run_.contexts()[context].objects;
        }
        study_level(*level, objects);
        return *level;
    }

    void study_level(site_level& level, const std::vector<std::uint64_t>& objects) const {
        std::vector<std::uint32_t> studied;
        std::vector<std::uint32_t> studied_as(objects.size(), no_group);
        for (std::uint32_t i = 0; i < objects.size(); ++i) {
            if (share_of(objects[i]) < threshold::worth_a_look) continue;
            studied_as[i] = static_cast<std::uint32_t>(studied.size());
            studied.push_back(i);
        }
        std::vector<std::uint32_t> groups(level.group_of_context.size(), no_group);
        for (const std::uint32_t context : open_) groups[context] = studied_as[level.group_of_context[context]];
        const auto figures = study_groups(run_, groups, studied.size());
        for (std::size_t i = 0; i < studied.size(); ++i) level.figures.emplace(studied[i], figures[i]);
    }

    std::uint64_t objects_in(const context_set& contexts) const {
        std::uint64_t objects = 0;
        for (const std::uint32_t context : contexts) objects += run_.contexts()[context].objects;
        return objects;
    }

    void place_site(advice each, std::size_t callers, context_set& unclear) {
        if (share_of(each.figures.objects) < threshold::worth_a_look) {
            ++list_.small_sites;
            list_.small_objects += each.figures.objects;
            return;
        }
        each.suits = classify_site(each.figures, each.reason);
        if (callers < most_callers && depends_on_the_caller(each.suits) && splits_well(each.contexts, callers + 1)) {
            unclear.insert(unclear.end(), each.contexts.begin(), each.contexts.end());
            return;
        }
        list_.advices.push_back(std::move(each));
    }

    /// True when telling one more caller apart gives a part worth a look that is clearer than the whole.
    bool splits_well(const context_set& contexts, std::size_t callers) {
        for (std::size_t depth = callers; depth <= most_callers; ++depth) {
            const site_level& level = level_of(depth);
            std::set<std::uint32_t> parts;
            for (const std::uint32_t context : contexts) parts.insert(level.group_of_context[context]);
            if (parts.size() < 2) continue;
            for (const std::uint32_t part : parts) {
                const auto known = level.figures.find(part);
                std::string ignored;
                if (known != level.figures.end() && !depends_on_the_caller(classify_site(known->second, ignored))) {
                    return true;
                }
            }
        }
        return false;
    }

    site_key key_of(std::uint32_t context, std::size_t callers) const {
        site_key key{run_.contexts()[context].site};
        std::uint32_t node = paths_.own_code(run_.contexts()[context].node);
        for (std::size_t i = 0; i < callers && node != 0; ++i) {
            node = paths_.own_code(paths_.nodes()[node].parent);
            key.push_back(paths_.nodes()[node].function);
        }
        return key;
    }

    /// What is told about an advice besides its figures.
    void complete(advice& each) {
        std::map<std::uint32_t, std::uint64_t> by_site;
        for (const std::uint32_t context : each.contexts) {
            by_site[run_.contexts()[context].site] += run_.contexts()[context].objects;
        }
        const auto top = std::max_element(by_site.begin(), by_site.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
        each.site = top->first;
        each.sites = static_cast<std::uint32_t>(by_site.size());
        each.stack = busiest_stack(each);
        each.share = share_of(each.figures.objects);
        each.says = each.suits;
        if (!each.of_scope) each.function = scope_of_site(each);
        choose_sizes(each);
    }

    std::uint32_t busiest_stack(const advice& each) const {
        const allocation_context* busiest = nullptr;
        for (const std::uint32_t number : each.contexts) {
            const allocation_context& context = run_.contexts()[number];
            if (context.site != each.site) continue;
            if (busiest == nullptr || context.objects > busiest->objects) busiest = &context;
        }
        return busiest->stack;
    }

    /// A scratch lies in the function that owns the lifetimes; everything else stands at its site.
    std::uint32_t scope_of_site(const advice& each) const {
        if (each.suits != verdict::scratch) return caller_of_site(each);
        std::uint32_t owner = run_.contexts()[each.contexts.front()].owner;
        for (const std::uint32_t context : each.contexts) owner = paths_.common(owner, run_.contexts()[context].owner);
        return paths_.nodes()[paths_.own_code(owner)].function;
    }

    std::uint32_t caller_of_site(const advice& each) const {
        if (each.callers == 0) return paths_.sites()[each.site].function;
        std::uint32_t node = paths_.own_code(paths_.node(each.stack));
        for (std::size_t i = 0; i < each.callers && node != 0; ++i) node = paths_.own_code(paths_.nodes()[node].parent);
        return paths_.nodes()[node].function;
    }

    static void choose_sizes(advice& each) {
        constexpr std::uint64_t least_block = 1024;
        constexpr std::uint64_t most_block = 1 << 20;
        constexpr std::uint64_t block_header = 24;
        const std::uint64_t wanted =
            (each.suits == verdict::arena ? usual_capacity(each.generations) : each.figures.peak_bytes) + block_header;
        const std::uint64_t rounded = (wanted + least_block - 1) / least_block * least_block;
        each.block_bytes = std::clamp(rounded, least_block, most_block);
        each.slot_bytes = each.figures.top_size;
    }

    /// All generations in one block, unless a rare one is much larger than the rest.
    static std::uint64_t usual_capacity(const generation_figures& generations) {
        const bool alike = generations.max_bytes <= generations.p99_bytes + generations.p99_bytes / 2;
        return alike ? generations.max_bytes : generations.p99_bytes;
    }

    double share_of(std::uint64_t objects) const {
        return list_.objects == 0 ? 0 : static_cast<double>(objects) / static_cast<double>(list_.objects);
    }

    const history& run_;
    const call_paths& paths_;
    scope_planner scopes_;
    context_set given_back_;
    context_set open_;  // to the sites, at first
    std::array<std::optional<site_level>, most_callers + 1> levels_;
    advice_list list_;
};

}  // namespace

const char* name_of(verdict v) {
    switch (v) {
        case verdict::arena:
            return "arena";
        case verdict::scratch:
            return "scratch";
        case verdict::object_pool:
            return "object_pool";
        case verdict::multi_pool:
            return "multi_pool";
        case verdict::monotonic_arena:
            return "monotonic_arena";
        case verdict::phase_arena:
            return "phase_arena";
        case verdict::concurrent:
            return "concurrent";
        case verdict::leave:
            return "leave";
    }
    return "leave";
}

advice_list plan_advices(const history& run, const call_paths& paths) {
    return planner{run, paths}.plan();
}

}  // namespace acre::tool
