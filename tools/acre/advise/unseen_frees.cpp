#include "unseen_frees.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "advice_code.hpp"
#include "own_call.hpp"
#include "programs/elf_file.hpp"
#include "programs/imported_callers.hpp"
#include "rules.hpp"

namespace acre::tool {

namespace {

/// The functions that free, by the program's files, each of which is read once.
class freeing_functions {
public:
    explicit freeing_functions(const call_paths& paths) : paths_{paths} {}

    const std::vector<imported_call>& of(std::uint32_t module) {
        constexpr std::array<std::string_view, 3> names{"free", "realloc", "reallocarray"};
        const auto [entry, is_new] = known_.try_emplace(module);
        const module_info& file = paths_.module(module);
        if (is_new && has_build_id(file.path, file.build_id)) entry->second = callers_of_imported(file.path, names);
        return entry->second;
    }

private:
    const call_paths& paths_;
    std::map<std::uint32_t, std::vector<imported_call>> known_;
};

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
    freeing_functions freeing{paths};
    for (advice& each : list.advices) {
        each.unseen_frees.clear();
        if (each.decision == verdict::leave || !is_in_c(each, paths)) continue;
        const std::set<std::string> named = named_functions(each, paths);
        for (const std::uint32_t module : modules_of(each, run, paths)) {
            for (const imported_call& call : freeing.of(module)) {
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
