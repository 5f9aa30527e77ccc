#include "ways.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "programs/known_mallocs.hpp"
#include "programs/preloadable_library.hpp"
#include "programs/program.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

constexpr const char* acre_description = "acre's general heap, as 'acre run' preloads it";

std::string name_as_it_is(const std::filesystem::path& program) {
    const std::string linked = linked_malloc(program);
    return linked.empty() ? "as it is" : fmt::format("as it is ({})", linked);
}

way_group description_of(const plan_group& group, const site_plan& plan) {
    way_group result{.name = group.name,
                     .policy = std::string{name_of(group.policy)},
                     .allocations = group.allocations,
                     .beside_own_malloc = plan.leaves_to_malloc_below};
    for (const std::size_t number : group.sites) {
        const planned_site& site = plan.sites[number];
        const planned_module& module = plan.modules[site.module];
        result.sites.push_back({site.place, module.path, module.build_id, site.offset, site.allocations});
    }
    return result;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> way_names() {
    std::vector<std::pair<std::string, std::string>> names{{std::string{acre_way}, acre_description}};
    for (const known_malloc& each : known_mallocs) names.emplace_back(each.name, each.description);
    return names;
}

way_list::way_list(const std::filesystem::path& program) {
    ways_.push_back({name_as_it_is(program), "the program without a change"});
}

way_list::way_list(const std::filesystem::path& program, const std::vector<std::string>& names) : way_list{program} {
    for (auto each = names.begin(); each != names.end(); ++each) {
        if (std::find(names.begin(), each, *each) == each) add_named(*each);
    }
    if (!names.empty()) return;
    if (const auto own = library_beside_command(run_library); std::filesystem::exists(own)) add_acre();
    for (const known_malloc& each : known_mallocs) {
        if (const std::string library = find_library(each.libraries); !library.empty())
            add(std::string{each.name}, std::string{each.description}, library);
    }
}

void way_list::add(const std::string& name, const std::string& description, const std::filesystem::path& library) {
    const preloadable_library preloaded{"try", library};
    ways_.push_back({.name = name,
                     .description = description,
                     .variables = {{"LD_PRELOAD", preload_value(preloaded.path())}},
                     .library = preloaded.library().string(),
                     .is_linked = preloaded.is_linked()});
}

void way_list::add_acre() {
    add(std::string{acre_way}, acre_description, library_beside_command(run_library));
    ways_.back().command = {"acre", "run"};
}

void way_list::add_planned(std::unique_ptr<handed_plan> plan, const std::string& name, const std::string& description) {
    add(name, description, library_beside_command(plan->library()));
    ways_.back().variables.push_back(plan->variable());
    plans_.push_back(std::move(plan));
}

std::vector<std::string> way_list::add_plan(const std::filesystem::path& program, const site_plan& plan,
                                            const std::string& name) {
    auto handed = std::make_unique<handed_plan>(plan, name, program);
    std::vector<std::string> losses = handed->losses();
    add_planned(std::move(handed), std::string{preload_saving::acre_plan},
                "acre's general heap with the plan, as 'acre run --plan' preloads it");
    ways_.back().command = {"acre", "run", "--plan", name};
    return losses;
}

std::size_t way_list::add_groups(const std::filesystem::path& program, const site_plan& plan, const std::string& name) {
    const std::size_t base = base_of_groups(program, plan, name);
    const std::vector<plan_group> groups = groups_of(plan);
    const std::size_t shown = std::min(groups.size(), max_groups);
    for (const plan_group& each : std::span{groups}.first(shown)) {
        add_group(program, plan, each, name);
        compare_with(base);
    }
    return groups.size() - shown;
}

std::size_t way_list::base_of_groups(const std::filesystem::path& program, const site_plan& plan,
                                     const std::string& name) {
    if (plan.leaves_to_malloc_below) {
        add_library_of_plan(program, plan, name);
        return ways_.size() - 1;
    }
    auto found = std::ranges::find(ways_, acre_way, &way::name);
    if (found == ways_.end()) {
        add_acre();
        found = std::prev(ways_.end());
    }
    return static_cast<std::size_t>(found - ways_.begin());
}

void way_list::add_group(const std::filesystem::path& program, const site_plan& plan, const plan_group& group,
                         const std::string& name) {
    way_group described = description_of(group, plan);
    add_planned(std::make_unique<handed_plan>(plan_of({&group, 1}, plan), name, program, handed_plan::part::group),
                fmt::format("{}: {}", described.policy, group.name),
                plan.leaves_to_malloc_below ? "the program's own malloc with this group of the plan alone"
                                            : "acre's general heap with this group of the plan alone");
    ways_.back().group = std::move(described);
}

void way_list::add_part(const std::filesystem::path& program, const site_plan& part, const std::string& description,
                        const std::string& name) {
    add_planned(std::make_unique<handed_plan>(part, name, program, handed_plan::part::group), description,
                "a part of the plan");
}

void way_list::add_library_of_plan(const std::filesystem::path& program, const site_plan& plan,
                                   const std::string& name) {
    add_planned(std::make_unique<handed_plan>(plan_of({}, plan), name, program, handed_plan::part::group),
                "a plan for no site", "the program's own malloc, called by the library that follows plans");
}

void way_list::add_named(const std::string& name) {
    const auto known = std::ranges::find(known_mallocs, std::string_view{name}, &known_malloc::name);
    if (name.find('/') != std::string::npos) {
        add(name, "a library of yours, preloaded", name);
    } else if (name == acre_way) {
        add_acre();
    } else if (known == known_mallocs.end()) {
        std::vector<std::string> all;
        for (const auto& [each, meaning] : way_names()) all.push_back(each);
        throw tool_error{fmt::format("there is no malloc '{}': known are {}, and paths of libraries, as ./{}.so", name,
                                     fmt::join(all, ", "), name)};
    } else if (const std::string library = find_library(known->libraries); library.empty()) {
        throw tool_error{fmt::format("{} is not installed here", known->libraries.front())};
    } else {
        add(name, std::string{known->description}, library);
    }
}

}  // namespace acre::tool
