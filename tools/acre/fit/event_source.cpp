#include "event_source.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "trace/error.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

void require_possible(const event& e) {
    constexpr std::uint64_t largest_possible = std::uint64_t{1} << 47;  // the address space
    if (e.size <= largest_possible && alignment_of(e) <= largest_possible) return;
    throw tool_error{"the trace has an allocation of " + std::to_string(e.size) + " bytes aligned to " +
                     std::to_string(alignment_of(e)) + ", which no program can make: record again"};
}

kept_events::kept_events(const event_source& from, std::size_t memory) : events_{memory} {
    free_places places;
    live_array<std::uint32_t> living;
    from([&](const event& e) {
        const bool by_realloc = e.op == operation::realloc;
        if (e.allocates) {
            require_possible(e);
            living.insert(e.object, places.take());
            events_.push({.size = e.size & ((std::uint64_t{1} << 48) - 1),
                          .alignment_log2 = e.alignment_log2,
                          .allocates = true,
                          .by_realloc = by_realloc,
                          .thread = e.thread,
                          .stack_or_place = e.stack});
            return;
        }
        std::uint32_t place = 0;
        if (!living.take(e.object, place)) return;
        places.give_back(place);
        events_.push({.by_realloc = by_realloc, .thread = e.thread, .stack_or_place = place});
    });
}

event_source kept_events::source(std::function<void(double)> tell) const {
    return [this, tell = std::move(tell),
            one_at_a_time = std::make_shared<std::mutex>()](const std::function<void(const event&)>& visit) {
        constexpr std::uint64_t events_between_tellings = 65'536;
        std::vector<std::uint64_t> sizes;  // by place
        free_places places;
        small_numbers numbers;
        std::uint64_t visited = 0;
        events_.for_each([&](const kept_event& kept) {
            event e;
            e.thread = kept.thread;
            e.allocates = kept.allocates;
            if (e.allocates) {
                e.place = places.take();
                if (e.place == sizes.size()) sizes.emplace_back();
                sizes[e.place] = kept.size;
                e.stack = kept.stack_or_place;
                e.alignment_log2 = static_cast<std::uint8_t>(kept.alignment_log2);
                e.op = kept.by_realloc ? operation::realloc : operation::malloc;
            } else {
                e.place = kept.stack_or_place;
                places.give_back(e.place);
                e.op = kept.by_realloc ? operation::realloc : operation::free;
            }
            e.size = sizes[e.place];
            numbers.renumber(e);
            if (tell && visited++ % events_between_tellings == 0) {
                const std::lock_guard guard{*one_at_a_time};
                tell(static_cast<double>(visited) / static_cast<double>(events_.size()));
            }
            visit(e);
        });
    };
}

}  // namespace acre::tool
