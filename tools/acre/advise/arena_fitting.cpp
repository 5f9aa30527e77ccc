#include "arena_fitting.hpp"

#include "advised_source.hpp"
#include "fit/multi_arena_front.hpp"

namespace acre::tool {

void fit_arenas(advice& each, const history& run) {
    const event_source source = advised_source(each, run, neediest_thread(each, run));
    const multi_arena_front front = find_front(source, take_census(source));
    if (front.empty()) return;
    each.arenas = front.best().arenas;
    each.arena_bytes = front.best().bytes;
}

}  // namespace acre::tool
