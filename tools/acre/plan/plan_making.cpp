#include "plan_making.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "advise/candidates.hpp"
#include "advise/history.hpp"
#include "advise/rules.hpp"
#include "advise/wording.hpp"
#include "programs/elf_file.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// A return address in a file of the recording, and how far above that of the frame before it lies.
struct call_address {
    std::uint32_t module = 0;
    std::uint64_t offset = 0;
    std::uint64_t frame_bytes = 0;
};

/// A call of an allocation function, or of a wrapper around one, with what the recording knows of it.
struct call_place {
    std::vector<call_address> addresses{};  // outwards
    std::uint64_t allocations = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stacks{};  // and of each the node of the last address
    std::map<std::uint32_t, std::uint64_t> of_site{};               // allocations
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

/// For each module of a trace the first one of the same file: a plugin that is opened again is another module there.
std::vector<std::uint32_t> first_modules(const std::vector<module_info>& modules) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> known;
    std::vector<std::uint32_t> first;
    first.reserve(modules.size());
    for (const module_info& each : modules) {
        const auto number = static_cast<std::uint32_t>(first.size());
        first.push_back(known.try_emplace({each.path, each.build_id}, number).first->second);
    }
    return first;
}

/// The places of a trace by the callers of the allocation functions, and by callers of wrappers where these decide.
class place_finder {
public:
    place_finder(trace_reader& reader, const call_paths& paths)
        : tables_{reader.tables()},
          paths_{paths},
          first_modules_{first_modules(tables_.modules)},
          of_stack_(tables_.call_tree.size()) {
        reader.for_each([&](const event& e) {
            if (e.allocates) ++allocations_;
            if (can_be_routed(e)) ++of_stack_[e.stack];
        });
    }

    std::uint64_t allocations() const noexcept { return allocations_; }

    /// Those that can be routed.
    std::uint64_t allocations_at(std::uint32_t stack) const noexcept { return of_stack_[stack]; }

    /// Most allocations first.
    std::vector<call_place> places() const {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> stacks;
        for (std::uint32_t stack = 1; stack < of_stack_.size(); ++stack) {
            if (of_stack_[stack] != 0) stacks.emplace_back(stack, stack);
        }
        return sorted(by_address(stacks, {}, 0));
    }

    /// The same without the places for which `is_split(place)` says so: in their stead the places around them.
    template <class Predicate>
    std::vector<call_place> places(std::vector<call_place> from, Predicate is_split) const {
        std::vector<call_place> result;
        std::size_t wrappers = 0;
        for (std::size_t i = 0; i < from.size(); ++i) {
            std::vector<call_place> around;
            if (from[i].of_site.size() > 1 && wrappers < max_wrappers && is_split(from[i]))
                around = callers_of(from[i]);
            if (around.empty()) {
                result.push_back(std::move(from[i]));
            } else {
                ++wrappers;
                for (call_place& each : around) from.push_back(std::move(each));
            }
        }
        return sorted(std::move(result));
    }

private:
    static constexpr std::size_t max_wrappers = 32;

    std::vector<call_place> by_address(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& stacks,
                                       const std::vector<call_address>& inner, std::uint64_t frame_bytes) const {
        std::map<std::pair<std::uint32_t, std::uint64_t>, call_place> places;
        for (const auto& [stack, node] : stacks) {
            const frame_info& frame = tables_.frames[tables_.call_tree[node].frame];
            if (frame.module == frame_info::no_module) continue;
            // A frame is the address of the call: its last byte.
            const call_address address{first_modules_[frame.module], frame.module_offset + 1, frame_bytes};
            call_place& place = places[{address.module, address.offset}];
            if (place.addresses.empty()) {
                place.addresses = inner;
                place.addresses.push_back(address);
            }
            place.allocations += of_stack_[stack];
            place.stacks.emplace_back(stack, node);
            place.of_site[paths_.site(stack)] += of_stack_[stack];
        }
        std::vector<call_place> list;
        list.reserve(places.size());
        for (auto& [key, place] : places) list.push_back(std::move(place));
        return list;
    }

    /// The callers of a wrapper; none where its caller cannot be found while it runs.
    std::vector<call_place> callers_of(const call_place& wrapper) const {
        const call_address& last = wrapper.addresses.back();
        const module_info& module = tables_.modules[last.module];
        if (wrapper.addresses.size() == site_plan::max_frames || !has_build_id(module.path, module.build_id)) return {};
        const auto bytes = frame_bytes_at(module.path, last.offset);
        if (!bytes || *bytes > site_plan::max_frame_bytes || *bytes % 8 != 0) return {};
        std::vector<std::pair<std::uint32_t, std::uint32_t>> stacks;
        for (const auto& [stack, node] : wrapper.stacks) {
            if (const std::uint32_t caller = tables_.call_tree[node].parent; caller != 0)
                stacks.emplace_back(stack, caller);
        }
        return by_address(stacks, wrapper.addresses, *bytes);
    }

    static std::vector<call_place> sorted(std::vector<call_place> places) {
        std::ranges::sort(places, [](const call_place& a, const call_place& b) {
            if (a.allocations != b.allocations) return a.allocations > b.allocations;
            return std::ranges::lexicographical_compare(a.addresses, b.addresses, {}, key_of, key_of);
        });
        return places;
    }
    static std::pair<std::uint32_t, std::uint64_t> key_of(const call_address& address) {
        return {address.module, address.offset};
    }

    const trace_tables& tables_;
    const call_paths& paths_;
    std::vector<std::uint32_t> first_modules_;
    std::vector<std::uint64_t> of_stack_;
    std::uint64_t allocations_ = 0;
};

/// The place in words: "parse (parse.cpp:42)"; for a wrapper the functions around it are many, and it is one group.
std::string place_text(const call_place& place, const call_paths& paths) {
    const auto most = std::ranges::max_element(place.of_site, {}, [](const auto& each) { return each.second; });
    return paths.site_text(most->first);
}

/// What is hardly reused gains nothing by slabs of its own.
site_policy policy_of_heap(const advice& each) {
    return each.figures.churn() < threshold::some_churn ? site_policy::heap : site_policy::pool;
}

site_policy policy_for(const advice& each) {
    switch (each.in_plan) {
        case verdict::arena:
        case verdict::scratch:
        case verdict::stack_buffer:
        case verdict::multi_arena:
        case verdict::phase_arena:
            return site_policy::counted;
        case verdict::reserve:
        case verdict::keep_buffer:
        case verdict::object_pool:
        case verdict::multi_pool:
        case verdict::concurrent_object_pool:
        case verdict::concurrent_multi_pool:
            return site_policy::pool;
        case verdict::general_heap:
            return policy_of_heap(each);
        case verdict::monotonic_arena:
            return site_policy::separate;
        case verdict::leave:
            break;
    }
    return site_policy::leave;
}

/// A site and the path of functions to it.
using path_key = std::uint64_t;

path_key key_of_path(std::uint32_t node, std::uint32_t site) {
    return std::uint64_t{node} << 32 | site;
}

/// What the advice says of each path to a site: that of the advice with most of its objects.
std::unordered_map<path_key, routing> advised_routings(const advice_list& list, const call_paths& paths) {
    std::unordered_map<path_key, std::pair<std::uint64_t, routing>> best;
    for (std::size_t number = 0; number < list.advices.size(); ++number) {
        const advice& each = list.advices[number];
        const site_policy policy = policy_for(each);
        const std::string group = group_name_of(number, each, paths);
        for (const path_objects& path : each.by_path) {
            auto& [objects, chosen] = best[key_of_path(path.node, path.site)];
            if (path.objects <= objects) continue;
            objects = path.objects;
            chosen = {policy, policy == site_policy::leave ? "" : group};
        }
    }
    std::unordered_map<path_key, routing> routings;
    for (auto& [path, each] : best) routings.emplace(path, std::move(each.second));
    return routings;
}

advice_list advice_for(trace_reader& reader, const call_paths& paths) {
    const history run{reader, paths};
    return run.object_count() == 0 ? advice_list{} : find_candidates(run, paths, reader.header().sampling_period);
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

/// What is advised of the allocations at places, and how many they are.
class advised_places {
public:
    using votes = std::map<std::pair<site_policy, std::string>, std::uint64_t>;

    advised_places(const advice_list& list, const call_paths& paths, const place_finder& finder)
        : routings_{advised_routings(list, paths)}, paths_{paths}, finder_{finder} {}

    votes at(const call_place& place) const {
        votes found;
        for (const auto& [stack, node] : place.stacks) {
            const auto known = routings_.find(key_of_path(paths_.node(stack), paths_.site(stack)));
            const routing& each = known != routings_.end() ? known->second : nothing_;
            found[{each.policy, each.group}] += finder_.allocations_at(stack);
        }
        return found;
    }

private:
    std::unordered_map<path_key, routing> routings_;
    const call_paths& paths_;
    const place_finder& finder_;
    const routing nothing_{};
};

std::vector<routing> by_advice(const advised_places& advised, const std::vector<call_place>& places) {
    std::vector<routing> routings;
    for (const call_place& each : places) {
        const auto votes = advised.at(each);
        const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
        // Of a wrapper whose callers cannot be told apart, most of its allocations decide.
        if (each.of_site.size() > 1 && most->second * 2 < each.allocations) {
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
        case site_policy::heap:
            return site_policy::counted;
        case site_policy::counted:
            return site_policy::separate;
        case site_policy::leave:
            break;
    }
    return site_policy::pool;
}

struct routed_places {
    std::vector<call_place> places;
    std::vector<routing> routings;

    template <class Predicate>
    void keep_if(Predicate is_kept) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!is_kept(places[i])) continue;
            std::swap(places[kept], places[i]);
            std::swap(routings[kept++], routings[i]);
        }
        places.resize(kept);
        routings.resize(kept);
    }
};

bool is_by_advice(plan_choice choice) {
    return choice == plan_choice::advice || choice == plan_choice::inverted || choice == plan_choice::shuffled;
}

/// `list` is looked at only where the choice is made by advice.
routed_places routed_by(plan_choice choice, const advice_list& list, const call_paths& paths,
                        const place_finder& finder) {
    routed_places result{finder.places(), {}};
    auto& [places, routings] = result;
    if (is_by_advice(choice)) {
        const advised_places advised{list, paths, finder};
        places = finder.places(std::move(places), [&](const call_place& each) {
            return choice != plan_choice::advice || advised.at(each).size() > 1;
        });
        routings = by_advice(advised, places);
    } else {
        // Sites that share their memory anyway need not be told apart.
        const bool apart = choice == plan_choice::pool || choice == plan_choice::counted;
        places = finder.places(std::move(places), [=](const call_place&) { return apart; });
        routings.resize(places.size());
    }
    if (choice == plan_choice::advice || choice == plan_choice::leave) return result;
    if (choice == plan_choice::shuffled) {
        // The same order each time, and with each standard library.
        std::minstd_rand random{1};
        for (std::size_t i = routings.size(); i > 1; --i) std::swap(routings[i - 1], routings[random() % i]);
        return result;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        const site_policy policy = choice == plan_choice::pool       ? site_policy::pool
                                   : choice == plan_choice::counted  ? site_policy::counted
                                   : choice == plan_choice::separate ? site_policy::separate
                                                                     : opposite(routings[i].policy);
        routings[i] = own_group(policy, i, place_text(places[i], paths));
    }
    return result;
}

std::string_view name_of_choice(plan_choice choice) {
    return std::ranges::find(plan_choices, choice, &std::pair<std::string_view, plan_choice>::second)->first;
}

std::set<std::uint32_t> modules_of(const call_place& place) {
    std::set<std::uint32_t> modules;
    for (const call_address& each : place.addresses) modules.insert(each.module);
    return modules;
}

/// The modules of the places: those with most planned allocations first, then by all allocations.
std::vector<std::uint32_t> modules_by_allocations(const routed_places& all) {
    std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> allocations;  // planned, all
    for (std::size_t i = 0; i < all.places.size(); ++i) {
        for (const std::uint32_t module : modules_of(all.places[i])) {
            auto& [planned, any] = allocations[module];
            if (all.routings[i].policy != site_policy::leave) planned += all.places[i].allocations;
            any += all.places[i].allocations;
        }
    }
    std::vector<std::uint32_t> modules;
    modules.reserve(allocations.size());
    for (const auto& [module, of] : allocations) modules.push_back(module);
    // Of equal ones that which was loaded first.
    std::ranges::sort(modules, std::greater<>{},
                      [&](std::uint32_t module) { return std::tuple{allocations[module], ~module}; });
    return modules;
}

/// Takes out the places that no plan can name.
class place_limiter {
public:
    place_limiter(const trace_tables& tables, made_plan& tells) : tables_{tables}, tells_{tells} {}

    void limit(routed_places& all) {
        all.keep_if([&](const call_place& each) { return has_build_ids(each); });
        limit_modules(all);
        limit_sites(all);
    }

private:
    bool has_build_ids(const call_place& place) {
        const bool has_all = std::ranges::none_of(
            place.addresses, [&](const call_address& each) { return tables_.modules[each.module].build_id.empty(); });
        if (!has_all) tells_.without_build_id += place.allocations;
        return has_all;
    }

    void limit_modules(routed_places& all) {
        const std::vector<std::uint32_t> modules = modules_by_allocations(all);
        if (modules.size() <= site_plan::max_modules) return;
        const std::set<std::uint32_t> out(modules.begin() + site_plan::max_modules, modules.end());
        tells_.files_beyond = out.size();
        all.keep_if([&](const call_place& place) {
            const bool is_kept = std::ranges::none_of(
                place.addresses, [&](const call_address& each) { return out.contains(each.module); });
            if (!is_kept) tells_.allocations_in_files_beyond += place.allocations;
            return is_kept;
        });
    }

    /// The places with most allocations come first.
    void limit_sites(routed_places& all) {
        if (all.places.size() <= site_plan::max_sites) return;
        tells_.sites_beyond = all.places.size() - site_plan::max_sites;
        for (const call_place& each : std::span{all.places}.subspan(site_plan::max_sites))
            tells_.allocations_of_sites_beyond += each.allocations;
        all.places.resize(site_plan::max_sites);
        all.routings.resize(site_plan::max_sites);
    }

    const trace_tables& tables_;
    made_plan& tells_;
};

/// Adds the places with their routings, and the modules that they are in.
class plan_writer {
public:
    plan_writer(const trace_tables& tables, const call_paths& paths, site_plan& into)
        : tables_{tables}, paths_{paths}, into_{into} {}

    void add(const call_place& place, const routing& to) {
        planned_site site;
        describe(place.addresses.front(), site);
        for (std::size_t i = 1; i < place.addresses.size(); ++i) {
            planned_caller& caller = site.callers.emplace_back();
            describe(place.addresses[i], caller);
            caller.frame_bytes = place.addresses[i].frame_bytes;
        }
        site.place = place_text(place, paths_);
        site.allocations = place.allocations;
        site.policy = to.policy;
        site.group = to.group;
        into_.sites.push_back(std::move(site));
    }

private:
    void describe(const call_address& address, planned_address& into) {
        const module_info& module = tables_.modules[address.module];
        const auto [entry, is_new] = numbers_.try_emplace(address.module, into_.modules.size());
        if (is_new) {
            into_.modules.push_back({module.path, module.build_id});
            functions_.emplace_back(build_id_of(module.path) == module.build_id ? module.path : "");
        }
        into.module = entry->second;
        into.offset = address.offset;
        if (const auto around = functions_[entry->second].find(address.offset - 1)) {
            into.symbol = around->symbol;
            into.symbol_offset = around->offset + 1;
        }
    }

    const trace_tables& tables_;
    const call_paths& paths_;
    site_plan& into_;
    std::unordered_map<std::uint32_t, std::size_t> numbers_;  // of the plan's module, by the trace's
    std::vector<function_table> functions_;                   // by the plan's module
};

made_plan make_plan(trace_reader& reader, const call_paths& paths, plan_choice choice, const advice_list& list,
                    bool leaves_to_malloc_below) {
    made_plan made;
    const place_finder finder{reader, paths};
    made.allocations = finder.allocations();
    routed_places all = routed_by(choice, list, paths, finder);
    place_limiter{reader.tables(), made}.limit(all);
    const trace_header& header = reader.header();
    made.plan.recording = reader.path().filename().string();
    made.plan.command = header.command;
    made.plan.date = header.date;
    made.plan.made_by = name_of_choice(choice);
    made.plan.leaves_to_malloc_below = leaves_to_malloc_below;
    plan_writer writer{reader.tables(), paths, made.plan};
    for (std::size_t i = 0; i < all.places.size(); ++i) writer.add(all.places[i], all.routings[i]);
    if (made.plan.sites.empty()) {
        throw tool_error{made.without_build_id != 0
                             ? "'" + reader.path().string() +
                                   "' has no site in a file with a build id, by which a plan knows it: link with "
                                   "-Wl,--build-id"
                             : "'" + reader.path().string() + "' has no allocations to plan"};
    }
    return made;
}

}  // namespace

made_plan make_plan(trace_reader& reader, const call_paths& paths, plan_choice choice, bool leaves_to_malloc_below) {
    const advice_list list = is_by_advice(choice) ? advice_for(reader, paths) : advice_list{};
    return make_plan(reader, paths, choice, list, leaves_to_malloc_below);
}

made_plan make_plan(trace_reader& reader, const call_paths& paths, const advice_list& list,
                    bool leaves_to_malloc_below) {
    return make_plan(reader, paths, plan_choice::advice, list, leaves_to_malloc_below);
}

std::string group_name_of(std::size_t number, const advice& each, const call_paths& paths) {
    if (policy_for(each) == site_policy::separate) return "long-lived";
    return fmt::format("{} {}", number + 1, paths.functions()[each.function].short_name);
}

}  // namespace acre::tool
