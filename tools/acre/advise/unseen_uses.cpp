#include "unseen_uses.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "advice_code.hpp"
#include "own_call.hpp"
#include "recorded_code.hpp"
#include "rules.hpp"

namespace acre::tool {

namespace {

/// The files of the program's own code that allocate an advice's objects.
std::set<std::uint32_t> modules_of(const advice& each, const history& run, const call_paths& paths) {
    std::set<std::uint32_t> modules;
    for (const std::uint32_t context : each.contexts) {
        const auto call = innermost_own_call(run.contexts()[context].stack, paths);
        if (call && paths.frame(call->frame).module != frame_info::no_module)
            modules.insert(paths.frame(call->frame).module);
    }
    return modules;
}

/// The names of the functions that an advice tells to change, or says that they free its objects.
std::set<std::string> named_functions(const advice& each, const call_paths& paths) {
    std::set<std::string> names;
    for (const malloc_caller& of : each.malloc_callers) names.insert(paths.functions()[of.function].short_name);
    for (const line_of_frees& line : each.freed_at)
        names.insert(paths.functions()[paths.sites()[line.site].function].short_name);
    for (const site_objects& site : each.sites)
        names.insert(paths.functions()[paths.sites()[site.site].function].short_name);
    return names;
}

std::set<std::string> files_of(const advice& each, const call_paths& paths) {
    std::set<std::string> files;
    for (const site_objects& site : each.sites) files.insert(paths.sites()[site.site].file);
    for (const malloc_caller& of : each.malloc_callers) files.insert(of.at.file);
    return files;
}

/// Sorts a use into what the advice lists.
void note(unseen_uses& into, const imported_use& use, const std::set<std::string>& named) {
    const source_location at{use.name, use.file, use.line};
    const auto add = [&](std::vector<source_location>& to) {
        if (std::ranges::find(to, use.name, &source_location::function) == to.end()) to.push_back(at);
    };
    if (!is_call(use)) return add(into.pointers);
    if (named.contains(use.name)) return;
    if (is_freeing(use.imported)) {
        add(into.frees);
    } else if (use.kind == use_kind::jump) {
        add(into.allocating);
    }
}

}  // namespace

void find_unseen_uses(advice_list& list, const history& run, const call_paths& paths) {
    recorded_code code{paths};
    for (advice& each : list.advices) {
        each.unseen = {};
        if (each.decision == verdict::leave || !is_in_c(each, paths)) continue;
        const std::set<std::string> named = named_functions(each, paths);
        for (const std::uint32_t module : modules_of(each, run, paths)) {
            for (const imported_use& use : code.memory_uses(module)) note(each.unseen, use, named);
        }
        const std::set<std::string> files = files_of(each, paths);
        for (std::vector<source_location>* places : {&each.unseen.frees, &each.unseen.allocating}) {
            std::ranges::sort(*places, {}, [&](const source_location& at) {
                return std::tuple{!files.contains(at.file), at.file, at.line, at.function};
            });
        }
    }
}

}  // namespace acre::tool
