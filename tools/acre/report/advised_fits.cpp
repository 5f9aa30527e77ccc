#include "advised_fits.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "advise/advised_source.hpp"
#include "fit/fit.hpp"
#include "fit/fit_check.hpp"
#include "fit/fit_report.hpp"
#include "trace/error.hpp"

namespace acre::tool {

namespace {

/// What is worth to be known about what suits. A buffer on the stack is as large as its largest object, and a
/// concurrent_multi_pool has no sizes to choose.
fit_targets targets_of(verdict suits) {
    switch (suits) {
        case verdict::arena:
        case verdict::scratch:
            return {.multi_arena = true, .arena = true};
        case verdict::monotonic_arena:
        case verdict::phase_arena:
            return {.arena = true};
        case verdict::object_pool:
            return {.multi_arena = true, .pool = true};
        case verdict::multi_pool:
        case verdict::multi_arena:
            return {.multi_arena = true};
        case verdict::concurrent_object_pool:
            return {.pool = true};
        case verdict::leave:
            return {.multi_arena = true, .arena = true, .pool = true};
        case verdict::stack_buffer:
        case verdict::concurrent_multi_pool:
            break;
    }
    return {};
}

bool has_sizes(verdict suits) {
    return suits != verdict::leave && suits != verdict::stack_buffer && suits != verdict::concurrent_multi_pool;
}

nlohmann::json found_for(const history& run, const advice& each, const call_paths& paths, const trace_header& header) {
    const std::optional<std::uint32_t> thread = neediest_thread(each, run);
    const event_source source = advised_source(each, run, thread);
    fit_outcome outcome;
    outcome.targets = targets_of(each.suits);
    const fit_request request{.multi_arena = outcome.targets.multi_arena,
                              .blockers = false,  // an advice names what it leaves out itself
                              .concurrent_multi_arena = false};
    outcome.result = fit(source, request, [&](std::uint32_t stack) { return paths.site(stack); });
    outcome.checks = check_sizes(source, outcome.result, outcome.targets.arena);
    nlohmann::json found = fit_json(outcome, paths, header);
    found["thread"] = thread ? nlohmann::json(*thread) : nullptr;
    return found;
}

/// A trace may have sizes that no program can have; the rest of the report is about them all the same.
nlohmann::json fit_one(const history& run, const advice& each, const call_paths& paths, const trace_header& header) {
    try {
        return found_for(run, each, paths, header);
    } catch (const tool_error& error) {
        return {{"refused", error.what()}};
    }
}

template <typename Wanted>
std::vector<std::size_t> positions_of(const std::vector<advice>& advices, Wanted wanted) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < advices.size(); ++i) {
        if (wanted(advices[i])) positions.push_back(i);
    }
    return positions;
}

}  // namespace

std::vector<std::size_t> advices_to_fit(const std::vector<advice>& advices, const fit_limits& limits) {
    std::vector<std::size_t> wanted = positions_of(advices, [](const advice& each) { return has_sizes(each.says); });
    if (wanted.empty()) {
        wanted = positions_of(advices, [](const advice& each) { return has_sizes(each.suits); });
        if (wanted.empty())
            wanted = positions_of(advices, [](const advice& each) { return each.suits == verdict::leave; });
        wanted.resize(std::min<std::size_t>(wanted.size(), 1));
    }
    std::vector<std::size_t> taken;
    std::uint64_t events = 0;
    for (const std::size_t place : wanted) {
        events += advices[place].figures.events();
        if (taken.size() == limits.max_fits || (!taken.empty() && events > limits.max_events)) break;
        taken.push_back(place);
    }
    return taken;
}

nlohmann::json fit_advices(const history& run, const std::vector<advice>& advices, const call_paths& paths,
                           const trace_header& header, const fit_limits& limits) {
    nlohmann::json fits = nlohmann::json::array();
    for (const std::size_t place : advices_to_fit(advices, limits)) {
        fits.push_back(fit_one(run, advices[place], paths, header));
        fits.back()["advice"] = place + 1;
    }
    return fits;
}

}  // namespace acre::tool
