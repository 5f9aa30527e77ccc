#include "event_source.hpp"

#include <utility>
#include <vector>

#include "census.hpp"
#include "trace/live_table.hpp"

namespace acre::tool {

class kept_events::slots {
public:
    std::uint32_t take() {
        if (free_.empty()) return made_++;
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give_back(std::uint32_t slot) { free_.push_back(slot); }

private:
    std::vector<std::uint32_t> free_;
    std::uint32_t made_ = 0;
};

kept_events::kept_events(const event_source& from, std::size_t memory) : events_{memory} {
    slots free_slots;
    live_table<std::uint32_t> living;
    from([&](const event& e) {
        const bool by_realloc = e.op == operation::realloc;
        if (e.allocates) {
            require_possible(e);
            living.insert(e.object, free_slots.take());
            events_.push({.size = e.size & ((std::uint64_t{1} << 48) - 1),
                          .alignment_log2 = e.alignment_log2,
                          .allocates = true,
                          .by_realloc = by_realloc,
                          .thread = e.thread,
                          .stack_or_slot = e.stack});
            return;
        }
        std::uint32_t slot = 0;
        if (!living.take(e.object, slot)) return;
        free_slots.give_back(slot);
        events_.push({.by_realloc = by_realloc, .thread = e.thread, .stack_or_slot = slot});
    });
}

event_source kept_events::source(std::function<void(double)> tell) const {
    return [this, tell = std::move(tell)](const std::function<void(const event&)>& visit) {
        constexpr std::uint64_t events_between_tellings = 65'536;
        struct living_object {
            std::uint64_t number = 0;
            std::uint64_t size = 0;
        };
        std::vector<living_object> living;  // by slot
        slots free_slots;
        std::uint64_t objects = 0;
        std::uint64_t visited = 0;
        events_.for_each([&](const kept_event& kept) {
            event e;
            e.thread = kept.thread;
            e.allocates = kept.allocates;
            if (e.allocates) {
                const std::uint32_t slot = free_slots.take();
                if (slot == living.size()) living.emplace_back();
                living[slot] = {objects++, kept.size};
                e.stack = kept.stack_or_slot;
                e.alignment_log2 = static_cast<std::uint8_t>(kept.alignment_log2);
                e.op = kept.by_realloc ? operation::realloc : operation::malloc;
                e.object = living[slot].number;
                e.size = living[slot].size;
            } else {
                free_slots.give_back(kept.stack_or_slot);
                e.op = kept.by_realloc ? operation::realloc : operation::free;
                e.object = living[kept.stack_or_slot].number;
                e.size = living[kept.stack_or_slot].size;
            }
            if (tell && visited++ % events_between_tellings == 0) {
                tell(static_cast<double>(visited) / static_cast<double>(events_.size()));
            }
            visit(e);
        });
    };
}

}  // namespace acre::tool
