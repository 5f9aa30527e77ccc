#include "plan_making.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "advise/history.hpp"
#include "advise/plan.hpp"
#include "advise/wording.hpp"
#include "programs/elf_file.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// A return address, with what the recording knows of it.
struct call_place {
    std::uint32_t module = 0;
    std::uint64_t offset = 0;
    std::uint64_t allocations = 0;
    std::uint32_t stack = no_stack;                    // one of those that it is the innermost frame of
    std::map<std::uint32_t, std::uint64_t> of_site{};  // allocations
};

/// What the requests of a place get.
struct routing {
    site_policy policy = site_policy::leave;
    std::string group{};
};

/// Whether the preloaded library may route a request of this kind. Of realloc it routes what replaces nothing, which a
/// trace does not tell from the rest.
bool can_be_routed(const event& e) {
    return e.allocates && e.op != operation::aligned_alloc && e.op != operation::allocate && e.alignment_log2 <= 4;
}

/// The places of a trace, most allocations first.
std::vector<call_place> places_of(trace_reader& reader, const call_paths& paths, std::uint64_t& allocations) {
    const trace_tables& tables = reader.tables();
    std::vector<std::uint64_t> of_stack(tables.call_tree.size());
    reader.for_each([&](const event& e) {
        if (e.allocates) ++allocations;
        if (can_be_routed(e)) ++of_stack[e.stack];
    });
    std::map<std::pair<std::uint32_t, std::uint64_t>, call_place> places;
    for (std::uint32_t stack = 1; stack < of_stack.size(); ++stack) {
        if (of_stack[stack] == 0) continue;
        const frame_info& frame = tables.frames[tables.call_tree[stack].frame];
        if (frame.module == frame_info::no_module) continue;
        // A frame is the address of the call: its last byte.
        call_place& place = places[{frame.module, frame.module_offset + 1}];
        place.module = frame.module;
        place.offset = frame.module_offset + 1;
        place.allocations += of_stack[stack];
        place.stack = stack;
        place.of_site[paths.site(stack)] += of_stack[stack];
    }
    std::vector<call_place> sorted;
    sorted.reserve(places.size());
    for (auto& [key, place] : places) sorted.push_back(std::move(place));
    std::ranges::sort(sorted, [](const call_place& a, const call_place& b) {
        return std::tie(b.allocations, a.module, a.offset) < std::tie(a.allocations, b.module, b.offset);
    });
    return sorted;
}

/// The place in words: "parse (parse.cpp:42)"; for a wrapper the functions around it are many, and it is one group.
std::string place_text(const call_place& place, const call_paths& paths) {
    const auto most = std::ranges::max_element(place.of_site, {}, [](const auto& each) { return each.second; });
    return paths.site_text(most->first);
}

site_policy policy_for(verdict advised) {
    switch (advised) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::stack_buffer:
        case verdict::multi_arena:
        case verdict::phase_arena:
            return site_policy::counted;
        case verdict::object_pool:
        case verdict::multi_pool:
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            return site_policy::pool;
        case verdict::monotonic_arena:
            return site_policy::separate;
        case verdict::leave:
            break;
    }
    return site_policy::leave;
}

/// What the advice says of each site: that of the advice with most of its objects.
std::unordered_map<std::uint32_t, routing> advised_routings(trace_reader& reader, const call_paths& paths) {
    const history run{reader, paths};
    if (run.object_count() == 0) return {};
    const advice_list list = plan_advices(run, paths, reader.header().sampling_period);
    std::unordered_map<std::uint32_t, std::pair<std::uint64_t, routing>> best;
    for (std::size_t number = 0; number < list.advices.size(); ++number) {
        const advice& each = list.advices[number];
        const site_policy policy = policy_for(each.candidate);
        const std::string group = policy == site_policy::separate
                                      ? "long-lived"
                                      : fmt::format("{} {}", number + 1, paths.functions()[each.function].short_name);
        for (const site_objects& site : each.sites) {
            auto& [objects, chosen] = best[site.site];
            if (site.objects <= objects) continue;
            objects = site.objects;
            chosen = {policy, policy == site_policy::leave ? "" : group};
        }
    }
    std::unordered_map<std::uint32_t, routing> routings;
    for (auto& [site, each] : best) routings.emplace(site, std::move(each.second));
    return routings;
}

// Each of the largest places gets a group of its own. The heap has so many classes for pools, and so many counted
// groups for each thread.
constexpr std::size_t max_own_pools = 150;
constexpr std::size_t max_own_counted = 31;

routing own_group(site_policy policy, std::size_t number, const std::string& place) {
    if (policy == site_policy::separate) return {policy, "long-lived"};
    const std::size_t most = policy == site_policy::pool ? max_own_pools : max_own_counted;
    return {policy, number < most ? fmt::format("{} {}", number + 1, place) : "others"};
}

std::vector<routing> by_advice(trace_reader& reader, const call_paths& paths, const std::vector<call_place>& places) {
    const auto advised = advised_routings(reader, paths);
    std::vector<routing> routings;
    for (const call_place& each : places) {
        // Of a wrapper, through which many sites allocate, most of its allocations decide.
        std::map<std::pair<site_policy, std::string>, std::uint64_t> votes;
        for (const auto& [site, allocations] : each.of_site) {
            const auto found = advised.find(site);
            if (found != advised.end()) votes[{found->second.policy, found->second.group}] += allocations;
        }
        const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
        if (most == votes.end() || most->second * 2 < each.allocations) {
            routings.emplace_back();
        } else {
            routings.push_back({most->first.first, most->first.second});
        }
    }
    return routings;
}

site_policy opposite(site_policy policy) {
    switch (policy) {
        case site_policy::pool:
        case site_policy::separate:
            return site_policy::counted;
        case site_policy::counted:
            return site_policy::separate;
        case site_policy::leave:
            break;
    }
    return site_policy::pool;
}

std::vector<routing> routings_by(plan_choice choice, trace_reader& reader, const call_paths& paths,
                                 const std::vector<call_place>& places) {
    std::vector<routing> routings(places.size());
    if (choice == plan_choice::leave) return routings;
    const bool by_advices =
        choice == plan_choice::advice || choice == plan_choice::inverted || choice == plan_choice::shuffled;
    if (by_advices) routings = by_advice(reader, paths, places);
    if (choice == plan_choice::advice) return routings;
    if (choice == plan_choice::shuffled) {
        // The same order each time, and with each standard library.
        std::minstd_rand random{1};
        for (std::size_t i = routings.size(); i > 1; --i) std::swap(routings[i - 1], routings[random() % i]);
        return routings;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        const site_policy policy = choice == plan_choice::pool       ? site_policy::pool
                                   : choice == plan_choice::counted  ? site_policy::counted
                                   : choice == plan_choice::separate ? site_policy::separate
                                                                     : opposite(routings[i].policy);
        routings[i] = own_group(policy, i, place_text(places[i], paths));
    }
    return routings;
}

std::string_view name_of_choice(plan_choice choice) {
    return std::ranges::find(plan_choices, choice, &std::pair<std::string_view, plan_choice>::second)->first;
}

/// Adds the places with their routings, and the modules that they are in.
class plan_writer {
public:
    plan_writer(const trace_tables& tables, const call_paths& paths, made_plan& into)
        : tables_{tables}, paths_{paths}, into_{into} {}

    void add(const call_place& place, const routing& to) {
        const module_info& module = tables_.modules[place.module];
        if (module.build_id.empty()) {
            into_.without_build_id += place.allocations;
            return;
        }
        const auto [entry, is_new] = numbers_.try_emplace(place.module, into_.plan.modules.size());
        if (is_new) {
            into_.plan.modules.push_back({module.path, module.build_id});
            functions_.emplace_back(build_id_of(module.path) == module.build_id ? module.path : "");
        }
        planned_site site;
        site.module = entry->second;
        site.offset = place.offset;
        site.place = place_text(place, paths_);
        site.allocations = place.allocations;
        site.policy = to.policy;
        site.group = to.group;
        if (const auto around = functions_[entry->second].find(place.offset - 1)) {
            site.symbol = around->symbol;
            site.symbol_offset = around->offset + 1;
        }
        if (to.policy != site_policy::leave) into_.routed_allocations += place.allocations;
        into_.plan.sites.push_back(std::move(site));
    }

private:
    const trace_tables& tables_;
    const call_paths& paths_;
    made_plan& into_;
    std::unordered_map<std::uint32_t, std::size_t> numbers_;  // of the plan's module, by the trace's
    std::vector<function_table> functions_;                   // by the plan's module
};

}  // namespace

made_plan make_plan(trace_reader& reader, const call_paths& paths, plan_choice choice) {
    made_plan made;
    std::vector<call_place> places = places_of(reader, paths, made.allocations);
    // Those beyond have next to no allocations.
    if (places.size() > site_plan::max_sites) places.resize(site_plan::max_sites);
    const std::vector<routing> routings = routings_by(choice, reader, paths, places);
    const trace_header& header = reader.header();
    made.plan.recording = reader.path().filename().string();
    made.plan.command = header.command;
    made.plan.date = header.date;
    made.plan.made_by = name_of_choice(choice);
    plan_writer writer{reader.tables(), paths, made};
    for (std::size_t i = 0; i < places.size(); ++i) writer.add(places[i], routings[i]);
    if (made.plan.sites.empty()) {
        throw tool_error{made.without_build_id != 0
                             ? "'" + reader.path().string() +
                                   "' has no site in a file with a build id, by which a plan knows it: link with "
                                   "-Wl,--build-id"
                             : "'" + reader.path().string() + "' has no allocations to plan"};
    }
    return made;
}

}  // namespace acre::tool
