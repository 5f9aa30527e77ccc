#include "fit.hpp"

namespace acre::tool {

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
    return result;
}

}  // namespace acre::tool
