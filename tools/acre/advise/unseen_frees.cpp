#include "unseen_frees.hpp"

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

}  // namespace

void find_unseen_frees(advice_list& list, const history& run, const call_paths& paths) {
    recorded_code code{paths, freeing_functions()};
    for (advice& each : list.advices) {
        each.unseen_frees.clear();
        if (each.decision == verdict::leave || !is_in_c(each, paths)) continue;
        const std::set<std::string> named = named_functions(each, paths);
        for (const std::uint32_t module : modules_of(each, run, paths)) {
            for (const imported_call& call : code.callers_in(module)) {
                if (!named.contains(call.function)) each.unseen_frees.push_back({call.function, call.file, call.line});
            }
        }
        const std::set<std::string> files = files_of(each, paths);
        std::ranges::sort(each.unseen_frees, {}, [&](const source_location& at) {
            return std::tuple{!files.contains(at.file), at.file, at.line, at.function};
        });
    }
}

}  // namespace acre::tool
